//! A problem with its origin: the file that states it, or the calls that built it.

use crate::GridTable;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tunesmith_core::{Judging, Refusal};
use tunesmith_formats::ProblemFile;
use tunesmith_kernel::Judge;
use tunesmith_kernel::measure::Policy;
use tunesmith_space::{Constraint, Space, Value};
use tunesmith_spec::{
    Diagnostic, Draft, Fault, Faults, Key, Level, Messages, Places, ProblemError, ProblemSpec, SourceFile,
};

/// A problem with its origin, so that messages about it have a place.
#[derive(Clone, Debug)]
pub struct Problem {
    pub(crate) spec: ProblemSpec,
    pub(crate) places: Places,
    pub(crate) source_file: SourceFile,
    /// Warnings about the file.
    pub(crate) warnings: Vec<Diagnostic>,
    /// The reasons for which the kernels of a file cannot be run, each also among the warnings. Without kernels, the
    /// space can still be tuned on synthetic devices.
    pub(crate) obstacles: Vec<Diagnostic>,
    /// Doubts about the words of a command, which only `check` reports.
    pub(crate) doubts: Vec<Diagnostic>,
    /// The folder with the sources and data of a problem made in code.
    pub(crate) texts: Option<Arc<TempDir>>,
}

impl Problem {
    /// Returns the problem of these parts. `source_file` and `places` say where they stand.
    ///
    /// # Errors
    /// Parts contradict each other.
    pub(crate) fn new(draft: &Draft, source_file: SourceFile, places: Places) -> Result<Self, ProblemError> {
        let message = |fault: &Fault| message(fault, &source_file, &places);
        match ProblemSpec::new(draft) {
            Ok((spec, warnings)) => Ok(Self {
                spec,
                warnings: warnings.iter().map(message).collect(),
                obstacles: Vec::new(),
                doubts: Vec::new(),
                texts: None,
                places,
                source_file,
            }),
            Err(faults) => Err(ProblemError { messages: faults.iter().map(message).collect(), source_file }),
        }
    }

    /// Returns the problem of these parts, if neither they nor the front door have faults.
    ///
    /// # Errors
    /// `own` has an error, or parts contradict each other.
    pub(crate) fn checked(
        draft: &Draft,
        own: Faults,
        source_file: SourceFile,
        places: Places,
    ) -> Result<Self, ProblemError> {
        let messages = Messages::new(source_file.clone());
        own.into_list().iter().for_each(|fault| messages.push(message(fault, &source_file, &places)));
        with_messages(Self::new(draft, source_file, places), messages)
    }

    /// Returns the problem that a file states.
    ///
    /// # Errors
    /// The file has faults, or its parts contradict each other.
    pub(crate) fn of_file(file: ProblemFile) -> Result<Self, ProblemError> {
        let ProblemFile { draft, places, messages, obstacles, doubts } = file;
        let problem = Self::new(&draft, messages.source.clone(), places);
        Ok(Self { obstacles, doubts, ..with_messages(problem, messages)? })
    }

