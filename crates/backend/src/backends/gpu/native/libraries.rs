//! Finds libraries of GPUs in places that the system's loader does not search.

#![allow(unsafe_code)]

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use std::path::{Path, PathBuf};

/// The folders in which toolkits install themselves, beside the places that the loader knows.
const USUAL: [&str; 5] =
    ["/usr/local/cuda/lib64", "/usr/local/cuda/lib", "/opt/cuda/lib64", "/opt/rocm/lib", "/opt/rocm/lib64"];

/// The depth of the search below a folder. A Python package has its libraries in `nvidia/cu13/lib`.
const DEPTH: usize = 5;

/// Returns the files in `folder` or below it with the name `STEM.so`, with or without a version,
/// sorted by path.
pub(crate) fn find(folder: &Path, stem: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(folder, &format!("{stem}.so"), DEPTH, &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, prefix: &str, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            if depth > 0 {
                collect(&path, prefix, depth - 1, found);
            }
        } else if path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(prefix)) {
            found.push(path);
        }
    }
}

/// Opens the library called `stem`, and returns its folder if it is known. If `folder` is given,
/// only that folder is searched. Otherwise the loader tries the names with `versions`, and then the
/// folders of toolkits are searched.
///
/// `beside` names libraries that the library opens itself, by name alone. They are opened first
/// from the same folder, so that it finds them.
pub(crate) fn open(
    folder: Option<&Path>,
    stem: &str,
    versions: &[&str],
    beside: &[&str],
) -> Option<(Library, Option<PathBuf>)> {
    if let Some(folder) = folder {
        return find(folder, stem).iter().find_map(|path| open_file(path, beside));
    }
    let names = versions.iter().map(|version| format!("{stem}.so.{version}")).chain([format!("{stem}.so")]);
    // SAFETY: initialisers of these libraries have no effect that matters here.
    let by_name = names.map(|name| unsafe { Library::open(Some(name), RTLD_NOW) }).find_map(Result::ok);
    if let Some(library) = by_name {
        return Some((library, None));
    }
    USUAL.iter().flat_map(|folder| find(Path::new(folder), stem)).find_map(|path| open_file(&path, beside))
}

fn open_file(path: &Path, beside: &[&str]) -> Option<(Library, Option<PathBuf>)> {
    let folder = path.parent()?;
    for file in beside.iter().flat_map(|stem| find(folder, stem)) {
        // SAFETY: as above. It stays loaded, so that the library that opens it again finds it by
        // its name.
        if let Ok(library) = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_GLOBAL) } {
            std::mem::forget(library);
        }
    }
    // SAFETY: as above.
    let library = unsafe { Library::open(Some(path), RTLD_NOW) }.ok()?;
    Some((library, Some(folder.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_found_below_a_folder_whatever_their_version() {
        let folder = tempfile::tempdir().unwrap();
        let lib = folder.path().join("nvidia/cu13/lib");
        std::fs::create_dir_all(&lib).unwrap();
        for name in ["libnvrtc.so.13", "libnvrtc-builtins.so.13.0", "libnvrtc.alt.so.13"] {
            std::fs::write(lib.join(name), "").unwrap();
        }
        assert_eq!(find(folder.path(), "libnvrtc"), [lib.join("libnvrtc.so.13")]);
        assert_eq!(find(folder.path(), "libnvrtc-builtins"), [lib.join("libnvrtc-builtins.so.13.0")]);
        assert!(open(Some(folder.path()), "libnvrtc", &["13"], &[]).is_none());
    }
}
