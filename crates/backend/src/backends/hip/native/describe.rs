//! HIP devices, and the compiler for them. Called only in workers.

use crate::backends::gpu::native::{self, Architecture, Described, Driver, Script, ScriptedDriver, Toolchain};
use crate::backends::gpu::{GpuApi, GpuDevice};
use crate::backends::hip::native::driver::HipDriver;
use crate::backends::hip::native::error::ERRORS;
use crate::backends::hip::native::hiprtc::{Hiprtc, missing_compiler};
use crate::backends::{Absent, Session};
use crate::host::{GpuSetup, HipSetup};
use std::path::PathBuf;

/// Returns the driver that a setup names.
fn driver(setup: &HipSetup) -> Result<Box<dyn Driver>, Absent> {
    match &setup.script {
        Some(path) => Ok(Box::new(ScriptedDriver::new(Script::read(path)?, &ERRORS))),
        None => Ok(Box::new(HipDriver::new(setup.libraries.as_deref())?)),
    }
}

/// Opens the device at position `index`.
pub(crate) fn open(setup: &HipSetup, index: usize) -> Result<Box<dyn Session>, String> {
    native::open(GpuApi::Hip, driver(setup), setup.libraries.clone(), index)
}

/// Lists every device.
///
/// # Errors
/// The reason why there is none: no runtime, no device, or no compiler for it.
pub(crate) fn describe_all(setup: &HipSetup) -> Result<Vec<GpuDevice>, Absent> {
    let driver = driver(setup)?;
    let compiler = || Ok(Box::new(HipToolchain::open(setup)?) as Box<dyn Toolchain>);
    native::describe(&GpuSetup::Hip(setup.clone()), driver.as_ref(), &compiler)
}

/// hiprtc's name, or a script's in its place.
struct HipToolchain {
    name: String,
}

impl HipToolchain {
    fn open(setup: &HipSetup) -> Result<Self, Absent> {
        let name = match Script::stands_in_for_compiler(setup.script.as_deref())? {
            true => "a script".to_owned(),
            false => Hiprtc::find(setup.libraries.as_deref())?.name(),
        };
        Ok(Self { name })
    }
}

impl Toolchain for HipToolchain {
    fn name(&self) -> String {
        self.name.clone()
    }

    /// hiprtc has its headers inside.
    fn headers(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the runtime's own name of the architecture. A compiler that does not know it says so
    /// when it compiles, since no function lists what it knows.
    fn architecture(&self, device: &Described) -> Result<String, Absent> {
        match &device.architecture {
            Architecture::Named(name) => Ok(name.clone()),
            Architecture::Capability(_) => {
                Err(missing_compiler(&format!("the architecture of {} is not known", device.name)))
            }
        }
    }
}
