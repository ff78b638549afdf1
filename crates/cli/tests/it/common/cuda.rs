//! CUDA without a GPU: scripts in place of the driver, and NVIDIA's compiler if it is installed.

use super::{Folder, Ran, repository};
use std::path::PathBuf;
use std::process::Command;

/// Returns the text of a script: a GPU of a compute capability whose kernels behave as `kernels`, a
/// JSON list of rules. The script itself compiles if `compiles`, else NVRTC does.
pub fn script(capability: (u32, u32), compiles: bool, kernels: &str) -> String {
    let (major, minor) = capability;
    format!(
        r#"{{ "devices": [{{ "name": "Scripted GPU", "memory": 1073741824, "attributes": {{
            "COMPUTE_CAPABILITY_MAJOR": {major}, "COMPUTE_CAPABILITY_MINOR": {minor}, "L2_CACHE_SIZE": 1048576,
            "MAX_THREADS_PER_BLOCK": 1024, "MAX_THREADS_PER_MULTIPROCESSOR": 2048, "MAX_REGISTERS_PER_BLOCK": 65536,
            "MAX_SHARED_MEMORY_PER_BLOCK": 49152, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448,
            "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 233472 }} }}],
          "compiles": {compiles}, "kernels": {kernels} }}"#
    )
}

/// Runs the binary in a folder, with `script.json` in place of the driver and with its own cache.
pub fn run_scripted(folder: &Folder, arguments: &[&str]) -> Ran {
    let mut command = folder.command(arguments);
    command.env("TUNESMITH_CUDA_SCRIPT", folder.path("script.json")).env("XDG_CACHE_HOME", folder.path("cache"));
    Ran::of(command.output().unwrap())
}

/// Compiles a library that stands in for NVIDIA's and needs others, into the folder `nvidia`.
pub fn library(folder: &Folder, stem: &str, name: &str, others: &[&str]) {
    let libraries = folder.path("nvidia");
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-Wl,--no-as-needed", "-Wl,-soname"]);
    command.arg(format!("-Wl,{name}")).arg("-o").arg(libraries.join(name));
    command.arg(repository().join(format!("crates/cli/tests/nvidia/{stem}.c")));
    command.args(others.iter().map(|other| libraries.join(other)));
    assert!(command.status().unwrap().success(), "{stem} is not built");
}

/// Returns the folder with NVIDIA's libraries. Without one, prints the reason and returns `None`,
/// or fails in continuous integration.
#[allow(clippy::disallowed_methods, clippy::print_stderr)] // the environment names them, and tells whether this is CI
pub fn nvidia() -> Option<PathBuf> {
    let folder = std::env::var_os("TUNESMITH_NVIDIA").map(PathBuf::from);
    if folder.is_none() {
        assert!(std::env::var_os("CI").is_none(), "CI has NVIDIA's compiler: set TUNESMITH_NVIDIA");
        eprintln!("skipped: no NVIDIA libraries; set TUNESMITH_NVIDIA to a folder that holds libnvrtc.so.13");
    }
    folder
}

/// Returns the folder with AMD's libraries, as [`nvidia`] does with NVIDIA's.
#[allow(dead_code, clippy::disallowed_methods, clippy::print_stderr)] // as above
pub fn rocm() -> Option<PathBuf> {
    let folder = std::env::var_os("TUNESMITH_ROCM").map(PathBuf::from);
    if folder.is_none() {
        assert!(std::env::var_os("CI").is_none(), "CI has AMD's compiler: set TUNESMITH_ROCM");
        eprintln!("skipped: no AMD libraries; set TUNESMITH_ROCM to a folder that scripts/rocm-wheel filled");
    }
    folder
}

/// Returns true if the folder with NVIDIA's libraries also has its headers. If not, prints the
/// reason, or fails in continuous integration.
#[allow(dead_code, clippy::disallowed_methods, clippy::print_stderr)] // as above
pub fn has_headers() -> bool {
    let found = nvidia().is_some_and(|folder| folder.join("include/cccl/cub/version.cuh").is_file());
    if !found {
        assert!(std::env::var_os("CI").is_none(), "CI has NVIDIA's headers: scripts/nvidia-wheels fetches them");
        eprintln!("skipped: no headers of CUB; scripts/nvidia-wheels fetches them for TUNESMITH_NVIDIA");
    }
    found
}
