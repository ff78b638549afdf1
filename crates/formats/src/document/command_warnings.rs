//! Warnings about the words of a command problem that probably mean something else.
//!
//! Nothing here is certain: `|` may be an argument, and a build may know by other means where to write.
//! The warnings are for `check` alone.

use super::tree::{Node, Section};
use std::path::Path;
use tunesmith_core::Refusal;
use tunesmith_kernel::command::OUT;
use tunesmith_spec::Located;

/// Programs that read a line of a shell behind `-c`.
const SHELLS: [&str; 11] = ["sh", "bash", "dash", "ash", "busybox", "zsh", "ksh", "mksh", "fish", "csh", "tcsh"];

/// Programs that hand their words to a shell.
const RELAYS: [&str; 2] = ["ssh", "parallel"];

/// Programs in whose scripts and patterns `$`, `*`, `<` and quotes have meanings of their own.
const INTERPRETERS: [&str; 22] = [
    "awk", "gawk", "mawk", "nawk", "sed", "perl", "ruby", "php", "jq", "make", "gmake", "ninja", "envsubst", "tclsh",
    "expect", "grep", "egrep", "find", "expr", "test", "[", "rsync",
];

/// The most bytes of a script that is searched for the name of the configuration's folder.
const SCRIPT: u64 = 1 << 20;

/// A warning: its place, and the doubt.
pub(super) type Warning = Located<Refusal>;

/// Returns the warnings about `[kernel]` with its build steps, and about `[verify]`.
pub(super) fn of<'a>(
    kernel: &Section<'a>,
    build: &[Node<'a>],
    verify: Option<&Section<'a>>,
    folder: &Path,
) -> Vec<Warning> {
    let check = verify.and_then(|section| section.get("check"));
    let commands = build.iter().cloned().chain(kernel.get("command")).chain(check);
    let mut warnings: Vec<Warning> = commands.flat_map(|command| shell_signs(&command)).collect();
    warnings.extend(without_out(kernel, build, folder));
    warnings
}

/// Returns the warning about a build that does not name the configuration's own folder.
fn without_out(kernel: &Section<'_>, build: &[Node<'_>], folder: &Path) -> Option<Warning> {
    let environment = kernel.get("environment").and_then(|node| node.section());
    let values = environment.iter().flat_map(Section::entries).map(|(_, node)| node).collect::<Vec<_>>();
    let mut words = build.iter().flat_map(Node::items).chain(values);
    let names_out = |word: Node<'_>| word.text().is_some_and(|text| is_named(text) || script_names_out(text, folder));
    if build.is_empty() || words.any(names_out) {
        return None;
    }
    let place = kernel.get("build")?.span();
    let text = format!("the build does not name `{{{OUT}}}`, the folder for what it makes");
    let remedy = "write `-o {OUT}/prog` and command = [\"{OUT}/prog\"]; without it, each configuration builds in a \
                  copy of the problem's folder, where a file that was generated before may count as up to date";
    Some(Located { value: Refusal::new(text, Some(remedy.to_string())), span: place })
}

/// Returns true if a text has the name `OUT` by itself.
fn is_named(text: &str) -> bool {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == OUT)
}

/// Returns true if `word` names a script in the folder that uses the variable `OUT`, or that is too long
/// to be searched for it.
fn script_names_out(word: &str, folder: &Path) -> bool {
    let path = folder.join(word);
    let Some(file) = path.metadata().ok().filter(std::fs::Metadata::is_file) else { return false };
    file.len() > SCRIPT
        || tunesmith_files::read(&path, SCRIPT).is_ok_and(|bytes| is_named(&String::from_utf8_lossy(&bytes)))
}

/// Returns the warnings about the words of a command that a shell would not take as they are.
fn shell_signs(command: &Node<'_>) -> Vec<Warning> {
    let words = command.items();
    let texts: Vec<&str> = words.iter().map(|word| word.text().unwrap_or_default()).collect();
    let names = || texts.iter().map(|text| text.rsplit('/').next().unwrap_or_default());
    let has_shell = names().any(|name| SHELLS.contains(&name)) && texts.iter().any(|text| is_script_option(text));
    let is_script = has_shell || names().any(|name| RELAYS.contains(&name));
    let is_interpreted = names().any(|name| INTERPRETERS.contains(&name) || name.starts_with("python"));
    let warning = |(word, text): (&Node<'_>, &str)| {
        let found = brace(text).or_else(|| if is_script || is_interpreted { None } else { shell_sign(text) });
        found.map(|value| Located { value, span: word.span() })
    };
    words.iter().zip(texts.iter().copied()).skip(1).filter_map(warning).collect()
}

