//! Opens CUPTI and calls it.
#![allow(unsafe_code)] // calls NVIDIA's libraries

use super::layout::{Initialize, Parameters};
use super::status::Refusal;
use crate::backends::gpu::native::libraries;
use libloading::os::unix::{Library, Symbol};
use std::path::Path;

/// CUPTI, for the life of the process.
#[derive(Clone, Copy)]
pub(super) struct Cupti(&'static Library);

impl Cupti {
    /// Opens the library.
    pub(super) fn open(folder: Option<&Path>) -> Result<Self, Refusal> {
        let versions = ["13", "12"];
        // CUPTI opens the other library by its name. The system's loader does not find that name in
        // a user's folder.
        let (library, _) = libraries::open(folder, "libcupti", &versions, &["libnvperf_host"])
            .ok_or_else(|| Refusal::Missing(absent(folder)))?;
        // Closing the library while its threads run is not safe.
        Ok(Self(Box::leak(Box::new(library))))
    }

    /// Prepares the library for questions about a device. The driver must have started.
    pub(super) fn begin(self) -> Result<(), Refusal> {
        // SAFETY: it has no parameters.
        unsafe { self.call(&mut Initialize::new()) }
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
        // SAFETY: `parameters` has the layout that the function takes; the caller answers for the
        // pointers.
        let status = unsafe { function(parameters) };
        Refusal::check(P::FUNCTION, status)
    }
}

fn absent(folder: Option<&Path>) -> String {
    match folder {
        Some(folder) => format!("there is no usable libcupti.so in `{}`", folder.display()),
        None => "there is no libcupti.so".to_owned(),
    }
}
