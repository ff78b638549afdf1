//! `scripts/gpu-check` without a GPU: every part on the scripted device, what a later call keeps, and
//! what is said where something is missing.

#![allow(clippy::print_stdout)] // what is skipped is said

use crate::common;

use common::cuda::library;
use common::{Folder, Ran, repository};
use serde_json::Value as Json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The parts in the order of the plan, but the calibration, which has a test of its own: it takes as
/// long as all others.
const PARTS: [&str; 12] = [
    "environment",
    "conformance",
    "counters",
    "tuning",
    "suite",
    "peers",
    "profiles",
    "guided",
    "prediction",
    "energy",
    "cltune",
    "counter-paper",
];

fn command(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = Command::new(repository().join("scripts/gpu-check"));
    command.args(arguments).env("XDG_CACHE_HOME", folder.path("cache")).env_remove("TUNESMITH_SHARED");
    command
}

/// Runs the script. Returns `None` where there is no Python.
fn gpu_check(folder: &Folder, arguments: &[&str]) -> Option<Ran> {
    ended(command(folder, arguments).args(["--binary", env!("CARGO_BIN_EXE_tunesmith")]))
}

fn ended(command: &mut Command) -> Option<Ran> {
    match command.output() {
        Ok(output) if output.status.code() != Some(127) => Some(Ran::of(output)),
        _ => {
            println!("skipped: gpu-check needs python3");
            None
        }
    }
}

fn read(folder: &Folder, part: &str) -> Json {
    serde_json::from_str(&fs::read_to_string(folder.path(&format!("found/{part}.json"))).unwrap()).unwrap()
}

/// Returns the row of a check of a part.
#[track_caller]
fn row(result: &Json, name: &str) -> (Option<bool>, String) {
    let rows = result["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no `{name}` in {rows:#?}"));
    (row["passed"].as_bool(), row["found"].as_str().unwrap().to_owned())
}

fn titles(result: &Json) -> Vec<&str> {
    result["tables"].as_array().unwrap().iter().map(|table| table["title"].as_str().unwrap()).collect()
}

