//! CUDA devices as the driver describes them, and the compiler for them. Called only in workers.

use crate::backends::Absent;
use crate::backends::cuda::native::driver::{Attribute, Driver, DriverError, Script, ScriptedDriver, SystemDriver};
use crate::backends::cuda::native::nvrtc::Nvrtc;
use crate::backends::cuda::native::nvrtc::missing_compiler;
use crate::backends::cuda::{CudaDevice, missing_driver};
use crate::host::CudaSetup;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Returns the driver that a setup names.
pub(super) fn driver(setup: &CudaSetup) -> Result<Box<dyn Driver>, Absent> {
    match &setup.script {
        Some(path) => Ok(Box::new(ScriptedDriver::new(Script::read(path)?))),
        None => Ok(Box::new(SystemDriver::new()?)),
    }
}

/// Lists every device.
///
/// # Errors
/// The reason why there is none: no driver, no device, or no compiler for it.
pub(crate) fn describe_all(setup: &CudaSetup) -> Result<Vec<CudaDevice>, Absent> {
    let driver = driver(setup)?;
    let fails = |error: DriverError| missing_driver(&format!("the NVIDIA driver cannot be queried: {error}"));
    let count = driver.count().map_err(fails)?;
    if count == 0 {
        return Err(missing_driver("the NVIDIA driver finds no GPU"));
    }
    let devices = (0..count).map(|index| Described::of(driver.as_ref(), index).map_err(fails));
    let devices = devices.collect::<Result<Vec<_>, _>>()?;
    let compiler = Toolchain::open(setup)
        .map_err(|absent| Absent { reason: format!("{}, for {}", absent.reason, devices[0].name), ..absent })?;
    let version = version(driver.version().map_err(fails)?);
    let device = |(index, device): (usize, Described)| {
        Ok(CudaDevice {
            index,
            architecture: compiler.architecture(device.capability, &device.name)?,
            name: device.name,
            driver: version.clone(),
            compiler: compiler.name.clone(),
            headers: compiler.headers.clone(),
            limits: device.limits,
            setup: setup.clone(),
        })
    };
    devices.into_iter().enumerate().map(device).collect()
}

/// The properties of the compiler that determine the architecture to compile for.
pub(super) struct Toolchain {
    pub(super) name: String,
    /// The compiler's architectures. `None` if a script stands in for it and accepts any.
    pub(super) architectures: Option<Vec<u32>>,
    pub(super) headers: Option<PathBuf>,
}

impl Toolchain {
    pub(super) fn open(setup: &CudaSetup) -> Result<Self, Absent> {
        let compiles = setup.script.as_deref().map(Script::read).transpose()?.is_some_and(|script| script.compiles);
        if compiles {
            return Ok(Self { name: "a script".to_owned(), architectures: None, headers: None });
        }
        let Nvrtc { version: (major, minor), architectures, headers, .. } = Nvrtc::open(setup.libraries.as_deref())?;
        Ok(Self { name: format!("NVRTC {major}.{minor}"), architectures: Some(architectures), headers })
    }

    /// Returns the architecture to compile for. The first choice is the device itself. The second
    /// is the nearest earlier architecture of the same generation, whose code the device runs. For
    /// a device newer than the compiler, it is code that the driver finishes compiling.
    fn architecture(&self, capability: u32, device: &str) -> Result<String, Absent> {
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

/// The driver's description of a device.
struct Described {
    name: String,
    /// The compute capability as a number: ten times the major version plus the minor version.
    capability: u32,
    limits: BTreeMap<String, f64>,
}

impl Described {
    fn of(driver: &dyn Driver, index: usize) -> Result<Self, DriverError> {
        let number = |attribute| driver.attribute(index, attribute).map(i32::unsigned_abs);
        let major = number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let mut limits = BTreeMap::new();
        for (name, attribute, unit) in LIMITS {
            // A property that this driver does not report sets no limit.
            if let Ok(value) = driver.attribute(index, attribute) {
                limits.insert(name.to_owned(), f64::from(value) / unit);
            }
        }
        limits.insert("global_memory".to_owned(), driver.memory(index)? as f64);
        limits.insert("compute_capability".to_owned(), f64::from(major) + f64::from(minor) / 10.0);
        Ok(Self { name: driver.name(index)?, capability: major * 10 + minor, limits })
    }
}

/// The limits by name, each with the driver's attribute and the divisor of its value. Limits that
/// OpenCL also has share its names.
const LIMITS: [(&str, Attribute, f64); 19] = [
    ("compute_units", Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 1.0),
    ("clock_mhz", Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1e3),
    ("memory_clock_mhz", Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1e3),
    ("memory_bus_bits", Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 1.0),
    ("cache", Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 1.0),
    ("warp_size", Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1.0),
    ("max_work_group_size", Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1.0),
    ("max_work_item_size_0", Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1.0),
    ("max_work_item_size_1", Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1.0),
    ("max_work_item_size_2", Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 1.0),
    ("local_memory", Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 1.0),
    ("static_local_memory", Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 1.0),
    ("local_memory_per_multiprocessor", Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 1.0),
    ("constant_memory", Attribute::CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 1.0),
    ("registers", Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 1.0),
    ("registers_per_multiprocessor", Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 1.0),
    ("max_threads_per_multiprocessor", Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 1.0),
    ("max_blocks_per_multiprocessor", Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 1.0),
    ("max_groups_0", Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 1.0),
];

/// Formats 13000 as 13.0.
fn version(number: u32) -> String {
    format!("{}.{}", number / 1000, number % 1000 / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_gets_its_own_code_or_the_nearest_it_runs() {
        let compiler =
            Toolchain { name: "NVRTC".into(), architectures: Some(vec![75, 80, 86, 90, 100]), headers: None };
        let of = |capability| compiler.architecture(capability, "it").map_err(|absent| absent.reason);
        assert_eq!(of(90).as_deref(), Ok("sm_90"));
        assert_eq!(of(89).as_deref(), Ok("sm_86"));
        assert_eq!(of(120).as_deref(), Ok("compute_100"));
        assert_eq!(of(70), Err("NVRTC does not compile for it (sm_70): it is too new".to_owned()));
    }

    #[test]
    fn versions_are_numbers_with_a_point() {
        assert_eq!([13000, 12080, 11020].map(version), ["13.0", "12.8", "11.2"]);
    }
}

#[cfg(test)]
mod limit_tests {
    use super::LIMITS;
    use crate::limit_names::LIMIT_NAMES;

    #[test]
    fn constraints_may_use_every_limit() {
        let unknown: Vec<&str> =
            LIMITS.iter().map(|(name, ..)| *name).filter(|name| !LIMIT_NAMES.contains(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
