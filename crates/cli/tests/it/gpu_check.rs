//! `scripts/gpu-check` without a GPU: every part on the scripted device, what a later call keeps, and
//! what is said where something is missing.

#![allow(clippy::print_stdout)] // what is skipped is said

use crate::common;

use common::cuda::{library, script};
use common::{Folder, Ran, repository};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The parts in the order of the plan, but the calibration, which has a test of its own: it takes as
/// long as all others.
const PARTS: [&str; 14] = [
    "environment",
    "conformance",
    "suite",
    "tuning",
    "counters",
    "peers",
    "profiles",
    "guided",
    "energy",
    "clocks",
    "prediction",
    "kernels",
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
    for (part, name) in [
        ("tuning", "gemm beside cublas"),
        ("tuning", "gemm beside cuBLAS, by events"),
        ("tuning", "transpose"),
        ("kernels", "conv2d beside cudnn"),
        ("kernels", "filterbank"),
    ] {
        let result = read(&folder, part);
        assert_eq!(row(&result, name).0, Some(true), "{result:#}");
    }
    // A device without hardware has no rate of a copy to reach.
    let (passed, text) = row(&read(&folder, "tuning"), "transpose beside a copy");
    assert!(passed.is_none() && text.contains("GB/s"), "{text}");
    let suite = read(&folder, "suite");
    assert_eq!(["right", "wrong", "refused"].map(|name| row(&suite, name).0), [Some(true), Some(false), Some(true)]);
    let peers = &read(&folder, "peers")["data"]["tools"];
    assert_eq!(peers["Kernel Tuner"]["evaluations"], peers["Tunesmith"]["evaluations"], "{peers:#}");
    assert_eq!(row(&read(&folder, "profiles"), "kernels whose counters are read").0, Some(true));
    assert_eq!(row(&read(&folder, "energy"), "front of energy against time").0, Some(true));
    let clocks = read(&folder, "clocks");
    assert_eq!(row(&clocks, "front of energy against time over clocks").0, Some(true), "{clocks:#}");
    let (made, reason) = row(&clocks, "front of energy against time over clocks, without the right");
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
    assert!(page.lines().count() <= 40, "a page to be read before the minutes begin");
    let (_, listed) = page.split_once("**Parts**").unwrap();
    let listed = listed.split_once("`--help`").unwrap().0.split_whitespace().collect::<Vec<_>>();
    let named = |pair: &[&str]| {
        let seconds = pair[1].trim_end_matches(['.', ',']).parse::<u32>().ok()?;
        Some((pair[0].strip_prefix('`')?.strip_suffix('`')?.to_owned(), seconds))
    };
    let parts: Vec<_> = listed.windows(2).filter_map(named).collect();
    assert_eq!(parts.len(), PARTS.len() + 1, "{parts:?}");
    let minutes = parts.iter().map(|(_, seconds)| seconds).sum::<u32>().div_ceil(60);
    assert!(help.contains(&format!("in {minutes} minutes")), "{minutes}: {help}");
    for (name, seconds) in parts {
        assert!(help.contains(&format!("{name} ({seconds} s:")), "{name} in {help}");
    }
}

