//! Energy, power and clocks of a GPU through NVML, which comes with the driver.

#![allow(unsafe_code)] // calls NVIDIA's libraries

use crate::energy::{Conditions, Meter, OtherProcess, Slowdown};
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

/// The reasons with their meanings, the most telling first. The hardware's slowdown (8) comes with
/// the reason behind it, if that is known.
const REASONS: [(c_ulonglong, Slowdown); 4] =
    [(32 | 64, Slowdown::Heat), (128, Slowdown::PowerBrake), (8, Slowdown::Hardware), (16, Slowdown::SyncBoost)];

/// `nvmlReturn_t`: the GPU has fallen off the bus, or does not answer any more.
const GPU_IS_LOST: c_int = 15;

/// `nvmlMemoryErrorType_t` and `nvmlEccCounterType_t`: uncorrected errors since the driver was
/// loaded.
const UNCORRECTED: c_uint = 1;
const VOLATILE: c_uint = 0;

/// Maximum number of processes that are asked for.
const MOST_PROCESSES: usize = 32;

/// Maximum length of a process's name.
const NAME_LENGTH: usize = 256;

/// `nvmlProcessInfo_t`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct ProcessInfo {
    pid: c_uint,
    used_memory: c_ulonglong,
    instances: [c_uint; 2],
}

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
    Lost,
    Other(String),
}

impl Failure {
    fn text(self) -> String {
        match self {
            Self::NotSupported => "not supported".to_owned(),
            Self::Lost => "GPU is lost".to_owned(),
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
            GPU_IS_LOST => Err(Failure::Lost),
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

impl Gpu {
    /// Returns the process ids of all programs that compute on the GPU, as far as they can be seen.
    fn processes(&self) -> Result<Vec<u32>, Failure> {
        let mut found = [ProcessInfo::default(); MOST_PROCESSES];
        let mut count = MOST_PROCESSES as c_uint;
        let list = |list: unsafe extern "C" fn(Handle, *mut c_uint, *mut ProcessInfo) -> c_int| {
            // SAFETY: `found` has the number of entries that `count` names, and both outlive the call.
            unsafe { list(self.handle, &raw mut count, found.as_mut_ptr()) }
        };
        self.nvml.call(c"nvmlDeviceGetComputeRunningProcesses_v3", list)?;
        Ok(found.iter().take(count as usize).map(|process| process.pid).collect())
    }

    /// Returns the name of a process's program, without its folder.
    fn process_name(&self, pid: u32) -> Option<String> {
        let mut name: [c_char; NAME_LENGTH] = [0; NAME_LENGTH];
        let read = |read: unsafe extern "C" fn(c_uint, *mut c_char, c_uint) -> c_int| {
            // SAFETY: the function writes at most as many bytes as it is told, of which the last is 0.
            unsafe { read(pid, name.as_mut_ptr(), NAME_LENGTH as c_uint - 1) }
        };
        self.nvml.call(c"nvmlSystemGetProcessName", read).ok()?;
        // SAFETY: the last byte stays zero.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        let program = name.split_whitespace().next().unwrap_or_default();
        Some(program.rsplit('/').next().unwrap_or_default().to_owned())
    }
}

/// Returns the most telling of the reasons for a lower clock, if one is unusual.
fn slowdown(reasons: c_ulonglong) -> Option<Slowdown> {
    REASONS.iter().find(|(bits, _)| reasons & bits != 0).map(|(_, slowdown)| *slowdown)
}

/// Returns true for this process and for those that its own tuner started: workers that end, and
/// those that compile.
fn is_of_this_run(pid: u32) -> bool {
    let parent = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok().and_then(|text| {
        // The name in parentheses may hold spaces. The state and the parent follow it.
        text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    });
    pid == std::process::id() || parent == Some(std::os::unix::process::parent_id())
}

impl Meter for Gpu {
    fn energy_mj(&mut self) -> Result<f64, String> {
        let energy = self.get::<c_ulonglong>(c"nvmlDeviceGetTotalEnergyConsumption");
        energy.map(|energy| energy as f64).map_err(|error| match error {
            Failure::NotSupported => "this GPU does not count its energy; those from Volta on do".to_owned(),
            failure => format!("NVML does not tell the energy: {}", failure.text()),
        })
    }

    fn conditions(&mut self) -> Conditions {
        let power = self.get::<c_uint>(c"nvmlDeviceGetPowerUsage");
        let reasons = self.get::<c_ulonglong>(c"nvmlDeviceGetCurrentClocksThrottleReasons");
        Conditions {
            clock_mhz: self.clock().ok().map(f64::from),
            power_w: power.ok().map(|milliwatts| f64::from(milliwatts) / 1e3),
            throttled: reasons.as_ref().ok().map(|reasons| reasons & SLOWING != 0),
            slowdown: reasons.ok().and_then(slowdown),
        }
    }

    fn others(&mut self) -> Vec<OtherProcess> {
        let pids = self.processes().unwrap_or_default();
        let others = pids.into_iter().filter(|pid| !is_of_this_run(*pid));
        others.map(|pid| OtherProcess { pid, name: self.process_name(pid).unwrap_or_default() }).collect()
    }

    fn memory_errors(&mut self) -> Option<u64> {
        let mut errors = 0;
        let read = |read: unsafe extern "C" fn(Handle, c_uint, c_uint, *mut c_ulonglong) -> c_int| {
            // SAFETY: as in `get`.
            unsafe { read(self.handle, UNCORRECTED, VOLATILE, &raw mut errors) }
        };
        self.nvml.call(c"nvmlDeviceGetTotalEccErrors", read).ok()?;
        Some(errors)
    }

    fn is_lost(&mut self) -> bool {
        matches!(self.get::<c_uint>(c"nvmlDeviceGetPowerUsage"), Err(Failure::Lost))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

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
        int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj) { *mj = 1234; return device != &gpu; }
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
        let (source, library) = (folder.path().join("nvml.c"), folder.path().join("libnvml.so"));
        std::fs::write(&source, LIBRARY_OF_ONE_GPU).unwrap();
        let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
        assert!(built.unwrap().success());
        let mut gpu = Gpu::open_in(library.as_os_str(), "1").unwrap();
        assert_eq!(gpu.energy_mj(), Ok(1234.0));
        let conditions = gpu.conditions();
        assert_eq!(conditions.clock_mhz, None);
        assert_eq!((conditions.power_w, conditions.throttled), (Some(56.5), Some(true)));
        assert_eq!(conditions.slowdown, Some(Slowdown::Heat));
        assert_eq!(gpu.others(), [OtherProcess { pid: 4_294_967_290, name: "python3".to_owned() }]);
        assert_eq!((gpu.memory_errors(), gpu.is_lost()), (Some(10), false));
        let error = Gpu::open_in(library.as_os_str(), "2").err().unwrap();
        assert_eq!(error, "NVML does not know the GPU 2: Not Found");
    }

    #[test]
    fn without_the_library_the_reason_is_told() {
        let error = Gpu::open_in(OsStr::new("libno-such-nvml.so"), "1").err().unwrap();
        assert!(error.contains("cannot be used"), "{error}");
    }
}
