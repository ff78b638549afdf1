//! CUDA devices, through the NVIDIA driver's library and the run-time compiler NVRTC, both looked
//! for when one is wanted.
//!
//! Both run in processes of their own. The tuner's side ([`backend`]) lets compile workers
//! ([`nvrtc`]) make a cubin of each configuration, several at a time, and keeps them on disk
//! ([`cache`]); the measuring worker ([`session`]) loads them through the driver ([`driver`]) and
//! launches their kernels. What the kernel's parameters must be is checked by the compiler itself,
//! by assertions behind the user's source ([`signature`]).
//!
//! What counters a GPU has, and what they say of a kernel, comes through CUPTI ([`cupti`]).
//!
//! An error after which the driver refuses everything, such as an access to memory that does not
//! exist, is a failure of the configuration that made it; the worker is then replaced, as after a
//! crash.

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
pub(crate) mod ncu;
mod signature;
mod task;

pub use counters::{ChipCounters, ResolvedCounter};
pub use device::CudaDevice;

pub(crate) use backend::CudaBackend;
pub(crate) use counters::{CRASH_REMEDY, CountersTask, NoCounters, REMEDY};
pub(crate) use device::missing_driver;
pub(crate) use native::{Compiler, describe_all, open, resolve};
pub(crate) use task::{CudaProgram, CudaTask};
