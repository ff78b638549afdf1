//! The problem as values: kernels, arguments, types and templates.

mod argument;
mod element;
mod function;
mod generator;
mod image;
mod kernel;
mod language;
mod reserved;
mod scope;
mod spec;
mod template;

pub use argument::{ALIGN, Access, Argument, ArgumentKind, Fill, Memory, Shape};
pub use element::{ElementType, Number, ScalarType, UnknownElementType};
pub use function::FunctionName;
pub use generator::{Generated, Generator};
pub use image::{Address, Filter, Image, Sampler};
pub use kernel::{Alternative, CudaCompiler, Extent, Grid, GridError, Kernel, Reading, WorkSize};
pub use language::Language;
pub use scope::Scope;
pub use spec::{Decide, Judge, KernelSpec, OtherSizes, PartialTolerance, Reference, Tolerance, Verify};
pub use template::{Template, TemplateError};

pub use reserved::Meaning;
pub use template::did_you_mean;
