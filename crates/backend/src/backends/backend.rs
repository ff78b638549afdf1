//! The tuner's side of a backend: from a configuration to a program on disk.

use crate::backends::compiling::CompileService;
use crate::backends::{Program, SessionKind};
use crate::host::{Compilers, WorkerCommand};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::{Clock, CompileData, Failure, FailureKind, Interrupt};
use tunesmith_kernel::data::Fields;
use tunesmith_kernel::{DeviceError, Scope};
use tunesmith_space::Value;

/// The tuner's side of a backend.
pub trait Backend: Send + Sync {
    /// Returns true if kernels run on the processors that compile. In this case compilers stand still
    /// during a measurement.
    fn shares_processor(&self) -> bool;

    /// Returns the kind of session that runs the programs.
    fn session(&self) -> SessionKind;

    /// Returns the source and the command that [`build`](Self::build) uses.
    fn plan(&self, scope: &Scope) -> BuildPlan;

    /// Returns the device and its compiler, by name. A resumed run must have the same values.
    fn identity(&self) -> Vec<(String, String)>;

    /// Returns a digest of everything that determines the compiled code, except the configuration.
    /// `scope` is an example's.
    fn digest(&self, scope: &Scope) -> Result<String, DeviceError>;

    /// Refuses to go on if a file that builds read has another content than when the backend read it.
    ///
    /// # Errors
    /// A file has changed, which the error names.
    fn require_unchanged(&self) -> Result<(), DeviceError>;

    /// Builds the program of one configuration. Called from several threads at once. Gives up soon
    /// after `cancel` is raised.
    fn build(&self, scope: &Scope, cancel: &Interrupt) -> Result<Built, BuildError>;

    /// Builds like [`build`](Self::build), but never leaves the compilation to the measuring worker.
    fn build_apart(&self, scope: &Scope, cancel: &Interrupt) -> Result<Built, BuildError> {
        self.build(scope, cancel)
    }

    /// Returns the program of the configuration of `scope` that another machine compiled, as one of this
    /// machine: its binary, which the caller writes, has a path of its own here.
    ///
    /// # Errors
    /// This machine refuses the configuration, or the program is of another kind.
    fn adopt(&self, program: Program, scope: &Scope) -> Result<Program, BuildError>;

    /// Learns the time that the measuring worker took to load a program whose compilation was left
    /// to it.
    fn loaded_in(&self, _load: Duration) {}
}

/// The values for opening a backend, beside the kernel and the device.
pub struct Opening<'a> {
    /// The folder of programs and their sources.
    pub folder: &'a Path,
    /// A name that keeps the files of one kernel apart from those of another.
    pub name: &'a str,
    /// The limit of a compilation.
    pub limit: Duration,
    /// The source of the time.
    pub clock: Arc<dyn Clock>,
    /// The compilers of this machine.
    pub compilers: &'a Compilers,
    /// The executable that supervises compilers.
    pub worker: &'a WorkerCommand,
    /// The processes in which drivers compile.
    pub service: Arc<dyn CompileService>,
}

/// The build of one kernel in one configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildPlan {
    /// The exact text that is compiled.
    pub source: String,
    /// The command and its arguments. Empty if a library compiles.
    pub command: Vec<String>,
}

/// A program that is ready to be loaded. Dropping this value removes its file.
#[derive(Debug)]
pub struct Built {
    /// The program on disk.
    pub program: Program,
    /// The facts that the compiler told.
    pub compile: CompileData,
    /// A digest of the machine code. Programs with equal digests take the same time. `None` if the
    /// code is not known.
    pub digest: Option<String>,
    /// A digest of the file of the program, if that is its machine code. Equal ones are timed apart, but a difference of
    /// their times is chance.
    pub file: Option<String>,
    /// The place where it was compiled.
    pub origin: Origin,
}

/// The place where a program was compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// On this machine, for this run.
    Here,
    /// The compilation was left to the measuring worker. A failure there says nothing of the
    /// configuration yet.
    Postponed,
    /// On another machine. A failure says nothing of the configuration yet.
    Elsewhere,
}

impl Built {
    /// Creates a build whose cost and machine code are not known yet.
    pub fn new(program: Program) -> Self {
        Self { program, compile: CompileData::default(), digest: None, file: None, origin: Origin::Here }
    }

    /// Keeps the digest of the program's file, if there is one.
    pub(crate) fn digest_file(&mut self) {
        self.file = tunesmith_files::read(self.program.path(), tunesmith_files::DATA).ok().map(Fields::of);
    }
}

impl Drop for Built {
    fn drop(&mut self) {
        // A file that is already gone counts as removed. The folder is removed at the end in any
        // case.
        let path = self.program.path();
        let _ = std::fs::remove_file(path);
        // A source of this configuration alone lies beside its binary.
        if let Some(source) = self.program.source()
            && source.with_extension("") == path.with_extension("")
        {
            let _ = std::fs::remove_file(source);
        }
    }
}

/// The reason why there is no program.
#[derive(Debug)]
pub enum BuildError {
    /// The build was cancelled.
    Cancelled,
    /// The configuration does not compile, or compiling takes too long.
    Failed(String),
    /// The kernel cannot be called with the problem's arguments.
    Signature(Mismatch),
    /// The device does not accept this configuration.
    Refused(String),
    /// The compiler cannot be used.
    Broken(DeviceError),
}

impl BuildError {
    /// Returns the error for a program of another kind of device.
    pub fn foreign() -> Self {
        Self::Refused("the program is for another kind of device".to_owned())
    }
}

/// A mismatch between the kernel's signature and the problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    pub(crate) argument: Option<String>,
    /// The mismatch.
    pub message: String,
    /// The remedy.
    pub remedy: String,
    /// The compiler's output.
    pub log: String,
}

impl Mismatch {
    /// Converts the mismatch into the failure of one configuration, because the signature may
    /// depend on parameters.
    pub fn into_failure(self) -> Failure {
        Failure::new(FailureKind::Compile, format!("{}; {}\n{}", self.message, self.remedy, self.log))
    }

    /// Converts the mismatch into an error of the problem, or of one of its alternatives.
    pub fn into_error(self, alternative: Option<Value>) -> DeviceError {
        let Self { argument, message, remedy, log } = self;
        DeviceError::Signature { alternative: alternative.map(Box::new), argument, message, remedy, log }
    }
}
