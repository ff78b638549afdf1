//! CUDA devices, through the NVIDIA driver's library and the run-time compiler NVRTC. Both
//! libraries are searched for on first use. What HIP has as well is in [`gpu`](super::gpu); here
//! are the calls into NVIDIA's libraries.
//!
//! CUPTI (`cupti`) lists the counters of a GPU and reads them for a kernel.

mod counters;
pub(in crate::backends) mod cubin;
mod devices;
pub(in crate::backends) mod headers;
#[cfg(feature = "cuda")]
mod native;
#[cfg(not(feature = "cuda"))]
#[path = "absent.rs"]
mod native;
mod ncu;
mod nvcc;
mod question;

pub use counters::{ChipCounters, CountersTask, ResolvedCounter};
pub use question::{counters, cuda_architecture, cuda_devices};

pub(crate) use counters::{CRASH_REMEDY, NoCounters, REMEDY};
pub(crate) use devices::CudaDevices;
pub(crate) use native::{Compiler, describe_all, describe_architecture, open, resolve};
pub(crate) use ncu::outside_profiler;

pub(in crate::backends) use nvcc::Nvcc;
