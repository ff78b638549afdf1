//! The processor's floating-point settings: rounding, exceptions, flushing of denormals.

#![allow(unsafe_code)]

use std::ffi::c_int;

/// The settings of the current thread, as `<fenv.h>` saves them.
///
/// A library linked with `-ffast-math` switches denormals off for the whole thread when it is
/// loaded, and a kernel may change the rounding. Each kernel gets what it set; the comparison of
/// results and the next kernel do not.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
pub(super) struct FloatEnvironment([u8; 64]);

#[link(name = "m")]
unsafe extern "C" {
    fn fegetenv(environment: *mut FloatEnvironment) -> c_int;
    fn fesetenv(environment: *const FloatEnvironment) -> c_int;
}

impl FloatEnvironment {
    /// Returns the settings now.
    pub(super) fn current() -> Self {
        let mut environment = Self([0; 64]);
        // SAFETY: `fenv_t` takes 32 bytes on x86-64 and 8 on aarch64, and 16 is beyond its
        // alignment on both.
        unsafe { fegetenv(&raw mut environment) };
        environment
    }

    /// Makes these the settings.
    pub(super) fn install(&self) {
        // SAFETY: `self` came from `fegetenv`.
        unsafe { fesetenv(self) };
    }
}
