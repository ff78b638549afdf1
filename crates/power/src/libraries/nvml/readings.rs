//! Reads the state of a GPU.

use super::{Handle, NvmlGpu};
use crate::manager::Fault;
use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong};

/// `nvmlMemoryErrorType_t` and `nvmlEccCounterType_t`: uncorrected errors since the driver was
/// loaded.
const UNCORRECTED: c_uint = 1;
const VOLATILE: c_uint = 0;

/// Maximum number of processes that are asked for.
const MOST_PROCESSES: usize = 32;

/// Maximum length of a process's name.
const NAME_LENGTH: usize = 256;

/// The reasons for which a GPU runs at a lower clock: bits that NVML documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slowing(c_ulonglong);

impl Slowing {
    /// A temperature that is too high, as software and as the hardware see it.
    pub const HEAT: Self = Self(32 | 64);
    /// The external power brake.
    pub const POWER_BRAKE: Self = Self(128);
    /// The hardware. It comes with the reason behind it, if that is known.
    pub const HARDWARE: Self = Self(8);
    /// Another GPU of its group, whose clock it follows.
    pub const SYNC_BOOST: Self = Self(16);

    /// Returns true if these reasons have one of `others`.
    pub fn has(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}

/// `nvmlProcessInfo_t`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct ProcessInfo {
    pid: c_uint,
    used_memory: c_ulonglong,
    instances: [c_uint; 2],
}

impl NvmlGpu {
    /// Returns the energy in millijoules since the driver was loaded.
    ///
    /// # Errors
    /// The GPU does not count it.
    pub fn energy_mj(&self) -> Result<f64, Fault> {
        Ok(self.get::<c_ulonglong>(c"nvmlDeviceGetTotalEnergyConsumption")? as f64)
    }

    /// Returns the power draw in watts.
    ///
    /// # Errors
    /// The GPU does not tell it.
    pub fn power_w(&self) -> Result<f64, Fault> {
        Ok(f64::from(self.get::<c_uint>(c"nvmlDeviceGetPowerUsage")?) / 1e3)
    }

    /// Returns the reasons for a lower clock. They include idling and the power limit, which have
    /// no name here.
    ///
    /// # Errors
    /// The GPU does not tell them.
    pub fn slowing(&self) -> Result<Slowing, Fault> {
        Ok(Slowing(self.get(c"nvmlDeviceGetCurrentClocksThrottleReasons")?))
    }

    /// Returns the number of memory errors that ECC could not correct, since the driver was loaded.
    ///
    /// # Errors
    /// The GPU does not count them.
    pub fn memory_errors(&self) -> Result<u64, Fault> {
        let mut errors = 0;
        let read = |read: unsafe extern "C" fn(Handle, c_uint, c_uint, *mut c_ulonglong) -> c_int| {
            // SAFETY: the handle is the library's, and the value outlives the call.
            unsafe { read(self.handle, UNCORRECTED, VOLATILE, &raw mut errors) }
        };
        self.calls.call(c"nvmlDeviceGetTotalEccErrors", read)?;
        Ok(errors)
    }

    /// Returns the process ids of the programs that compute on the GPU, as far as they can be seen.
    ///
    /// # Errors
    /// The library does not list them.
    pub fn processes(&self) -> Result<Vec<u32>, Fault> {
        let mut found = [ProcessInfo::default(); MOST_PROCESSES];
        let mut count = MOST_PROCESSES as c_uint;
        let list = |list: unsafe extern "C" fn(Handle, *mut c_uint, *mut ProcessInfo) -> c_int| {
            // SAFETY: `found` has the number of entries that `count` names, and both outlive the call.
            unsafe { list(self.handle, &raw mut count, found.as_mut_ptr()) }
        };
        self.calls.call(c"nvmlDeviceGetComputeRunningProcesses_v3", list)?;
        Ok(found.iter().take(count as usize).map(|process| process.pid).collect())
    }

