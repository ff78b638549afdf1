//! Holds what a kernel is and what it is given, without a device to run it.
//!
//! - A [`KernelSpec`] has the kernel, its arguments and its reference. A [`CommandSpec`](command::CommandSpec) has
//!   any other program.
//! - [`data`] makes the contents of its buffers and the values of its other arguments.
//! - [`measure`] has the rules of measuring, which all backends share.
//!
//! Nothing here starts a process or calls a driver.

pub mod command;
pub mod data;
mod error;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod half;
mod limit_names;
pub mod measure;
mod problem;
mod resource_names;

pub use error::{DataError, DeviceError, ScratchError};
pub use limit_names::LIMIT_NAMES;
pub use problem::{
    ALIGN, Access, Address, Alternative, Argument, ArgumentKind, CudaCompiler, Decide, ElementType, Extent, Fill,
    Filter, FunctionName, Generated, Generator, Grid, GridError, Image, Judge, Kernel, KernelSpec, Language, Meaning,
    Memory, Number, OtherSizes, PartialTolerance, Reading, Reference, Sampler, ScalarType, Scope, Shape, Template,
    TemplateError, Tolerance, UnknownElementType, Verify, WorkSize, did_you_mean,
};
pub use resource_names::RESOURCE_NAMES;
