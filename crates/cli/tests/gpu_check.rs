//! `scripts/gpu-check` without a GPU explains what is missing.

#![allow(clippy::print_stdout)] // what is skipped is said

mod common;

use common::Folder;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the script on a machine whose CUDA driver follows `script`, or on one without a driver.
fn gpu_check(arguments: &[&str], script: &Path) -> Option<Output> {
    let mut command = Command::new(repository().join("scripts/gpu-check"));
    command.args(["--binary", env!("CARGO_BIN_EXE_tunesmith")]).args(arguments).env("TUNESMITH_CUDA_SCRIPT", script);
    match command.output() {
        Ok(output) if output.status.code() != Some(127) => Some(output),
        _ => {
            println!("skipped: gpu-check needs python3");
            None
        }
    }
}

#[test]
fn without_a_gpu_it_says_what_is_missing() {
    let folder = Folder::new();
    folder.write("none.json", r#"{ "devices": [], "compiles": true }"#);
    let Some(output) = gpu_check(&["devices"], &folder.path("none.json")) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("there is no CUDA device: "), "{said}");
}

#[test]
fn a_part_that_there_is_not_is_refused_with_those_there_are() {
    let Some(output) = gpu_check(&["energies"], Path::new("")) else { return };
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("`energies`") && said.contains("conformance"), "{said}");
}

/// The scripted device accepts every configuration as a correct copy, or fails as its script says.
#[test]
fn parts_fill_a_table_and_one_document() {
    let folder = Folder::new();
    folder.write("gpu.json", GPU);
    let out = folder.path("found.json");
    let parts = ["devices", "conformance", "--out", out.to_str().unwrap()];
    let Some(output) = gpu_check(&parts, &folder.path("gpu.json")) else { return };
    let said = String::from_utf8_lossy(&output.stdout);
    // The script has no chip whose counters CUPTI could know.
    assert_eq!(output.status.code(), Some(1), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("Scripted GPU, 9.0") && said.contains("ok     MODE=2"), "{said}");
    let document: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(out).unwrap()).unwrap();
    let rows = document["parts"]["conformance"]["rows"].as_array().unwrap();
    let passed = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap()["passed"].as_bool();
    for name in ["MODE=1", "MODE=2", "MODE=4", "MODE=5"] {
        assert_eq!(passed(name), Some(true), "{rows:#?}");
    }
    assert_eq!(passed("MODE=0"), Some(false), "a check that can fail: the scripted kernel does not double");
}

const GPU: &str = r#"{
    "devices": [{ "name": "Scripted GPU", "memory": 67108864, "attributes": {
        "COMPUTE_CAPABILITY_MAJOR": 9, "COMPUTE_CAPABILITY_MINOR": 0, "L2_CACHE_SIZE": 1048576,
        "MAX_THREADS_PER_BLOCK": 1024, "MAX_THREADS_PER_MULTIPROCESSOR": 2048, "MULTIPROCESSOR_COUNT": 132,
        "MAX_BLOCK_DIM_X": 1024, "MAX_BLOCK_DIM_Y": 1024, "MAX_BLOCK_DIM_Z": 64,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448, "MAX_SHARED_MEMORY_PER_BLOCK": 49152 } }],
    "compiles": true,
    "kernels": [
        { "defines": { "MODE": "1" }, "compile": "f.cu(5): error: identifier \"no\" is undefined" },
        { "defines": { "MODE": "2" }, "end": "CUDA_ERROR_ILLEGAL_ADDRESS" },
        { "defines": { "MODE": "3" }, "end": "CUDA_ERROR_LAUNCH_FAILED" },
        { "writes": [{ "to": 1, "from": { "parameter": 0 }, "bytes": 16384 }] }
    ]
}"#;