    /// Returns the name of a process's program, without its folder.
    pub fn process_name(&self, pid: u32) -> Option<String> {
        let mut name: [c_char; NAME_LENGTH] = [0; NAME_LENGTH];
        let read = |read: unsafe extern "C" fn(c_uint, *mut c_char, c_uint) -> c_int| {
            // SAFETY: the function writes at most as many bytes as it is told, of which the last is 0.
            unsafe { read(pid, name.as_mut_ptr(), NAME_LENGTH as c_uint - 1) }
        };
        self.calls.call(c"nvmlSystemGetProcessName", read).ok()?;
        // SAFETY: the last byte stays zero.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        let program = name.split_whitespace().next().unwrap_or_default();
        Some(program.rsplit('/').next().unwrap_or_default().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libraries::compiled;

    /// NVML with one GPU at bus address 1, which has no clock to read.
    const LIBRARY_OF_ONE_GPU: &str = r#"
        #include <string.h>
        #include <unistd.h>
        static int gpu;
        int nvmlInit_v2(void) { return 0; }
        const char *nvmlErrorString(int code) { return code == 6 ? "Not Found" : "Unknown"; }
        int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device) {
            *device = &gpu;
            return strcmp(bus, "1") == 0 ? 0 : 6;
        }
        int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj) {
            *mj = 1234;
            return device != &gpu;
        }
        int nvmlDeviceGetPowerUsage(void *device, unsigned *mw) { *mw = 56500; return device != &gpu; }
        int nvmlDeviceGetClockInfo(void *device, unsigned type, unsigned *mhz) { *mhz = type; return 3; }
        int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons) {
            *reasons = 4 | 64;
            return device != &gpu;
        }
        struct process { unsigned pid; unsigned long long memory; unsigned instances[2]; };
        int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *found) {
            if (*count < 2) return 7;
            found[0].pid = 4294967290u;
            found[1].pid = getpid();
            *count = 2;
            return device != &gpu;
        }
        int nvmlSystemGetProcessName(unsigned pid, char *name, unsigned length) {
            if (pid != 4294967290u) return 6;
            strncpy(name, "/usr/bin/python3 train.py", length);
            return 0;
        }
        int nvmlDeviceGetTotalEccErrors(void *device, unsigned type, unsigned counter, unsigned long long *errors) {
            *errors = type * 10 + counter;
            return device != &gpu;
        }
    "#;

    #[test]
    fn a_gpu_is_found_by_its_address_and_tells_energy_power_and_reasons() {
        let folder = tempfile::tempdir().unwrap();
        let library = compiled::library(folder.path(), LIBRARY_OF_ONE_GPU);
        let gpu = NvmlGpu::open_in(library.as_os_str(), "1").unwrap();
        assert_eq!((gpu.energy_mj(), gpu.power_w()), (Ok(1234.0), Ok(56.5)));
        assert_eq!(gpu.clock_mhz(), Err(Fault::NotSupported));
        let slowing = gpu.slowing().unwrap();
        assert!(slowing.has(Slowing::HEAT) && !slowing.has(Slowing::HARDWARE) && !slowing.has(Slowing::SYNC_BOOST));
        assert_eq!(gpu.processes(), Ok(vec![4_294_967_290, std::process::id()]));
        assert_eq!(gpu.process_name(4_294_967_290).as_deref(), Some("python3"));
        assert_eq!(gpu.process_name(1), None);
        assert_eq!(gpu.memory_errors(), Ok(10));
        let error = NvmlGpu::open_in(library.as_os_str(), "2").err().unwrap();
        assert_eq!(error.to_string(), "NVML does not know the GPU 2: Not Found");
    }

    #[test]
    fn a_lost_gpu_is_told_from_one_that_fails() {
        let folder = tempfile::tempdir().unwrap();
        let lost = LIBRARY_OF_ONE_GPU.replace("*mw = 56500; return device != &gpu;", "return 15;");
        let library = compiled::library(folder.path(), &lost);
        let gpu = NvmlGpu::open_in(library.as_os_str(), "1").unwrap();
        assert_eq!(gpu.power_w(), Err(Fault::Lost));
    }
}
