//! Opening CUPTI and calling it.
#![allow(unsafe_code)] // calls NVIDIA's libraries

use super::layout::Parameters;
use super::libraries;
use super::status::Refusal;
use libloading::os::unix::{Library, Symbol};
use std::path::Path;

/// The names of CUPTI, newest first; the versions from 13.2 on cannot be told from here, and crash without a driver.
const CUPTI: [&str; 3] = ["libcupti.so.13", "libcupti.so.12", "libcupti.so"];
/// CUPTI opens it by this name, where the system's loader does not find it in a folder of the user's.
const PERFORMANCE: [&str; 1] = ["libnvperf_host.so"];

/// CUPTI, for the life of the process.
#[derive(Clone, Copy)]
pub(super) struct Cupti(&'static Library);

impl Cupti {
    /// Opens the library.
    pub(super) fn open(folder: Option<&Path>) -> Result<Self, Refusal> {
        // It must be there before CUPTI asks for it; where it is not, CUPTI may find another one.
        let performance = libraries::open(folder, &PERFORMANCE);
        let cupti = libraries::open(folder, &CUPTI).map_err(Refusal::Missing)?;
        performance.map_err(Refusal::Missing)?;
        Ok(Self(cupti))
    }

    /// Calls the function of `parameters`.
    ///
    /// # Safety
    /// The pointers among the parameters are valid for what the function does with them.
    pub(super) unsafe fn call<P: Parameters>(self, parameters: &mut P) -> Result<(), Refusal> {
        // SAFETY: by the headers every function of CUPTI that takes parameters has this type.
        let function: Result<Symbol<unsafe extern "C" fn(*mut P) -> i32>, _> =
            unsafe { self.0.get(P::FUNCTION.as_bytes()) };
        let function = function.map_err(|_| Refusal::Old(P::FUNCTION))?;
        // SAFETY: `parameters` has the layout that the function takes; the caller answers for the pointers.
        let status = unsafe { function(parameters) };
        Refusal::check(P::FUNCTION, status)
    }
}
