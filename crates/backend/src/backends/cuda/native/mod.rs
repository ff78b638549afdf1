//! The worker's side: the calls into NVIDIA's libraries.

mod architecture;
mod cupti;
mod describe;
mod driver;
mod image;
mod nvml;
mod nvrtc;
mod start;

pub(crate) use architecture::describe_architecture;
pub(crate) use cupti::resolve;
pub(crate) use describe::{describe_all, open};

/// NVRTC in a compile worker.
pub(crate) type Compiler = crate::backends::gpu::native::Compiler<nvrtc::Nvrtc>;
