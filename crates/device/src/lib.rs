//! Runs kernels and measures them: launches configurations in a worker process, checks their results and times them.
//!
//! Four evaluators answer the requests of a tuning loop:
//!
//! - [`LiveEvaluator`] measures a kernel ([`KernelSpec`](tunesmith_kernel::KernelSpec)).
//! - [`ReplayEvaluator`] looks up a recording.
//! - [`SyntheticEvaluator`] computes a formula.
//! - [`FunctionEvaluator`] calls a function of the program.
//!
//! A fifth one, [`CommandEvaluator`](tunesmith_backend::command::CommandEvaluator), runs any program. A program that
//! uses it or the first one calls [`worker::enter_if_worker`] first.
//!
//! Measuring and judging are shared by all backends, so that their results can be compared. Nothing here knows what is
//! special to a backend.

mod data;
mod devices;
mod energy;
mod function;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod live;
mod machine;
mod measure;
mod replay;
mod synthetic;
pub mod worker;

pub use devices::{
    counters, cuda_architecture, cuda_devices, devices, hip_architecture, hip_devices, opencl_devices, processor,
};
pub use function::FunctionEvaluator;
pub use live::{
    Doubt, KernelPlan, LiveEvaluator, LiveOptions, MOST_PARCEL, Packer, Parcels, SourcePlace, Unpacked, missed_clocks,
};
pub use machine::{Device, Machine, Replay, SETTING, compiling_room};
pub use replay::ReplayEvaluator;
pub use synthetic::SyntheticEvaluator;
