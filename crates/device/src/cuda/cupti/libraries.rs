//! Where CUPTI is.
#![allow(unsafe_code)] // opens NVIDIA's libraries

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use std::path::{Path, PathBuf};

/// The folders in which the toolkit's installers put what the system's loader does not look through.
const TOOLKIT: [&str; 3] = ["/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64", "/opt/cuda/lib64"];

/// The files to try for a library with these names, in this order: in the folder that the user names, where the system
/// looks (a bare name), and where toolkits are installed.
fn candidates(folder: Option<&Path>, names: &[&str]) -> Vec<PathBuf> {
    let in_folder = |folder: &Path| names.iter().map(|name| folder.join(name)).collect::<Vec<_>>();
    let named = folder.into_iter().flat_map(in_folder);
    let system = names.iter().map(PathBuf::from);
    let toolkit = TOOLKIT.iter().flat_map(|folder| in_folder(Path::new(folder)));
    named.chain(system).chain(toolkit).collect()
}

/// Opens the first of `names` that there is, for the life of the process.
///
/// # Errors
/// None can be opened: why not, in the loader's words about the last one that exists, else about the first.
pub(super) fn open(folder: Option<&Path>, names: &[&str]) -> Result<&'static Library, String> {
    let mut refused: Option<String> = None;
    for path in candidates(folder, names) {
        // SAFETY: NVIDIA's libraries run constructors that need nothing of us; that some crash without a driver is why they
        // are opened in workers alone.
        match unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_GLOBAL) } {
            // Closing them while their threads run is not safe.
            Ok(library) => return Ok(Box::leak(Box::new(library))),
            Err(error) if path.exists() || refused.is_none() => refused = Some(words(&error)),
            Err(_) => {}
        }
    }
    Err(refused.unwrap_or_else(|| "no name to look for".to_owned()))
}

/// The loader's own words.
fn words(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_folder_comes_before_the_system_and_the_toolkit() {
        let candidates = candidates(Some(Path::new("/mine")), &["libx.so.2", "libx.so"]);
        let expected = ["/mine/libx.so.2", "/mine/libx.so", "libx.so.2", "libx.so", "/usr/local/cuda/lib64/libx.so.2"];
        assert_eq!(candidates[..5], expected.map(PathBuf::from));
    }

    #[test]
    fn a_file_that_is_no_library_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("libnothing.so"), "text").unwrap();
        let error = open(Some(folder.path()), &["libnothing.so"]).unwrap_err();
        assert!(error.contains(&folder.path().display().to_string()), "{error}");
    }
}
