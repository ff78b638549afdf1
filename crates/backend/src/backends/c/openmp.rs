//! The settings of an OpenMP runtime that is loaded in this process.

#![allow(unsafe_code)]

use libloading::os::unix::{Library, RTLD_NOW};
use nix::libc::RTLD_NOLOAD;
use std::ffi::c_int;

/// The names of the runtimes.
const RUNTIMES: [&str; 4] = ["libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"];

/// The functions that return one setting each.
const SETTINGS: [&str; 5] = [
    "omp_get_max_threads",
    "omp_get_dynamic",
    "omp_get_max_active_levels",
    "omp_get_proc_bind",
    "omp_get_cancellation",
];

/// Returns the settings of every OpenMP runtime that is loaded, as text. Loads none.
pub fn openmp_settings() -> String {
    let mut text = String::new();
    for name in RUNTIMES {
        // SAFETY: this call does not load the library. It only counts a library that is loaded
        // already. Dropping the handle undoes that.
        let Ok(runtime) = (unsafe { Library::open(Some(name), RTLD_NOW | RTLD_NOLOAD) }) else { continue };
        for setting in SETTINGS {
            // SAFETY: OpenMP defines these functions with this signature. They change nothing.
            let Ok(get) = (unsafe { runtime.get::<unsafe extern "C" fn() -> c_int>(setting.as_bytes()) }) else {
                continue;
            };
            // SAFETY: as above.
            let value = unsafe { get() };
            text += &format!("{name} {setting} = {value}; ");
        }
    }
    text
}
