//! Compilations by a driver, which may crash: their tasks and results.

use crate::backends::{BackendMessage, decoded, encoded};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use tunesmith_core::Interrupt;
use tunesmith_kernel::DeviceError;

/// Compiles in processes of their own, several at a time.
pub trait CompileService: Send + Sync {
    /// Compiles one configuration within `limit`. Called from several threads at once.
    ///
    /// # Errors
    /// The process cannot be started.
    fn compile(
        &self,
        task: &BackendMessage,
        limit: Duration,
        cancel: &Interrupt,
    ) -> Result<CompileOutcome, DeviceError>;
}

/// The answer of a compile worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Compiled {
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

/// A compiler's description of its output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Made {
    description: Value,
    /// True if a kernel still runs in this worker, so that the next task needs another one.
    retires_its_worker: bool,
}

impl Made {
    /// Creates the description of an output.
    pub(crate) fn new(description: &impl Serialize, retires_its_worker: bool) -> Self {
        Self { description: encoded(description), retires_its_worker }
    }

    /// Returns true if the worker must not be used again.
    pub fn retires_its_worker(&self) -> bool {
        self.retires_its_worker
    }

    /// Returns the description. Returns `None` if it is that of another compiler.
    pub(crate) fn description<T: DeserializeOwned>(&self) -> Option<T> {
        decoded(&self.description)
    }
}

/// The end of a compilation.
#[derive(Debug)]
pub enum CompileOutcome {
    /// The compiler answered.
    Compiled(Compiled),
    /// The driver crashed during the compilation. The text describes the end.
    Crashed(String),
    /// The kernel crashed, or the driver while starting it. The measuring worker will find out.
    CrashedLater,
    /// The compiler took longer than its limit.
    TimedOut,
    /// The run was interrupted.
    Cancelled,
}
