//! The identity of a command. It must be the same for a run to be resumed.

use crate::backends::command::words::expand;
use crate::backends::compiling::SourceFiles;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tunesmith_files::RECORD;
use tunesmith_kernel::command::CommandSpec;
use tunesmith_kernel::data::Fields;
use tunesmith_kernel::{Scope, Template};

/// Returns a digest of the problem's description of its command, of the files that it names, and of `sources`, which
/// its build may read. Remembers all of these files. A file counts if it is in the problem's folder and a word of a
/// command names it in the configuration of `scope`.
///
/// The files are found by a heuristic. A word names a file if a file of that name exists, or a file
/// named by the part after its `=`, or by a word of it that a shell would find. Files that commands
/// write are left out: [`CommandSpec::writes`], the word after `-o` or `>` and, if there is a build,
/// the command's program.
pub(super) fn digest(
    spec: &CommandSpec,
    scope: &Scope,
    sources: Vec<PathBuf>,
    remembered: &SourceFiles,
) -> std::io::Result<String> {
    let mut hash = Fields::default();
    for text in texts(spec) {
        hash.add(text);
    }
    let mut files = files(spec, scope);
    files.extend(sources);
    for file in files {
        hash.add(remembered.read_up_to(&file, RECORD)?);
    }
    Ok(hash.digest())
}

/// Remembers the files that commands name in the configuration of `scope`, and that no earlier one named.
///
/// # Errors
/// A file cannot be read.
pub(super) fn remember(spec: &CommandSpec, scope: &Scope, remembered: &SourceFiles) -> std::io::Result<()> {
    let new = files(spec, scope).into_iter().filter(|file| !remembered.knows(file));
    new.into_iter().try_for_each(|file| remembered.read_up_to(&file, RECORD).map(drop))
}

/// Returns the parts of the problem's description, each with its name.
fn texts(spec: &CommandSpec) -> Vec<String> {
    let words = |words: &[Template]| words.iter().map(|word| format!("{:?}", word.to_string())).collect::<String>();
    let commands = spec.commands().map(|(key, command)| format!("{key} {}", words(command)));
    let environment = spec.environment.iter().map(|(name, value)| format!("environment {name} {value}"));
    let values = spec.values.iter().map(|(name, pattern)| format!("value {name} {pattern}"));
    let output = spec.verify.output.iter().map(|pattern| format!("output {pattern}"));
    let writes = spec.writes.iter().map(|name| format!("writes {name}"));
    let rest = [format!("cost {} warmup {} memory {:?}", spec.cost, spec.warmup, spec.memory_limit)];
    commands.chain(environment).chain(values).chain(output).chain(writes).chain(rest).collect()
}

/// Returns the files that the problem names, sorted by name.
fn files(spec: &CommandSpec, scope: &Scope) -> BTreeSet<PathBuf> {
    let Ok(folder) = spec.folder.canonicalize() else { return BTreeSet::new() };
    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
    written.extend(expand(&spec.writes, scope).iter().filter_map(|name| file_in(&folder, name)));
    for (key, command) in spec.commands() {
        let words = expand(command, scope);
        let is_made = |at: usize| match at {
            0 => key == "command" && !spec.build.is_empty(),
            at => words[at - 1] == "-o",
        };
        for (at, word) in words.iter().enumerate() {
            let whole = file_in(&folder, word).map(|file| (file, is_made(at)));
            let within = shell_words(word)
                .into_iter()
                .filter_map(|(word, is_written)| file_in(&folder, &word).map(|file| (file, is_written || is_made(at))));
            for (file, is_written) in whole.into_iter().chain(within) {
                if is_written {
                    written.insert(file)
                } else {
                    read.insert(file)
                };
            }
        }
    }
    read.extend(spec.verify.expected_output.clone());
    read.retain(|file| !written.contains(file));
    read
}

/// Returns the file in the folder that a word names, if there is one.
fn file_in(folder: &Path, word: &str) -> Option<PathBuf> {
    let named = [Some(word), word.split_once('=').map(|(_, value)| value)];
    let paths = named.into_iter().flatten().filter_map(|name| folder.join(name).canonicalize().ok());
    paths.into_iter().find(|path| path.is_file() && path.starts_with(folder))
}

