//! The tuner's side of a backend: from a configuration to a program on disk.

use crate::backends::{Program, SessionKind};
use crate::error::DeviceError;
use crate::problem::Scope;
use tunesmith_core::{CompileData, Failure, FailureKind, Interrupt};

/// The tuner's side of a backend.
pub(crate) trait Backend: Send + Sync {
    /// Returns whether kernels run on the processors that compile. Then nothing is compiled while
    /// something is measured.
    fn shares_processor(&self) -> bool;

    /// Returns the worker's side that runs the programs.
    fn session(&self) -> SessionKind;

    /// Returns what [`build`](Self::build) compiles and how.
    fn plan(&self, scope: &Scope) -> BuildPlan;

    /// Returns the device and its compiler: what has to be the same when a run is resumed, by name.
    fn identity(&self) -> Vec<(String, String)>;

    /// Returns a digest of everything but the configuration that makes the compiled code what it
    /// is. `scope` is that of an example.
    fn digest(&self, scope: &Scope) -> Result<String, DeviceError>;

    /// Makes the program of one configuration; called from several threads at once. Gives up soon
    /// when `cancel` is raised.
    fn build(&self, scope: &Scope, cancel: &Interrupt) -> Result<Built, BuildError>;
}

/// The build of one kernel in one configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildPlan {
    /// Exactly what is compiled.
    pub source: String,
    /// The command and its arguments; empty where a library compiles.
    pub command: Vec<String>,
}

/// A program ready to be loaded. Its file is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) program: Program,
    pub(crate) compile: CompileData,
    /// A digest of the machine code: programs of the same take the same time. None where the code
    /// is not known.
    pub(crate) digest: Option<String>,
}

impl Drop for Built {
    fn drop(&mut self) {
        // A file that is gone already is as good as removed; the folder is removed at the end in
        // any case.
        let _ = std::fs::remove_file(self.program.path());
    }
}

/// Why there is no program.
#[derive(Debug)]
pub(crate) enum BuildError {
    /// The build was cancelled.
    Cancelled,
    /// The configuration does not compile, or takes too long to.
    Failed(String),
    /// The kernel cannot be called with the problem's arguments.
    Signature(Mismatch),
    /// The device does not take this configuration.
    Refused(String),
    /// The compiler cannot be used.
    Broken(DeviceError),
}

/// Where the kernel's signature and the problem disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    pub(crate) argument: Option<String>,
    pub(crate) message: String,
    pub(crate) remedy: String,
    pub(crate) log: String,
}

impl Mismatch {
    /// Returns the same as the failure of one configuration: the signature may depend on
    /// parameters.
    pub(crate) fn into_failure(self) -> Failure {
        Failure::new(FailureKind::Compile, format!("{}; {}\n{}", self.message, self.remedy, self.log))
    }

    /// Returns the same as an error of the problem.
    pub(crate) fn into_error(self) -> DeviceError {
        let Self { argument, message, remedy, log } = self;
        DeviceError::Signature { argument, message, remedy, log }
    }
}
