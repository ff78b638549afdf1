//! The headers that kernels include: CUDA's own, and CUB, Thrust and libcu++. Where they are, and
//! what to do if they are missing.

// Only NVRTC's side searches for headers.
#![cfg_attr(not(feature = "cuda"), allow(dead_code))]

use crate::host::CudaSetup;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// One file of each set of headers. Packages of Python have the sets in folders of their own.
const MARKERS: [&str; 4] = ["cuda_fp16.h", "cub/version.cuh", "crt/mma.h", "curand_kernel.h"];

/// The folders in which toolkits install themselves.
const USUAL: [&str; 2] = ["/usr/local/cuda", "/opt/cuda"];

/// The depth of the search below a folder. A Python package has `nvidia/cu13/include/cccl`.
const DEPTH: usize = 5;

/// Returns the folders to search for included headers: for each set of headers the first place that
/// has it. `compiler` is the folder of NVRTC's library, if it is known. Headers beside it fit best.
pub(in crate::backends) fn find(setup: &CudaSetup, compiler: Option<&Path>) -> Vec<PathBuf> {
    let mut places = Vec::new();
    if let Some(folder) = &setup.libraries {
        collect(folder, DEPTH, &mut places);
        places.sort();
    }
    let toolkits = compiler.and_then(Path::parent).map(Path::to_owned).into_iter();
    let toolkits = toolkits.chain(setup.toolkit.clone()).chain(USUAL.map(PathBuf::from));
    places.extend(toolkits.flat_map(|toolkit| [toolkit.join("include"), toolkit.join("include/cccl")]));
    // The headers of the C library are not for GPUs. They would stand in front of NVRTC's own.
    places.retain(|place| place != Path::new("/usr/include"));
    let mut found: Vec<PathBuf> = Vec::new();
    for marker in MARKERS {
        let first = places.iter().find(|place| place.join(marker).is_file());
        if let Some(place) = first.filter(|place| !found.contains(place)) {
            found.push(place.clone());
        }
    }
    found
}

/// Adds the folders with a marker, in `folder` or below it.
fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if MARKERS.iter().any(|marker| folder.join(marker).is_file()) {
        found.push(folder.to_owned());
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    if depth > 0 {
        let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        entries.flatten().filter(is_folder).for_each(|entry| collect(&entry.path(), depth - 1, found));
    }
}

/// Returns a text that changes when the headers in `folders` are replaced by others.
pub(in crate::backends) fn stamp(folders: &[PathBuf]) -> String {
    let files = folders.iter().flat_map(|folder| MARKERS.map(|marker| folder.join(marker)));
    let stamps = files.filter_map(|file| {
        let data = file.metadata().ok()?;
        let changed = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(format!("{} {} {}", file.display(), data.len(), changed.as_nanos()))
    });
    stamps.collect::<Vec<_>>().join("\n")
}

/// The origin of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// CUB, Thrust and libcu++.
    Cccl,
    /// CUDA's own headers.
    Cuda,
    Curand,
    /// The standard library of C or C++.
    Standard,
}

impl Origin {
    /// Returns the origin of a header by its name, or `None` for a header of the user.
    fn of(header: &str) -> Option<Self> {
        const OWN: [&str; 7] =
            ["cuda", "mma.h", "cooperative_groups", "cuComplex.h", "math_constants.h", "crt/", "vector_"];
        const STANDARD: [&str; 8] = ["assert", "float", "limits", "math", "stdint", "stdio", "stdlib", "string"];
        let plain = header.strip_suffix(".h");
        let is_c = |name: &str| STANDARD.contains(&name) || matches!(name, "stddef" | "stdbool");
        if ["cub/", "thrust/", "cuda/", "nv/"].iter().any(|folder| header.starts_with(folder)) {
            Some(Self::Cccl)
        } else if header.starts_with("curand") {
            Some(Self::Curand)
        } else if OWN.iter().any(|prefix| header.starts_with(prefix)) {
            Some(Self::Cuda)
        } else if plain.is_some_and(is_c) || !header.contains(['.', '/']) {
            // Headers of C++ have neither a folder nor a suffix.
            Some(Self::Standard)
        } else {
            None
        }
    }

    /// Returns the marker and the Python packages of the headers.
    fn packages(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Cccl => Some((MARKERS[1], "`nvidia-cuda-cccl`")),
            Self::Cuda => Some((MARKERS[0], "`nvidia-cuda-runtime` and `nvidia-cuda-crt`")),
            Self::Curand => Some((MARKERS[3], "`nvidia-curand`")),
            Self::Standard => None,
        }
    }
}

