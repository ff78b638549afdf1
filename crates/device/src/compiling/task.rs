//! What a compile worker is asked and answers.

use crate::cuda::CudaTask;
use crate::opencl::{Found, OpenClTask};
use serde::{Deserialize, Serialize};

/// A configuration to compile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum CompileTask {
    /// By an OpenCL driver.
    OpenCl(OpenClTask),
    /// By NVRTC.
    Cuda(CudaTask),
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Compiled {
    /// A binary, with what is known of it.
    Built(Made),
    /// The compiler's log.
    Failed(String),
    /// The program's kernels, none of which has the name.
    NoFunction(Vec<String>),
    /// The device does not take the kernel.
    Refused(String),
    /// The compiler or its device cannot be used.
    Unusable(String),
}

/// What a compiler tells of what it made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Made {
    /// The kernel's arguments as the driver sees them. `retire` asks for another worker next time: a kernel still runs in
    /// this one.
    OpenCl { arguments: Vec<Found>, retire: bool },
    /// The mangled names of the kernel and of the variables asked for.
    Cuda { function: String, symbols: Vec<String> },
}

impl Made {
    /// Whether the worker that made it is not to be used again.
    pub(crate) fn retires_its_worker(&self) -> bool {
        match self {
            Self::OpenCl { retire, .. } => *retire,
            Self::Cuda { .. } => false,
        }
    }
}
