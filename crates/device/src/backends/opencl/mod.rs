//! OpenCL devices, through the drivers that the system has; the OpenCL library is looked for when
//! one is wanted.
//!
//! All drivers run in processes of their own, because they abort, hang and overflow the stack at
//! times. The tuner's side ([`backend`]) lets compile workers ([`compile`]) make a binary of each
//! configuration, several at a time; the measuring worker ([`session`]) only loads it, or finds it
//! in the driver's own cache. On processors the driver compiles a kernel again when it is first
//! launched, for the work-group's shape; a compile worker therefore launches one work-group, until
//! it has begun.

mod backend;
mod device;
mod log;
#[cfg(feature = "opencl")]
mod native;
#[cfg(not(feature = "opencl"))]
#[path = "absent.rs"]
mod native;
mod signature;
mod task;

pub use device::{OpenClDevice, OpenClKind};

pub(crate) use backend::OpenClBackend;
pub(crate) use device::missing;
pub(crate) use native::{Compiler, describe_all, open};
pub(crate) use signature::FoundArgument;
pub(crate) use task::{OpenClProgram, OpenClTask, TaskArgument};
