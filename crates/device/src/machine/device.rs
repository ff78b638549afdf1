//! The devices that this machine has.

use super::{DeviceChoice, Machine, WhichDevice};
use crate::backends::cuda::CudaDevice;
use crate::backends::opencl::OpenClDevice;
use crate::backends::{Target, command};
use crate::devices::{cuda_devices, opencl_devices};
use crate::error::DeviceError;
use crate::problem::Language;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tunesmith_core::counters::Hardware;
use tunesmith_space::{Expr, Value};

/// A device that exists, on which a problem can be tuned.
#[derive(Clone, Debug)]
pub enum Device {
    /// A device that runs compiled kernels.
    Kernels(Target),
    /// Any program, for problems that tune a command.
    Command,
    /// A recording.
    Replay {
        /// The recorded file.
        file: PathBuf,
        /// True if samples are redrawn from the recorded noise.
        noise: bool,
    },
    /// An expression over the parameters. Its value is the time in milliseconds.
    Synthetic(Expr),
}

impl Device {
    /// Finds the device that `choice` names. Starts a worker to ask the driver for an OpenCL or
    /// CUDA device.
    ///
    /// # Errors
    /// The machine has no such device.
    pub(super) fn find(choice: DeviceChoice, machine: &Machine) -> Result<Self, DeviceError> {
        Ok(match choice {
            DeviceChoice::C => Self::Kernels(Target::Processor),
            DeviceChoice::OpenCl(which) => Self::Kernels(Target::OpenCl(Box::new(opencl(&which, machine)?))),
            DeviceChoice::Cuda(which) => Self::Kernels(Target::Cuda(Box::new(cuda(&which, machine)?))),
            DeviceChoice::Command => Self::Command,
            DeviceChoice::Replay { file, noise } => Self::Replay { file, noise },
            DeviceChoice::Synthetic(expression) => Self::Synthetic(expression),
        })
    }

    /// Returns the language of the device's kernels and the device's name. Returns `None` if the
    /// device runs no kernels, or if no compiler is usable.
    pub fn of_kernels(&self, machine: &Machine) -> Option<(Language, String)> {
        match self {
            Self::Kernels(target) => Some((target.language(), target.info(&machine.compilers, &machine.worker)?.name)),
            Self::Command | Self::Replay { .. } | Self::Synthetic(_) => None,
        }
    }

    /// Returns the size of the device, if the device counts operations while kernels run. Returns
    /// `None` for other devices.
    pub fn counted_hardware(&self) -> Option<Hardware> {
        match self {
            Self::Kernels(target) => target.counted_hardware(),
            Self::Command | Self::Replay { .. } | Self::Synthetic(_) => None,
        }
    }

    /// Returns true if the device runs something: it is neither a recording nor a formula.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Kernels(_) | Self::Command)
    }

    /// Returns the limits that constraints refer to as `device.NAME`.
    pub fn limits(&self, machine: &Machine) -> Vec<(String, Value)> {
        let info = match self {
            Self::Kernels(target) => target.info(&machine.compilers, &machine.worker),
            Self::Command => Some(command::device()),
            Self::Replay { .. } | Self::Synthetic(_) => None,
        };
        info.map(|info| values(&info.limits)).unwrap_or_default()
    }
}

/// Finds an OpenCL device. The best device is of the fastest kind. Ties go to the device with the
/// most compute units, then to the first one.
fn opencl(which: &WhichDevice, machine: &Machine) -> Result<OpenClDevice, DeviceError> {
    let devices = opencl_devices(&machine.worker)?;
    let units = |device: &OpenClDevice| device.limits.get("compute_units").map_or(0, |units| *units as u64);
    let found = match which {
        WhichDevice::Best => devices.iter().min_by_key(|device| (device.kind, Reverse(units(device)), device.index)),
        WhichDevice::Number(number) => devices.iter().find(|device| device.index == *number),
        WhichDevice::Named(part) => {
            let part = part.to_lowercase();
            devices.iter().find(|device| !part.is_empty() && device.name.to_lowercase().contains(&part))
        }
    };
    let known = || devices.iter().map(|device| format!("opencl:{} ({})", device.index, device.name)).collect();
    found.cloned().ok_or_else(|| absent("OpenCL", which, known()))
}

/// Finds a CUDA device. The best device is the first one.
fn cuda(which: &WhichDevice, machine: &Machine) -> Result<CudaDevice, DeviceError> {
    let devices = cuda_devices(&machine.compilers.cuda, &machine.worker)?;
    let number = match which {
        WhichDevice::Best => Some(0),
        WhichDevice::Number(number) => Some(*number),
        WhichDevice::Named(_) => None,
    };
    let found = number.and_then(|number| devices.iter().find(|device| device.index == number));
    let known = || devices.iter().map(|device| format!("cuda:{} ({})", device.index, device.name)).collect();
    found.cloned().ok_or_else(|| absent("CUDA", which, known()))
}

fn absent(driver: &'static str, which: &WhichDevice, known: Vec<String>) -> DeviceError {
    let which = which.to_string().trim_start_matches(':').to_string();
    DeviceError::Absent { driver, which, remedy: format!("there are {}", known.join(", ")) }
}

fn values(limits: &BTreeMap<String, f64>) -> Vec<(String, Value)> {
    limits.iter().map(|(name, limit)| (name.clone(), number(*limit))).collect()
}

/// Converts `limit` to an integer if it is whole. Sizes and counts then divide as integers.
fn number(limit: f64) -> Value {
    if limit.fract() == 0.0 && limit.abs() < 2f64.powi(53) { Value::Int(limit as i64) } else { Value::Float(limit) }
}
