//! The errors of tuning a problem on a device.

mod data;

pub use data::{DataError, ScratchError};

use crate::problem::{Language, TemplateError, did_you_mean};
use std::io;
use std::path::PathBuf;
use tunesmith_space::ExprError;

/// A problem that cannot be tuned on this device, whatever the configuration. A configuration that
/// fails is not an error but a [`Failure`](tunesmith_core::Failure).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// A source file that cannot be read.
    #[error("{what}'s file {} cannot be read: {source}", path.display())]
    Source {
        /// The owner of the file, such as "the kernel".
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The compiler is missing or does not work.
    #[error("the {language} compiler `{program}` {problem}; {remedy}")]
    Compiler {
        /// The language it is for.
        language: Language,
        /// The command.
        program: String,
        /// The fault, in words that follow the command.
        problem: String,
        /// The remedy.
        remedy: String,
    },
    /// A problem without kernels.
    #[error("the problem has no kernel")]
    NoKernel,
    /// No device of a driver can be used.
    #[error("{api} is missing: {reason}; {remedy}")]
    NoDevices {
        /// The driver's interface: OpenCL or CUDA.
        api: &'static str,
        /// The missing part.
        reason: String,
        /// The remedy.
        remedy: String,
    },
    /// No hardware counters can be read.
    #[error("there are no counters: {reason}; {remedy}")]
    NoCounters {
        /// The reason.
        reason: String,
        /// The remedy.
        remedy: String,
    },
    /// Counters were asked for of a chip that nobody knows.
    #[error("{reason}; {remedy}")]
    NoChip {
        /// Which.
        reason: String,
        /// Which there are.
        remedy: String,
    },
    /// A CUDA kernel without blocks of threads.
    #[error("{what} `{name}` does not say how many threads a block has; write `local = [\"256\"]`")]
    NoBlocks {
        /// The role of the function: a kernel, or the reference.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// The machine has no such device of this driver.
    #[error("there is no {driver} device `{which}`")]
    Absent {
        /// The driver's name.
        driver: &'static str,
        /// The number or the part of a name that was asked for.
        which: String,
        /// Which devices there are.
        remedy: String,
    },
    /// The kernels are not for this device.
    #[error("{what} `{name}` is written in {language}, which {device} does not run; {remedy}")]
    Language {
        /// The role of the function: a kernel, or the reference.
        what: &'static str,
        /// Its name.
        name: String,
        /// Its language.
        language: Language,
        /// The device.
        device: String,
        /// The remedy.
        remedy: String,
    },
    /// A kernel without work-items in a language that has them.
    #[error(
        "{what} `{name}` does not say how many work-items it has; write `global = [\"N\"]`, or `grid` in work-groups"
    )]
    NoWorkItems {
        /// The role of the function: a kernel, or the reference.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// The kernel's function is missing or takes other arguments than the problem declares.
    #[error("{message}; {remedy}")]
    Signature {
        /// The argument concerned, when it is one.
        argument: Option<String>,
        /// The mismatch.
        message: String,
        /// The remedy.
        remedy: String,
        /// The compiler's output.
        log: String,
    },
    /// An option or expression with a wrong name or form.
    #[error("the kernel's option `{option}`: {source}")]
    Template {
        /// The option.
        option: String,
        /// The fault.
        source: TemplateError,
    },
    /// A scalar argument without a value.
    #[error("argument `{argument}`: {problem}")]
    Scalar {
        /// The argument.
        argument: String,
        /// The fault of its value.
        problem: String,
        /// The fault of its expression, if it has one.
        source: Option<ExprError>,
    },
    /// The contents of a buffer cannot be made.
    #[error("argument `{argument}`: {source}")]
    Data {
        /// The argument.
        argument: String,
        /// The fault of its data.
        source: DataError,
    },
    /// A buffer larger than any memory.
    #[error("argument `{argument}`: {shape:?} elements exceed the address space")]
    TooLarge {
        /// The argument.
        argument: String,
        /// Its shape.
        shape: Vec<u64>,
    },
    /// The problem names an argument that the kernel does not have.
    #[error("{what} `{name}`, but the kernel has no such argument{}", did_you_mean(.suggestion))]
    UnknownArgument {
        /// The key that names it, such as "`expected` names".
        what: &'static str,
        /// The name.
        name: String,
        /// The argument that is most likely meant.
        suggestion: Option<String>,
    },
    /// The name of a parameter or size that an expression uses and nothing has.
    #[error("`{expression}` uses `{name}`, which is no parameter{}", did_you_mean(.suggestion))]
    UnknownName {
        /// The expression.
        expression: String,
        /// The name.
        name: String,
        /// The known name that is most likely meant.
        suggestion: Option<String>,
    },
    /// The reference function does not compile, crashes, or takes too long.
    #[error("the reference `{function}` in {}: {message}", file.display())]
    Reference {
        /// The file.
        file: PathBuf,
        /// The function.
        function: String,
        /// The event.
        message: String,
    },
    /// A command that cannot be run, or a key that says how.
    #[error("{text}; {remedy}")]
    Command {
        /// The key of the problem that is wrong, such as `build`.
        key: &'static str,
        /// The fault.
        text: String,
        /// The remedy.
        remedy: String,
    },
    /// There is no room for temporary files.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// The worker process cannot be started or used.
    #[error("the worker process {problem}")]
    Worker {
        /// The fault.
        problem: String,
    },
}

impl DeviceError {
    /// Tells whether the problem or the request, rather than the machine, is at fault.
    pub fn is_request(&self) -> bool {
        let of_the_machine = matches!(
            self,
            Self::Compiler { .. }
                | Self::NoDevices { .. }
                | Self::NoCounters { .. }
                | Self::Scratch(_)
                | Self::Worker { .. }
        );
        !of_the_machine
    }

    /// Returns what to do about it, where that is known and not part of the text.
    pub fn remedy(&self) -> Option<&str> {
        match self {
            Self::Absent { remedy, .. } => Some(remedy),
            _ => None,
        }
    }
}

impl From<DeviceError> for tunesmith_core::Error {
    fn from(error: DeviceError) -> Self {
        Self::Device(Box::new(error))
    }
}
