//! The description of a command to tune.

use crate::command::{NumberPattern, TextPattern};
use crate::problem::Template;
use std::fmt;
use std::path::PathBuf;

/// The name of a configuration's folder in templates and environment variables.
pub const OUT: &str = "OUT";

/// A command with its build steps, its cost and its checks.
///
/// Every word is a [`Template`]. `{NAME}` is a parameter, a size or [`OUT`], the configuration's
/// own folder. All of them are also environment variables of the same names.
#[derive(Clone, Debug)]
pub struct CommandSpec {
    /// The folder of the problem file. Each configuration builds and runs in a copy of it.
    pub folder: PathBuf,
    /// The program and its arguments, at least one word.
    pub command: Vec<Template>,
    /// The commands that build a configuration, in order. Each has at least one word.
    pub build: Vec<Vec<Template>>,
    /// Further environment variables for all commands.
    pub environment: Vec<(String, Template)>,
    /// The cost of a run.
    pub cost: Cost,
    /// Further numbers printed by a run, by name.
    pub values: Vec<(String, NumberPattern)>,
    /// True if the first run is not counted.
    pub warmup: bool,
    /// The maximum address space of each process of the command, in bytes.
    pub memory_limit: Option<u64>,
    /// The files that runs write. They are removed before each run, and their contents do not belong to
    /// the command's identity.
    pub writes: Vec<Template>,
    /// The checks of a run.
    pub verify: CommandVerify,
}

/// The cost of a run.
#[derive(Clone, Debug)]
pub enum Cost {
    /// The time from start to end.
    Wall,
    /// The processor time of the command and of the processes it waited for, without the time in
    /// the operating system's kernel.
    User,
    /// The processor time of the command and of the processes it waited for.
    Cpu,
    /// A number printed on either output.
    Printed(NumberPattern, Unit),
}

/// The unit of a printed time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    #[default]
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl Unit {
    /// Every unit with its word.
    pub const ALL: [(&'static str, Self); 4] =
        [("s", Self::Seconds), ("ms", Self::Milliseconds), ("us", Self::Microseconds), ("ns", Self::Nanoseconds)];

    /// Returns the number of units in a millisecond.
    pub fn per_millisecond(self) -> f64 {
        match self {
            Self::Seconds => 1e-3,
            Self::Milliseconds => 1.0,
            Self::Microseconds => 1e3,
            Self::Nanoseconds => 1e6,
        }
    }
}

/// The checks of a run beyond its exit status, which must be 0.
#[derive(Clone, Debug, Default)]
pub struct CommandVerify {
    /// A pattern that the output of every run must match somewhere.
    pub output: Option<TextPattern>,
    /// A file with the expected standard output of every run.
    pub expected_output: Option<PathBuf>,
    /// A command that checks the first run. It ends with status 0 if the run was correct. Its
    /// standard input is the first run's standard output.
    pub check: Option<Vec<Template>>,
}

impl CommandSpec {
    /// Returns every command with its key: the build steps, the command and the check.
    pub fn commands(&self) -> impl Iterator<Item = (&'static str, &[Template])> {
        let build = self.build.iter().map(|step| ("build", step.as_slice()));
        let check = self.verify.check.iter().map(|check| ("check", check.as_slice()));
        build.chain([("command", self.command.as_slice())]).chain(check)
    }

    /// Returns true if the output of a run is checked. An exit status alone verifies nothing: a
    /// command that computes the wrong result ends with 0, too.
    pub fn is_verified(&self) -> bool {
        let CommandVerify { output, expected_output, check } = &self.verify;
        output.is_some() || expected_output.is_some() || check.is_some()
    }

    /// Returns every number that a run must print: its purpose and its pattern.
    pub fn numbers(&self) -> impl Iterator<Item = (&str, &NumberPattern)> {
        let cost = match &self.cost {
            Cost::Printed(pattern, _) => Some(("cost", pattern)),
            _ => None,
        };
        cost.into_iter().chain(self.values.iter().map(|(name, pattern)| (name.as_str(), pattern)))
    }
}

/// Writes the cost as identities and messages name it.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wall => f.write_str("wall"),
            Self::User => f.write_str("user"),
            Self::Cpu => f.write_str("cpu"),
            Self::Printed(pattern, unit) => write!(f, "{pattern} in {unit:?}"),
        }
    }
}
