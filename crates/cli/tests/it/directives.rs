//! Sources with ATF's directives, from the command line.

use crate::common;

use common::cuda::{run_scripted, script};
use common::{Folder, entries, has_opencl};
use serde_json::json;
use std::path::Path;

/// Returns a folder with the files of the example.
fn saxpy() -> Folder {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/atf-saxpy");
    let read = |name: &str| std::fs::read_to_string(example.join(name)).unwrap();
    Folder::with(&[("saxpy.cl", &read("saxpy.cl")), ("saxpy_reference.c", &read("saxpy_reference.c"))])
}

/// Returns a folder with the example after `old` was replaced by `new`.
#[track_caller]
fn saxpy_with(old: &str, new: &str) -> Folder {
    let folder = saxpy();
    let text = std::fs::read_to_string(folder.path("saxpy.cl")).unwrap();
    assert!(text.contains(old), "{old}");
    folder.write("saxpy.cl", &text.replace(old, new));
    folder
}

/// A script that tunes itself. What its build makes belongs to one configuration.
const SCRIPT: &str = r#"#!/bin/sh
# #atf::var::N 64
# #atf::tp name "TILE"   # elements at a time
#   range atf::interval<int>(0, 4, atf::pow_2)
#   constraint [&](auto x){ auto y = N / x; return y % 8 == 0; }
# #atf::compile_script "echo $TILE > built.txt"
# #atf::run_script "sh script.sh"
# #atf::cost_file "cost.txt"
# #atf::search_technique "atf::exhaustive"
# #atf::abort_condition "atf::cond::evaluations(50)"
test "$(cat built.txt)" = "$TILE" || exit 1
echo $(( (TILE - 4) * (TILE - 4) * 1000 + 500 )) > cost.txt
"#;

