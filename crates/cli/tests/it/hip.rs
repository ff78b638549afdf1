//! HIP problems from the command line, on a runtime that follows a script, and the suite for AMD's
//! architectures.

use crate::common;

use common::cuda::rocm;
use common::{Folder, Ran, entries, repository};

/// Rules for the starter, in which some tiles fail.
const RULES: &str = r#"[
    { "defines": { "TILE": "8" }, "end": "hipErrorIllegalAddress" },
    { "defines": { "TILE": "16" }, "launch": "hipErrorLaunchOutOfResources" },
    { "defines": { "TILE": "32" }, "compile": "kernel.hip:7:3: error: expected ';'" },
    { "defines": { "COLUMNS": "2" }, "times_us": [20], "attributes": { "NUM_REGS": 24 },
      "writes": [{ "to": 1, "from": { "parameter": 0 }, "bytes": 65536 }] },
    { "times_us": [30], "attributes": { "NUM_REGS": 16 },
      "writes": [{ "to": 1, "from": { "parameter": 0 }, "bytes": 65536 }] }
]"#;

/// Returns a script of an Instinct GPU.
fn script() -> String {
    let device = r#"{ "name": "Scripted Instinct", "memory": 1073741824, "architecture": "gfx90a:sramecc+:xnack-",
        "attributes": { "WARP_SIZE": 64, "L2_CACHE_SIZE": 8388608, "MAX_THREADS_PER_BLOCK": 1024,
        "MAX_THREADS_PER_MULTIPROCESSOR": 2048, "MAX_SHARED_MEMORY_PER_BLOCK": 65536,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 65536 } }"#;
    format!(r#"{{ "version": "6.2.41133", "devices": [{device}], "compiles": true, "kernels": {RULES} }}"#)
}

fn run(folder: &Folder, arguments: &[&str]) -> Ran {
    let mut command = folder.command(arguments);
    command.env("TUNESMITH_HIP_SCRIPT", folder.path("script.json")).env("XDG_CACHE_HOME", folder.path("cache"));
    Ran::of(command.output().unwrap())
}

/// Returns the starter of a backend with a matrix of ones, and the script.
fn starter(backend: &str) -> Folder {
    let folder = Folder::with(&[("script.json", &script())]);
    assert_eq!(folder.run(&["init", "--backend", backend]).code, Some(0));
    let problem = std::fs::read_to_string(folder.path("problem.toml")).unwrap();
    folder.write("problem.toml", &problem.replace("fill = \"random\" ", "fill = \"ones\" "));
    folder
}

#[test]
fn the_starters_of_hip_and_cuda_are_tuned_on_a_hip_device() {
    for (backend, device) in [("hip", "hip"), ("cuda", "hip:0")] {
        let folder = starter(backend);
        let checked = run(&folder, &["check", "problem.toml", "--device", device, "--json"]);
        assert_eq!(checked.json()["ok"], true, "{checked:#?}");
        let arguments = ["tune", "problem.toml", "--device", device, "--size", "N=128", "--stop", "fraction 1"];
        let ran = run(&folder, &[&arguments[..], &["--json", "--quiet"]].concat());
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let outcome = ran.json();
        assert_eq!(outcome["device"], "Scripted Instinct");
        assert_eq!(outcome["best"]["config"]["COLUMNS"], 2);
        for entry in entries(&folder.path("problem.jsonl")) {
            let expected = match entry["config"]["TILE"].as_u64().unwrap() {
                8 => "runtime",
                16 => "constraints",
                32 => "compile",
                _ => "correct",
            };
            assert_eq!(entry["status"], expected, "{entry:#}");
        }
    }
}

#[test]
fn devices_lists_the_gpu_or_says_in_a_line_what_is_missing() {
    let folder = Folder::with(&[("script.json", &script())]);
    let devices = run(&folder, &["devices", "--json"]).json();
    let device = devices["devices"].as_array().unwrap().iter().find(|device| device["backend"] == "hip").unwrap();
    assert_eq!((&device["id"], device["limits"]["warp_size"].as_f64()), (&"hip:0".into(), Some(64.0)), "{device:#}");
    let absent = Folder::new();
    let empty = absent.path("empty");
    std::fs::create_dir(&empty).unwrap();
    let devices =
        Ran::of(absent.command(&["devices", "--json"]).env("TUNESMITH_ROCM", &empty).output().unwrap()).json();
    let missing = devices["missing"].as_array().unwrap().iter().find(|missing| missing["backend"] == "hip").unwrap();
    assert!(missing["reason"].as_str().unwrap().contains("there is no HIP runtime"), "{missing:#}");
    assert!(missing["remedy"].as_str().unwrap().contains("ROCm"), "{missing:#}");
}

#[test]
fn a_name_close_to_hips_is_corrected() {
    let folder = starter("hip");
    run(&folder, &["check", "problem.toml", "--device", "hipp"]).refused(&["did you mean `hip`?"]);
    folder.run(&["init", "--backend", "hipp"]).refused(&["did you mean `hip`?"]);
}

/// One configuration of every problem that is in CUDA. bench/amd/suite compiles 50 for three
/// architectures.
#[test]
fn the_suite_compiles_for_an_instinct_without_a_gpu() {
    let Some(rocm) = rocm() else { return };
    let suite = repository().join("suite").display().to_string();
    let folder = Folder::new();
    let mut command = folder.command(&["suite", "verify", "--suite", &suite, "--compile-only", "gfx90a"]);
    command.args(["--samples", "1", "--seed", "1", "--json"]);
    command.env("TUNESMITH_ROCM", &rocm).env("XDG_CACHE_HOME", folder.path("cache"));
    let verified = Ran::of(command.output().unwrap());
    assert_eq!(verified.code, Some(0), "{verified:#?}");
    let problems = verified.json()["problems"].as_array().unwrap().clone();
    assert!(problems.len() >= 10, "{problems:#?}");
    for problem in &problems {
        assert_eq!((&problem["device"], &problem["wrong"]), (&"gfx90a".into(), &0.into()), "{problem:#}");
    }
}

#[test]
fn an_architecture_that_nobody_knows_is_refused_with_those_that_are() {
    let Some(rocm) = rocm() else { return };
    let suite = repository().join("suite").display().to_string();
    let folder = Folder::new();
    let mut command = folder.command(&["suite", "verify", "--suite", &suite, "--compile-only", "gfx42"]);
    let refused = Ran::of(command.env("TUNESMITH_ROCM", &rocm).output().unwrap());
    assert!(refused.code != Some(0) && refused.stderr.contains("gfx1100"), "{refused:#?}");
}
