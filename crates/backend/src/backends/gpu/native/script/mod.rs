//! A driver that follows a script: a device without hardware, for tests of everything around
//! kernels.
//!
//! The script ([`Script`], a JSON file) describes the devices and the behaviour of kernels: their
//! times, the data they write, and the error they end with. The driver ([`ScriptedDriver`]) holds
//! memory, modules, events and a clock. It refuses the same calls as a real driver: memory it does
//! not have, blocks that are too large, shared memory that was not allowed, and every call after a
//! sticky error. With a compiler for the processor, kernels compute what their sources say.

mod driver;
mod host;
mod memory;
mod meter;
mod profiler;

pub(crate) use driver::ScriptedDriver;
pub(super) use host::compile as compile_for_host;

use crate::backends::Absent;
use crate::backends::gpu::native::{Attribute, DeviceFiles, DriverError, ErrorKind, ErrorTable, FunctionAttribute};
use crate::energy::{OtherProcess, Slowdown};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The properties and the behaviour of a scripted driver.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    /// The version of the API that the driver supports.
    #[serde(default = "version")]
    pub(crate) version: String,
    /// The driver's devices.
    pub(crate) devices: Vec<ScriptedDevice>,
    /// The behaviour of kernels. Of several rules for a kernel, the first one applies.
    #[serde(default)]
    pub(crate) kernels: Vec<ScriptedKernel>,
    /// True if the script also stands in for the compiler, and compiles without looking at the source.
    #[serde(default)]
    pub(crate) compiles: bool,
    /// The program that compiles kernels for the processor, in the place of the script's compiler.
    #[serde(default)]
    pub(crate) host: Option<PathBuf>,
    /// The power of its devices in watts. Without it, they have no meter.
    #[serde(default)]
    pub(crate) watts: Option<f64>,
    /// True if it has graphs.
    #[serde(default)]
    pub(crate) graphs: bool,
    /// The time in microseconds that starting a kernel, or a graph, takes on the device.
    #[serde(default)]
    pub(crate) launch_us: f64,
    /// A script of the power of the first device: its clocks, and what they cost.
    #[serde(default)]
    pub(crate) power: Option<PathBuf>,
    /// The number of passes for reading counters. Without it, counters cannot be read.
    #[serde(default)]
    pub(crate) passes: Option<usize>,
    /// True if only administrators may read its counters.
    #[serde(default)]
    pub(crate) counters_denied: bool,
    /// The processes that compute on its devices beside this one.
    #[serde(default)]
    pub(crate) others: Vec<OtherProcess>,
    /// The reason why the driver does not start.
    #[serde(default)]
    pub(crate) start: Option<FailedStart>,
    /// A file to which the driver appends every call of interest.
    #[serde(default)]
    pub(crate) log: Option<PathBuf>,
}

fn version() -> String {
    "13.0".to_owned()
}

/// A start that fails.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FailedStart {
    /// The driver's error.
    error: String,
    /// The device files of the machine.
    pub(crate) files: DeviceFiles,
}

impl FailedStart {
    /// Returns the driver's error.
    pub(crate) fn error(&self, errors: &ErrorTable) -> DriverError {
        error(errors, &self.error)
    }
}

/// A device of the script.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScriptedDevice {
    pub(crate) name: String,
    /// The size of its memory in bytes.
    pub(crate) memory: usize,
    /// The attributes, by the CUDA driver API's names without `CU_DEVICE_ATTRIBUTE_`.
    pub(crate) attributes: BTreeMap<Attribute, i32>,
    /// The name by which the compiler knows its architecture. Without one, the compute capability
    /// among the attributes says it.
    #[serde(default)]
    pub(crate) architecture: Option<String>,
}

