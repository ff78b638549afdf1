//! AMD's library, a part of ROCm.

use super::{Calls, Codes};
use crate::manager::{Abilities, Clocks, Fault, Knob, Manager, PowerRange};
use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};

/// The names of the library: the development package's, and those of ROCm 6 and 7.
const LIBRARIES: [&str; 4] = ["libamd_smi.so", "/opt/rocm/lib/libamd_smi.so", "libamd_smi.so.26", "libamd_smi.so.25"];

/// `amdsmi_status_t`: the user may not do this; the device cannot.
const CODES: Codes = Codes { not_permitted: 10, not_supported: 2, lost: None };

/// `amdsmi_init_flags_t`: GPUs alone.
const GPUS: u64 = 1 << 1;

/// `amdsmi_clk_type_t`: the clock of the compute units.
const GRAPHICS: c_uint = 0;

/// `amdsmi_clk_limit_type_t`.
const LOWEST: c_uint = 0;
const HIGHEST: c_uint = 1;

/// `amdsmi_dev_perf_level_t`: the driver chooses the clock.
const AUTO: c_uint = 0;

/// The distance in MHz of the clocks that stand for a range. The device takes every clock.
const STEP: usize = 25;

/// The opaque handle of a processor.
type Handle = *mut c_void;

/// `amdsmi_clk_info_t`, with room for a later version.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct ClockInfo {
    present: u32,
    lowest: u32,
    highest: u32,
    is_locked: u8,
    sleeps: u8,
    reserved: [u32; 16],
}

/// `amdsmi_power_cap_info_t`. Powers are in microwatts.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct PowerCap {
    present: u64,
    default: u64,
    dpm: u64,
    lowest: u64,
    highest: u64,
    reserved: [u64; 8],
}

/// A GPU as AMD SMI sees it.
pub(crate) struct AmdSmi {
    calls: Calls,
    handle: Handle,
    /// The lowest and the highest clock in MHz, to which a reset returns.
    range: Option<(u32, u32)>,
}

impl AmdSmi {
    /// Opens the GPU at an address of the PCI bus.
    pub(crate) fn open(address: &str) -> Result<Self, Fault> {
        let mut last = Fault::NotSupported;
        for library in LIBRARIES {
            match Self::open_in(OsStr::new(library), address) {
                Err(fault) => last = fault,
                opened => return opened,
            }
        }
        Err(last)
    }

    fn open_in(path: &OsStr, address: &str) -> Result<Self, Fault> {
        let calls = Calls::open(path, "AMD SMI (libamd_smi.so, part of ROCm)", CODES, meaning)?;
        // SAFETY: `amdsmi_status_t amdsmi_init(uint64_t init_flags)`.
        calls.call(c"amdsmi_init", |init: unsafe extern "C" fn(u64) -> c_int| unsafe { init(GPUS) })?;
        let bus = bus_number(address)
            .ok_or_else(|| Fault::Failed(format!("`{address}` is not an address of the PCI bus")))?;
        let mut handle: Handle = std::ptr::null_mut();
        let find = |find: unsafe extern "C" fn(u64, *mut Handle) -> c_int| {
            // SAFETY: `amdsmi_bdf_t` is a union of 64 bits, and the handle outlives the call.
            unsafe { find(bus, &raw mut handle) }
        };
        calls.call(c"amdsmi_get_processor_handle_from_bdf", find)?;
        let mut gpu = Self { calls, handle, range: None };
        gpu.range = gpu.clock_info().ok().map(|info| (info.lowest, info.highest));
        Ok(gpu)
    }

    fn clock_info(&self) -> Result<ClockInfo, Fault> {
        let mut info = ClockInfo::default();
        let get = |get: unsafe extern "C" fn(Handle, c_uint, *mut ClockInfo) -> c_int| {
            // SAFETY: the structure is at least as large as the library's.
            unsafe { get(self.handle, GRAPHICS, &raw mut info) }
        };
        self.calls.call(c"amdsmi_get_clock_info", get)?;
        Ok(info)
    }

    fn power_cap(&self) -> Result<PowerCap, Fault> {
        let mut cap = PowerCap::default();
        let get = |get: unsafe extern "C" fn(Handle, u32, *mut PowerCap) -> c_int| {
            // SAFETY: the structure is at least as large as the library's.
            unsafe { get(self.handle, 0, &raw mut cap) }
        };
        self.calls.call(c"amdsmi_get_power_cap_info", get)?;
        Ok(cap)
    }

