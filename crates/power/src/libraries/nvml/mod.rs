//! NVIDIA's library, which comes with the driver.
//!
//! A guard manages a GPU through it ([`Nvml`]). Everybody may read its state ([`NvmlGpu`]).

mod manage;
mod readings;

pub(crate) use manage::Nvml;
pub use readings::Slowing;

use super::{Calls, Codes, text};
use crate::manager::Fault;
use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};

/// The library's name with its version. Drivers always install this name; the name without a
/// version comes only with developers' packages.
const LIBRARY: &str = "libnvidia-ml.so.1";

/// `nvmlReturn_t`: the user may not do this; the device cannot; the GPU has fallen off the bus, or
/// does not answer any more.
const CODES: Codes = Codes { not_permitted: 4, not_supported: 3, lost: Some(15) };

/// `nvmlClockType_t`: the clock of the multiprocessors.
const SM: c_uint = 1;

/// The opaque handle of a GPU.
type Handle = *mut c_void;

/// A GPU as NVML sees it. The library stays initialised for the life of the process.
pub struct NvmlGpu {
    calls: Calls,
    handle: Handle,
}

// SAFETY: NVML may be called from any thread, and its handles belong to the process.
unsafe impl Send for NvmlGpu {}

impl NvmlGpu {
    /// Opens the GPU at an address of the PCI bus, such as `00000000:3b:00.0`. NVML numbers GPUs in
    /// another order than CUDA, so a number would not do.
    ///
    /// # Errors
    /// There is no NVML, or it does not know the GPU.
    pub fn open(address: &str) -> Result<Self, Fault> {
        Self::open_in(OsStr::new(LIBRARY), address)
    }

    /// Opens a GPU through the library at `path`, which has the functions of NVML.
    ///
    /// # Errors
    /// As of [`open`](Self::open).
    pub fn open_in(path: &OsStr, address: &str) -> Result<Self, Fault> {
        let calls = Calls::open(path, "NVML (libnvidia-ml.so.1, part of NVIDIA's driver)", CODES, meaning)?;
        // SAFETY: `nvmlReturn_t nvmlInit_v2(void)`.
        calls.call(c"nvmlInit_v2", |init: unsafe extern "C" fn() -> c_int| unsafe { init() })?;
        let bus = text(address)?;
        let mut handle: Handle = std::ptr::null_mut();
        let find = |find: unsafe extern "C" fn(*const c_char, *mut Handle) -> c_int| {
            // SAFETY: the address ends in 0, and the handle outlives the call.
            unsafe { find(bus.as_ptr(), &raw mut handle) }
        };
        let found = calls.call(c"nvmlDeviceGetHandleByPciBusId_v2", find);
        found.map_err(|fault| Fault::Failed(format!("NVML does not know the GPU {address}: {fault}")))?;
        Ok(Self { calls, handle })
    }

    /// Reads one property by the function called `name`, which writes a `T`.
    fn get<T: Copy + Default>(&self, name: &CStr) -> Result<T, Fault> {
        let mut value = T::default();
        let get = |get: unsafe extern "C" fn(Handle, *mut T) -> c_int| {
            // SAFETY: the handle is the library's, and the value outlives the call.
            unsafe { get(self.handle, &raw mut value) }
        };
        self.calls.call(name, get)?;
        Ok(value)
    }

    /// Returns the clock of the multiprocessors in MHz.
    ///
    /// # Errors
    /// The GPU does not tell it.
    pub fn clock_mhz(&self) -> Result<f64, Fault> {
        let mut mhz: c_uint = 0;
        let read = |read: unsafe extern "C" fn(Handle, c_uint, *mut c_uint) -> c_int| {
            // SAFETY: the handle is the library's, and the value outlives the call.
            unsafe { read(self.handle, SM, &raw mut mhz) }
        };
        self.calls.call(c"nvmlDeviceGetClockInfo", read)?;
        Ok(f64::from(mhz))
    }
}

/// Returns NULL-free text for an error code.
fn meaning(library: &libloading::Library, code: c_int) -> Option<String> {
    // SAFETY: `const char *nvmlErrorString(nvmlReturn_t)` returns a static text for any code.
    unsafe {
        let describe = library.get::<unsafe extern "C" fn(c_int) -> *const c_char>(b"nvmlErrorString\0").ok()?;
        let text = describe(code);
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    }
}
