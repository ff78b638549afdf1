//! Runs the preprocessor of the system's compilers on the kernels of a problem.

use super::sources::SourcePlace;
use crate::live::{KernelPlan, LiveEvaluator};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_backend::host::{Compiler, Ended};
use tunesmith_files::{TEXT, read};
use tunesmith_kernel::{Kernel, Language, Scope};

/// Limit of a run of the preprocessor.
const LIMIT: Duration = Duration::from_secs(20);

/// The form of the preprocessor's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The code alone.
    Code,
    /// The code with the definitions of macros, and with the file and the line of each line.
    Trace,
    /// As `Trace`, with neither parameters nor sizes as macros.
    Bare,
    /// The definitions of the macros that the compiler has without any source.
    Empty,
}

impl LiveEvaluator {
    /// Returns the kernels' sources after the preprocessor. `None` if a compiler cannot tell. Of
    /// alternative kernels, each is preprocessed where it is chosen.
    pub(super) fn preprocessed(&self, scope: &Scope, form: Form) -> Option<String> {
        let kernels = self.options.spec.kernels.iter().zip(self.programs.plan_all(scope));
        kernels.map(|(kernel, plan)| self.preprocessed_kernel(kernel, &plan, scope, form)).collect()
    }

    fn preprocessed_kernel(&self, kernel: &Kernel, plan: &KernelPlan, scope: &Scope, form: Form) -> Option<String> {
        let worker = &self.options.worker;
        let language = if kernel.language == Language::C { Language::C } else { Language::Cpp };
        let clock = Arc::clone(&self.options.clock);
        let compiler = Compiler::find(&self.options.compilers, worker, language, clock).ok()?;
        let (options, inputs) = match kernel.language {
            Language::C | Language::Cpp => compiled(&compiler, &plan.build.command, 1 + kernel.sources.len())?,
            _ => driven(self.data.folder(), &plan.build.source, &plan.build.command)?,
        };
        let is_kept = |option: &&String| !matches!(form, Form::Bare | Form::Empty) || !defines(option, scope);
        let options: Vec<String> = options.iter().filter(is_kept).cloned().collect();
        let nothing = || vec!["-x".to_owned(), (if language == Language::C { "c" } else { "c++" }).to_owned()];
        let inputs = if form == Form::Empty { vec!["/dev/null".to_owned()] } else { inputs };
        let before = if form == Form::Empty { nothing() } else { Vec::new() };
        let output = self.data.folder().join("preprocessed.txt");
        let text = |input: String| {
            let own = if form == Form::Code { "-P" } else { "-dD" };
            let mut arguments = ["-E", own, "-w"].map(str::to_owned).to_vec();
            arguments.extend(options.iter().cloned().chain(before.clone()));
            arguments.extend([input, "-o".to_owned(), output.display().to_string()]);
            match compiler.run(&arguments, LIMIT, worker.interrupt()).ok()?.0 {
                Ended::Exited(status) if status.success() => whole(&output, TEXT),
                _ => None,
            }
        };
        inputs.into_iter().map(text).collect()
    }
}

/// Returns the text of a file, unless it is longer than `most` bytes. A part of it would tell nothing
/// about the rest.
pub(super) fn whole(path: &Path, most: u64) -> Option<String> {
    read(path, most).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns true if `option` makes a name of `scope` a macro.
fn defines(option: &str, scope: &Scope) -> bool {
    let name = option.strip_prefix("-D").and_then(|rest| rest.split('=').next());
    name.is_some_and(|name| scope.get(name).is_some())
}

/// Returns the options and the inputs of a `command` that compiles and links: its last words before the
/// output are the inputs.
fn compiled(compiler: &Compiler, command: &[String], inputs: usize) -> Option<(Vec<String>, Vec<String>)> {
    let words = command.get(compiler.words(&[]).len()..)?;
    let end = words.iter().rposition(|word| word == "-o")?;
    let (options, inputs) = words[..end].split_at(end.checked_sub(inputs)?);
    let options = options.iter().filter(|word| !["-shared", "-c"].contains(&word.as_str()));
    Some((options.cloned().collect(), inputs.to_vec()))
}

/// Returns the options and the input that preprocess `source` for a device whose driver compiles it. The
/// system's preprocessor knows neither the driver's headers nor its macros. Where that matters, it
/// fails.
fn driven(folder: &Path, source: &str, command: &[String]) -> Option<(Vec<String>, Vec<String>)> {
    let path = folder.join("preprocessed.cpp");
    tunesmith_files::write(&path, source).ok()?;
    let counts = |word: &&String| ["-D", "-I", "-U"].iter().any(|option| word.starts_with(option));
    let fixed = ["-x", "c++"].map(str::to_owned);
    Some((fixed.into_iter().chain(command.iter().filter(counts).cloned()).collect(), vec![path.display().to_string()]))
}

/// A line of a preprocessor's output of the form [`Form::Trace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TraceLine<'a> {
    pub(super) file: &'a str,
    pub(super) line: usize,
    /// True if the file is one of the system's headers.
    pub(super) is_system: bool,
    pub(super) text: &'a str,
}

impl<'a> TraceLine<'a> {
    /// Returns the name of the macro that the line defines, and its value.
    pub(super) fn definition(&self) -> Option<(&'a str, &'a str)> {
        let rest = self.text.strip_prefix("#define ")?;
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        Some((&rest[..end], rest[end..].trim()))
    }

    /// Returns the place of the line.
    pub(super) fn place(&self) -> SourcePlace {
        SourcePlace { file: self.file.into(), line: self.line }
    }

    /// Returns true if the compiler itself is the origin of the line.
    pub(super) fn is_built_in(&self) -> bool {
        self.file == "<built-in>"
    }
}

/// Returns the lines of a trace with their places.
pub(super) fn traced(trace: &str) -> impl Iterator<Item = TraceLine<'_>> {
    let (mut file, mut line, mut is_system) = ("", 0, false);
    trace.lines().filter_map(move |text| {
        if let Some((number, name, flags)) = marker(text) {
            (file, line, is_system) = (name, number, flags.split(' ').any(|flag| flag == "3"));
            return None;
        }
        let found = TraceLine { file, line, is_system, text };
        line += 1;
        Some(found)
    })
}

/// Reads `# LINE "FILE" FLAGS`.
fn marker(text: &str) -> Option<(usize, &str, &str)> {
    let (number, rest) = text.strip_prefix("# ")?.split_once(' ')?;
    let (name, flags) = rest.strip_prefix('"')?.rsplit_once('"')?;
    Some((number.parse().ok()?, name, flags.trim()))
}
