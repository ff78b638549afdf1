//! Calls compilers and drivers. A backend turns a configuration into a program on disk, and runs that program's
//! kernels.
//!
//! - [`host`] has the parts of this machine that every backend uses: compilers, the processor, processes.
//! - [`sandbox`] keeps user code in a cage.
//! - [`energy`] reads the state of a device while kernels run.
//!
//! A backend provides only what is special to it. Only the modules that call kernels and drivers contain
//! `unsafe` code.

mod backends;
mod choice;
pub mod energy;
pub mod host;
mod power;
pub mod sandbox;
pub mod wire_path;

pub use backends::{
    Backend, BackendMessage, BufferId, BuildError, BuildPlan, Built, DeviceInfo, DeviceKind, Fault, KernelBackend,
    KernelSource, Launch, LaunchArgument, Mismatch, Missing, Opening, Origin, OutsideProfiler, PIECE, Pixels,
    Placement, Profiler, Program, Resources, Session, SessionKind, Target, WhichDevice, ahead, command, compiling,
    cuda, float_controls, fork, gpu, hip, interval_timers, kind, leave, opencl, openmp_settings, question,
    reference_arguments, signal_handlers, table,
};
pub use choice::{ChoiceError, DeviceChoice, Function, OwnFunction};
pub use power::PowerSetup;
