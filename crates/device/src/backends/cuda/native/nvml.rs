//! Energy, power and clocks of a GPU through NVML, which comes with the driver.

use crate::energy::{Conditions, Meter};
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::Clock;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};
use std::ffi::OsStr;

/// The library's name with its version. Drivers always install this name; the name without a
/// version comes only with developers' packages.
const LIBRARY: &str = "libnvidia-ml.so.1";

/// The reasons for a low clock that count as throttling. NVML also reports idling, limits that
/// users set, and the limit of power. These are normal and do not count.
const SLOWING: ThrottleReasons = ThrottleReasons::HW_SLOWDOWN
    .union(ThrottleReasons::HW_THERMAL_SLOWDOWN)
    .union(ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN)
    .union(ThrottleReasons::SW_THERMAL_SLOWDOWN);

/// A GPU as NVML sees it, for the life of the process.
pub(crate) struct Gpu {
    device: Device<'static>,
}

impl Gpu {
    /// Opens the GPU at the bus address `address`, such as `00000000:3b:00.0`. NVML numbers GPUs in
    /// another order than CUDA, so a number would not do.
    ///
    /// # Errors
    /// There is no NVML, or it does not know the GPU.
    pub(crate) fn open(address: &str) -> Result<Self, String> {
        let nvml = Nvml::builder().lib_path(OsStr::new(LIBRARY)).init();
        let nvml =
            nvml.map_err(|error| format!("NVML ({LIBRARY}, part of NVIDIA's driver) cannot be used: {error}"))?;
        // Leaked on purpose: a worker watches one GPU until it ends.
        let nvml: &'static Nvml = Box::leak(Box::new(nvml));
        let device = nvml.device_by_pci_bus_id(address);
        Ok(Self { device: device.map_err(|error| format!("NVML does not know the GPU {address}: {error}"))? })
    }
}

impl Meter for Gpu {
    fn energy_mj(&mut self) -> Result<f64, String> {
        self.device.total_energy_consumption().map(|energy| energy as f64).map_err(|error| match error {
            NvmlError::NotSupported => "this GPU does not count its energy; those from Volta on do".to_owned(),
            other => format!("NVML cannot read the energy: {other}"),
        })
    }

    fn conditions(&mut self) -> Conditions {
        Conditions {
            clock_mhz: self.device.clock_info(Clock::SM).ok().map(f64::from),
            power_w: self.device.power_usage().ok().map(|milliwatts| f64::from(milliwatts) / 1e3),
            throttled: self.device.current_throttle_reasons().ok().map(|reasons| reasons.intersects(SLOWING)),
        }
    }
}
