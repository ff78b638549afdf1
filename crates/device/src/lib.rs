//! Running kernels: compiling configurations, launching them in a worker process, checking and
//! timing them.
//!
//! [`LiveEvaluator`] answers the requests of a tuning loop with measurements of a kernel
//! ([`KernelSpec`]); [`SyntheticEvaluator`] with the values of a formula, [`CommandEvaluator`] with
//! runs of any program. A program that uses the first or the last begins with
//! [`worker::enter_if_worker`].
//!
//! Backends provide only what differs between them; how configurations are measured and judged
//! exists once, so that their results can be compared. `unsafe` is confined to the modules that
//! call kernels and drivers.

mod backends;
mod data;
mod devices;
mod energy;
mod error;
mod host;
mod live;
mod machine;
mod measure;
mod problem;
mod replay;
mod synthetic;
pub mod worker;

pub use backends::c::missing_counters;
pub use backends::command::{
    CommandEvaluator, CommandOptions, CommandSpec, CommandVerify, Cost, NumberPattern, OUT, PatternError, TextPattern,
    Unit, device as command_device,
};
pub use backends::cuda::{ChipCounters, CudaDevice, ResolvedCounter};
pub use backends::opencl::{OpenClDevice, OpenClKind};
pub use backends::{BuildPlan, DeviceInfo, Missing, Target};
pub use data::{Given, contents};
pub use devices::{counters, cuda_devices, devices, opencl_devices, processor};
pub use energy::ENERGY_MJ;
pub use error::{DataError, DeviceError, ScratchError};
pub use host::{Compilers, CudaSetup};
pub use live::{KernelPlan, LiveEvaluator, LiveOptions};
pub use machine::{ChoiceError, Device, DeviceChoice, Machine, WhichDevice};
pub use measure::{Cache, Limits, Policy, Sampling, limits, sampling};
pub use problem::{
    Access, Argument, ArgumentKind, ElementType, Extent, Fill, Generated, Generator, Grid, GridError, Kernel,
    KernelSpec, Language, Memory, Number, PartialTolerance, Reference, ScalarType, Scope, Template, TemplateError,
    Tolerance, UnknownElementType, Verify, WorkSize,
};
pub use replay::ReplayEvaluator;
pub use synthetic::SyntheticEvaluator;
