//! The backends, and the one place that knows all of them.
//!
//! A backend has two sides. The tuner's side ([`Backend`]) turns a configuration into a program on
//! disk. The worker's side ([`Session`]) holds buffers, loads programs and launches them. All other
//! code exists once, in `tunesmith-device`, and knows no backend: it decides when each configuration is built,
//! fills and checks the buffers, launches the kernels, defines failures and sets the time limits.
//!
//! A new backend is a folder here, whose face is a [`BackendKind`](kind::BackendKind), and its line in the [`table`].
//! Its devices are [`KernelDevice`](target::KernelDevice)s. What travels between its two sides is opaque to all others
//! ([`message`], [`Program`]).

pub mod ahead;
mod backend;
mod c;
pub mod command;
pub mod compiling;
pub mod cuda;
pub mod gpu;
pub mod hip;
pub mod kind;
mod listing;
mod message;
pub mod opencl;
mod program;
pub mod question;
mod session;
mod source;
pub mod table;
pub(crate) mod target;
mod which;

pub use backend::{Backend, BuildError, BuildPlan, Built, Mismatch, Opening, Origin};
pub use c::{float_controls, fork, interval_timers, leave, openmp_settings, signal_handlers};
pub use listing::{DeviceInfo, Missing};
pub use message::{BackendMessage, SessionKind};
pub use program::Program;
pub use session::{
    BufferId, Fault, Launch, LaunchArgument, OutsideProfiler, PIECE, Pixels, Placement, Profiler, Resources, Session,
};
pub use source::{KernelSource, reference_arguments};
pub use table::KernelBackend;
pub use target::Target;
pub use which::{DeviceKind, WhichDevice};

pub(crate) use listing::Absent;
pub(crate) use message::{decoded, encoded};