#[test]
fn a_kernel_with_directives_tunes_and_is_verified() {
    if !has_opencl() {
        return;
    }
    let folder = saxpy();
    let checked = folder.run(&["check", "saxpy.cl", "--size", "N=4096", "--json"]).json();
    assert_eq!(checked["ok"], true, "{checked:#}");
    let ran = folder.run(&["tune", "saxpy.cl", "--size", "N=4096", "--stop", "evaluations 4", "--json", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let outcome = ran.json();
    assert_eq!((&outcome["verified"], &outcome["strategy"]), (&json!(true), &json!("bandit")), "{outcome:#}");
    assert_eq!(outcome["evaluations"], 4);
    assert_eq!(outcome["failed"]["compile"], 0);
    assert!(entries(&folder.path("saxpy.jsonl")).iter().any(|entry| entry["status"] == "correct"));
}

#[test]
fn a_kernel_that_computes_something_else_than_its_reference_is_not_correct() {
    if !has_opencl() {
        return;
    }
    let folder = saxpy_with("y[ index ] += a * x[ index ];", "y[ index ] = a * x[ index ];");
    let ran = folder.run(&["run", "saxpy.cl", "--size", "N=4096", "--json"]);
    assert_eq!(ran.json()["status"], "correctness", "{ran:#?}");
}

#[test]
fn a_kernel_without_a_reference_is_called_unverified() {
    if !has_opencl() {
        return;
    }
    let directive = "#atf::ocl::check_result file \"saxpy_reference.c\" function \"saxpy_reference\"\n";
    let folder = saxpy_with(directive, "");
    let ran = folder.run(&["tune", "saxpy.cl", "--size", "N=4096", "--stop", "evaluations 2", "--json", "--quiet"]);
    assert_eq!((ran.code, &ran.json()["verified"]), (Some(0), &json!(false)), "{ran:#?}");
    let checked = folder.run(&["check", "saxpy.cl", "--size", "N=4096"]);
    for told in [ran.stderr, checked.stdout + &checked.stderr] {
        assert!(told.contains("#atf::ocl::check_result file") && !told.contains("[verify]"), "{told}");
    }
}

#[test]
fn a_device_that_is_not_there_is_refused_and_the_command_line_names_another() {
    if !has_opencl() {
        return;
    }
    let directive = "#atf::ocl::platform_name \"No such platform\"\n#atf::ocl::kernel_name";
    let folder = saxpy_with("#atf::ocl::kernel_name", directive);
    folder.run(&["run", "saxpy.cl", "--size", "N=64"]).refused(&["No such platform", "opencl:0"]);
    let ran = folder.run(&["run", "saxpy.cl", "--size", "N=64", "--device", "opencl:0"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let first = saxpy_with(
        "#atf::ocl::kernel_name",
        "#atf::ocl::platform_id 0\n#atf::ocl::device_id 0\n#atf::ocl::kernel_name",
    );
    assert_eq!(first.run(&["run", "saxpy.cl", "--size", "N=64"]).code, Some(0));
}

#[test]
fn scripts_in_any_language_tune_as_commands() {
    let folder = Folder::with(&[("script.sh", SCRIPT)]);
    let ran = folder.run(&["tune", "script.sh", "--json", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let outcome = ran.json();
    assert_eq!(outcome["best"]["config"], json!({"TILE": 4}));
    assert_eq!(outcome["best"]["time_ms"], 0.0005);
    assert_eq!((&outcome["evaluations"], &outcome["failed"]["runtime"]), (&json!(4), &json!(0)), "{outcome:#}");
    // What builds and runs make stays out of the folder.
    assert!(!folder.path("built.txt").exists() && !folder.path("cost.txt").exists());
}

#[test]
fn a_cost_file_without_a_number_is_a_failure_of_its_configuration() {
    let script = SCRIPT.replace("echo $((", "test $TILE = 2 && { echo 1,5 > cost.txt; exit; }\necho $((");
    let folder = Folder::with(&[("script.sh", &script)]);
    let outcome = folder.run(&["tune", "script.sh", "--json", "--quiet"]).json();
    assert_eq!(outcome["failed"]["runtime"], 1, "{outcome:#}");
}

#[test]
fn check_refuses_what_tune_refuses_and_a_space_stays_a_space() {
    let folder = Folder::with(&[("k.cl", "// #atf::tp name A range {1, 2}\n__kernel void k(__global int* x) {}\n")]);
    for command in ["check", "tune"] {
        folder.run(&[command, "k.cl"]).refused(&["nothing to run", "#atf::ocl::kernel_name", "#atf::run_script"]);
    }
    assert_eq!(folder.run(&["space", "k.cl"]).code, Some(0));
    let ran = folder.run(&["tune", "k.cl", "--device", "synthetic:A", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
}

#[test]
fn a_wrong_directive_is_told_with_its_line_and_remedy() {
    let folder = saxpy_with("#atf::ocl::local_size", "#atf::ocl::local_sizes");
    folder.run(&["check", "saxpy.cl"]).refused(&["saxpy.cl:23", "did you mean `ocl::local_size`?"]);
    let folder = saxpy_with("divides( N )", "[](auto i){ i = 2; return true; }");
    folder.run(&["tune", "saxpy.cl"]).refused(&["saxpy.cl:8", "`i = 2` is not supported", "ends with `return`"]);
}

/// The saxpy for CUDA, with directives outside of comments.
const CUDA: &str = r#"
#atf::tp name "LS" range {32, 64, 128}
#atf::cuda::device_id 0
#atf::cuda::kernel_name "saxpy"
#atf::cuda::inputs( atf::scalar<int>(4096), atf::scalar<float>(2.5), atf::buffer<float>(4096), atf::buffer<float>(4096) )
#atf::cuda::grid_dim( 4096 / LS )
#atf::cuda::block_dim( LS )
extern "C" __global__ void saxpy( const int n, const float a, const float* x, float* y ) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"#;

#[test]
fn a_kernel_of_cuda_tunes_by_its_directives() {
    let rules = r#"[{ "defines": { "LS": "64" }, "times_us": [20] }, { "times_us": [30] }]"#;
    let folder = Folder::with(&[("script.json", &script((9, 0), true, rules)), ("saxpy.cu", CUDA)]);
    let checked = run_scripted(&folder, &["check", "saxpy.cu", "--json"]);
    assert_eq!(checked.json()["ok"], true, "{checked:#?}");
    let ran = run_scripted(&folder, &["tune", "saxpy.cu", "--stop", "fraction 1", "--json", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(ran.json()["best"]["config"], json!({"LS": 64}), "{ran:#?}");
    assert_eq!(ran.json()["device"], "Scripted GPU");
}

#[test]
fn a_resumed_run_notices_another_file_of_a_command_line_but_not_what_runs_wrote() {
    let script = SCRIPT.replace("\"sh script.sh\"", "\"sh script.sh && sh check.sh\"");
    let script = script.replace("# #atf::compile_script \"echo $TILE > built.txt\"\n", "");
    let script = script.replace("test \"$(cat built.txt)\" = \"$TILE\" || exit 1\n", "");
    let folder = Folder::with(&[("script.sh", &script), ("check.sh", "true\n")]);
    let tune = |more: &[&str]| folder.run(&[&["tune", "script.sh", "--json", "--quiet"], more].concat());
    let first = tune(&["--stop", "evaluations 2"]).json();
    assert_eq!(first["evaluations"], 2, "{first:#}");
    folder.write("cost.txt", "of a run by hand");
    let resumed = tune(&["--resume", "--stop", "evaluations 3"]);
    assert_eq!(resumed.json()["resumed"], 2, "{resumed:#?}");
    folder.write("check.sh", "test 1 = 1\n");
    tune(&["--resume"]).refused(&["cannot be resumed", "command"]);
}

#[test]
fn a_warning_about_a_constraint_is_one_line_and_json_has_all_of_it() {
    let expression = "A % 2 == 0 || ".repeat(30) + "A > 0";
    let text = format!("# #atf::tp name A range {{1, 2}} constraint {expression}\n# #atf::run_script \"true\"\n");
    let folder = Folder::with(&[("p.sh", &text)]);
    let checked = folder.run(&["check", "p.sh"]);
    let lines: Vec<&str> = checked.stderr.lines().collect();
    let at = lines.iter().position(|line| line.contains("has no effect")).unwrap();
    assert!(lines[at].starts_with("warning: p.sh:1: constraint `A: A % 2 == 0 || A % 2"), "{checked:#?}");
    assert!(lines[at].len() < 120 && !lines[at + 1..].iter().any(|line| line.contains("A % 2")), "{checked:#?}");
    let messages = folder.run(&["check", "p.sh", "--json"]).json()["messages"].to_string();
    assert!(messages.contains(&expression), "{messages}");
}
