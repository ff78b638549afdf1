//! The identity of a command. It must be the same for a run to be resumed.

use crate::backends::command::CommandSpec;
use crate::backends::command::backend::expand;
use crate::data::Fields;
use crate::problem::{Scope, Template};
use std::path::{Path, PathBuf};

/// Returns a digest of the problem's description of its command, and of the files that it names. A
/// file counts if it is in the problem's folder and a word of a command names it in the
/// configuration of `scope`.
///
/// The files are found by a heuristic. A word names a file if a file of that name exists, or a file
/// named by the part after its `=`. Files made by the build are left out: the word after `-o` and,
/// if there is a build, the command's program. Files named only in a makefile or by an `#include`
/// are not found.
pub(super) fn digest(spec: &CommandSpec, scope: &Scope) -> std::io::Result<String> {
    let mut hash = Fields::default();
    for text in texts(spec) {
        hash.add(text);
    }
    for file in files(spec, scope) {
        hash.add(std::fs::read(file)?);
    }
    Ok(hash.digest())
}

/// Returns the parts of the problem's description, each with its name.
fn texts(spec: &CommandSpec) -> Vec<String> {
    let words = |words: &[Template]| words.iter().map(|word| format!("{:?}", word.to_string())).collect::<String>();
    let commands = spec.commands().map(|(key, command)| format!("{key} {}", words(command)));
    let environment = spec.environment.iter().map(|(name, value)| format!("environment {name} {value}"));
    let values = spec.values.iter().map(|(name, pattern)| format!("value {name} {pattern}"));
    let output = spec.verify.output.iter().map(|pattern| format!("output {pattern}"));
    let rest = [format!("cost {} warmup {} memory {:?}", spec.cost, spec.warmup, spec.memory_limit)];
    commands.chain(environment).chain(values).chain(output).chain(rest).collect()
}

/// Returns the files that the problem names, sorted by name.
fn files(spec: &CommandSpec, scope: &Scope) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for (key, command) in spec.commands() {
        let words = expand(command, scope);
        let made =
            |at: usize| (key == "command" && at == 0 && !spec.build.is_empty()) || (at > 0 && words[at - 1] == "-o");
        let read = words.iter().enumerate().filter(|(at, _)| !made(*at));
        files.extend(read.filter_map(|(_, word)| file_in(&spec.folder, word)));
    }
    files.extend(spec.verify.expected_output.clone());
    files.sort();
    files.dedup();
    files
}

/// Returns the file in the folder that a word names, if there is one.
fn file_in(folder: &Path, word: &str) -> Option<PathBuf> {
    let named = [Some(word), word.split_once('=').map(|(_, value)| value)];
    let folder = folder.canonicalize().ok()?;
    let paths = named.into_iter().flatten().filter_map(|name| folder.join(name).canonicalize().ok());
    paths.into_iter().find(|path| path.is_file() && path.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::command::{CommandVerify, Cost};

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
            verify: CommandVerify::default(),
        }
    }

    #[test]
    fn files_that_words_name_count_and_those_that_a_build_makes_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let now = || digest(&spec(folder.path()), &Scope::default()).unwrap();
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
    fn what_the_problem_says_counts() {
        let folder = tempfile::tempdir().unwrap();
        let of = |spec: &CommandSpec| digest(spec, &Scope::default()).unwrap();
        let plain = spec(folder.path());
        assert_ne!(of(&plain), of(&CommandSpec { cost: Cost::Cpu, ..plain.clone() }));
        assert_ne!(of(&plain), of(&CommandSpec { warmup: false, ..plain.clone() }));
        assert_ne!(of(&plain), of(&CommandSpec { build: Vec::new(), ..plain.clone() }));
    }
}