/// Writes stand-ins for NVIDIA's libraries and for `nvidia-smi`, which shows another process.
fn write_stand_ins(folder: &Folder) {
    fs::create_dir_all(folder.path("nvidia")).unwrap();
    library(folder, "cudart", "libcudart.so.12", &[]);
    library(folder, "cublas", "libcublas.so.12", &["libcudart.so.12"]);
    library(folder, "cudnn", "libcudnn.so.8", &["libcudart.so.12"]);
    library(folder, "cuda", "libcuda.so.1", &["libcudart.so.12"]);
    fs::create_dir_all(folder.path("bin")).unwrap();
    folder.write(
        "bin/nvidia-smi",
        "#!/bin/sh\ncase $1 in\n--query-gpu=*) echo '580.1, 96.0, 00:01.0, On, 1980 MHz, 2619 MHz, 700 W, Enabled, 0, 31' ;;\n\
         *) echo '4242, python3, 512 MiB' ;;\nesac\n",
    );
    fs::set_permissions(folder.path("bin/nvidia-smi"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_dry_run_takes_every_part_with_kernel_tuner_and_libraries_beside_it() {
    let folder = Folder::new();
    write_stand_ins(&folder);
    let out = folder.path("found");
    let mut dry = command(&folder, &["--dry-run", "--out", out.to_str().unwrap()]);
    dry.args(["--binary", env!("CARGO_BIN_EXE_tunesmith")]).args(PARTS);
    let path = std::env::join_paths([folder.path("bin"), "/usr/bin".into(), "/bin".into()]).unwrap();
    dry.env("PYTHONPATH", repository().join("crates/cli/tests/gpu_check_python")).env("PATH", with_python(path));
    dry.env("LD_LIBRARY_PATH", folder.path("nvidia"));
    let Some(ran) = ended(&mut dry) else { return };
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    for part in PARTS {
        assert_eq!(read(&folder, part)["cuts"], Json::Array(Vec::new()), "{part}: {ran:#?}");
    }
    let environment = read(&folder, "environment");
    assert_eq!(row(&environment, "alone on the device"), (Some(false), "4242 python3 512 MiB".to_owned()));
    assert_eq!(environment["data"]["facts"]["driver"], "580.1");
    for name in ["MODE=0", "MODE=1", "MODE=2", "MODE=3", "MODE=4", "MODE=5", "MODE=6", "the run goes on"] {
        assert_eq!(row(&read(&folder, "conformance"), name).0, Some(true), "{name}: {ran:#?}");
    }
    assert_eq!(row(&read(&folder, "counters"), "multiply-adds").0, Some(true));
    let tuning = read(&folder, "tuning");
    for name in
        ["gemm beside cublas", "gemm beside cuBLAS, by events", "conv2d beside cudnn", "transpose", "filterbank"]
    {
        assert_eq!(row(&tuning, name).0, Some(true), "{tuning:#}");
    }
    let suite = read(&folder, "suite");
    assert_eq!(["right", "wrong", "refused"].map(|name| row(&suite, name).0), [Some(true), Some(false), Some(true)]);
    let peers = &read(&folder, "peers")["data"]["tools"];
    assert_eq!(peers["Kernel Tuner"]["evaluations"], peers["Tunesmith"]["evaluations"], "{peers:#}");
    assert_eq!(row(&read(&folder, "profiles"), "kernels whose counters are read").0, Some(true));
    let energy = read(&folder, "energy");
    assert_eq!(row(&energy, "front of energy against time over clocks").0, Some(true), "{energy:#}");
    let (made, reason) = row(&energy, "front of energy against time over clocks, without the right");
    assert!(made.is_none() && reason.starts_with("you may not set `clock_mhz` of NVIDIA Scripted GPU"), "{reason}");
    assert_eq!(titles(&read(&folder, "cltune")).len(), 3);
    assert_eq!(titles(&read(&folder, "counter-paper")).len(), 3);
    let page = fs::read_to_string(folder.path("found/README.md")).unwrap();
    for text in ["# NVIDIA Scripted GPU", "| driver | 580.1 |", "[tuning](#tuning)", "| not run |", "CLTune, table III"]
    {
        assert!(page.contains(text), "`{text}` is missing in {page}");
    }
    assert!(folder.path("found/journals/conformance-failures.jsonl.gz").exists());
}

/// Returns the folders of programs with that of Python, which may be elsewhere.
#[allow(clippy::disallowed_methods)] // the environment says where Python is
fn with_python(path: std::ffi::OsString) -> std::ffi::OsString {
    let own = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::env::split_paths(&path).chain(std::env::split_paths(&own))).unwrap()
}

#[test]
fn the_calibration_is_judged_beside_its_paper() {
    let folder = Folder::new();
    let out = folder.path("found");
    let Some(ran) = gpu_check(&folder, &["calibration", "--dry-run", "--out", out.to_str().unwrap()]) else { return };
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let result = read(&folder, "calibration");
    assert_eq!(titles(&result).len(), 2, "{result:#}");
    let errors = result["tables"][1]["rows"].to_string();
    assert!(errors.contains("the paper, Titan X") && errors.contains("here, nnls"), "{errors}");
}

/// Waits until a file is there.
fn wait_for(path: &Path) {
    for _ in 0..600 {
        if path.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{} did not appear", path.display());
}

#[test]
fn a_killed_run_goes_on_with_the_part_that_was_under_way() {
    let folder = Folder::new();
    let out = folder.path("found");
    let arguments = ["environment", "conformance", "suite", "--dry-run", "--out", out.to_str().unwrap()];
    if gpu_check(&folder, &["--help"]).is_none() {
        return;
    }
    let mut first = command(&folder, &arguments);
    first.args(["--binary", env!("CARGO_BIN_EXE_tunesmith")]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut first = first.spawn().unwrap();
    wait_for(&out.join("environment.json"));
    first.kill().unwrap();
    first.wait().unwrap();
    let kept = read(&folder, "environment");
    let ran = gpu_check(&folder, &arguments).unwrap();
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stdout.contains("environment: kept from an earlier call"), "{ran:#?}");
    assert_eq!(read(&folder, "environment"), kept);
    assert_eq!(row(&read(&folder, "suite"), "right").0, Some(true));
    let again = ["environment", "--again", "environment", "--dry-run", "--out", out.to_str().unwrap()];
    let ran = gpu_check(&folder, &again).unwrap();
    assert!(!ran.stdout.contains("kept from"), "{ran:#?}");
}

#[test]
fn a_part_at_the_end_of_its_budget_is_cut_short_and_says_so() {
    let folder = Folder::new();
    let out = folder.path("found");
    let arguments = ["suite", "--budget", "suite=-1", "--dry-run", "--out", out.to_str().unwrap()];
    let Some(ran) = gpu_check(&folder, &arguments) else { return };
    assert!(ran.stdout.contains("cut short: the -1 s of the part were over"), "{ran:#?}");
    assert!(fs::read_to_string(out.join("README.md")).unwrap().contains("| cut short |"));
}

#[test]
fn results_of_another_device_are_not_mixed_in() {
    let folder = Folder::new();
    let out = folder.path("found");
    let arguments = ["environment", "--dry-run", "--out", out.to_str().unwrap()];
    let Some(ran) = gpu_check(&folder, &arguments) else { return };
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let other = fs::read_to_string(out.join("environment.json")).unwrap().replace("NVIDIA Scripted GPU", "Another");
    fs::write(out.join("environment.json"), other).unwrap();
    let ran = gpu_check(&folder, &arguments).unwrap();
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(ran.stderr.contains("on Another; name another folder with --out"), "{ran:#?}");
}

#[test]
fn the_page_lists_the_parts_with_their_seconds() {
    let folder = Folder::new();
    let Some(ran) = gpu_check(&folder, &["--help"]) else { return };
    // Words break behind hyphens.
    let help = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ").replace("- ", "-");
    let page = fs::read_to_string(repository().join("docs/gpu-check.md")).unwrap();
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().replace('`', "")).collect::<Vec<_>>();
    let rows = page.lines().filter(|line| line.starts_with("| `")).map(cells);
    let parts: Vec<(String, u32)> =
        rows.filter_map(|row| Some((row[1].clone(), row.get(2)?.parse::<u32>().ok()?))).collect();
    assert_eq!(parts.len(), PARTS.len() + 1, "{parts:?}");
    assert_eq!(parts.iter().map(|(_, seconds)| seconds).sum::<u32>(), 25 * 60);
    for (name, seconds) in parts {
        assert!(help.contains(&format!("{name} ({seconds} s:")), "{name} in {help}");
    }
}

#[test]
fn without_a_gpu_it_says_what_is_missing() {
    let folder = Folder::with(&[("none.json", r#"{ "devices": [], "compiles": true }"#)]);
    let mut command = command(&folder, &["environment", "--binary", env!("CARGO_BIN_EXE_tunesmith")]);
    let Some(ran) = ended(command.env("TUNESMITH_CUDA_SCRIPT", folder.path("none.json"))) else { return };
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    assert!(ran.stderr.contains("there is no CUDA device: "), "{ran:#?}");
}

#[test]
fn a_part_that_there_is_not_is_refused_with_those_there_are() {
    let folder = Folder::new();
    let Some(ran) = gpu_check(&folder, &["energies"]) else { return };
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("`energies`") && ran.stderr.contains("conformance"), "{ran:#?}");
    let ran = gpu_check(&folder, &["--dry-run"]).unwrap();
    assert!(ran.code == Some(2) && ran.stderr.contains("--out"), "{ran:#?}");
}

/// The pack runs where nothing of the repository is.
#[test]
fn a_pack_runs_on_a_machine_without_the_repository() {
    let folder = Folder::new();
    let pack = folder.path("pack");
    let Some(ran) = gpu_check(&folder, &["pack", pack.to_str().unwrap(), "--no-wheels"]) else { return };
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let out = folder.path("found");
    let mut packed = Command::new(pack.join("scripts/gpu-check"));
    packed.args(["profiles", "--dry-run", "--out", out.to_str().unwrap()]).env("XDG_CACHE_HOME", folder.path("cache"));
    let ran = ended(packed.current_dir(folder.path("."))).unwrap();
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(row(&read(&folder, "profiles"), "kernels whose counters are read").0, Some(true));
    let ran = gpu_check(&folder, &["pack", pack.to_str().unwrap(), "--no-wheels"]).unwrap();
    assert!(ran.code == Some(2) && ran.stderr.contains("is not empty"), "{ran:#?}");
}
