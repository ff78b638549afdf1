//! Sets the clock and the power limit of a GPU.
//!
//! Locked clocks and power limits are the administrator's. Application clocks, the older way, are
//! everybody's after `nvidia-smi -acp UNRESTRICTED`, on devices that still have them. They take the
//! place of locked clocks if these are refused.

use super::{Handle, NvmlGpu};
use crate::manager::{Abilities, Clocks, Fault, Knob, Manager, PowerRange};
use std::ffi::{CStr, c_int, c_uint};

/// The most clocks that a device lists.
const MOST_CLOCKS: usize = 1024;

/// A way to hold a clock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Locked,
    Application,
}

/// A GPU that a guard manages.
pub(crate) struct Nvml {
    gpu: NvmlGpu,
    /// The GPU's address, for commands.
    address: String,
    /// The way in which the clock is held.
    way: Way,
}

impl Nvml {
    /// Opens the GPU at an address of the PCI bus.
    pub(crate) fn open(address: &str) -> Result<Self, Fault> {
        Ok(Self::of(NvmlGpu::open(address)?, address))
    }

    fn of(gpu: NvmlGpu, address: &str) -> Self {
        Self { gpu, address: address.to_owned(), way: Way::Locked }
    }

    /// Calls a function that takes nothing but the device.
    fn order(&self, name: &CStr) -> Result<(), Fault> {
        // SAFETY: the handle is the library's.
        self.gpu.calls.call(name, |call: unsafe extern "C" fn(Handle) -> c_int| unsafe { call(self.gpu.handle) })
    }

    /// Calls a function that takes the device and two clocks.
    fn order_clocks(&self, name: &CStr, first: c_uint, second: c_uint) -> Result<(), Fault> {
        let call = |call: unsafe extern "C" fn(Handle, c_uint, c_uint) -> c_int| {
            // SAFETY: the handle is the library's.
            unsafe { call(self.gpu.handle, first, second) }
        };
        self.gpu.calls.call(name, call)
    }

    /// Returns the highest memory clock, at which kernels run.
    fn memory_clock(&self) -> Result<c_uint, Fault> {
        let (mut count, mut clocks) = (MOST_CLOCKS as c_uint, vec![0; MOST_CLOCKS]);
        let list = |list: unsafe extern "C" fn(Handle, *mut c_uint, *mut c_uint) -> c_int| {
            // SAFETY: there is room for `count` clocks.
            unsafe { list(self.gpu.handle, &raw mut count, clocks.as_mut_ptr()) }
        };
        self.gpu.calls.call(c"nvmlDeviceGetSupportedMemoryClocks", list)?;
        clocks.into_iter().take(count as usize).max().ok_or(Fault::NotSupported)
    }

    fn clocks(&self) -> Result<Clocks, Fault> {
        let memory = self.memory_clock()?;
        let (mut count, mut clocks) = (MOST_CLOCKS as c_uint, vec![0; MOST_CLOCKS]);
        let list = |list: unsafe extern "C" fn(Handle, c_uint, *mut c_uint, *mut c_uint) -> c_int| {
            // SAFETY: there is room for `count` clocks.
            unsafe { list(self.gpu.handle, memory, &raw mut count, clocks.as_mut_ptr()) }
        };
        self.gpu.calls.call(c"nvmlDeviceGetSupportedGraphicsClocks", list)?;
        clocks.truncate(count as usize);
        clocks.sort_unstable();
        clocks.dedup();
        if clocks.is_empty() { Err(Fault::NotSupported) } else { Ok(Clocks { mhz: clocks, is_continuous: false }) }
    }

    fn power_range(&self) -> Result<PowerRange, Fault> {
        let (mut lowest, mut highest) = (0, 0);
        let bounds = |bounds: unsafe extern "C" fn(Handle, *mut c_uint, *mut c_uint) -> c_int| {
            // SAFETY: both values outlive the call.
            unsafe { bounds(self.gpu.handle, &raw mut lowest, &raw mut highest) }
        };
        self.gpu.calls.call(c"nvmlDeviceGetPowerManagementLimitConstraints", bounds)?;
        let present = self.gpu.get::<c_uint>(c"nvmlDeviceGetPowerManagementLimit")?;
        let watts = |milliwatts: c_uint| f64::from(milliwatts) / 1e3;
        Ok(PowerRange { lowest_w: watts(lowest), highest_w: watts(highest), present_w: watts(present) })
    }

    fn hold(&self, mhz: u32, way: Way) -> Result<(), Fault> {
        match way {
            Way::Locked => self.order_clocks(c"nvmlDeviceSetGpuLockedClocks", mhz, mhz),
            Way::Application => self.order_clocks(c"nvmlDeviceSetApplicationsClocks", self.memory_clock()?, mhz),
        }
    }
}

/// Returns the abilities without what a device lacks.
fn unless_missing<T>(value: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match value {
        Err(Fault::NotSupported) => Ok(None),
        value => value.map(Some),
    }
}

impl Manager for Nvml {
    fn abilities(&mut self) -> Result<Abilities, Fault> {
        Ok(Abilities { clocks: unless_missing(self.clocks())?, power_limit: unless_missing(self.power_range())? })
    }

    fn lock_clock(&mut self, mhz: u32) -> Result<(), Fault> {
        let refused = match self.hold(mhz, self.way) {
            Err(refused @ (Fault::NotPermitted | Fault::NotSupported)) if self.way == Way::Locked => refused,
            held => return held,
        };
        self.hold(mhz, Way::Application).map_err(|_| refused)?;
        self.way = Way::Application;
        Ok(())
    }

