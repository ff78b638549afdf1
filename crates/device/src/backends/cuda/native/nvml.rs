//! Energy, power and clocks of a GPU through NVML, which comes with the driver.

#![allow(unsafe_code)] // calls NVIDIA's libraries

use crate::energy::{Conditions, Meter};
use libloading::Library;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_uint, c_ulonglong, c_void};

/// The library's name with its version. Drivers always install this name; the name without a
/// version comes only with developers' packages.
const LIBRARY: &str = "libnvidia-ml.so.1";

/// `nvmlReturn_t`: the call succeeded, and the GPU lacks what was asked for.
const SUCCESS: c_int = 0;
const NOT_SUPPORTED: c_int = 3;

/// `nvmlClockType_t`: the clock of the multiprocessors.
const SM: c_uint = 1;

/// The reasons for a lower clock that a device should not usually have: a slowdown by the hardware
/// (8), by temperature (software 32, hardware 64) and by the power brake (128). NVML also reports
/// idling, limits that users set, and the power limit.
const SLOWING: c_ulonglong = 8 | 32 | 64 | 128;

/// The opaque handle of a GPU.
type Handle = *mut c_void;
/// A function that writes one property of a GPU.
type Getter<T> = unsafe extern "C" fn(Handle, *mut T) -> c_int;

/// A GPU as NVML sees it.
pub(crate) struct Gpu {
    nvml: Nvml,
    handle: Handle,
}

// SAFETY: NVML may be called from any thread, and its handles belong to the process.
unsafe impl Send for Gpu {}

/// The library, initialised for the life of the process.
struct Nvml(Library);

/// A call that failed.
enum Failure {
    NotSupported,
    Other(String),
}

impl Failure {
    fn text(self) -> String {
        match self {
            Self::NotSupported => "not supported".to_owned(),
            Self::Other(text) => text,
        }
    }
}

impl Nvml {
    fn open(path: &OsStr) -> Result<Self, String> {
        // SAFETY: what NVML runs when it is loaded has no preconditions.
        let nvml = Self(unsafe { Library::new(path) }.map_err(|error| error.to_string())?);
        // SAFETY: `nvmlReturn_t nvmlInit_v2(void)`.
        nvml.call(c"nvmlInit_v2", |init: unsafe extern "C" fn() -> c_int| unsafe { init() }).map_err(Failure::text)?;
        Ok(nvml)
    }

    /// Calls the function called `name`, whose type `F` must be the one of nvml.h.
    fn call<F: Copy>(&self, name: &CStr, call: impl FnOnce(F) -> c_int) -> Result<(), Failure> {
        // SAFETY: the callers below name functions with their types.
        let function = unsafe { self.0.get::<F>(name.to_bytes_with_nul()) };
        match call(*function.map_err(|error| Failure::Other(error.to_string()))?) {
            SUCCESS => Ok(()),
            NOT_SUPPORTED => Err(Failure::NotSupported),
            code => Err(Failure::Other(self.meaning(code))),
        }
    }

    /// Returns what an error code means.
    fn meaning(&self, code: c_int) -> String {
        let unknown = || format!("error {code}");
        // SAFETY: `const char *nvmlErrorString(nvmlReturn_t)` returns a static text for any code.
        unsafe {
            let describe = self.0.get::<unsafe extern "C" fn(c_int) -> *const c_char>(b"nvmlErrorString\0");
            let Ok(describe) = describe else { return unknown() };
            let text = describe(code);
            if text.is_null() { unknown() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
        }
    }
}

impl Gpu {
    /// Opens the GPU at the bus address `address`, such as `00000000:3b:00.0`. NVML numbers GPUs in
    /// another order than CUDA, so a number would not do.
    ///
    /// # Errors
    /// There is no NVML, or it does not know the GPU.
    pub(crate) fn open(address: &str) -> Result<Self, String> {
        Self::open_in(OsStr::new(LIBRARY), address)
    }

