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
    /// In the order of the kernel's signature.
    pub(crate) arguments: Vec<TaskArgument>,
    pub(crate) grid: Grid,
    /// Where the binary goes.
    pub(crate) binary: PathBuf,
}

/// What the kernel will be called with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum TaskArgument {
    /// A buffer of so many bytes.
    Buffer(usize),
    /// The bytes of a value.
    Scalar(Vec<u8>),
    /// So many bytes of local memory.
    Local(usize),
}

/// What a session loads: a driver's binary, or else the source it was made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenClProgram {
    /// The driver's binary; missing where the driver gives none.
    pub(crate) binary: PathBuf,
    pub(crate) source: PathBuf,
    pub(crate) options: String,
    pub(crate) function: String,
}
