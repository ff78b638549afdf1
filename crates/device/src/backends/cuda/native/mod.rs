//! The worker's side: the calls into NVIDIA's libraries.

mod architecture;
mod compile;
mod cupti;
mod describe;
mod driver;
mod libraries;
mod nvml;
mod nvrtc;
mod session;

pub(crate) use architecture::describe_architecture;
pub(crate) use compile::Compiler;
pub(crate) use cupti::resolve;
pub(crate) use describe::describe_all;
pub(crate) use session::open;
