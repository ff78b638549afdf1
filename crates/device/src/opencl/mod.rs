//! OpenCL devices, through the drivers that the system has; the OpenCL library is looked for when one is wanted.
//!
//! All drivers run in processes of their own, because they abort, hang and overflow the stack at times. The tuner's side
//! ([`backend`]) lets compile workers ([`compile`]) make a binary of each configuration, several at a time;
//! the measuring worker ([`session`]) only loads it, or finds it in the driver's own cache. On processors the driver compiles
//! a kernel again when it is first launched, for the work-group's shape; a compile worker therefore launches one
//! work-group, until it has begun.

mod backend;
mod binding;
mod compile;
mod device;
mod devices;
mod failure;
mod log;
mod session;
mod signature;

pub(crate) use backend::OpenClBackend;
pub(crate) use compile::{OpenClTask, compile};
pub use device::{OpenClDevice, OpenClKind};
pub use devices::opencl_devices;

pub(crate) use device::describe_all;
pub(crate) use devices::{REMEDY, devices};
pub(crate) use session::OpenClSession;
pub(crate) use signature::Found;

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a session loads: a driver's binary, or else the source it was made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenClProgram {
    /// The driver's binary; missing where the driver gives none.
    pub(crate) binary: PathBuf,
    pub(crate) source: PathBuf,
    pub(crate) options: String,
    pub(crate) function: String,
}
