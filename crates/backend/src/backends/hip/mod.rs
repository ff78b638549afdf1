//! HIP devices, through AMD's runtime library and the run-time compiler hiprtc. Both libraries are
//! searched for on first use. What CUDA has as well is in [`gpu`](super::gpu); here are the calls
//! into AMD's libraries.
//!
//! A kernel that reads memory that is not its own may end the process: the runtime then aborts
//! instead of returning an error. The worker is replaced, as after any crash.

pub(in crate::backends) mod code_object;
mod devices;
#[cfg(feature = "hip")]
mod native;
#[cfg(not(feature = "hip"))]
#[path = "absent.rs"]
mod native;
mod question;

pub use question::{hip_architecture, hip_devices};

pub(crate) use devices::HipDevices;
pub(crate) use native::{Compiler, describe_all, describe_architecture, open};
