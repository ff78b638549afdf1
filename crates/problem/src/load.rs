//! Loads problem files of every form.

use crate::Problem;
use std::path::Path;
use tunesmith_formats::Form;
use tunesmith_kernel::Language;
use tunesmith_space::Value;
use tunesmith_spec::{Key, ProblemError, SourceFile};

impl Problem {
    /// Reads the problem file at `path`: TOML, Kernel Tuner's T1 format (JSON), or a kernel source
    /// with ATF's directives. `sizes` replace the file's own sizes.
    ///
    /// Reads only this file. It neither reads kernel and data files nor builds a space. For a T1
    /// file, it checks that the kernel's file exists. For directives about a kernel in another file,
    /// it reads that file, since inputs take their names from it.
    ///
    /// # Errors
    /// The file is wrong. Every fault has a message with its place and remedy.
    pub fn load(path: &Path, sizes: &[(String, Value)]) -> Result<Self, ProblemError> {
        let text = tunesmith_files::read_text(path, tunesmith_files::TEXT).map_err(|error| {
            let remedy = "`tunesmith init` makes a problem to start from".to_string();
            ProblemError::unreadable(path, format!("cannot read the problem file: {error}"), Some(remedy))
        })?;
        read(SourceFile::new(path, text), sizes)
    }

    /// Reads a problem from `text`, in any form that [`load`](Self::load) reads. Relative paths
    /// start from `folder`.
    ///
    /// A text that begins with `{` is T1, one with `#atf::` is a source with ATF's directives, and
    /// any other is TOML. Messages call it `problem` in `folder`, with the suffix of its form.
    /// Without a name in the text, the problem is called `problem`. A kernel must be in a file, so
    /// that a source with directives about its own kernel gives a space alone; load it by its path.
    ///
    /// # Errors
    /// The text is wrong. Every fault has a message with its place and remedy.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, ProblemError> {
        let name = match Form::of_text(text) {
            Form::T1 => "problem.json",
            Form::Directives => "problem",
            Form::Toml => "problem.toml",
        };
        read(SourceFile::new(folder.join(name), text), &[])
    }

    /// Reads the problem's text again with other sizes.
    ///
    /// # Errors
    /// The problem does not have a size, or a size makes it wrong. Or the problem was built in
    /// code: its builder sets its sizes.
    pub fn with_sizes(&self, sizes: &[(String, Value)]) -> Result<Self, ProblemError> {
        if self.texts.is_some() {
            let remedy = "build it again with other sizes".to_string();
            let text = "the sizes of a problem made in code cannot be changed".to_string();
            return Err(self.error(&Key::default(), text, Some(remedy)));
        }
        read(self.source_file.clone(), sizes)
    }
}

impl Problem {
    /// Returns the sentence about the outputs that are not compared, if others are: whatever a kernel writes to them
    /// counts as correct. `verified` says whether the device compares outputs at all.
    pub fn partly_verified(&self, verified: Option<bool>) -> Option<String> {
        if verified != Some(true) {
            return None;
        }
        let open = self.spec.verify().uncompared(self.spec.arguments());
        let outputs = self.spec.arguments().iter().filter(|argument| argument.is_output()).count();
        let names = open.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let is_partly = !open.is_empty() && open.len() < outputs;
        is_partly.then(|| format!("partly verified: nothing compares the output {names} with a correct result"))
    }

    /// Returns the advice for a problem that compares no output with a correct result, in the terms
    /// of the problem's form.
    pub fn verification_remedy(&self) -> String {
        let cuda = self.spec.subject().kernels().any(|kernel| kernel.language == Language::Cuda);
        match Form::of(&self.source_file) {
            _ if self.texts.is_some() => "call `reference` or `expected` of the problem's builder".to_string(),
            Some(Form::Directives) if self.spec.command().is_some() => {
                "no directive checks a run: write a problem file with [kernel] command and [verify]".to_string()
            }
            Some(Form::Directives) => {
                let api = if cuda { "cuda" } else { "ocl" };
                format!("add `#atf::{api}::check_result file \"reference.c\" function \"reference\"`")
            }
            Some(Form::T1) => "add ReferenceArguments to its KernelSpecification".to_string(),
            Some(Form::Toml) | None => match self.spec.command() {
                Some(_) => "add [verify] with `output`, `expected_output` or `check`".to_string(),
                None => "add [verify] with a reference or expected results".to_string(),
            },
        }
    }
}

/// Reads a problem in the form of its file.
fn read(source_file: SourceFile, sizes: &[(String, Value)]) -> Result<Problem, ProblemError> {
    Problem::of_file(tunesmith_formats::read(source_file, sizes)?)
}
