//! The messages between the tuner's side and the worker's side of CUDA.

use crate::host::CudaSetup;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A configuration to compile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CudaTask {
    pub(crate) setup: CudaSetup,
    pub(crate) source: PathBuf,
    /// What messages call the source.
    pub(crate) name: String,
    pub(crate) options: Vec<String>,
    /// The kernel, as C++ names it.
    pub(crate) function: String,
    /// Variables in constant memory, as C++ names them.
    pub(crate) symbols: Vec<String>,
    /// Where the binary goes.
    pub(crate) binary: PathBuf,
}

/// What a session loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CudaProgram {
    /// A cubin, or PTX.
    pub(crate) binary: PathBuf,
    /// The kernel's mangled name.
    pub(crate) function: String,
    /// For each of the kernel's arguments the mangled name of the variable in constant memory that
    /// it is copied to; none for those that are passed.
    pub(crate) symbols: Vec<Option<String>>,
}

/// Returns whether an option says what to compile for.
pub(super) fn is_architecture(option: &str) -> bool {
    option.starts_with("--gpu-architecture") || option.starts_with("-arch")
}
