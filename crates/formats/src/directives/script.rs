//! Reads the scripts that build and run a program in any language. They become a command problem.

use std::ops::Range;
use tunesmith_kernel::Template;
use tunesmith_kernel::command::{CommandSpec, CommandVerify, Cost, NumberPattern, Unit};
use tunesmith_spec::{Diagnostic, Key, Level, Located, Places, SourceFile};

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

    /// Returns the command, or the reason why there is none. Adds the places of its parts to `places`.
    pub(super) fn command(&self, source: &SourceFile, places: &mut Places) -> Result<CommandSpec, Vec<Diagnostic>> {
        let error = |place: &Range<usize>, text: String, remedy: Option<&str>| {
            vec![source.diagnostic(Level::Error, place.clone(), text, remedy.map(str::to_string))]
        };
        let Some(run) = &self.run else {
            let place = self.place().unwrap_or_default();
            let remedy = Some("write `#atf::run_script \"./run.sh\"`");
            return Err(error(&place, "no directive says how the program is run".to_string(), remedy));
        };
        let runnable = |text: &Located<String>| {
            runnable(&text.value, source).map_err(|(fault, remedy)| error(&text.span, fault, Some(remedy)))
        };
        let words = |words: &[&str], place: &Range<usize>| {
            let words = words.iter().map(|word| Template::parse(&plain(word)));
            words.collect::<Result<Vec<_>, _>>().map_err(|fault| error(place, fault.to_string(), None))
        };
        let key = Key::of("kernel");
        places.add(key.clone(), run.span.clone());
        places.add(key.field("command"), run.span.clone());
        let enter = if self.compile.is_some() { ENTER } else { "" };
        let text = runnable(run)?;
        let (command, cost, writes) = match &self.cost_file {
            Some(file) => {
                let script = format!("{enter}{}{RUN}{}", COST[0], COST[1]);
                for part in ["cost", "unit", "writes"] {
                    places.add(key.field(part), file.span.clone());
                }
                let pattern = NumberPattern::parse(PATTERN);
                let pattern = pattern.map_err(|fault| error(&file.span, fault.to_string(), None))?;
                let command = words(&["sh", "-c", &script, "sh", &text, &file.value], &run.span)?;
                (command, Cost::Printed(pattern, Unit::Nanoseconds), words(&[&file.value], &file.span)?)
            }
            None => {
                let script = format!("{enter}exec {RUN}");
                (words(&["sh", "-c", &script, "sh", &text], &run.span)?, Cost::Wall, Vec::new())
            }
        };
        let mut build = Vec::new();
        if let Some(compile) = &self.compile {
            places.add(key.field("build"), compile.span.clone());
            let script = format!("{LINK}{ENTER}exec {RUN}");
            build.push(words(&["sh", "-c", &script, "sh", &runnable(compile)?], &compile.span)?);
        }
        Ok(CommandSpec {
            folder: source.folder().to_path_buf(),
            command,
            build,
            environment: Vec::new(),
            cost,
            values: Vec::new(),
            warmup: true,
            memory_limit: None,
            writes,
            verify: CommandVerify::default(),
        })
    }
}

/// Returns a word of a command in which braces stand for themselves, and not around the names of parameters.
fn plain(word: &str) -> String {
    word.replace('{', "{{").replace('}', "}}")
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
