//! A driver that follows a script: a device without hardware, for tests of all that happens around
//! kernels.
//!
//! The script ([`Script`], a JSON file) says which devices there are and how kernels behave: how
//! long they take, what they write, which error they end with. The driver ([`ScriptedDriver`])
//! holds memory, modules, events and a clock, and refuses what a true one refuses: memory it does
//! not have, blocks that are too large, shared memory that was not allowed, and everything once an
//! error of the sticky kind has come up.

mod driver;
mod memory;
mod meter;
mod profiler;

pub(crate) use driver::ScriptedDriver;

use crate::backends::Absent;
use crate::backends::cuda::native::driver::{DriverError, FunctionAttribute};
use cudarc::driver::sys::CUresult;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a scripted driver has and does.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    /// Its devices.
    pub(crate) devices: Vec<ScriptedDevice>,
    /// How kernels behave; of several rules for one the first holds.
    #[serde(default)]
    pub(crate) kernels: Vec<ScriptedKernel>,
    /// Tells whether the script stands for NVRTC as well, and compiles without looking at the
    /// source.
    #[serde(default)]
    pub(crate) compiles: bool,
    /// The power that its devices take; they tell nothing of it without.
    #[serde(default)]
    pub(crate) watts: Option<f64>,
    /// In how many passes counters are read; they cannot be read without it.
    #[serde(default)]
    pub(crate) passes: Option<usize>,
    /// A file to which every call of interest is appended.
    #[serde(default)]
    pub(crate) log: Option<PathBuf>,
}

/// A device of the script.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScriptedDevice {
    pub(crate) name: String,
    /// Its memory in bytes.
    pub(crate) memory: usize,
    /// Its attributes by the driver API's names without `CU_DEVICE_ATTRIBUTE_`.
    pub(crate) attributes: BTreeMap<String, i32>,
}

/// How the kernels of a configuration behave.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ScriptedKernel {
    /// The function that the problem names; any without it.
    pub(crate) function: Option<String>,
    /// Macros with their values that the configuration has.
    pub(crate) defines: BTreeMap<String, String>,
    /// The compiler's log, where it does not compile.
    pub(crate) compile: Option<String>,
    /// Attributes by the driver API's names without `CU_FUNC_ATTRIBUTE_`.
    pub(crate) attributes: BTreeMap<String, i32>,
    /// The error with which loading ends.
    pub(crate) load: Option<String>,
    /// The error with which a launch is refused.
    pub(crate) launch: Option<String>,
    /// The error with which the kernel ends.
    pub(crate) end: Option<String>,
    /// Tells whether the kernel never ends.
    pub(crate) hangs: bool,
    /// Tells whether the driver crashes when it launches the kernel.
    pub(crate) crashes: bool,
    /// The times of its launches in microseconds; the last holds for all that follow.
    pub(crate) times_us: Vec<f64>,
    /// What a launch adds to the counters, by name.
    pub(crate) counters: BTreeMap<String, f64>,
    /// What it writes.
    pub(crate) writes: Vec<Write>,
}

/// Bytes that a kernel writes to the memory that a parameter points to.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    /// The parameter, counted from 0.
    pub(crate) to: usize,
    /// Where they come from.
    pub(crate) from: Origin,
    /// Their number.
    pub(crate) bytes: usize,
}

/// Where written bytes come from.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Origin {
    /// The memory that another parameter points to.
    Parameter(usize),
    /// A variable of the module.
    Symbol(String),
    /// All the same.
    Byte(u8),
}

/// What a script's compiler makes, in place of a cubin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ScriptedCode {
    pub(crate) function: String,
    pub(crate) defines: BTreeMap<String, String>,
}

impl Script {
    /// Reads a script.
    pub(crate) fn read(path: &Path) -> Result<Self, Absent> {
        let cannot = |error: String| Absent {
            reason: format!("the script `{}` of a CUDA driver cannot be read: {error}", path.display()),
            remedy: "mend the script, or do without it".to_owned(),
        };
        let text = std::fs::read_to_string(path).map_err(|error| cannot(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| cannot(error.to_string()))
    }

    /// Returns how the kernels of `code` behave; as nothing in particular where no rule is for
    /// them.
    pub(crate) fn behaviour(&self, code: &ScriptedCode) -> ScriptedKernel {
        let fits = |rule: &&ScriptedKernel| {
            rule.function.as_ref().is_none_or(|function| *function == code.function)
                && rule.defines.iter().all(|(name, value)| code.defines.get(name) == Some(value))
        };
        self.kernels.iter().find(fits).cloned().unwrap_or_default()
    }
}

impl ScriptedKernel {
    fn attribute(&self, attribute: FunctionAttribute) -> i32 {
        let name = format!("{attribute:?}");
        let name = name.strip_prefix("CU_FUNC_ATTRIBUTE_").unwrap_or(&name);
        let default = if name == "MAX_THREADS_PER_BLOCK" { 1024 } else { 0 };
        self.attributes.get(name).copied().unwrap_or(default)
    }

    /// Returns the time of the launch with this number.
    fn time_us(&self, launch: usize) -> f64 {
        self.times_us.get(launch).or(self.times_us.last()).copied().unwrap_or(1.0)
    }
}

/// Returns the error of a name in a script.
fn error(name: &str) -> DriverError {
    const KNOWN: [CUresult; 12] = [
        CUresult::CUDA_ERROR_INVALID_VALUE,
        CUresult::CUDA_ERROR_OUT_OF_MEMORY,
        CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
        CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
        CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
        CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
        CUresult::CUDA_ERROR_ASSERT,
        CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
        CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
        CUresult::CUDA_ERROR_LAUNCH_FAILED,
        CUresult::CUDA_ERROR_NOT_SUPPORTED,
    ];
    let code = KNOWN.into_iter().find(|code| format!("{code:?}") == name);
    DriverError(code.unwrap_or(CUresult::CUDA_ERROR_UNKNOWN))
}
