//! Judges the end of a compilation.

use crate::backends::KernelSource;
use crate::backends::compiling::{CompileOutcome, Compiled, Made};
use crate::backends::{BuildError, Mismatch};
use std::time::Duration;
use tunesmith_kernel::measure::limits::human;
use tunesmith_kernel::{DeviceError, did_you_mean};
use tunesmith_space::closest;

/// Judges the ends of the compilations of one kernel.
pub(crate) struct CompileVerdict<'a> {
    pub(crate) source: &'a KernelSource,
    /// The qualifier that marks a kernel, used in "it has no function with ...".
    pub(crate) qualifier: &'static str,
    /// The time limit of a compilation.
    pub(crate) limit: Duration,
    /// Rewrites the compiler's log so that it refers to the user's files.
    pub(crate) readable: &'a dyn Fn(&str) -> String,
}

impl CompileVerdict<'_> {
    /// Returns the compiler's output. Returns `None` if the output is not known but may be good all
    /// the same.
    pub(crate) fn judge(&self, outcome: CompileOutcome) -> Result<Option<Made>, BuildError> {
        match outcome {
            CompileOutcome::Compiled(Compiled::Built(made)) => Ok(Some(made)),
            CompileOutcome::Compiled(Compiled::Failed(log)) => Err(BuildError::Failed((self.readable)(&log))),
            CompileOutcome::Compiled(Compiled::NoFunction(known)) => Err(self.no_function(&known)),
            CompileOutcome::Compiled(Compiled::Refused(reason)) => Err(BuildError::Refused(reason)),
            CompileOutcome::Compiled(Compiled::Unusable(reason)) => {
                Err(BuildError::Broken(DeviceError::Worker { problem: format!("cannot compile: {reason}") }))
            }
            CompileOutcome::Crashed(how) => Err(BuildError::Failed(format!("the driver's compiler crashed: {how}"))),
            CompileOutcome::CrashedLater => Ok(None),
            CompileOutcome::TimedOut => {
                Err(BuildError::Failed(format!("the compilation did not end within {}", human(self.limit))))
            }
            CompileOutcome::Cancelled => Err(BuildError::Cancelled),
        }
    }

    fn no_function(&self, known: &[String]) -> BuildError {
        let function = self.source.kernel.function.as_str();
        // The known names have no template arguments.
        let name = function.split('<').next().unwrap_or(function);
        let similar = closest(name, known.iter().map(String::as_str)).map(str::to_owned);
        let remedy = match (&similar, known) {
            (Some(_), _) => did_you_mean(&similar).trim_start_matches("; ").to_owned(),
            (None, []) => format!("it has no function with the qualifier `{}`", self.qualifier),
            (None, _) => format!("it has {}", known.join(", ")),
        };
        let message = format!("`{}` has no kernel `{function}`", self.source.kernel.file.display());
        BuildError::Signature(Mismatch { argument: None, message, remedy, log: String::new() })
    }
}
