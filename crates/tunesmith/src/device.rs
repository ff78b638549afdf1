//! Everything that describes and runs kernels: kernels with what they are given, backends, and the evaluators that
//! measure.

pub use tunesmith_backend::command::{CommandEvaluator, CommandOptions, device as command_device};
pub use tunesmith_backend::compiling::line_directive;
pub use tunesmith_backend::cuda::{ChipCounters, ResolvedCounter};
pub use tunesmith_backend::gpu::{GpuApi, GpuDevice};
pub use tunesmith_backend::host::{
    Companion, Compilers, CudaSetup, GpuSetup, Heard, HipSetup, Packet, Process, Processes, Received, SystemProcesses,
    instruction_set,
};
pub use tunesmith_backend::opencl::{OpenClDevice, OpenClKind};
pub use tunesmith_backend::sandbox::Sandbox;
pub use tunesmith_backend::{
    BuildPlan, ChoiceError, DeviceChoice, DeviceInfo, DeviceKind, Function, KernelBackend, Missing, OwnFunction,
    PowerSetup, Target, WhichDevice,
};
pub use tunesmith_device::{
    Device, Doubt, FunctionEvaluator, KernelPlan, LiveEvaluator, LiveOptions, MOST_PARCEL, Machine, Packer, Parcels,
    Replay, ReplayEvaluator, SETTING, SourcePlace, SyntheticEvaluator, Unpacked, counters, cuda_architecture,
    cuda_devices, devices, hip_architecture, hip_devices, missed_clocks, opencl_devices, processor,
};
pub use tunesmith_kernel::command::{
    CommandSpec, CommandVerify, Cost, NumberFault, NumberPattern, OUT, PatternError, TextPattern, Unit,
};
pub use tunesmith_kernel::data::{Given, Scratch, contents};
pub use tunesmith_kernel::measure::{
    Cache, ENERGY_MJ, Launches, Limits, Policy, Repetition, Sampling, limits, sampling,
};
pub use tunesmith_kernel::{
    ALIGN, Access, Address, Alternative, Argument, ArgumentKind, CudaCompiler, DataError, Decide, DeviceError,
    ElementType, Extent, Fill, Filter, FunctionName, Generated, Generator, Grid, GridError, Image, Judge, Kernel,
    KernelSpec, LIMIT_NAMES, Language, Memory, Number, OtherSizes, PartialTolerance, RESOURCE_NAMES, Reading,
    Reference, Sampler, ScalarType, Scope, ScratchError, Shape, Template, TemplateError, Tolerance, UnknownElementType,
    Verify, WorkSize,
};
pub use tunesmith_power::guard::LeftOver;
pub use tunesmith_power::model as power_model;
pub use tunesmith_power::{Abilities, Clocks, Knob, ManagedDevice, Setting};

/// The process in which kernels run.
pub mod worker {
    pub use tunesmith_backend::host::WorkerCommand;
    pub use tunesmith_device::worker::{enter_if_worker, enter_with};
}
