//! OpenCL devices, through the system's drivers. The OpenCL library is searched for on first use.
//!
//! All drivers run in processes of their own, because they sometimes abort, hang or overflow the
//! stack. Compile workers (`compile`) make a binary of each configuration, several at a time, for
//! the tuner's side (`backend`). The measuring worker (`session`) only loads the binary, or
//! finds it in the driver's own cache. On processors, the driver compiles a kernel again at its
//! first launch, for the shape of the work-group. A compile worker therefore launches one
//! work-group and waits until it begins. While the driver's cache is warm, the measuring worker
//! compiles (`driver_cache`). It keeps the last programs loaded, because the final re-measurement
//! takes the same few in turn.

mod backend;
mod device;
mod devices;
mod driver_cache;
mod log;
#[cfg(feature = "opencl")]
mod native;
#[cfg(not(feature = "opencl"))]
#[path = "absent.rs"]
mod native;
mod object_sizes;
mod question;
#[cfg(feature = "opencl")]
mod recent;
mod signature;
mod task;

pub use device::{OpenClDevice, OpenClKind};
pub use question::devices;

pub(crate) use device::missing;
pub(crate) use devices::OpenClDevices;
pub(crate) use native::{Compiler, describe_all, open};
pub(crate) use signature::FoundArgument;
pub(crate) use task::{OpenClMade, OpenClProgram, OpenClTask, TaskArgument};
