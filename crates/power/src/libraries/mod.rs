//! The makers' libraries. They are opened at run time. Only a guard manages devices through them.

#![allow(unsafe_code)] // calls the makers' libraries

mod amdsmi;
mod nvml;

pub(crate) use amdsmi::AmdSmi;
pub(crate) use nvml::Nvml;
pub use nvml::{NvmlGpu, Slowing};

use crate::manager::Fault;
use libloading::Library;
use std::ffi::{CStr, CString, OsStr, c_int};

/// The codes of the errors that callers tell apart.
#[derive(Clone, Copy)]
struct Codes {
    not_permitted: c_int,
    not_supported: c_int,
    /// `None` if the library has no such code.
    lost: Option<c_int>,
}

/// A library whose functions return 0 or an error code.
struct Calls {
    library: Library,
    codes: Codes,
    /// Returns the library's text for a code.
    meaning: fn(&Library, c_int) -> Option<String>,
}

impl Calls {
    /// Opens the library at `path`, which `what` names.
    fn open(
        path: &OsStr,
        what: &str,
        codes: Codes,
        meaning: fn(&Library, c_int) -> Option<String>,
    ) -> Result<Self, Fault> {
        // SAFETY: what these libraries run when they are loaded has no preconditions.
        let library = unsafe { Library::new(path) };
        let library = library.map_err(|error| Fault::Failed(format!("{what} cannot be opened: {error}")))?;
        Ok(Self { library, codes, meaning })
    }

    /// Calls the function called `name`, whose type `F` must be the one of the library's header.
    fn call<F: Copy>(&self, name: &CStr, call: impl FnOnce(F) -> c_int) -> Result<(), Fault> {
        // SAFETY: the callers name functions with their types.
        let function = unsafe { self.library.get::<F>(name.to_bytes_with_nul()) };
        // A function that an older library lacks is one that the device cannot do with it.
        let Ok(function) = function else { return Err(Fault::NotSupported) };
        match call(*function) {
            0 => Ok(()),
            code if code == self.codes.not_permitted => Err(Fault::NotPermitted),
            code if code == self.codes.not_supported => Err(Fault::NotSupported),
            code if Some(code) == self.codes.lost => Err(Fault::Lost),
            code => {
                let text = (self.meaning)(&self.library, code);
                Err(Fault::Failed(text.unwrap_or_else(|| format!("{} fails with {code}", name.to_string_lossy()))))
            }
        }
    }
}

/// Returns a text for a library.
fn text(of: &str) -> Result<CString, Fault> {
    CString::new(of).map_err(|error| Fault::Failed(error.to_string()))
}

#[cfg(test)]
mod compiled {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    /// Compiles a library in C that stands for a maker's.
    pub(super) fn library(folder: &Path, text: &str) -> PathBuf {
        let (source, library) = (folder.join("library.c"), folder.join("library.so"));
        std::fs::write(&source, text).unwrap();
        let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status().unwrap();
        assert!(made.success());
        library
    }
}