/// The behaviour of a configuration's kernels.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ScriptedKernel {
    /// The function named by the problem. Without it, the rule applies to any function.
    pub(crate) function: Option<String>,
    /// Macros that the configuration must have, with their values.
    pub(crate) defines: BTreeMap<String, String>,
    /// The compiler's log, if the compilation fails.
    pub(crate) compile: Option<String>,
    /// The attributes, by the CUDA driver API's names without `CU_FUNC_ATTRIBUTE_`.
    pub(crate) attributes: BTreeMap<FunctionAttribute, i32>,
    /// The error of loading.
    pub(crate) load: Option<String>,
    /// The error of a refused launch.
    pub(crate) launch: Option<String>,
    /// The error at the kernel's end.
    pub(crate) end: Option<String>,
    /// A file that the first launch creates. The rule applies only while the file does not exist.
    pub(crate) once: Option<PathBuf>,
    /// The reason for which the device slows down from a launch on.
    pub(crate) slows: Option<Slowdown>,
    /// The number of memory errors in a launch that the device cannot correct.
    pub(crate) memory_errors: u64,
    /// True if the device does not answer any more after a launch.
    pub(crate) loses_device: bool,
    /// True if the kernel never ends.
    pub(crate) hangs: bool,
    /// True if the driver crashes when it launches the kernel.
    pub(crate) crashes: bool,
    /// The times of its launches in microseconds. The last one holds for all later launches.
    pub(crate) times_us: Vec<f64>,
    /// A launch's contributions to the counters, by name.
    pub(crate) counters: BTreeMap<String, f64>,
    /// The data that it writes.
    pub(crate) writes: Vec<Write>,
}

/// Bytes that a kernel writes to the memory behind a parameter.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    /// The parameter, counted from 0.
    pub(crate) to: usize,
    /// The origin of the bytes.
    pub(crate) from: Origin,
    /// The number of bytes.
    pub(crate) bytes: usize,
}

/// The origin of written bytes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Origin {
    /// The memory behind another parameter.
    Parameter(usize),
    /// A variable of the module.
    Symbol(String),
    /// Repetitions of one byte.
    Byte(u8),
}

/// The output of a script's compiler, in place of machine code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ScriptedCode {
    pub(crate) function: String,
    pub(crate) defines: BTreeMap<String, String>,
    /// The program that computes on the processor what the kernel would.
    #[serde(default)]
    pub(crate) program: Option<PathBuf>,
}

impl Script {
    /// Reads a script from a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Absent> {
        let cannot = |error: String| Absent {
            reason: format!("the script `{}` of a driver cannot be read: {error}", path.display()),
            remedy: "mend the script, or do without it".to_owned(),
        };
        let text =
            tunesmith_files::read_text(path, tunesmith_files::TEXT).map_err(|error| cannot(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| cannot(error.to_string()))
    }

    /// Returns true if there is a script that compiles.
    pub(crate) fn stands_in_for_compiler(script: Option<&Path>) -> Result<bool, Absent> {
        Ok(script.map(Self::read).transpose()?.is_some_and(|script| script.compiles || script.host.is_some()))
    }

    /// Returns the behaviour of the kernels of `code`. Without a rule for them, they do nothing.
    pub(crate) fn behaviour(&self, code: &ScriptedCode) -> ScriptedKernel {
        let fits = |rule: &&ScriptedKernel| {
            rule.function.as_ref().is_none_or(|function| *function == code.function)
                && rule.once.as_ref().is_none_or(|file| !file.exists())
                && rule.defines.iter().all(|(name, value)| code.defines.get(name) == Some(value))
        };
        self.kernels.iter().find(fits).cloned().unwrap_or_default()
    }
}

impl ScriptedKernel {
    fn attribute(&self, attribute: FunctionAttribute) -> i32 {
        let default = if attribute == FunctionAttribute::MaxThreadsPerBlock { 1024 } else { 0 };
        self.attributes.get(&attribute).copied().unwrap_or(default)
    }

    /// Returns the time of the launch with this number, in microseconds.
    fn time_us(&self, launch: usize) -> f64 {
        self.times_us.get(launch).or(self.times_us.last()).copied().unwrap_or(1.0)
    }
}

/// Returns the error with a script's name for it, which is the API's.
fn error(errors: &ErrorTable, name: &str) -> DriverError {
    errors.named(name).unwrap_or_else(|| errors.of_kind(ErrorKind::Other))
}