    /// Opens a GPU through the library at `path`.
    fn open_in(path: &OsStr, address: &str) -> Result<Self, String> {
        let nvml = Nvml::open(path)
            .map_err(|error| format!("NVML ({LIBRARY}, part of NVIDIA's driver) cannot be used: {error}"))?;
        let unknown = |error: String| format!("NVML does not know the GPU {address}: {error}");
        let bus = CString::new(address).map_err(|error| unknown(error.to_string()))?;
        let mut handle: Handle = std::ptr::null_mut();
        let find = |find: unsafe extern "C" fn(*const c_char, *mut Handle) -> c_int| {
            // SAFETY: the address ends in 0, and the handle outlives the call.
            unsafe { find(bus.as_ptr(), &raw mut handle) }
        };
        nvml.call(c"nvmlDeviceGetHandleByPciBusId_v2", find).map_err(|error| unknown(error.text()))?;
        Ok(Self { nvml, handle })
    }

    /// Reads one property by the function called `name`.
    fn get<T: Copy + Default>(&self, name: &CStr) -> Result<T, Failure> {
        let mut value = T::default();
        // SAFETY: the handle is the library's, and the value outlives the call.
        self.nvml.call(name, |get: Getter<T>| unsafe { get(self.handle, &raw mut value) })?;
        Ok(value)
    }

    /// Reads the clock of the multiprocessors in MHz.
    fn clock(&self) -> Result<c_uint, Failure> {
        let mut mhz = 0;
        let read = |read: unsafe extern "C" fn(Handle, c_uint, *mut c_uint) -> c_int| {
            // SAFETY: as in `get`.
            unsafe { read(self.handle, SM, &raw mut mhz) }
        };
        self.nvml.call(c"nvmlDeviceGetClockInfo", read)?;
        Ok(mhz)
    }
}

impl Meter for Gpu {
    fn energy_mj(&mut self) -> Result<f64, String> {
        let energy = self.get::<c_ulonglong>(c"nvmlDeviceGetTotalEnergyConsumption");
        energy.map(|energy| energy as f64).map_err(|error| match error {
            Failure::NotSupported => "this GPU does not count its energy; those from Volta on do".to_owned(),
            Failure::Other(text) => format!("NVML does not tell the energy: {text}"),
        })
    }

    fn conditions(&mut self) -> Conditions {
        let power = self.get::<c_uint>(c"nvmlDeviceGetPowerUsage");
        let reasons = self.get::<c_ulonglong>(c"nvmlDeviceGetCurrentClocksThrottleReasons");
        Conditions {
            clock_mhz: self.clock().ok().map(f64::from),
            power_w: power.ok().map(|milliwatts| f64::from(milliwatts) / 1e3),
            throttled: reasons.ok().map(|reasons| reasons & SLOWING != 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// NVML with one GPU at bus address 1, which has no clock to read.
    const LIBRARY_OF_ONE_GPU: &str = r#"
        #include <string.h>
        static int gpu;
        int nvmlInit_v2(void) { return 0; }
        const char *nvmlErrorString(int code) { return code == 6 ? "Not Found" : "Unknown"; }
        int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device) {
            *device = &gpu;
            return strcmp(bus, "1") == 0 ? 0 : 6;
        }
        int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj) { *mj = 1234; return device != &gpu; }
        int nvmlDeviceGetPowerUsage(void *device, unsigned *mw) { *mw = 56500; return device != &gpu; }
        int nvmlDeviceGetClockInfo(void *device, unsigned type, unsigned *mhz) { *mhz = type; return 3; }
        int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons) {
            *reasons = 4 | 64;
            return device != &gpu;
        }
    "#;

    #[test]
    fn a_gpu_is_found_by_its_address_and_tells_energy_power_and_reasons() {
        let folder = tempfile::tempdir().unwrap();
        let (source, library) = (folder.path().join("nvml.c"), folder.path().join("libnvml.so"));
        std::fs::write(&source, LIBRARY_OF_ONE_GPU).unwrap();
        let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
        assert!(built.unwrap().success());
        let mut gpu = Gpu::open_in(library.as_os_str(), "1").unwrap();
        assert_eq!(gpu.energy_mj(), Ok(1234.0));
        let conditions = gpu.conditions();
        assert_eq!(conditions.clock_mhz, None);
        assert_eq!((conditions.power_w, conditions.throttled), (Some(56.5), Some(true)));
        let error = Gpu::open_in(library.as_os_str(), "2").err().unwrap();
        assert_eq!(error, "NVML does not know the GPU 2: Not Found");
    }

    #[test]
    fn without_the_library_the_reason_is_told() {
        let error = Gpu::open_in(OsStr::new("libno-such-nvml.so"), "1").err().unwrap();
        assert!(error.contains("cannot be used"), "{error}");
    }
}
