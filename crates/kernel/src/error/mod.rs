//! The errors of tuning a problem on a device.

mod data;

pub use data::{DataError, ScratchError};

use crate::problem::{Language, TemplateError, did_you_mean};
use std::io;
use std::path::PathBuf;
use tunesmith_power::{PowercapError, SteeringError};
use tunesmith_space::{ErrorClass, ExprError, UserError, Value};

/// A problem that cannot be tuned on this device, whatever the configuration. The failure of a
/// single configuration is a [`Failure`](tunesmith_core::Failure), not an error.
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
        /// The reason.
        source: io::Error,
    },
    /// A file or folder whose name compilers do not take, in a run that cannot give it another one.
    #[error(
        "compilers do not take the name `{}`, and a link to it in `{}` has an odd name, too; set TMPDIR to a folder \
             whose name has letters and digits alone",
        path.display(),
        folder.display()
    )]
    FileName {
        /// The file or folder.
        path: PathBuf,
        /// The folder of the run.
        folder: PathBuf,
    },
    /// A compiler that is missing or does not work.
    #[error("the {language} compiler `{program}` {problem}; {remedy}")]
    Compiler {
        /// The language that it compiles.
        language: Language,
        /// The command.
        program: String,
        /// The fault. The text follows the command.
        problem: String,
        /// The remedy.
        remedy: String,
    },
    /// A problem without kernels.
    #[error("the problem has no kernel")]
    NoKernel,
    /// A driver without usable devices.
    #[error("{api} is missing: {reason}; {remedy}")]
    NoDevices {
        /// The driver's interface: OpenCL or CUDA.
        api: &'static str,
        /// The missing part.
        reason: String,
        /// The remedy.
        remedy: String,
    },
    /// Hardware counters that cannot be read.
    #[error("there are no counters: {reason}; {remedy}")]
    NoCounters {
        /// The reason.
        reason: String,
        /// The remedy.
        remedy: String,
    },
    /// A request for the counters of an unknown chip.
    #[error("{reason}; {remedy}")]
    NoChip {
        /// The unknown chip.
        reason: String,
        /// The list of known chips.
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
    /// A device of this driver that the machine does not have.
    #[error("there is no {driver} device `{which}`")]
    Absent {
        /// The driver's name.
        driver: &'static str,
        /// The requested number or part of a name.
        which: String,
        /// The list of available devices.
        remedy: String,
    },
    /// A kernel or reference in a language that the device does not run.
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
    /// A kernel function that is missing, or that takes other arguments than the problem declares.
    #[error("{message}; {remedy}")]
    Signature {
        /// The alternative whose kernel this is, if the problem has alternatives. Boxed, so that
        /// results with this error stay small.
        alternative: Option<Box<Value>>,
        /// The argument concerned, if the mismatch is in one argument.
        argument: Option<String>,
        /// The mismatch.
        message: String,
        /// The remedy.
        remedy: String,
        /// The compiler's output.
        log: String,
    },
    /// The name of a function with an unknown parameter or size.
    #[error("the kernel's function `{function}`: {source}")]
    FunctionName {
        /// The function as it was written.
        function: String,
        /// The unknown name.
        source: TemplateError,
    },
    /// An option or expression with an unknown name or a wrong form.
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
        /// The fault of the value.
        problem: String,
        /// The fault of the expression, if the value comes from one.
        source: Option<ExprError>,
    },
    /// The contents of a buffer that cannot be made.
    #[error("argument `{argument}`: {source}")]
    Data {
        /// The argument.
        argument: String,
        /// The fault of the data.
        source: DataError,
    },
    /// A buffer that exceeds the address space.
    #[error("argument `{argument}`: {shape:?} elements exceed the address space")]
    TooLarge {
        /// The argument.
        argument: String,
        /// Its shape.
        shape: Vec<u64>,
    },
    /// An argument that the problem names but the kernel does not have.
    #[error("{what} `{name}`, but the kernel has no such argument{}", did_you_mean(.suggestion))]
    UnknownArgument {
        /// The key that names the argument, such as "`expected` names".
        what: &'static str,
        /// The name.
        name: String,
        /// The name of the argument that is most similar.
        suggestion: Option<String>,
    },
    /// A range to compare that leaves its output, or is empty.
    #[error(
        "`compare` says {}..{} for the output `{argument}`, which has {length} elements; a range is first..end, within \
             the output",
        range.start, range.end
    )]
    Ranges {
        /// The output.
        argument: String,
        /// The range of elements.
        range: std::ops::Range<u64>,
        /// The number of the output's elements.
        length: u64,
    },
    /// An expression with a name that is neither a parameter nor a size.
    #[error("`{expression}` uses `{name}`, which is not a parameter{}", did_you_mean(.suggestion))]
    UnknownName {
        /// The expression.
        expression: String,
        /// The name.
        name: String,
        /// The known name that is most similar.
        suggestion: Option<String>,
    },
    /// A reference function that does not compile, crashes, or takes too long.
    #[error("the reference `{function}` in {}: {message}", file.display())]
    Reference {
        /// The file.
        file: PathBuf,
        /// The function.
        function: String,
        /// Describes the failure.
        message: String,
    },
    /// A command that cannot be run, or a faulty key of the command.
    #[error("{text}; {remedy}")]
    Command {
        /// The key of the problem that is wrong, such as `build`.
        key: &'static str,
        /// The fault.
        text: String,
        /// The remedy.
        remedy: String,
    },
    /// A device whose clock or power limit cannot be set.
    #[error("{problem}")]
    Settings {
        /// The problem.
        problem: String,
        /// The remedy.
        remedy: String,
    },
    /// Energy that cannot be measured.
    #[error("{problem}")]
    NoEnergy {
        /// The reason.
        problem: String,
        /// The remedy.
        remedy: String,
    },
    /// A lack of room for temporary files.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// A fault of the machine that no configuration is to blame for: a full disk, a folder that is
    /// gone, no descriptors left.
    #[error("{problem}")]
    Machine {
        /// The fault and its remedy.
        problem: String,
    },
    /// The device was lost, or its memory failed, each time that a configuration ran.
    #[error("{problem}")]
    Lost {
        /// The trouble and its remedy.
        problem: String,
    },
    /// The run was interrupted before its first evaluation.
    #[error("interrupted")]
    Interrupted,
    /// A worker process that cannot be started or used.
    #[error("the worker process {problem}")]
    Worker {
        /// The fault.
        problem: String,
    },
}

impl UserError for DeviceError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Interrupted => ErrorClass::Interruption,
            Self::Compiler { .. }
            | Self::NoDevices { .. }
            | Self::NoCounters { .. }
            | Self::Scratch(_)
            | Self::Machine { .. }
            | Self::Lost { .. }
            | Self::Worker { .. } => ErrorClass::Run,
            _ => ErrorClass::Request,
        }
    }

    fn remedy(&self) -> Option<&str> {
        match self {
            Self::Absent { remedy, .. } | Self::Settings { remedy, .. } | Self::NoEnergy { remedy, .. } => Some(remedy),
            _ => None,
        }
    }
}

impl From<SteeringError> for DeviceError {
    fn from(SteeringError { problem, remedy }: SteeringError) -> Self {
        Self::Settings { problem, remedy }
    }
}

impl From<PowercapError> for DeviceError {
    fn from(error: PowercapError) -> Self {
        Self::NoEnergy { problem: error.to_string(), remedy: error.remedy() }
    }
}

impl From<DeviceError> for tunesmith_core::Error {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::Lost { .. } => Self::Lost(Box::new(error)),
            DeviceError::Interrupted => Self::Interrupted,
            error => Self::Device(Box::new(error)),
        }
    }
}
