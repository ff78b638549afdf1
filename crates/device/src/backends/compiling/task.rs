//! Compilations by a driver, which may crash: their tasks and results.

use crate::backends::{CompileTask, Made};
use crate::error::DeviceError;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tunesmith_core::Interrupt;

/// Compiles in processes of their own, several at a time.
pub(crate) trait CompileService: Send + Sync {
    /// Compiles one configuration within `limit`. Called from several threads at once.
    ///
    /// # Errors
    /// The process cannot be started.
    fn compile(&self, task: &CompileTask, limit: Duration, cancel: &Interrupt) -> Result<CompileOutcome, DeviceError>;
}

/// The answer of a compile worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Compiled {
    /// The compiler made a binary with these properties.
    Built(Made),
    /// The compilation failed, with this log.
    Failed(String),
    /// No kernel has the name. The list holds the program's kernels.
    NoFunction(Vec<String>),
    /// The device does not accept the kernel.
    Refused(String),
    /// The compiler or its device is not usable.
    Unusable(String),
}

/// The end of a compilation.
#[derive(Debug)]
pub(crate) enum CompileOutcome {
    Compiled(Compiled),
    /// The driver crashed during the compilation. The text describes the end.
    Crashed(String),
    /// The kernel crashed, or the driver while starting it. The measuring worker will find out.
    CrashedLater,
    TimedOut,
    Cancelled,
}