    /// Bounds the clock. ROCm 7 has a call for each bound, and earlier versions one for both.
    fn bound_clock(&self, lowest: u32, highest: u32) -> Result<(), Fault> {
        let limit = |which: c_uint, mhz: u32| {
            let set = |set: unsafe extern "C" fn(Handle, c_uint, c_uint, u64) -> c_int| {
                // SAFETY: the handle is the library's.
                unsafe { set(self.handle, GRAPHICS, which, u64::from(mhz)) }
            };
            self.calls.call(c"amdsmi_set_gpu_clk_limit", set)
        };
        // The device refuses a lower bound above the upper one, whichever of them moves first.
        let limited = limit(LOWEST, self.range.map_or(lowest, |(first, _)| first.min(lowest)))
            .and_then(|()| limit(HIGHEST, highest))
            .and_then(|()| limit(LOWEST, lowest));
        match limited {
            Err(Fault::NotSupported) => {}
            limited => return limited,
        }
        let set = |set: unsafe extern "C" fn(Handle, u64, u64, c_uint) -> c_int| {
            // SAFETY: the handle is the library's.
            unsafe { set(self.handle, u64::from(lowest), u64::from(highest), GRAPHICS) }
        };
        self.calls.call(c"amdsmi_set_gpu_clk_range", set)
    }
}

/// Returns `amdsmi_bdf_t` of an address such as `0000:c1:00.0`.
fn bus_number(address: &str) -> Option<u64> {
    let (rest, function) = address.rsplit_once('.')?;
    let parts: Vec<u64> = rest.split(':').map(|part| u64::from_str_radix(part, 16).ok()).collect::<Option<_>>()?;
    let [domain, bus, slot] = parts[..] else { return None };
    let function = u64::from_str_radix(function, 16).ok()?;
    Some(domain << 16 | (bus & 0xff) << 8 | (slot & 0x1f) << 3 | (function & 7))
}

/// Returns the library's text for an error code.
fn meaning(library: &libloading::Library, code: c_int) -> Option<String> {
    type Describe = unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int;
    let mut text: *const c_char = std::ptr::null();
    // SAFETY: the library returns a static text.
    unsafe {
        let describe = library.get::<Describe>(b"amdsmi_status_code_to_string\0").ok()?;
        let is_described = describe(code, &raw mut text) == 0 && !text.is_null();
        is_described.then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    }
}

impl Manager for AmdSmi {
    fn abilities(&mut self) -> Result<Abilities, Fault> {
        let watts = |microwatts: u64| microwatts as f64 / 1e6;
        let clocks = self.range.filter(|(first, last)| 0 < *first && first < last).map(|(first, last)| {
            let mut mhz: Vec<u32> = (first..last).step_by(STEP).collect();
            mhz.push(last);
            Clocks { mhz, is_continuous: true }
        });
        let power_limit = match self.power_cap() {
            Err(Fault::NotSupported) => None,
            cap => Some(cap?).filter(|cap| cap.lowest < cap.highest),
        };
        let power_limit = power_limit.map(|cap| PowerRange {
            lowest_w: watts(cap.lowest),
            highest_w: watts(cap.highest),
            present_w: watts(cap.present),
        });
        Ok(Abilities { clocks, power_limit })
    }

    fn lock_clock(&mut self, mhz: u32) -> Result<(), Fault> {
        self.bound_clock(mhz, mhz)
    }

    fn reset_clock(&mut self) -> Result<(), Fault> {
        // The range of a device whose clock is locked is one clock. The level alone resets it then.
        if let Some((lowest, highest)) = self.range.filter(|(lowest, highest)| lowest < highest) {
            self.bound_clock(lowest, highest)?;
        }
        let set = |set: unsafe extern "C" fn(Handle, c_uint) -> c_int| {
            // SAFETY: the handle is the library's.
            unsafe { set(self.handle, AUTO) }
        };
        self.calls.call(c"amdsmi_set_gpu_perf_level", set)
    }

    fn limit_power(&mut self, watts: f64) -> Result<(), Fault> {
        let set = |set: unsafe extern "C" fn(Handle, u32, u64) -> c_int| {
            // SAFETY: the handle is the library's.
            unsafe { set(self.handle, 0, (watts * 1e6).round() as u64) }
        };
        self.calls.call(c"amdsmi_set_power_cap", set)
    }

