//! Devices as their driver describes them, and the compiler for them. Called only in workers.

use crate::backends::gpu::native::{Architecture, Attribute, Driver, DriverError, GpuSession, bus_address};
use crate::backends::gpu::{GpuApi, GpuDevice};
use crate::backends::{Absent, Session};
use crate::host::GpuSetup;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;
use tunesmith_power::ManagedDevice;

/// The driver's description of a device.
pub(crate) struct Described {
    pub(crate) name: String,
    pub(crate) architecture: Architecture,
    limits: BTreeMap<String, f64>,
    managed: Option<ManagedDevice>,
}

/// The properties of a compiler that determine the code for a device.
pub(crate) trait Toolchain {
    /// Returns the compiler's name with its version.
    fn name(&self) -> String;

    /// Returns the folders with the headers of the API and of the maker's libraries.
    fn headers(&self) -> Vec<PathBuf>;

    /// Returns the architecture to compile for.
    ///
    /// # Errors
    /// The compiler makes no code for the device.
    fn architecture(&self, device: &Described) -> Result<String, Absent>;
}

/// Opens the device at position `index` of an API's driver. `libraries` is the folder to search
/// first for the library that counts.
///
/// # Errors
/// There is no driver, or it does not open the device.
pub(crate) fn open(
    api: GpuApi,
    driver: Result<Box<dyn Driver>, Absent>,
    libraries: Option<PathBuf>,
    index: usize,
) -> Result<Box<dyn Session>, String> {
    let cannot = |what: &dyn Display| format!("cannot use the {} device: {what}", api.title());
    let driver = driver.map_err(|absent| cannot(&absent.reason))?;
    let session = GpuSession::new(driver, libraries, index).map_err(|error| cannot(&error))?;
    Ok(Box::new(session))
}

/// Lists every device of a driver, for which `open` opens the compiler.
///
/// # Errors
/// The reason why there is none: no device, or no compiler for it.
pub(crate) fn describe(
    setup: &GpuSetup,
    driver: &dyn Driver,
    open: &dyn Fn() -> Result<Box<dyn Toolchain>, Absent>,
) -> Result<Vec<GpuDevice>, Absent> {
    let api = GpuApi::of(setup);
    let fails = |error: DriverError| api.missing_driver(&format!("{} cannot be queried: {error}", api.driver()));
    let count = driver.count().map_err(fails)?;
    if count == 0 {
        return Err(api.missing_driver(&format!("{} finds no GPU", api.driver())));
    }
    let devices = (0..count).map(|index| Described::of(driver, index, api).map_err(fails));
    let devices = devices.collect::<Result<Vec<_>, _>>()?;
    let compiler =
        open().map_err(|absent| Absent { reason: format!("{}, for {}", absent.reason, devices[0].name), ..absent })?;
    let version = driver.version().map_err(fails)?;
    let device = |(index, device): (usize, Described)| {
        Ok(GpuDevice {
            index,
            architecture: compiler.architecture(&device)?,
            name: device.name,
            driver: version.clone(),
            compiler: compiler.name(),
            headers: compiler.headers(),
            limits: device.limits,
            setup: setup.clone(),
            managed: device.managed,
        })
    };
    devices.into_iter().enumerate().map(device).collect()
}

impl Described {
    fn of(driver: &dyn Driver, index: usize, api: GpuApi) -> Result<Self, DriverError> {
        let mut limits = BTreeMap::new();
        for (name, attribute, unit) in LIMITS {
            // A property that this driver does not report sets no limit.
            if let Ok(value) = driver.attribute(index, attribute) {
                limits.insert(name.to_owned(), f64::from(value) / unit);
            }
        }
        limits.insert("global_memory".to_owned(), driver.memory(index)? as f64);
        let architecture = driver.architecture(index)?;
        // HIP reports numbers here as well. They count AMD's generations, not NVIDIA's.
        if let (GpuApi::Cuda, Architecture::Capability(capability)) = (api, &architecture) {
            limits.insert("compute_capability".to_owned(), f64::from(*capability) / 10.0);
        }
        let name = driver.name(index)?;
        // A script may have devices without addresses.
        let address = bus_address(driver, index).unwrap_or_else(|_| index.to_string());
        let managed = driver.management(index);
        let managed = managed.map(|library| ManagedDevice { library, address, name: name.clone() });
        Ok(Self { name, architecture, limits, managed })
    }
}

/// The limits by name, each with the driver's attribute and the divisor of its value. Limits that
/// OpenCL also has share its names.
const LIMITS: [(&str, Attribute, f64); 19] = [
    ("compute_units", Attribute::MultiprocessorCount, 1.0),
    ("clock_mhz", Attribute::ClockRate, 1e3),
    ("memory_clock_mhz", Attribute::MemoryClockRate, 1e3),
    ("memory_bus_bits", Attribute::GlobalMemoryBusWidth, 1.0),
    ("cache", Attribute::L2CacheSize, 1.0),
    ("warp_size", Attribute::WarpSize, 1.0),
    ("max_work_group_size", Attribute::MaxThreadsPerBlock, 1.0),
    ("max_work_item_size_0", Attribute::MaxBlockDimX, 1.0),
    ("max_work_item_size_1", Attribute::MaxBlockDimY, 1.0),
    ("max_work_item_size_2", Attribute::MaxBlockDimZ, 1.0),
    ("local_memory", Attribute::MaxSharedMemoryPerBlockOptin, 1.0),
    ("static_local_memory", Attribute::MaxSharedMemoryPerBlock, 1.0),
    ("local_memory_per_multiprocessor", Attribute::MaxSharedMemoryPerMultiprocessor, 1.0),
    ("constant_memory", Attribute::TotalConstantMemory, 1.0),
    ("registers", Attribute::MaxRegistersPerBlock, 1.0),
    ("registers_per_multiprocessor", Attribute::MaxRegistersPerMultiprocessor, 1.0),
    ("max_threads_per_multiprocessor", Attribute::MaxThreadsPerMultiprocessor, 1.0),
    ("max_blocks_per_multiprocessor", Attribute::MaxBlocksPerMultiprocessor, 1.0),
    ("max_groups_0", Attribute::MaxGridDimX, 1.0),
];

#[cfg(test)]
mod limit_tests {
    use super::LIMITS;
    use tunesmith_kernel::LIMIT_NAMES;

    #[test]
    fn constraints_may_use_every_limit() {
        let unknown: Vec<&str> =
            LIMITS.iter().map(|(name, ..)| *name).filter(|name| !LIMIT_NAMES.contains(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
