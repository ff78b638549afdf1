//! CUDA devices, through the NVIDIA driver's library and the run-time compiler NVRTC. Both
//! libraries are searched for on first use.
//!
//! Both run in processes of their own. Compile workers ([`nvrtc`]) make a cubin of each
//! configuration, several at a time, for the tuner's side ([`backend`]), which keeps them on disk
//! ([`cache`]). The measuring worker ([`session`]) loads the cubins through the driver ([`driver`])
//! and launches their kernels. The compiler itself checks the kernel's parameters, by assertions
//! behind the user's source ([`signature`]).
//!
//! CUPTI ([`cupti`]) lists the counters of a GPU and reads them for a kernel.
//!
//! After some errors, such as an access to memory that does not exist, the driver refuses every
//! call. Such an error is a failure of the configuration that caused it. The worker is then
//! replaced, as after a crash.

mod backend;
mod cache;
mod counters;
mod device;
mod diagnose;
#[cfg(feature = "cuda")]
mod native;
#[cfg(not(feature = "cuda"))]
#[path = "absent.rs"]
mod native;
mod ncu;
mod signature;
mod task;

pub use counters::{ChipCounters, ResolvedCounter};
pub use device::CudaDevice;

pub(crate) use backend::CudaBackend;
pub(crate) use counters::{CRASH_REMEDY, CountersTask, NoCounters, REMEDY};
pub(crate) use device::missing_driver;
pub(crate) use native::{Compiler, describe_all, describe_architecture, open, resolve};
pub(crate) use ncu::outside_profiler;
pub(crate) use task::{CudaProgram, CudaTask};
