//! Compiling where a driver may crash: what is asked, and what comes out.

use crate::backends::{CompileTask, Made};
use crate::error::DeviceError;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tunesmith_core::Interrupt;

/// Compiles in processes of their own, several at a time.
pub(crate) trait CompileService: Send + Sync {
    /// Compiles one configuration within `limit`; called from several threads at once.
    ///
    /// # Errors
    /// No process can be started.
    fn compile(&self, task: &CompileTask, limit: Duration, cancel: &Interrupt) -> Result<CompileOutcome, DeviceError>;
}

/// What a compile worker answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Compiled {
    /// A binary, with what is known of it.
    Built(Made),
    /// The compiler's log.
    Failed(String),
    /// The program's kernels, none of which has the name.
    NoFunction(Vec<String>),
    /// The device does not take the kernel.
    Refused(String),
    /// The compiler or its device cannot be used.
    Unusable(String),
}

/// How a compilation ended.
#[derive(Debug)]
pub(crate) enum CompileOutcome {
    Compiled(Compiled),
    /// The driver crashed while it compiled, in these words.
    Crashed(String),
    /// The kernel, or the driver while it started it, crashed: the measuring worker will tell.
    CrashedLater,
    TimedOut,
    Cancelled,
}