    fn reset_clock(&mut self) -> Result<(), Fault> {
        let application = self.order(c"nvmlDeviceResetApplicationsClocks");
        match self.order(c"nvmlDeviceResetGpuLockedClocks") {
            // A process that resets after another one does not know which way that one took.
            Err(Fault::NotPermitted | Fault::NotSupported) => application,
            locked => locked,
        }
    }

    fn limit_power(&mut self, watts: f64) -> Result<(), Fault> {
        let set = |set: unsafe extern "C" fn(Handle, c_uint) -> c_int| {
            // SAFETY: the handle is the library's.
            unsafe { set(self.gpu.handle, (watts * 1e3).round() as c_uint) }
        };
        self.gpu.calls.call(c"nvmlDeviceSetPowerManagementLimit", set)
    }

    fn clock_mhz(&mut self) -> Result<f64, Fault> {
        self.gpu.clock_mhz()
    }

    fn permission(&self, knob: Knob) -> String {
        let root = "start Tunesmith as root (`sudo -E tunesmith ...`)";
        match knob {
            Knob::Clock => format!(
                "{root}, or let an administrator allow application clocks, which older GPUs have: `sudo nvidia-smi -i \
                 {} -acp UNRESTRICTED`",
                self.address
            ),
            Knob::PowerLimit => root.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libraries::compiled;
    use std::ffi::OsStr;

    /// NVML with one GPU at bus address 1. `LOCKED` and `APPLICATION` are what setting a clock in
    /// either way returns.
    const GPU: &str = r#"
        static int gpu;
        static unsigned locked, application;
        int nvmlInit_v2(void) { return 0; }
        const char *nvmlErrorString(int code) { return code == 6 ? "Not Found" : "Unknown"; }
        int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device) {
            *device = &gpu; return *bus == '1' ? 0 : 6;
        }
        int nvmlDeviceGetSupportedMemoryClocks(void *d, unsigned *count, unsigned *mhz) {
            *count = 2; mhz[0] = 2619; mhz[1] = 405; return 0;
        }
        int nvmlDeviceGetSupportedGraphicsClocks(void *d, unsigned memory, unsigned *count, unsigned *mhz) {
            *count = 3; mhz[0] = 1980; mhz[1] = 1965; mhz[2] = 345; return memory == 2619 ? 0 : 2;
        }
        int nvmlDeviceGetPowerManagementLimitConstraints(void *d, unsigned *low, unsigned *high) {
            *low = 200000; *high = 700000; return 0;
        }
        int nvmlDeviceGetPowerManagementLimit(void *d, unsigned *mw) { *mw = 650000; return 0; }
        int nvmlDeviceSetPowerManagementLimit(void *d, unsigned mw) { return mw == 300000 ? 0 : 2; }
        int nvmlDeviceSetGpuLockedClocks(void *d, unsigned low, unsigned high) {
            if (!LOCKED) locked = low == high ? low : 1; return LOCKED;
        }
        int nvmlDeviceResetGpuLockedClocks(void *d) { if (!LOCKED) locked = 0; return LOCKED; }
        int nvmlDeviceSetApplicationsClocks(void *d, unsigned memory, unsigned mhz) {
            if (!APPLICATION) application = mhz; return APPLICATION;
        }
        int nvmlDeviceResetApplicationsClocks(void *d) { if (!APPLICATION) application = 0; return APPLICATION; }
        int nvmlDeviceGetClockInfo(void *d, unsigned type, unsigned *mhz) {
            *mhz = locked ? locked : application ? application : 210; return 0;
        }
    "#;

    fn gpu(locked: i32, application: i32) -> (Nvml, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let text = GPU.replace("LOCKED", &locked.to_string()).replace("APPLICATION", &application.to_string());
        let library = compiled::library(folder.path(), &text);
        (Nvml::of(NvmlGpu::open_in(library.as_os_str(), "1").unwrap(), "1"), folder)
    }

    #[test]
    fn clocks_and_limits_are_listed_locked_and_reset() {
        let (mut gpu, _folder) = gpu(0, 3);
        let abilities = gpu.abilities().unwrap();
        assert_eq!(abilities.clocks.unwrap().mhz, [345, 1965, 1980]);
        let range = PowerRange { lowest_w: 200.0, highest_w: 700.0, present_w: 650.0 };
        assert_eq!(abilities.power_limit, Some(range));
        gpu.lock_clock(1965).unwrap();
        assert_eq!(gpu.clock_mhz(), Ok(1965.0));
        gpu.reset_clock().unwrap();
        assert_eq!(gpu.clock_mhz(), Ok(210.0));
        assert_eq!(gpu.limit_power(300.0), Ok(()));
        assert_eq!(gpu.limit_power(900.0), Err(Fault::Failed("Unknown".to_owned())));
    }

    #[test]
    fn application_clocks_stand_in_for_locked_ones_that_are_not_permitted() {
        let (mut gpu, _folder) = gpu(4, 0);
        gpu.lock_clock(1980).unwrap();
        assert_eq!(gpu.clock_mhz(), Ok(1980.0));
        gpu.reset_clock().unwrap();
        assert_eq!(gpu.clock_mhz(), Ok(210.0));
    }

    #[test]
    fn a_user_without_any_permission_is_told_the_command() {
        let (mut gpu, _folder) = gpu(4, 4);
        assert_eq!(gpu.lock_clock(1980), Err(Fault::NotPermitted));
        assert!(gpu.permission(Knob::Clock).contains("sudo nvidia-smi -i 1 -acp UNRESTRICTED"));
    }

    #[test]
    fn a_missing_library_or_gpu_is_a_reason() {
        let Err(Fault::Failed(text)) = NvmlGpu::open_in(OsStr::new("libnothing.so"), "1") else { panic!("opened") };
        assert!(text.starts_with("NVML (libnvidia-ml.so.1"), "{text}");
    }
}
