//! The messages between the tuner's side and the worker's side of a GPU.

use crate::backends::Program;
use crate::backends::cuda::cubin::Spills;
use crate::backends::gpu::GpuApi;
use crate::host::GpuSetup;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A configuration to compile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct GpuTask {
    pub(crate) setup: GpuSetup,
    pub(crate) source: PathBuf,
    /// The source's name in messages.
    pub(crate) name: String,
    pub(crate) options: Vec<String>,
    /// The C++ name of the kernel.
    pub(crate) function: String,
    /// The C++ names of variables in constant memory.
    pub(crate) symbols: Vec<String>,
    /// The path for the binary.
    pub(crate) binary: PathBuf,
}

/// The compiler's description of a binary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct GpuMade {
    /// The kernel's mangled name.
    pub(crate) function: String,
    /// The mangled names of the requested variables.
    pub(crate) symbols: Vec<String>,
    /// The registers that were spilled, if the compiler tells.
    pub(crate) spills: Option<Spills>,
}

/// A device, as the worker opens it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct GpuPlace {
    /// The position among the GPUs of its API.
    pub(crate) device: usize,
    pub(crate) setup: GpuSetup,
}

/// A program for a session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GpuProgram {
    /// The file with machine code, or with PTX.
    pub(crate) binary: PathBuf,
    /// The kernel's mangled name.
    pub(crate) function: String,
    /// For each of the kernel's arguments, the mangled name of the variable in constant memory that
    /// it is copied to. `None` for arguments that are passed as parameters.
    pub(crate) symbols: Vec<Option<String>>,
}

impl GpuProgram {
    /// Returns the program as one of an API.
    pub(crate) fn of_api(self, api: GpuApi) -> Program {
        let Self { binary, function, symbols } = self;
        Program::new(api.device(), binary).launching(function).with_details(&symbols)
    }

    /// Returns the program of a GPU. Returns `None` if it is another backend's.
    pub(crate) fn of(program: &Program) -> Option<Self> {
        let (binary, function) = (program.path().to_owned(), program.function().to_owned());
        Some(Self { binary, function, symbols: program.details()? })
    }
}