/// Returns the remedy for a log that misses a header of NVIDIA or of the standard library.
/// `folders` are those that were searched.
pub(in crate::backends) fn remedy(log: &str, folders: &[PathBuf]) -> Option<String> {
    let header = log.split_once("cannot open source file \"")?.1.split('"').next()?;
    let Some((marker, packages)) = Origin::of(header)?.packages() else {
        let name = header.strip_suffix(".h").map_or_else(|| header.to_owned(), |plain| format!("c{plain}"));
        return Some(format!(
            "NVRTC has no standard library, so there is no `{header}`; include <cuda/std/{name}> if the kernel \
             needs it, else leave it out"
        ));
    };
    Some(match folders.iter().find(|folder| folder.join(marker).is_file()) {
        Some(folder) => format!("`{header}` is not among the headers in `{}`", folder.display()),
        None => format!(
            "`{header}` is one of NVIDIA's headers; install the CUDA toolkit (its folder in CUDA_HOME, if it is not \
             /usr/local/cuda), or unpack the Python packages {packages} into the folder that TUNESMITH_NVIDIA names"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        folder
    }

    #[test]
    fn headers_are_found_in_packages_of_cuda_12_and_13_and_in_toolkits() {
        let thirteen = with(&["nvidia/cu13/include/cuda_fp16.h", "nvidia/cu13/include/cccl/cub/version.cuh"]);
        let twelve = with(&["nvidia/cuda_cccl/include/cub/version.cuh", "nvidia/cuda_runtime/include/cuda_fp16.h"]);
        let toolkit = with(&["include/cuda_fp16.h", "include/cub/version.cuh", "lib64/libnvrtc.so.12"]);
        let of = |libraries: Option<&Path>, compiler: Option<PathBuf>, toolkit: Option<&Path>| {
            let setup = CudaSetup {
                libraries: libraries.map(Path::to_owned),
                toolkit: toolkit.map(Path::to_owned),
                ..CudaSetup::default()
            };
            find(&setup, compiler.as_deref())
        };
        let include = |folder: &tempfile::TempDir, below: &str| folder.path().join(below);
        let new = [include(&thirteen, "nvidia/cu13/include"), include(&thirteen, "nvidia/cu13/include/cccl")];
        assert_eq!(of(Some(thirteen.path()), None, Some(toolkit.path())), new);
        let old = [include(&twelve, "nvidia/cuda_runtime/include"), include(&twelve, "nvidia/cuda_cccl/include")];
        assert_eq!(of(Some(twelve.path()), None, None)[..2], old);
        assert_eq!(of(None, None, Some(toolkit.path()))[..1], [include(&toolkit, "include")]);
        assert_eq!(
            of(None, Some(include(&toolkit, "lib64")), Some(thirteen.path()))[..1],
            [include(&toolkit, "include")]
        );
    }

    #[test]
    fn other_headers_at_the_same_place_have_another_stamp() {
        let folder = with(&["cub/version.cuh"]);
        let folders = [folder.path().to_owned()];
        let before = stamp(&folders);
        std::fs::write(folder.path().join("cub/version.cuh"), "#define CUB_VERSION 300100").unwrap();
        assert_ne!(stamp(&folders), before);
        assert_eq!(stamp(&[]), "");
    }

    #[test]
    fn a_missing_header_is_explained_by_its_origin() {
        let folder = with(&["cub/version.cuh"]);
        let log =
            |header: &str| format!("k.cu(1): catastrophic error: cannot open source file \"{header}\"\n  #include");
        let says = |header: &str, folders: &[PathBuf]| remedy(&log(header), folders).unwrap_or_default();
        assert!(says("cub/block/block_reduce.cuh", &[]).contains("`nvidia-cuda-cccl`"));
        assert!(says("cuda/std/cmath", &[]).contains("`nvidia-cuda-cccl`"));
        assert!(says("cuda_fp16.h", &[]).contains("`nvidia-cuda-runtime`"));
        assert!(says("curand_kernel.h", &[]).contains("`nvidia-curand`"));
        assert!(says("cmath", &[]).contains("include <cuda/std/cmath>"));
        assert!(says("math.h", &[]).contains("include <cuda/std/cmath>"));
        assert!(says("vector", &[]).contains("no standard library"));
        assert!(says("cub/blok.cuh", &[folder.path().to_owned()]).contains("is not among the headers in"));
        for other in [log("tiles.cuh"), log("inner/more.h"), "k.cu(1): error: `cub` is undefined".to_owned()] {
            assert_eq!(remedy(&other, &[]), None, "{other}");
        }
    }
}