/// Returns the words that a shell finds in `text`, without their quotes. A quoted text with blanks
/// may be for another shell, so that its words are among them. Each word has true if it names what
/// is written: if it stands behind `-o` or `>`.
pub(super) fn shell_words(text: &str) -> Vec<(String, bool)> {
    let mut words: Vec<(String, bool)> = Vec::new();
    let (mut word, mut quote, mut is_written) = (String::new(), None, false);
    let mut letters = text.chars();
    loop {
        let letter = letters.next();
        match (letter, quote) {
            (Some(letter), Some(mark)) if letter == mark => quote = None,
            (Some('\'' | '"'), None) => quote = letter,
            (Some('\\'), None | Some('"')) => word.extend(letters.next()),
            (Some(letter), Some(_)) => word.push(letter),
            (Some(letter), None) if !letter.is_whitespace() && !";|&<>()`".contains(letter) => word.push(letter),
            (end, _) => {
                let ended = std::mem::take(&mut word);
                let next_is_written = end == Some('>') || ended == "-o" || (ended.is_empty() && is_written);
                if ended.contains(char::is_whitespace) {
                    words.extend(shell_words(&ended));
                }
                words.extend(Some((ended, is_written)).filter(|(word, _)| !word.is_empty()));
                is_written = next_is_written;
                if end.is_none() {
                    return words;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_kernel::command::{CommandVerify, Cost};

    fn spec(folder: &Path) -> CommandSpec {
        let words = |words: &[&str]| words.iter().map(|word| Template::parse(word).unwrap()).collect::<Vec<_>>();
        CommandSpec {
            folder: folder.to_owned(),
            command: words(&["./prog", "--data=in.txt", "{N}"]),
            build: vec![words(&["cc", "-o", "prog", "main.c"])],
            environment: Vec::new(),
            cost: Cost::Wall,
            values: Vec::new(),
            warmup: true,
            memory_limit: None,
            writes: Vec::new(),
            verify: CommandVerify::default(),
        }
    }

    fn digested(spec: &CommandSpec) -> String {
        digest(spec, &Scope::default(), Vec::new(), &SourceFiles::default()).unwrap()
    }

    #[test]
    fn files_that_words_name_count_and_those_that_a_build_makes_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let now = || digested(&spec(folder.path()));
        write("main.c", "int main;");
        write("in.txt", "1");
        let first = now();
        write("prog", "made by the build");
        write("unrelated", "");
        assert_eq!(now(), first);
        write("in.txt", "2");
        let second = now();
        assert_ne!(second, first);
        write("main.c", "int main(void);");
        assert_ne!(now(), second);
    }

    #[test]
    fn files_count_that_a_shell_finds_in_a_word_unless_a_run_writes_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let words = |text: &str| Template::parse(text).unwrap();
        let script = "exec python3 run.py --in='my data.txt' >out.txt && sh -c \"./tool <list\" > out.txt";
        let command = vec![words("sh"), words("-c"), words(script), words("cost.txt")];
        let spec = CommandSpec { command, writes: vec![words("cost.txt")], build: Vec::new(), ..spec(folder.path()) };
        let now = || digested(&spec);
        let mut before = now();
        for name in ["run.py", "my data.txt", "tool", "list"] {
            write(name, "1");
            let first = std::mem::replace(&mut before, now());
            assert_ne!(before, first, "{name}");
            write(name, "2");
            assert_ne!(now(), before, "{name}");
            before = now();
        }
        for name in ["out.txt", "cost.txt", "other"] {
            write(name, "1");
            assert_eq!(now(), before, "{name}");
        }
    }

    #[test]
    fn what_the_problem_says_counts() {
        let folder = tempfile::tempdir().unwrap();
        let of = |spec: &CommandSpec| digested(spec);
        let plain = spec(folder.path());
        assert_ne!(of(&plain), of(&CommandSpec { cost: Cost::Cpu, ..plain.clone() }));
        assert_ne!(of(&plain), of(&CommandSpec { warmup: false, ..plain.clone() }));
        assert_ne!(of(&plain), of(&CommandSpec { build: Vec::new(), ..plain.clone() }));
    }
}