    /// Returns the problem of searching `space`, called `name`. It has no kernels, so that only a
    /// device that needs none tunes it: a function, a formula or a recording. `sizes` are named
    /// numbers that the journal keeps.
    ///
    /// ```
    /// use tunesmith_problem::Problem;
    /// use tunesmith_space::{Parameter, Space, Value};
    ///
    /// let space = Space::builder().parameter(Parameter::new("TILE", [8, 16].map(Value::Int))?).build()?;
    /// let problem = Problem::of_space("tiles", &space, Vec::new());
    /// assert_eq!(problem.space(&[])?.space.digest(), space.digest());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_space(name: impl Into<String>, space: &Space, sizes: Vec<(String, Value)>) -> Self {
        let name = name.into();
        Self {
            source_file: SourceFile::new(name.as_str(), ""),
            spec: ProblemSpec::of_space(name, space, sizes),
            places: Places::default(),
            warnings: Vec::new(),
            obstacles: Vec::new(),
            doubts: Vec::new(),
            texts: None,
        }
    }

    /// Returns what is tuned, without its origin.
    pub fn spec(&self) -> &ProblemSpec {
        &self.spec
    }

    /// Returns the file. A problem made in code has an empty one, with the path of its folder and name.
    pub fn source_file(&self) -> &SourceFile {
        &self.source_file
    }

    /// Returns the warnings about the file.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Adds a constraint, such as a function of the program, which no file can have.
    #[must_use]
    pub fn with_constraint(self, constraint: Constraint) -> Self {
        Self { spec: self.spec.with_constraint(constraint), ..self }
    }

    /// Replaces the rules for measuring configurations.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Self {
        Self { spec: self.spec.with_policy(policy), ..self }
    }

    /// Replaces the rules for comparing configurations.
    #[must_use]
    pub fn with_judging(self, judging: Judging) -> Self {
        Self { spec: self.spec.with_judging(judging), ..self }
    }

    /// Sets the function that decides about outputs in place of a comparison.
    #[must_use]
    pub fn with_judge(self, judge: Judge) -> Self {
        Self { spec: self.spec.with_judge(judge), ..self }
    }

    /// Replaces the tables that the strategy `grid` evaluates.
    #[must_use]
    pub fn with_grid(self, grid: Vec<GridTable>) -> Self {
        Self { spec: self.spec.with_grid(grid), ..self }
    }

    /// Returns the folder that relative paths in the file start from.
    pub(crate) fn folder(&self) -> &Path {
        self.source_file.folder()
    }

    /// Returns the default path of results: beside the problem's file, with `suffix` in place of
    /// its own. A problem made in code has them in its temporary folder and removes them with it.
    pub fn beside(&self, suffix: &str) -> PathBuf {
        match &self.texts {
            Some(texts) => texts.path().join(format!("{}.{suffix}", self.spec.name())),
            None => self.source_file.path.with_extension(suffix),
        }
    }

    /// Returns the place of a part in the file.
    pub(crate) fn place(&self, key: &Key) -> Range<usize> {
        self.places.of(key).span
    }

    /// Returns a message about a part.
    pub fn message(&self, level: Level, key: &Key, text: String, remedy: Option<String>) -> Diagnostic {
        self.message_inside(level, key, None, Refusal::new(text, remedy))
    }

    /// Returns a message about the part `key`: about the bytes `inside` of its expression, if it has one.
    pub(crate) fn message_inside(
        &self,
        level: Level,
        key: &Key,
        inside: Option<(&str, &Range<usize>)>,
        fault: Refusal,
    ) -> Diagnostic {
        let place = self.place(key);
        let span = match inside {
            Some((expression, inside)) => self.source_file.inside(&place, expression, inside),
            None => place,
        };
        self.places.called(key, self.source_file.diagnostic(level, span, fault.text, fault.remedy))
    }

    /// Returns an error about a part.
    pub fn error(&self, key: &Key, text: String, remedy: Option<String>) -> ProblemError {
        let message = self.message(Level::Error, key, text, remedy);
        ProblemError { messages: vec![message], source_file: self.source_file.clone() }
    }
}

/// Returns the problem with the messages of the front door that read its parts, which come first.
///
/// # Errors
/// The problem has faults, or a message is an error.
fn with_messages(problem: Result<Problem, ProblemError>, messages: Messages) -> Result<Problem, ProblemError> {
    let has_errors = messages.have_errors();
    let own = messages.into_list();
    let joined = |others: Vec<Diagnostic>| own.into_iter().chain(others).collect();
    match problem {
        Ok(problem) if has_errors => {
            Err(ProblemError { messages: joined(problem.warnings), source_file: problem.source_file })
        }
        Ok(problem) => Ok(Problem { warnings: joined(problem.warnings.clone()), ..problem }),
        Err(error) => Err(ProblemError { messages: joined(error.messages), source_file: error.source_file }),
    }
}

/// Returns the message for a fault.
fn message(fault: &Fault, source_file: &SourceFile, places: &Places) -> Diagnostic {
    let Fault { level, key, inside, remedy, .. } = fault;
    let place = places.of(key);
    let span = match inside {
        Some((expression, inside)) => source_file.inside(&place.span, expression, inside),
        None => place.span,
    };
    places.called(key, source_file.diagnostic(*level, span, fault.text(&place.name), remedy.clone()))
}
