//! The processor's floating-point settings: rounding, exceptions and flushing of denormals.

#![allow(unsafe_code)]

use std::ffi::c_int;

/// The settings of the current thread, as saved by `<fenv.h>`.
///
/// A library linked with `-ffast-math` disables denormals for the whole thread as soon as it is
/// loaded, and a kernel may change the rounding. Each kernel keeps its own settings. They must not
/// affect the comparison of results or the next kernel.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
pub(super) struct FloatEnvironment([u8; 64]);

#[link(name = "m")]
unsafe extern "C" {
    fn fegetenv(environment: *mut FloatEnvironment) -> c_int;
    fn fesetenv(environment: *const FloatEnvironment) -> c_int;
}

/// Returns the floating-point modes of this thread: rounding, exceptions, and the flushing of
/// denormals.
pub fn float_controls() -> u64 {
    FloatEnvironment::current().controls()
}

impl FloatEnvironment {
    /// Returns the current settings.
    pub(super) fn current() -> Self {
        let mut environment = Self([0; 64]);
        // SAFETY: `fenv_t` takes 32 bytes on x86-64 and 8 on aarch64, and 16 is beyond its
        // alignment on both.
        unsafe { fegetenv(&raw mut environment) };
        environment
    }

    /// Returns the settings without the flags that every computation raises.
    fn controls(&self) -> u64 {
        let bytes = &self.0;
        if cfg!(target_arch = "x86_64") {
            // The control word of the x87 unit, then MXCSR behind its environment.
            let word = u16::from_le_bytes([bytes[0], bytes[1]]);
            let mxcsr = u32::from_le_bytes([bytes[28], bytes[29], bytes[30], bytes[31]]);
            return u64::from(word) << 32 | u64::from(mxcsr & !0x3f);
        }
        // FPCR comes first on aarch64.
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]).into()
    }

    /// Installs these settings.
    pub(super) fn install(&self) {
        // SAFETY: `self` came from `fegetenv`.
        unsafe { fesetenv(self) };
    }
}
