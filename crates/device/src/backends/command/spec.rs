//! The description of a command that is tuned.

use crate::backends::command::{NumberPattern, TextPattern};
use crate::problem::Template;
use std::fmt;
use std::path::PathBuf;

/// The name under which templates and environment variables know the folder of a configuration.
pub const OUT: &str = "OUT";

/// A command with its build steps, its cost and its checks.
///
/// Every word is a [`Template`]: `{NAME}` is a parameter, a size or [`OUT`], a folder that each
/// configuration has for itself. All of them are environment variables as well, under the same
/// names.
#[derive(Clone, Debug)]
pub struct CommandSpec {
    /// The folder in which everything runs: the problem file's.
    pub folder: PathBuf,
    /// The program and its arguments; at least one word.
    pub command: Vec<Template>,
    /// The commands that build a configuration, in order; each has at least one word.
    pub build: Vec<Vec<Template>>,
    /// More environment variables for all commands.
    pub environment: Vec<(String, Template)>,
    /// The cost of a run.
    pub cost: Cost,
    /// Further numbers that a run prints, by name.
    pub values: Vec<(String, NumberPattern)>,
    /// Tells whether the first run is not counted.
    pub warmup: bool,
    /// The most address space that a process of the command may have, in bytes.
    pub memory_limit: Option<u64>,
    /// The checks of a run.
    pub verify: CommandVerify,
}

/// The cost of a run.
#[derive(Clone, Debug)]
pub enum Cost {
    /// The time from start to end.
    Wall,
    /// The processor time of the command and those it waited for, outside of the system's kernel.
    User,
    /// The processor time of the command and those it waited for.
    Cpu,
    /// A number that it prints, on either output.
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
    /// Every unit with the word for it.
    pub const ALL: [(&'static str, Self); 4] =
        [("s", Self::Seconds), ("ms", Self::Milliseconds), ("us", Self::Microseconds), ("ns", Self::Nanoseconds)];

    /// Returns the number of units in a millisecond.
    pub(crate) fn per_millisecond(self) -> f64 {
        match self {
            Self::Seconds => 1e-3,
            Self::Milliseconds => 1.0,
            Self::Microseconds => 1e3,
            Self::Nanoseconds => 1e6,
        }
    }
}

/// The checks of a run beyond its exit status, which has to be 0.
#[derive(Clone, Debug, Default)]
pub struct CommandVerify {
    /// A pattern that the output of every run must match somewhere.
    pub output: Option<TextPattern>,
    /// A file that holds what every run has to print on its standard output.
    pub expected_output: Option<PathBuf>,
    /// A command that is run after the first run and ends with status 0 if that was right. Its
    /// standard input is the first run's standard output.
    pub check: Option<Vec<Template>>,
}

impl CommandSpec {
    /// Returns every command with the key that names it: build steps, the command, the check.
    pub(crate) fn commands(&self) -> impl Iterator<Item = (&'static str, &[Template])> {
        let build = self.build.iter().map(|step| ("build", step.as_slice()));
        let check = self.verify.check.iter().map(|check| ("check", check.as_slice()));
        build.chain([("command", self.command.as_slice())]).chain(check)
    }

    /// Returns every number that a run has to print: what it is for, and its pattern.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (&str, &NumberPattern)> {
        let cost = match &self.cost {
            Cost::Printed(pattern, _) => Some(("cost", pattern)),
            _ => None,
        };
        cost.into_iter().chain(self.values.iter().map(|(name, pattern)| (name.as_str(), pattern)))
    }
}

/// As identities and messages name it.
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