#[test]
fn without_a_gpu_it_says_what_is_missing_and_where_it_looked() {
    let folder = Folder::with(&[("none.json", r#"{ "devices": [], "compiles": true }"#)]);
    let out = folder.path("out");
    let arguments = ["environment", "--bring", out.to_str().unwrap(), "--binary", env!("CARGO_BIN_EXE_tunesmith")];
    let mut command = command(&folder, &arguments);
    let Some(ran) = ended(command.env("TUNESMITH_CUDA_SCRIPT", folder.path("none.json"))) else { return };
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    assert!(ran.stderr.contains("there is no CUDA device: "), "{ran:#?}");
    // No machine of tests has a driver.
    let summary = fs::read_to_string(out.join("summary.txt")).unwrap();
    for text in ["driver: MISSING (needed for everything); searched: libcuda.so.1 by the loader", "No part can run."] {
        assert!(summary.contains(text), "{summary}");
    }
    assert_eq!(archived(&out), ["summary.txt"]);
}

#[test]
fn parts_whose_needs_are_missing_are_left_out_and_named() {
    let folder = Folder::new();
    let (out, found) = (folder.path("out"), folder.path("found"));
    let arguments = ["environment", "conformance", "--dry-run", "--bring", out.to_str().unwrap(), "--out"];
    let mut command = command(&folder, &arguments);
    command.arg(&found).args(["--binary", env!("CARGO_BIN_EXE_tunesmith")]).env("CC", "/nowhere/cc");
    let Some(ran) = ended(&mut command) else { return };
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let summary = fs::read_to_string(out.join("summary.txt")).unwrap();
    for text in ["environment: complete", "conformance: left out: there is no C compiler", "searched: /nowhere/cc"] {
        assert!(summary.contains(text), "{summary}");
    }
    assert!(!found.join("conformance.json").exists());
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

#[test]
fn a_limit_that_is_no_positive_time_is_refused() {
    let folder = Folder::with(&[]);
    for minutes in ["-1", "0", "nan", "inf"] {
        let Some(ran) = gpu_check(&folder, &["--minutes", minutes]) else { return };
        assert!(ran.code == Some(2) && ran.stderr.contains("--minutes takes a number above 0"), "{ran:#?}");
    }
}

/// Returns the names of the files in the archive of a folder.
fn archived(out: &Path) -> Vec<String> {
    let listed = Command::new("tar").arg("-tzf").arg(out.join("results.tar.gz")).output().unwrap();
    assert!(listed.status.success(), "{listed:?}");
    String::from_utf8(listed.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Returns the names of the finished parts in the archive of a folder.
fn archived_parts(out: &Path) -> BTreeSet<String> {
    let part = |name: &String| Some(name.rsplit_once('/')?.1.strip_suffix(".json")?.to_owned());
    archived(out).iter().filter_map(part).collect()
}

/// Makes a folder with the files that gpu-check needs of the repository, and returns its script.
fn small_repository(folder: &Folder) -> PathBuf {
    let root = folder.path("repository");
    fs::create_dir_all(root.join("docs")).unwrap();
    for name in ["scripts", "README.md", "docs/cuda.md", "docs/hip.md", "docs/counters.md"] {
        let status = Command::new("cp").arg("-r").arg(repository().join(name)).arg(root.join(name)).status();
        assert!(status.unwrap().success(), "{name}");
    }
    for name in ["suite", "examples"] {
        std::os::unix::fs::symlink(repository().join(name), root.join(name)).unwrap();
    }
    root.join("scripts/gpu-check")
}

/// A pack, and the folder for what comes back from it.
struct Visit {
    folder: Folder,
    out: PathBuf,
}

impl Visit {
    /// Packs. Returns `None` where there is no Python.
    fn new() -> Option<Self> {
        let folder = Folder::new();
        let pack = folder.path("pack");
        let ran = gpu_check(&folder, &["--pack", pack.to_str().unwrap(), "--no-wheels"])?;
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let out = folder.path("out");
        Some(Self { folder, out })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.folder.path("pack/run"));
        command.arg(&self.out).arg("--dry-run").args(arguments).current_dir(self.folder.path("."));
        command.env("XDG_CACHE_HOME", self.folder.path("cache"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        ended(&mut self.command(arguments)).unwrap()
    }

    fn summary(&self) -> String {
        fs::read_to_string(self.out.join("summary.txt")).unwrap_or_default()
    }

    /// Begins a call with one part, and ends it with a signal once the part is under way. Returns the parts that were
    /// finished before.
    fn end(&self, part: &str, signal: &str) -> BTreeSet<String> {
        let mut command = self.command(&[part]);
        let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = [format!("{part}: under way"), format!("{part}: complete")];
        while !begun.iter().any(|state| self.summary().contains(state)) {
            assert!(running.try_wait().unwrap().is_none(), "{part}: {}", self.summary());
            std::thread::sleep(Duration::from_millis(5));
        }
        let finished = archived_parts(&self.out);
        Command::new("kill").args([signal, &running.id().to_string()]).status().unwrap();
        running.wait().unwrap();
        finished
    }
}

/// The pack runs where nothing of the repository is. What comes back is put beside the results here, and the next visit
/// goes on.
#[test]
fn a_visit_packs_runs_brings_an_archive_and_the_next_one_goes_on() {
    let Some(visit) = Visit::new() else { return };
    let ran = visit.run(&["suite", "profiles"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let summary = visit.summary();
    assert!(summary.lines().count() <= 60, "{summary}");
    let wrong = "suite, wrong: 0 of 3 correct, 0 refused, 3 wrong: BLOCK=";
    for text in ["suite: complete, 2 ok, 1 failed", "profiles: complete", "tuning: not asked for", wrong] {
        assert!(summary.contains(text), "`{text}` is missing in {summary}");
    }
    let names = archived(&visit.out);
    assert!(names.iter().any(|name| name.ends_with("journals/suite-commands.txt.gz")), "{names:?}");
    let script = small_repository(&visit.folder);
    let into = visit.folder.path("results");
    let archive = visit.out.join("results.tar.gz");
    let take = |more: &[&str]| ended(Command::new(&script).arg("--take").arg(&archive).args(more)).unwrap();
    let ran = take(&[]);
    assert!(ran.code == Some(2) && ran.stderr.contains("a dry run measures nothing"), "{ran:#?}");
    let ran = take(&["--into", into.to_str().unwrap()]);
    assert!(ran.code == Some(0) && ran.stdout.contains("taken: suite, profiles; missing: environment"), "{ran:#?}");
    let ran = take(&["--into", into.to_str().unwrap()]);
    assert!(ran.stdout.contains("nothing new; as new or newer here: suite, profiles"), "{ran:#?}");
    let ran = visit.run(&["suite", "environment"]);
    assert!(ran.stdout.contains("suite: kept from an earlier call"), "{ran:#?}");
    let ran = visit.run(&["environment", "--again", "environment"]);
    assert!(!ran.stdout.contains("kept from"), "{ran:#?}");
    let pack = visit.folder.path("pack");
    let ran = gpu_check(&visit.folder, &["--pack", pack.to_str().unwrap(), "--no-wheels"]).unwrap();
    assert!(ran.code == Some(2) && ran.stderr.contains("is not empty"), "{ran:#?}");
    let ran = visit.run(&["--only", "suite"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("\nsuite, "), "{ran:#?}");
    let ran = take(&["--into", into.to_str().unwrap()]);
    assert!(ran.stdout.contains("taken: environment, suite; as new or newer here: profiles"), "{ran:#?}");
    let ran = visit.run(&["--minutes", "0.2", "energy"]);
    assert!(visit.summary().contains("energy: left for the next call: 50 s do not fit"), "{ran:#?}");
}

#[test]
fn nothing_finished_is_lost_when_a_visit_is_ended_in_any_part() {
    let Some(visit) = Visit::new() else { return };
    let mut kept = BTreeSet::new();
    for (number, part) in PARTS.iter().enumerate() {
        let finished = visit.end(part, ["-KILL", "-TERM"][number % 2]);
        assert!(finished.is_superset(&kept), "{part}: {finished:?} after {kept:?}");
        kept = archived_parts(&visit.out);
        assert!(kept.is_superset(&finished), "{part}: {kept:?} after {finished:?}");
        let ran = visit.run(&[part]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        kept = archived_parts(&visit.out);
        assert!(kept.contains(*part), "{part}: {kept:?}");
    }
    let ran = visit.run(&PARTS);
    assert_eq!(ran.stdout.matches("kept from an earlier call").count(), PARTS.len(), "{ran:#?}");
}

#[test]
fn an_archive_of_others_is_refused() {
    let folder = Folder::new();
    let pack = |names: &[&str]| {
        let mut tar = Command::new("tar");
        tar.arg("-czf").arg(folder.path("a.tar.gz")).arg("-C").arg(folder.path("in")).args(names);
        assert!(tar.status().unwrap().success(), "{names:?}");
    };
    let script = small_repository(&folder);
    let take = || ended(Command::new(&script).arg("--take").arg(folder.path("a.tar.gz")));
    fs::create_dir_all(folder.path("in/gpu-x-2026-01-01/journals")).unwrap();
    fs::create_dir_all(folder.path("in/other")).unwrap();
    for name in ["in/other/suite.json", "in/gpu-x-2026-01-01/suite.json"] {
        folder.write(name, r#"{"part": "suite"}"#);
    }
    folder.write("in/summary.txt", "");
    pack(&["other/suite.json"]);
    let Some(ran) = take() else { return };
    assert!(ran.code == Some(2) && ran.stderr.contains("`other/suite.json` is not a file that gpu-check"), "{ran:#?}");
    pack(&["gpu-x-2026-01-01/suite.json"]);
    let ran = take().unwrap();
    assert!(ran.code == Some(2) && ran.stderr.contains("`suite.json` is not a result of gpu-check"), "{ran:#?}");
    pack(&["summary.txt"]);
    let ran = take().unwrap();
    assert!(ran.code == Some(2) && ran.stderr.contains("no finished part"), "{ran:#?}");
    folder.write("a.tar.gz", "no archive");
    let ran = take().unwrap();
    assert!(ran.code == Some(2) && ran.stderr.contains("a.tar.gz: "), "{ran:#?}");
}

#[test]
fn a_part_that_was_cut_short_does_not_replace_a_fuller_one() {
    let folder = Folder::new();
    let script = small_repository(&folder);
    fs::create_dir_all(folder.path("in/gpu-x-2026-01-01")).unwrap();
    let take = |date: &str, cuts: &[&str], rows: usize| {
        let row = serde_json::json!({"name": "a", "expected": "b", "found": "c", "passed": true});
        let part = serde_json::json!({
            "part": "suite", "date": date, "device": "a GPU", "version": "tunesmith 1", "seconds": 1.0, "budget": 2.0,
            "cuts": cuts, "rows": vec![row; rows], "tables": [], "data": {}, "large": []
        });
        folder.write("in/gpu-x-2026-01-01/suite.json", &part.to_string());
        let mut tar = Command::new("tar");
        tar.arg("-czf").arg(folder.path("a.tar.gz")).arg("-C").arg(folder.path("in"));
        assert!(tar.arg("gpu-x-2026-01-01/suite.json").status().unwrap().success());
        let archive = folder.path("a.tar.gz");
        let into = folder.path("results");
        let mut gpu_check = Command::new(&script);
        ended(gpu_check.args([Path::new("--take"), &archive, Path::new("--into"), &into]))
    };
    let Some(ran) = take("2026-01-01T00:00:00+00:00", &[], 3) else { return };
    assert!(ran.code == Some(0) && ran.stdout.contains("taken: suite"), "{ran:#?}");
    let ran = take("2026-01-02T00:00:00+00:00", &["the time was over"], 2).unwrap();
    assert!(ran.stdout.contains("nothing new; cut short with fewer checks than those here: suite"), "{ran:#?}");
    let ran = take("2026-01-02T00:00:00+00:00", &["the time was over"], 3).unwrap();
    assert!(ran.stdout.contains("taken: suite"), "{ran:#?}");
}

/// The lines of the documentation about GPUs come from the committed results.
#[test]
fn the_pages_say_which_gpus_were_seen() {
    let folder = Folder::new();
    let pages = |script: &Path, arguments: &[&str]| ended(Command::new(script).arg("--pages").args(arguments));
    let Some(ran) = pages(&repository().join("scripts/gpu-check"), &["--check"]) else { return };
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let script = small_repository(&folder);
    pages(&script, &[]).unwrap();
    let page = |name: &str| fs::read_to_string(folder.path("repository").join(name)).unwrap();
    assert!(page("README.md").contains("\nCUDA has run on scripted drivers alone: "), "{}", page("README.md"));
    let results = folder.path("repository/bench/results/gpu-new-2027-01-02");
    fs::create_dir_all(&results).unwrap();
    let result = serde_json::json!({
        "part": "environment", "date": "2027-01-02T03:04:05+00:00", "device": "A New GPU", "version": "1", "rows": [],
        "tables": [], "cuts": [], "seconds": 1, "budget": 2, "data": { "device": { "backend": "cuda" }, "facts": {} },
    });
    fs::write(results.join("environment.json"), result.to_string()).unwrap();
    let ran = pages(&script, &["--check"]).unwrap();
    assert!(ran.code == Some(1) && ran.stderr.contains("docs/cuda.md: not what bench/results says"), "{ran:#?}");
    pages(&script, &[]).unwrap();
    let line = "CUDA ran on: A New GPU ([2027-01-02](../bench/results/gpu-new-2027-01-02/README.md)).";
    assert!(page("docs/cuda.md").contains(line), "{}", page("docs/cuda.md"));
    assert!(page("docs/hip.md").contains("HIP has run on scripted drivers alone"));
    assert!(page("docs/counters.md").contains("Counters have been read from scripted drivers alone"));
}

#[test]
fn a_lost_gpu_leaves_the_archive_of_what_was_finished() {
    let folder = Folder::new();
    let rules = r#"[{ "function": "f", "end": "CUDA_ERROR_DEVICE_UNAVAILABLE" }]"#;
    folder.write("lost.json", &script((9, 0), true, rules));
    let (out, found) = (folder.path("out"), folder.path("gpu-lost-2026-01-01"));
    let arguments = ["environment", "conformance", "suite", "--dry-run", "--bring", out.to_str().unwrap(), "--out"];
    let mut command = command(&folder, &arguments);
    command.arg(&found).args(["--binary", env!("CARGO_BIN_EXE_tunesmith")]);
    let Some(ran) = ended(command.env("TUNESMITH_CUDA_SCRIPT", folder.path("lost.json"))) else { return };
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    assert_eq!(archived_parts(&out), BTreeSet::from(["environment".to_owned()]));
    let summary = fs::read_to_string(out.join("summary.txt")).unwrap();
    for text in ["conformance: the GPU was lost", "the same command runs this part anew", "suite: not run"] {
        assert!(summary.contains(text), "{summary}");
    }
}
