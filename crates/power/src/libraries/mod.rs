//! The makers' libraries. They are opened at run time, and only in a guard.

#![allow(unsafe_code)] // calls the makers' libraries

mod amdsmi;
mod nvml;

pub(crate) use amdsmi::AmdSmi;
pub(crate) use nvml::Nvml;

use crate::manager::Fault;
use libloading::Library;
use std::ffi::{CStr, CString, OsStr, c_int};

/// A library whose functions return 0 or an error code.
struct Calls {
    library: Library,
    /// The codes of the two errors that callers tell apart.
    not_permitted: c_int,
    not_supported: c_int,
    /// Returns the library's text for a code.
    meaning: fn(&Library, c_int) -> Option<String>,
}

impl Calls {
    /// Opens the library at `path`, which `what` names.
    fn open(
        path: &OsStr,
        what: &str,
        codes: (c_int, c_int),
        meaning: fn(&Library, c_int) -> Option<String>,
    ) -> Result<Self, Fault> {
        // SAFETY: what these libraries run when they are loaded has no preconditions.
        let library = unsafe { Library::new(path) };
        let library = library.map_err(|error| Fault::Failed(format!("{what} cannot be opened: {error}")))?;
        Ok(Self { library, not_permitted: codes.0, not_supported: codes.1, meaning })
    }

    /// Calls the function called `name`, whose type `F` must be the one of the library's header.
    fn call<F: Copy>(&self, name: &CStr, call: impl FnOnce(F) -> c_int) -> Result<(), Fault> {
        // SAFETY: the callers name functions with their types.
        let function = unsafe { self.library.get::<F>(name.to_bytes_with_nul()) };
        // A function that an older library lacks is one that the device cannot do with it.
        let Ok(function) = function else { return Err(Fault::NotSupported) };
        match call(*function) {
            0 => Ok(()),
            code if code == self.not_permitted => Err(Fault::NotPermitted),
            code if code == self.not_supported => Err(Fault::NotSupported),
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
