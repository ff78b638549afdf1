//! The messages between the tuner's side and the worker's side of OpenCL.

use crate::problem::Grid;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

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

/// A program for a session: a driver's binary, or else its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenClProgram {
    /// The driver's binary. The file is missing if the driver returns no binary.
    pub(crate) binary: PathBuf,
    pub(crate) source: PathBuf,
    pub(crate) options: String,
    pub(crate) function: String,
}
