//! Reads the scripts that build and run a program in any language. They become a command problem.

use super::{Entry, entry};
use crate::item::{Item, Located};
use crate::{Diagnostic, Level, SourceFile};
use std::ops::Range;

/// The directives about scripts.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) run: Option<Located<String>>,
    pub(super) compile: Option<Located<String>>,
    pub(super) cost_file: Option<Located<String>>,
}

/// Enters the configuration's own folder, so that what scripts make there belongs to it. Several
/// configurations are built before one of them runs.
const ENTER: &str = "cd \"$OUT\" && ";

/// Links everything in the problem's folder into the configuration's own.
const LINK: &str =
    "for entry in * .[!.]*; do if test -e \"$entry\"; then ln -s \"$PWD/$entry\" \"$OUT/\" || exit; fi; done; ";

/// Runs the first word as a script.
const RUN: &str = "sh -c \"$1\"";

/// Prints the file that the second word names behind [`MARK`]. A file of an earlier run must not
/// count.
const COST: [&str; 2] = ["rm -f -- \"$2\" && ", " && printf '\\ncost file: %s\\n' \"$(cat -- \"$2\")\""];

/// The pattern of the printed cost: the one number of the file.
const PATTERN: &str = r"^cost file:\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*$";

impl Script {
    /// Returns true if there is any directive about scripts.
    pub(super) fn is_some(&self) -> bool {
        self.place().is_some()
    }

    fn place(&self) -> Option<Range<usize>> {
        let first = self.run.as_ref().or(self.compile.as_ref()).or(self.cost_file.as_ref());
        first.map(|text| text.span.clone())
    }

    /// Returns the command's section, or the reason why there is none.
    pub(super) fn section(&self, source: &SourceFile) -> Result<Entry, Vec<Diagnostic>> {
        let error = |place: &Range<usize>, text: String, remedy: &str| {
            vec![source.diagnostic(Level::Error, place.clone(), text, Some(remedy.to_string()))]
        };
        let Some(run) = &self.run else {
            let place = self.place().unwrap_or_default();
            let remedy = "write `#atf::run_script \"./run.sh\"`";
            return Err(error(&place, "no directive says how the program is run".to_string(), remedy));
        };
        let command = |text: &Located<String>| {
            runnable(&text.value, source).map_err(|(text_of, remedy)| error(&text.span, text_of, remedy))
        };
        let at = |text: &str, place: &Range<usize>| Item::scalar(text, place.clone());
        let key = |name: &str, item: Item| entry(name, &item.span.clone(), item);
        // Braces are names of parameters in a command's words.
        let plain = |word: &str| word.replace('{', "{{").replace('}', "}}");
        let words = |script: &str, text: &str, more: &[&str], place: &Range<usize>| {
            let words = ["sh", "-c", script, "sh", text].into_iter().chain(more.iter().copied());
            Item::list(words.map(|word| at(&plain(word), place)).collect(), place.clone())
        };
        let enter = if self.compile.is_some() { ENTER } else { "" };
        let mut entries = Vec::new();
        match &self.cost_file {
            Some(file) => {
                let script = format!("{enter}{}{RUN}{}", COST[0], COST[1]);
                entries.push(key("command", words(&script, &command(run)?, &[&file.value], &run.span)));
                entries.push(key("cost", at(PATTERN, &file.span)));
                entries.push(key("unit", at("ns", &file.span)));
                entries.push(key("writes", Item::list(vec![at(&plain(&file.value), &file.span)], file.span.clone())));
            }
            None => entries.push(key("command", words(&format!("{enter}exec {RUN}"), &command(run)?, &[], &run.span))),
        }
        if let Some(compile) = &self.compile {
            let script = format!("{LINK}{ENTER}exec {RUN}");
            entries.push(key("build", words(&script, &command(compile)?, &[], &compile.span)));
        }
        Ok(entry("kernel", &run.span, Item::table(entries, run.span.clone())))
    }
}

/// Returns the shell's command for `text`: a command, or the path of a script.
fn runnable(text: &str, source: &SourceFile) -> Result<String, (String, &'static str)> {
    let path = source.folder().join(text);
    if !path.is_file() {
        return Ok(text.to_string());
    }
    if !is_executable(&path) {
        let remedy = "make it executable (`chmod +x`), or write the program that runs it: \"python3 run.py\"";
        return Err((format!("`{text}` is not executable"), remedy));
    }
    // The shell looks for a word without a slash in the PATH alone.
    let text = if text.contains('/') { text.to_string() } else { format!("./{text}") };
    Ok(format!("'{}'", text.replace('\'', "'\\''")))
}

#[cfg(unix)]
fn is_executable(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &std::path::Path) -> bool {
    true
}
