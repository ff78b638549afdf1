//! The backends, and the one place that knows all of them.
//!
//! A backend has two sides. The tuner's side ([`Backend`]) turns a configuration into a program on
//! disk. The worker's side ([`Session`]) holds buffers, loads programs and launches them. All other
//! code exists once and knows no backend:
//!
//! - [`crate::live`] decides when each configuration is built.
//! - [`crate::worker`] fills and checks the buffers, launches the kernels, and defines failures.
//! - [`crate::measure`] sets the time limits.
//!
//! A new backend is a folder here, whose face is a [`BackendKind`], and its line in the [`table`]. Its devices are
//! [`KernelDevice`](target::KernelDevice)s. What travels between its two sides is opaque to all others
//! ([`message`], [`Program`]). Nothing here knows [`crate::worker`] or [`crate::live`].

pub(crate) mod ahead;
mod backend;
pub(crate) mod c;
pub(crate) mod command;
pub(crate) mod compiling;
pub(crate) mod cuda;
pub(crate) mod gpu;
pub(crate) mod hip;
pub(crate) mod kind;
mod listing;
mod message;
pub(crate) mod opencl;
mod program;
pub(crate) mod question;
mod session;
mod source;
pub(crate) mod table;
pub(crate) mod target;
mod which;

pub use backend::BuildPlan;
pub use listing::{DeviceInfo, Missing};
pub use table::KernelBackend;
pub use target::Target;
pub use which::{DeviceKind, WhichDevice};

pub(crate) use backend::{Backend, BuildError, Built, Mismatch, Opening, Origin};
pub(crate) use c::{float_controls, fork, interval_timers, leave, openmp_settings, signal_handlers};
pub(crate) use listing::Absent;
pub(crate) use message::{BackendMessage, SessionKind, decoded, encoded};
pub(crate) use program::Program;
pub(crate) use session::{
    BufferId, Fault, Launch, LaunchArgument, OutsideProfiler, PIECE, Pixels, Placement, Profiler, Resources, Session,
};
pub(crate) use source::{KernelSource, reference_arguments};
