//! The messages between the tuner's side and the worker's side of OpenCL.

use crate::backends::Program;
use crate::backends::opencl::FoundArgument;
use crate::backends::opencl::device::NAME;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;
use tunesmith_kernel::Grid;

/// A configuration to compile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenClTask {
    /// The device's position.
    pub(crate) device: usize,
    pub(crate) source: PathBuf,
    pub(crate) options: String,
    pub(crate) function: String,
    /// The arguments, in the order of the kernel's signature.
    pub(crate) arguments: Vec<TaskArgument>,
    pub(crate) grid: Grid,
    /// The path for the binary.
    pub(crate) binary: PathBuf,
}

/// An argument of the kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum TaskArgument {
    /// A buffer of this many bytes.
    Buffer(usize),
    /// An image.
    Image,
    /// The bytes of a value.
    Scalar(Vec<u8>),
    /// This many bytes of local memory.
    Local(usize),
}

/// The driver's description of a compiled program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenClMade {
    /// The kernel's arguments as the driver sees them.
    pub(crate) arguments: Vec<FoundArgument>,
    /// The time of the compilation alone, without the start of the worker and of its driver.
    pub(crate) took: Duration,
}

/// A program for a session: a driver's binary, or else its source.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OpenClProgram {
    /// The driver's binary. The file is missing if the driver returns no binary.
    pub(crate) binary: PathBuf,
    pub(crate) source: PathBuf,
    pub(crate) options: String,
    pub(crate) function: String,
}

impl From<OpenClProgram> for Program {
    fn from(program: OpenClProgram) -> Self {
        let OpenClProgram { binary, source, options, function } = program;
        Self::new(NAME, binary).made_from(source).launching(function).with_details(&options)
    }
}

impl OpenClProgram {
    /// Returns the program of this backend. Returns `None` if it is another's.
    pub(crate) fn of(program: &Program) -> Option<Self> {
        let (binary, function) = (program.path().to_owned(), program.function().to_owned());
        let source = program.source().filter(|_| program.is_of(NAME))?.to_owned();
        Some(Self { binary, source, options: program.details()?, function })
    }
}
