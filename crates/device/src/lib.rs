//! Running kernels: compiling configurations, launching them in a worker process, checking and timing them.
//!
//! [`LiveEvaluator`] answers the requests of a tuning loop with measurements of a kernel ([`KernelSpec`]);
//! [`SyntheticEvaluator`] with the values of a formula, [`CommandEvaluator`] with runs of any program. A program that
//! uses the first or the last begins with [`worker::enter_if_worker`].
//!
//! Backends provide only what differs between them; how configurations are measured and judged exists once, so that
//! their results can be compared. `unsafe` is confined to the modules that call kernels and drivers.

mod backend;
mod c;
mod command;
mod compiling;
mod cuda;
mod data;
mod devices;
mod energy;
mod error;
mod live;
mod machine;
mod measure;
mod opencl;
mod problem;
mod replay;
mod synthetic;
pub mod worker;

pub use backend::BuildPlan;
pub use c::{Compilers, missing_counters};
pub use command::{
    CommandEvaluator, CommandOptions, CommandSpec, CommandVerify, Cost, NumberPattern, OUT, PatternError, TextPattern,
    Unit, device as command_device,
};
pub use cuda::{ChipCounters, CudaDevice, CudaSetup, ResolvedCounter, counters, cuda_devices};
pub use data::{DataError, Given, ScratchError, contents};
pub use devices::{DeviceInfo, Missing, devices, processor};
pub use energy::ENERGY_MJ;
pub use error::DeviceError;
pub use live::{KernelPlan, LiveEvaluator, LiveOptions, Target};
pub use machine::{ChoiceError, Device, DeviceChoice, Machine, WhichDevice};
pub use measure::{Cache, Limits, Policy, Sampling, limits, sampling};
pub use opencl::{OpenClDevice, OpenClKind, opencl_devices};
pub use problem::{
    Access, Argument, ArgumentKind, ElementType, Extent, Fill, Generated, Generator, Grid, GridError, Kernel,
    KernelSpec, Language, Memory, Number, PartialTolerance, Reference, ScalarType, Scope, Template, TemplateError,
    Tolerance, UnknownElementType, Verify, WorkSize,
};
pub use replay::ReplayEvaluator;
pub use synthetic::SyntheticEvaluator;
