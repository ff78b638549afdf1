//! The worker's side that CUDA and HIP share.

mod attribute;
mod compile;
mod describe;
mod driver;
mod error;
mod files;
mod host;
pub(crate) mod libraries;
mod rtc;
mod script;
mod session;

pub(crate) use attribute::{Attribute, FunctionAttribute};
pub(crate) use compile::{Compiler, RuntimeCompiler};
pub(crate) use describe::{Described, Toolchain, describe, open};
pub(crate) use driver::{
    Address, Architecture, DeviceImage, Driver, Event, Function, Graph, KernelLaunch, Module, bus_address, capability,
};
pub(crate) use error::{DriverError, ErrorKind, ErrorTable};
pub(crate) use files::DeviceFiles;
pub(crate) use host::lasting;
pub(crate) use rtc::{Binary, Compilation, ImageFunctions, Rtc};
pub(crate) use script::{Script, ScriptedDriver};
pub(crate) use session::GpuSession;
