//! Runs kernels: compiles configurations, launches them in a worker process, checks their results
//! and times them.
//!
//! Five evaluators answer the requests of a tuning loop:
//!
//! - [`LiveEvaluator`] measures a kernel ([`KernelSpec`]).
//! - [`CommandEvaluator`] runs any program.
//! - [`ReplayEvaluator`] looks up a recording.
//! - [`SyntheticEvaluator`] computes a formula.
//! - [`FunctionEvaluator`] calls a function of the program.
//!
//! A program that uses one of the first two calls [`worker::enter_if_worker`] first.
//!
//! A backend provides only what is special to it. Measuring and judging are shared by all backends,
//! so that their results can be compared. Only the modules that call kernels and drivers contain
//! `unsafe` code.

mod backends;
mod data;
mod devices;
mod energy;
mod error;
mod function;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod half;
mod host;
mod limit_names;
mod live;
mod machine;
mod measure;
mod power;
mod problem;
mod replay;
mod resource_names;
mod sandbox;
mod synthetic;
mod wire_path;
pub mod worker;

pub use backends::command::{
    CommandEvaluator, CommandOptions, CommandSpec, CommandVerify, Cost, NumberFault, NumberPattern, OUT, PatternError,
    TextPattern, Unit, device as command_device,
};
pub use backends::compiling::line_directive;
pub use backends::cuda::{ChipCounters, ResolvedCounter};
pub use backends::gpu::{GpuApi, GpuDevice};
pub use backends::opencl::{OpenClDevice, OpenClKind};
pub use backends::{BuildPlan, DeviceInfo, DeviceKind, KernelBackend, Missing, Target, WhichDevice};
pub use data::{Given, Scratch, contents};
pub use devices::{
    counters, cuda_architecture, cuda_devices, devices, hip_architecture, hip_devices, opencl_devices, processor,
};
pub use energy::ENERGY_MJ;
pub use error::{DataError, DeviceError, ScratchError};
pub use function::{Function, FunctionEvaluator, OwnFunction};
pub use host::{Companion, Compilers, CudaSetup, GpuSetup, Heard, HipSetup, instruction_set};
#[doc(hidden)]
pub use host::{Packet, Process, Processes, Received, SystemProcesses};
pub use limit_names::LIMIT_NAMES;
pub use live::{
    Doubt, KernelPlan, LiveEvaluator, LiveOptions, MOST_PARCEL, Packer, Parcels, SourcePlace, Unpacked, missed_clocks,
};
pub use machine::{ChoiceError, Device, DeviceChoice, Machine, Replay, SETTING};
pub use measure::{Cache, Launches, Limits, Policy, Repetition, Sampling, limits, sampling};
pub use power::PowerSetup;
pub use problem::{
    ALIGN, Access, Address, Alternative, Argument, ArgumentKind, CudaCompiler, Decide, ElementType, Extent, Fill,
    Filter, FunctionName, Generated, Generator, Grid, GridError, Image, Judge, Kernel, KernelSpec, Language, Memory,
    Number, OtherSizes, PartialTolerance, Reading, Reference, Sampler, ScalarType, Scope, Shape, Template,
    TemplateError, Tolerance, UnknownElementType, Verify, WorkSize,
};
pub use replay::ReplayEvaluator;
pub use resource_names::RESOURCE_NAMES;
pub use sandbox::Sandbox;
pub use synthetic::SyntheticEvaluator;
pub use tunesmith_power::guard::LeftOver;
pub use tunesmith_power::model as power_model;
pub use tunesmith_power::{Abilities, Clocks, Knob, ManagedDevice, Setting};
