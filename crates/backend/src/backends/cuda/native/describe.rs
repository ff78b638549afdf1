//! CUDA devices, and the compiler for them. Called only in workers.

use crate::backends::cuda::headers;
use crate::backends::cuda::native::cupti::Refusal;
use crate::backends::cuda::native::driver::{ERRORS, SystemDriver};
use crate::backends::cuda::native::nvrtc::{Nvrtc, missing_compiler};
use crate::backends::cuda::native::start::unusable;
use crate::backends::gpu::native::{self, Architecture, Described, Driver, Script, ScriptedDriver, Toolchain};
use crate::backends::gpu::{GpuApi, GpuDevice};
use crate::backends::{Absent, Session};
use crate::host::{CudaSetup, GpuSetup};
use std::path::PathBuf;

/// Returns the driver that a setup names.
fn driver(setup: &CudaSetup) -> Result<Box<dyn Driver>, Absent> {
    match &setup.script {
        Some(path) => scripted(Script::read(path)?),
        None => Ok(Box::new(SystemDriver::new()?)),
    }
}

fn scripted(script: Script) -> Result<Box<dyn Driver>, Absent> {
    if let Some(start) = &script.start {
        return Err(unusable(&start.error(&ERRORS), start.files));
    }
    let is_denied = script.counters_denied;
    let driver = ScriptedDriver::new(script, &ERRORS);
    Ok(Box::new(if is_denied { driver.without_counters(Refusal::Permission.explained()) } else { driver }))
}

/// Opens the device at position `index`.
pub(crate) fn open(setup: &CudaSetup, index: usize) -> Result<Box<dyn Session>, String> {
    native::open(GpuApi::Cuda, driver(setup), setup.libraries.clone(), index)
}

/// Lists every device.
///
/// # Errors
/// The reason why there is none: no driver, no device, or no compiler for it.
pub(crate) fn describe_all(setup: &CudaSetup) -> Result<Vec<GpuDevice>, Absent> {
    let driver = driver(setup)?;
    let compiler = || Ok(Box::new(CudaToolchain::open(setup)?) as Box<dyn Toolchain>);
    native::describe(&GpuSetup::Cuda(setup.clone()), driver.as_ref(), &compiler)
}

/// NVRTC's properties, or a script's in its place.
pub(super) struct CudaToolchain {
    name: String,
    /// The compiler's architectures. `None` if a script stands in for it and accepts any.
    pub(super) architectures: Option<Vec<u32>>,
    headers: Vec<PathBuf>,
}

impl CudaToolchain {
    pub(super) fn open(setup: &CudaSetup) -> Result<Self, Absent> {
        if Script::stands_in_for_compiler(setup.script.as_deref())? {
            return Ok(Self { name: "a script".to_owned(), architectures: None, headers: Vec::new() });
        }
        let found = Nvrtc::find(setup.libraries.as_deref(), setup.toolkit.as_deref())?;
        let Nvrtc { version: (major, minor), architectures, folder, .. } = found;
        let headers = headers::find(setup, folder.as_deref());
        Ok(Self { name: format!("NVRTC {major}.{minor}"), architectures: Some(architectures), headers })
    }

    /// Returns the architecture to compile for. The first choice is the device itself. The second
    /// is the nearest earlier architecture of the same generation, whose code the device runs. For
    /// a device newer than the compiler, it is code that the driver finishes compiling.
    fn architecture_for(&self, capability: u32, device: &str) -> Result<String, Absent> {
        let Some(known) = &self.architectures else { return Ok(format!("sm_{capability}")) };
        let runs = |architecture: &&u32| **architecture <= capability && **architecture / 10 == capability / 10;
        if let Some(nearest) = known.iter().filter(runs).max() {
            return Ok(format!("sm_{nearest}"));
        }
        match known.iter().filter(|architecture| **architecture < capability).max() {
            Some(nearest) => Ok(format!("compute_{nearest}")),
            None => Err(missing_compiler(&format!(
                "{} does not compile for {device} (sm_{capability}): it is too new",
                self.name
            ))),
        }
    }
}

impl Toolchain for CudaToolchain {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn headers(&self) -> Vec<PathBuf> {
        self.headers.clone()
    }

    fn architecture(&self, device: &Described) -> Result<String, Absent> {
        match &device.architecture {
            Architecture::Capability(capability) => self.architecture_for(*capability, &device.name),
            Architecture::Named(name) => Ok(name.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_gets_its_own_code_or_the_nearest_it_runs() {
        let compiler =
            CudaToolchain { name: "NVRTC".into(), architectures: Some(vec![75, 80, 86, 90, 100]), headers: Vec::new() };
        let of = |capability| compiler.architecture_for(capability, "it").map_err(|absent| absent.reason);
        assert_eq!(of(90).as_deref(), Ok("sm_90"));
        assert_eq!(of(89).as_deref(), Ok("sm_86"));
        assert_eq!(of(120).as_deref(), Ok("compute_100"));
        assert_eq!(of(70), Err("NVRTC does not compile for it (sm_70): it is too new".to_owned()));
    }
}