    fn clock_mhz(&mut self) -> Result<f64, Fault> {
        self.clock_info().map(|info| f64::from(info.present))
    }

    fn permission(&self, _: Knob) -> String {
        "start Tunesmith as root (`sudo -E tunesmith ...`): AMD's driver lets nobody else set clocks or power"
            .to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::compiled;
    use super::*;

    /// AMD SMI with one GPU at c1:00.0. `LIMIT` is what the newer call for bounds returns.
    const GPU: &str = r#"
        #include <stdint.h>
        #include <stdbool.h>
        typedef struct { uint32_t clk, min_clk, max_clk; uint8_t locked, sleeps; uint32_t reserved[4]; } clk_info;
        typedef struct { uint64_t cap, standard, dpm, min, max, reserved[3]; } cap_info;
        static int gpu, level = 9;
        static uint32_t low = 500, high = 2100;
        int amdsmi_init(uint64_t flags) { return flags == 2 ? 0 : 1; }
        int amdsmi_status_code_to_string(int code, const char **text) { *text = "AMDSMI_STATUS_INVAL"; return 0; }
        int amdsmi_get_processor_handle_from_bdf(uint64_t bdf, void **handle) {
            *handle = &gpu; return bdf == 0xc100 ? 0 : 1;
        }
        int amdsmi_get_clock_info(void *h, unsigned type, clk_info *info) {
            info->clk = low == high ? low : 132; info->min_clk = low; info->max_clk = high; return type;
        }
        int amdsmi_set_gpu_clk_limit(void *h, unsigned type, unsigned which, uint64_t mhz) {
            if (LIMIT) return LIMIT;
            if (which ? mhz < low : mhz > high) return 1;
            if (which) high = mhz; else low = mhz;
            return 0;
        }
        int amdsmi_set_gpu_clk_range(void *h, uint64_t min, uint64_t max, unsigned type) {
            low = min; high = max; return 0;
        }
        int amdsmi_set_gpu_perf_level(void *h, unsigned wanted) { level = wanted; return 0; }
        int amdsmi_get_power_cap_info(void *h, uint32_t sensor, cap_info *info) {
            info->cap = 750000000; info->min = 0; info->max = 750000000; return 0;
        }
        int amdsmi_set_power_cap(void *h, uint32_t sensor, uint64_t uw) { return uw == 400000000 ? 0 : 10; }
    "#;

    fn gpu(limit: i32) -> (AmdSmi, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let library = compiled::library(folder.path(), &GPU.replace("LIMIT", &limit.to_string()));
        (AmdSmi::open_in(library.as_os_str(), "00000000:c1:00.0").unwrap(), folder)
    }

    #[test]
    fn an_address_becomes_the_number_of_amd_smi() {
        assert_eq!(bus_number("0000:c1:00.0"), Some(0xc100));
        assert_eq!(bus_number("0002:83:1f.7"), Some(0x2_83ff));
        assert_eq!((bus_number("c1:00.0"), bus_number("0000:xx:00.0")), (None, None));
    }

    #[test]
    fn clocks_go_up_and_down_and_back_by_either_call() {
        for limit in [0, 2] {
            let (mut gpu, _folder) = gpu(limit);
            let clocks = gpu.abilities().unwrap().clocks.unwrap();
            assert!(clocks.is_continuous && clocks.has(1234) && !clocks.has(2101));
            for mhz in [900, 1900, 700, 2100] {
                gpu.lock_clock(mhz).unwrap();
                assert_eq!(gpu.clock_mhz(), Ok(f64::from(mhz)));
            }
            gpu.reset_clock().unwrap();
            let info = gpu.clock_info().unwrap();
            assert_eq!((info.lowest, info.highest), (500, 2100));
        }
    }

    #[test]
    fn power_limits_are_in_watts_and_errors_have_a_text() {
        let (mut gpu, _folder) = gpu(0);
        assert_eq!(gpu.abilities().unwrap().power_limit.unwrap().highest_w, 750.0);
        assert_eq!(gpu.limit_power(400.0), Ok(()));
        assert_eq!(gpu.limit_power(401.0), Err(Fault::NotPermitted));
        assert!(gpu.permission(Knob::PowerLimit).contains("sudo"));
    }
}
