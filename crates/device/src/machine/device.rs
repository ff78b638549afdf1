//! The devices that this machine has.

use super::choice::DeviceKind;
use super::{DeviceChoice, Machine, Replay, WhichDevice};
use crate::backends::gpu::{GpuApi, GpuDevice};
use crate::backends::opencl::{OpenClDevice, OpenClKind};
use crate::backends::{Target, command};
use crate::devices::{cuda_devices, hip_devices, opencl_devices};
use crate::error::DeviceError;
use crate::function::OwnFunction;
use crate::problem::Language;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use tunesmith_core::Source;
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
    Replay(Replay),
    /// An expression over the parameters. Its value is the time in milliseconds.
    Synthetic(Expr),
    /// A function of the program.
    Function(OwnFunction),
}

impl Device {
    /// Returns the origin of the numbers that its runs yield, if the problem does not say more of them.
    pub fn number_source(&self) -> Source {
        match self {
            Self::Replay(_) => Source::Recorded,
            Self::Function(_) => Source::Printed,
            Self::Kernels(_) | Self::Command | Self::Synthetic(_) => Source::Metric,
        }
    }

    /// Finds the device that `choice` names. Starts a worker to ask the driver for an OpenCL,
    /// CUDA or HIP device.
    ///
    /// # Errors
    /// The machine has no such device.
    pub(super) fn find(choice: DeviceChoice, machine: &Machine) -> Result<Self, DeviceError> {
        Ok(match choice {
            DeviceChoice::C => Self::Kernels(Target::Processor),
            DeviceChoice::OpenCl(which) => Self::Kernels(Target::OpenCl(Box::new(opencl(&which, machine)?))),
            DeviceChoice::Cuda(which) => {
                let devices = cuda_devices(&machine.compilers.cuda, &machine.worker)?;
                Self::Kernels(Target::Gpu(Box::new(gpu(GpuApi::Cuda, &which, &devices)?)))
            }
            DeviceChoice::Hip(which) => {
                let devices = hip_devices(&machine.compilers.hip, &machine.worker)?;
                Self::Kernels(Target::Gpu(Box::new(gpu(GpuApi::Hip, &which, &devices)?)))
            }
            DeviceChoice::Command => Self::Command,
            DeviceChoice::Replay { file, noise } => Self::Replay(Replay::new(file, noise)),
            DeviceChoice::Synthetic(expression) => Self::Synthetic(expression),
            DeviceChoice::Function(function) => Self::Function(function),
        })
    }

    /// Returns the language of the device's kernels and the device's name. Returns `None` if the
    /// device runs no kernels, or if no compiler is usable.
    pub fn of_kernels(&self, machine: &Machine) -> Option<(Language, String)> {
        match self {
            Self::Kernels(target) => Some((target.language(), target.info(&machine.compilers, &machine.worker)?.name)),
            Self::Command | Self::Replay(_) | Self::Synthetic(_) | Self::Function(_) => None,
        }
    }

    /// Returns the size of the device, if the device counts operations while kernels run. Returns
    /// `None` for other devices.
    pub fn counted_hardware(&self) -> Option<Hardware> {
        match self {
            Self::Kernels(target) => target.counted_hardware(),
            Self::Command | Self::Replay(_) | Self::Synthetic(_) | Self::Function(_) => None,
        }
    }

    /// Returns true if the device runs something: it is neither a recording nor a formula.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Kernels(_) | Self::Command | Self::Function(_))
    }

    /// Returns the limits that constraints refer to as `device.NAME`.
    pub fn limits(&self, machine: &Machine) -> Vec<(String, Value)> {
        let info = match self {
            Self::Kernels(target) => target.info(&machine.compilers, &machine.worker),
            Self::Command => Some(command::device()),
            Self::Replay(_) | Self::Synthetic(_) | Self::Function(_) => None,
        };
        info.map(|info| values(&info.limits)).unwrap_or_default()
    }
}

/// Finds an OpenCL device. The best device is of the fastest kind. Ties go to the device with the
/// most compute units, then to the first one.
fn opencl(which: &WhichDevice, machine: &Machine) -> Result<OpenClDevice, DeviceError> {
    let devices = opencl_devices(&machine.worker)?;
    let all: Vec<&OpenClDevice> = devices.iter().collect();
    let found = match which {
        WhichDevice::Best => best(&all),
        WhichDevice::Number(number) => all.iter().find(|device| device.index == *number).copied(),
        WhichDevice::Named(part) => named(&all, part),
        WhichDevice::OfPlatform { platform, kind, device } => {
            let of_kind = |device: &&OpenClDevice| kind.is_none_or(|kind| device.kind == kind.into());
            let devices: Vec<&OpenClDevice> = of_platform(&all, platform).into_iter().filter(of_kind).collect();
            match device.parse::<usize>() {
                Ok(number) => devices.get(number).copied(),
                Err(_) if device.is_empty() => best(&devices),
                Err(_) => named(&devices, device),
            }
        }
    };
    let known = || devices.iter().map(|device| format!("opencl:{} ({})", device.index, device.name)).collect();
    found.cloned().ok_or_else(|| absent("OpenCL", which, known()))
}

/// Returns the device of the fastest kind with the most compute units.
fn best<'a>(devices: &[&'a OpenClDevice]) -> Option<&'a OpenClDevice> {
    let units = |device: &OpenClDevice| device.limits.get("compute_units").map_or(0, |units| *units as u64);
    devices.iter().copied().min_by_key(|device| (device.kind, Reverse(units(device)), device.index))
}

/// Returns the first device whose name contains `part`.
fn named<'a>(devices: &[&'a OpenClDevice], part: &str) -> Option<&'a OpenClDevice> {
    devices.iter().copied().find(|device| !part.is_empty() && contains(&device.name, part))
}

/// Returns the devices of the platform that `wanted` names.
fn of_platform<'a>(devices: &[&'a OpenClDevice], wanted: &str) -> Vec<&'a OpenClDevice> {
    let mut platforms: Vec<&str> = Vec::new();
    for device in devices {
        if !platforms.contains(&device.platform.as_str()) {
            platforms.push(&device.platform);
        }
    }
    let number = wanted.parse::<usize>().ok();
    let is_wanted = |platform: &str| match number {
        Some(number) => platforms.get(number) == Some(&platform),
        None => contains(platform, wanted),
    };
    devices.iter().copied().filter(|device| is_wanted(&device.platform)).collect()
}

fn contains(name: &str, part: &str) -> bool {
    name.to_lowercase().contains(&part.to_lowercase())
}

impl From<DeviceKind> for OpenClKind {
    fn from(kind: DeviceKind) -> Self {
        match kind {
            DeviceKind::Cpu => Self::Cpu,
            DeviceKind::Gpu => Self::Gpu,
            DeviceKind::Accelerator => Self::Other,
        }
    }
}

/// Finds a GPU among those of its API. The best device is the first one.
fn gpu(api: GpuApi, which: &WhichDevice, devices: &[GpuDevice]) -> Result<GpuDevice, DeviceError> {
    let number = match which {
        WhichDevice::Best => Some(0),
        WhichDevice::Number(number) => Some(*number),
        WhichDevice::Named(_) | WhichDevice::OfPlatform { .. } => None,
    };
    let found = number.and_then(|number| devices.iter().find(|device| device.index == number));
    let known = || devices.iter().map(|device| format!("{} ({})", device.id(), device.name)).collect();
    found.cloned().ok_or_else(|| absent(api.title(), which, known()))
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
