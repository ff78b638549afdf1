//! GPUs, through the APIs CUDA and HIP. Both name the same functions in their own way, so
//! everything exists once but the calls themselves, which are in [`cuda`](super::cuda) and
//! [`hip`](super::hip).
//!
//! Compilers and drivers run in processes of their own. Compile workers (`native::compile`) make
//! machine code of each configuration, several at a time, for the tuner's side (`backend`), which
//! keeps it on disk (`cache`). The measuring worker (`native::session`) loads the code through
//! the driver (`native::driver`) and launches its kernels. The compiler itself checks the
//! kernel's parameters, by assertions behind the user's source (`signature`), and `diagnose`
//! reads its messages.
//!
//! After some errors, such as an access to memory that does not exist, the driver refuses every
//! call. Such an error is a failure of the configuration that caused it. The worker is then
//! replaced, as after a crash.

mod api;
mod backend;
mod cache;
mod device;
mod diagnose;
#[cfg(any(feature = "cuda", feature = "hip"))]
pub(in crate::backends) mod native;
mod question;
mod signature;
mod target;
mod task;
mod which;

pub use api::GpuApi;
pub use device::GpuDevice;

pub(crate) use task::{GpuMade, GpuPlace, GpuProgram, GpuTask};

pub(in crate::backends) use diagnose::failed;
pub(in crate::backends) use question::described;
pub(in crate::backends) use which::{find, listed};
