//! CUDA devices, through the NVIDIA driver's library and the run-time compiler NVRTC, both looked for when one is wanted.
//!
//! Both run in processes of their own. The tuner's side ([`backend`]) lets compile workers ([`nvrtc`]) make a cubin of each
//! configuration, several at a time, and keeps them on disk ([`cache`]); the measuring worker ([`session`]) loads them through
//! the driver ([`driver`]) and launches their kernels. What the kernel's parameters must be is checked by the compiler itself,
//! by assertions behind the user's source ([`signature`]).
//!
//! What counters a GPU has, and what they say of a kernel, comes through CUPTI ([`cupti`]).
//!
//! An error after which the driver refuses everything, such as an access to memory that does not exist, is a failure of the
//! configuration that made it; the worker is then replaced, as after a crash.

mod backend;
mod cache;
mod cupti;
mod device;
mod devices;
mod diagnose;
mod driver;
mod libraries;
pub(crate) mod ncu;
mod nvml;
mod nvrtc;
mod session;
mod signature;
mod task;

pub(crate) use backend::CudaBackend;
pub use cupti::{ChipCounters, ResolvedCounter, counters};
pub(crate) use cupti::{CountersTask, NoCounters, resolve};
pub use device::CudaDevice;
pub use devices::cuda_devices;

pub(crate) use device::describe_all;
pub(crate) use devices::devices;
pub(crate) use session::open;
pub(crate) use task::{CudaTask, compile};

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Where NVIDIA's libraries are, and where compiled kernels are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CudaSetup {
    /// A folder that is searched for NVRTC before the system's places, with its sub-folders: where a toolkit or a Python
    /// package was unpacked.
    pub libraries: Option<PathBuf>,
    /// The folder in which cubins are kept from run to run; nowhere without it.
    pub cache: Option<PathBuf>,
    /// Nsight Compute's command line, for counters where CUPTI cannot be opened; looked for where it is usually installed
    /// without it.
    pub ncu: Option<PathBuf>,
    /// A script in place of the driver (JSON, see `docs/cuda.md`): a device without hardware, for tests.
    pub script: Option<PathBuf>,
}

/// What is missing, and how to get it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Absent {
    pub(crate) reason: String,
    pub(crate) remedy: String,
}

impl Absent {
    /// The driver, for this reason.
    fn driver(reason: &str) -> Self {
        let remedy = "install NVIDIA's driver (on a machine with an NVIDIA GPU `nvidia-smi` then lists it)";
        Self { reason: reason.to_owned(), remedy: remedy.to_owned() }
    }

    /// The compiler, for this reason.
    fn compiler(reason: &str) -> Self {
        let remedy = "install the CUDA toolkit 12 or 13, or unpack the Python package `nvidia-cuda-nvrtc` into a folder and \
                      set TUNESMITH_NVIDIA to it";
        Self { reason: reason.to_owned(), remedy: remedy.to_owned() }
    }
}

/// What a session loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CudaProgram {
    /// A cubin, or PTX.
    pub(crate) binary: PathBuf,
    /// The kernel's mangled name.
    pub(crate) function: String,
    /// For each of the kernel's arguments the mangled name of the variable in constant memory that it is copied to; none
    /// for those that are passed.
    pub(crate) symbols: Vec<Option<String>>,
}
