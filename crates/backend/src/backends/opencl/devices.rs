//! The devices of OpenCL's drivers, as the table of backends lists them.

use crate::backends::compiling::{Compiled, Workshop};
use crate::backends::kind::{BackendKind, DriverCompiler, Means};
use crate::backends::opencl::backend::OpenClBackend;
use crate::backends::opencl::device::NAME;
use crate::backends::opencl::question::{answer, devices};
use crate::backends::opencl::{Compiler, OpenClDevice, OpenClKind, open};
use crate::backends::target::KernelDevice;
use crate::backends::{
    Backend, BackendMessage, DeviceInfo, DeviceKind, KernelSource, Missing, Opening, Session, Target, WhichDevice,
    decoded,
};
use crate::host::{Compilers, WorkerCommand};
use serde_json::Value;
use std::any::Any;
use std::cmp::Reverse;
use tunesmith_kernel::{DeviceError, Language};

/// The variables of drivers for processors, by their first letters.
const VARIABLES: [&str; 2] = ["POCL_", "CL_CONFIG_"];

/// The backend.
#[derive(Debug)]
pub(crate) struct OpenClDevices;

impl BackendKind for OpenClDevices {
    fn name(&self) -> &'static str {
        NAME
    }

    fn form(&self) -> &'static str {
        "[:N or a part of its name, or PLATFORM::DEVICE]"
    }

    fn may_use_processor(&self) -> bool {
        true
    }

    fn list(&self, means: Means<'_>) -> (Vec<DeviceInfo>, Vec<Missing>) {
        match devices(means.drivers) {
            Ok(found) => (found.iter().map(OpenClDevice::info).collect(), Vec::new()),
            Err(error) => (Vec::new(), vec![Missing::of(NAME, error)]),
        }
    }

    fn find(&self, which: &WhichDevice, means: Means<'_>) -> Result<Target, DeviceError> {
        Ok(find(which, &devices(means.drivers)?)?.into())
    }

    fn described(&self, description: &Value) -> Option<Target> {
        decoded::<OpenClDevice>(description).map(Target::of)
    }

    fn open(&self, device: &Value) -> Result<Box<dyn Session>, String> {
        open(decoded(device).ok_or("there is no such OpenCL device")?)
    }

    fn compiler(&self) -> Option<Box<dyn DriverCompiler>> {
        Some(Box::<Compiler>::default())
    }

    fn answer(&self, question: &Value) -> Option<Value> {
        answer(question)
    }
}

impl DriverCompiler for Compiler {
    fn compile(&mut self, task: &Value, launching: &mut dyn FnMut()) -> Compiled {
        match decoded(task) {
            Some(task) => self.compile(&task, launching),
            None => Compiled::Unusable("the task is not for OpenCL".to_owned()),
        }
    }
}

impl From<OpenClDevice> for Target {
    fn from(device: OpenClDevice) -> Self {
        Self::of(device)
    }
}

impl KernelDevice for OpenClDevice {
    fn title(&self) -> String {
        format!("OpenCL device {} ({})", self.index, self.name)
    }

    fn index(&self) -> usize {
        self.index
    }

    fn language(&self) -> Language {
        Language::OpenCl
    }

    fn info(&self, _: &Compilers, _: &WorkerCommand) -> Option<DeviceInfo> {
        Some(self.info())
    }

    fn is_processor(&self) -> bool {
        self.kind == OpenClKind::Cpu
    }

    fn reads_variable(&self, name: &str) -> bool {
        VARIABLES.iter().any(|first| name.starts_with(first))
    }

    fn open(&self, source: KernelSource, opening: Opening<'_>) -> Result<Box<dyn Backend>, DeviceError> {
        Ok(Box::new(OpenClBackend::new(source, self.clone(), Workshop::new(opening))?))
    }

    /// Returns the device of this machine that is the same. An OpenCL compiler is part of its driver.
    fn compiled_here(&self, means: Means<'_>) -> Result<Target, DeviceError> {
        let found = devices(means.drivers)?
            .into_iter()
            .find(|own| (&own.name, &own.platform, &own.driver) == (&self.name, &self.platform, &self.driver));
        found.map(Target::of).ok_or_else(|| DeviceError::Absent {
            driver: "OpenCL",
            which: format!("{} of {} ({})", self.name, self.platform, self.driver),
            remedy: "a worker compiles for OpenCL where the same driver has the same device".to_owned(),
        })
    }

    fn description(&self) -> Option<BackendMessage> {
        Some(BackendMessage::new(NAME, self))
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}

/// Finds an OpenCL device. The best device is of the fastest kind. Ties go to the device with the
/// most compute units, then to the first one.
fn find(which: &WhichDevice, devices: &[OpenClDevice]) -> Result<OpenClDevice, DeviceError> {
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
    let known =
        || devices.iter().map(|device| format!("{NAME}:{} ({})", device.index, device.name)).collect::<Vec<_>>();
    found.cloned().ok_or_else(|| which.absent("OpenCL", &known()))
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