/// Returns true for a shell's `-c`, also among other options, as in `-ec`.
fn is_script_option(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|letters| letters.ends_with('c') && letters.chars().all(char::is_alphabetic))
}

/// Returns the fault of a shell's `${NAME}`, of which the value of `NAME` replaces the braces.
fn brace(word: &str) -> Option<Refusal> {
    let (_, rest) = word.split_once("${").filter(|(_, rest)| !rest.starts_with('{'))?;
    let name = rest.split('}').next()?;
    let text = format!("`${{{name}}}` becomes `$` and the value of `{name}`");
    let remedy = format!("write `{{{name}}}` for the value, or `${{{{{name}}}}}` for the variable of a shell");
    Some(Refusal::new(text, Some(remedy)))
}

/// Returns the fault of a word that no shell reads.
fn shell_sign(word: &str) -> Option<Refusal> {
    let fault = |text: String, remedy: String| Some(Refusal::new(text, Some(remedy)));
    let in_shell = "[\"sh\", \"-c\", \"...\"] runs a line of a shell";
    if is_operator(word) {
        return fault(format!("`{word}` is passed to the program: no shell reads it"), in_shell.to_string());
    }
    // The loader replaces $ORIGIN.
    if let Some(name) = variable(word).filter(|name| *name != "ORIGIN") {
        let remedy = format!("write `{{{name}}}` for a parameter or size; {in_shell}");
        return fault(format!("`${name}` is passed to the program as it is: no shell replaces it"), remedy);
    }
    let value = word.split_once('=').and_then(|(_, value)| quoted(value, &['\'']));
    if value.or_else(|| quoted(word, &['\'', '"'])).is_some() {
        let remedy = "remove the quotes: each word of the list is one argument".to_string();
        return fault(format!("the quotes of `{word}` are passed to the program: no shell removes them"), remedy);
    }
    None
}

/// Returns true for a word that separates or redirects commands in a shell: `|`, `&&`, `;`, `2>&1`,
/// `>out.txt`.
fn is_operator(word: &str) -> bool {
    let redirection = word.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '&');
    let redirects = redirection.starts_with('>') || (word.starts_with('<') && !word.contains('>'));
    ["|", "||", "|&", "&", "&&", ";"].contains(&word) || redirects
}

/// Returns the name behind a `$`, if a shell would replace it.
fn variable(word: &str) -> Option<&str> {
    let (_, rest) = word.split_once('$')?;
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'))
}

/// Returns the text between two of `marks` that a shell would remove. A macro's value may have double
/// quotes, since `-DNAME="text"` is a text in C, and `'a'` is a character there.
fn quoted<'a>(word: &'a str, marks: &[char]) -> Option<&'a str> {
    let between = |mark: &char| word.strip_prefix(*mark).and_then(|rest| rest.strip_suffix(*mark));
    let inner = marks.iter().find_map(between)?;
    Some(inner).filter(|inner| inner.chars().count() > 1 && !inner.starts_with('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_a_shell_are_found_and_others_are_not() {
        let doubtful = ["|", "&&", ";", ">", "2>&1", ">out.txt", "<in.txt", "$TILE", "-DN=$N", "'a b'", "\"a b\""];
        for word in doubtful.into_iter().chain(["--name='a b'", "-DS='\"a\"'"]) {
            assert!(shell_sign(word).is_some(), "{word}");
        }
        let plain =
            ["a|b", "-DS=\"a\"", "-DC='a'", "-DC='\\n'", "a;b", "$", "costs $5", "-Wl,-rpath,$ORIGIN/lib", "<b>"];
        for word in plain {
            assert_eq!(shell_sign(word), None, "{word}");
        }
    }

    #[test]
    fn a_script_that_is_too_long_to_be_searched_may_name_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
        write("with.sh", "cc -o $OUT/prog".to_string());
        write("without.sh", "cc -o prog".to_string());
        write("long.sh", " ".repeat(1 << 20) + "cc -o $OUT/prog");
        let names = |name: &str| script_names_out(name, folder.path());
        assert_eq!(["with.sh", "without.sh", "long.sh", "gone.sh", "."].map(names), [true, false, true, false, false]);
    }

    #[test]
    fn braces_of_a_shells_variable_are_found_unless_they_are_doubled() {
        assert_eq!(brace("echo ${{TILE}} {TILE}"), None);
        let Refusal { text, remedy } = brace("echo ${TILE}").unwrap();
        let remedy = remedy.unwrap();
        assert!(text.contains("`${TILE}` becomes `$` and the value of `TILE`"), "{text}");
        assert!(remedy.contains("`{TILE}` for the value, or `${{TILE}}`"), "{remedy}");
    }
}
