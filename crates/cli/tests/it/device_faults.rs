//! Troubles of a GPU that no configuration is to blame for, on the scripted device: each gives one
//! line with the remedy, and the run goes on where it can.

use crate::common;

use common::cuda::{run_scripted, script};
use common::{COPY_KERNEL, COPY_REFERENCE, Folder, Ran, entries, in_and_out};
use serde_json::{Value as Json, json};

const PROBLEM: &str = concat!(
    r#"
[problem]
name = "copy"
sizes = { N = 64 }
[kernel]
file = "copy.cu"
function = "copy"
global = ["N"]
local = ["BLOCK"]
[parameters]
BLOCK = [8, 16, 32, 64]
"#,
    in_and_out!(),
    r#"[verify]
reference = { file = "reference.c", function = "reference" }
"#
);

/// Returns a folder with the problem, and with a device that has these keys. Its kernel copies
/// right; with `BLOCK = 16` it also does what `rule` says.
fn folder(keys: &Json, rule: &Json) -> Folder {
    let folder = Folder::with(&[("copy.toml", PROBLEM), ("copy.cu", COPY_KERNEL), ("reference.c", COPY_REFERENCE)]);
    set_device(&folder, keys, rule);
    folder
}

fn set_device(folder: &Folder, keys: &Json, rule: &Json) {
    let copies = json!({ "times_us": [20], "writes": [{ "to": 1, "from": { "parameter": 0 }, "bytes": 256 }] });
    let mut failing = copies.clone();
    failing["defines"] = json!({ "BLOCK": "16" });
    merge(&mut failing, rule);
    let mut whole: Json = serde_json::from_str(&script((9, 0), true, &json!([failing, copies]).to_string())).unwrap();
    whole["watts"] = 300.into();
    merge(&mut whole, keys);
    folder.write("script.json", &whole.to_string());
}

fn merge(into: &mut Json, keys: &Json) {
    let keys = keys.as_object().unwrap().clone();
    into.as_object_mut().unwrap().extend(keys);
}

fn tune(folder: &Folder, more: &[&str]) -> Ran {
    let arguments =
        ["tune", "copy.toml", "--device", "cuda", "--strategy", "exhaustive", "--out", "run.jsonl", "--json"];
    run_scripted(folder, &[&arguments[..], more].concat())
}

/// Checks that all four configurations were found correct, and that one note on the standard error
/// stream has all of `parts`.
#[track_caller]
fn goes_on(folder: &Folder, ran: &Ran, parts: &[&str]) {
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    // Notes wrap at the width of a terminal.
    let flat = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(flat.matches(parts[0]).count(), 1, "{flat}");
    parts.iter().for_each(|part| assert!(flat.contains(part), "`{part}` is missing in {flat}"));
    let statuses: Vec<Json> =
        entries(&folder.path("run.jsonl")).into_iter().map(|entry| entry["status"].clone()).collect();
    assert_eq!(statuses, ["correct"; 4]);
    let notes = ran.json()["notes"].to_string();
    assert!(notes.contains(parts[0]), "{notes}");
}

/// Checks that the run ended with exit code 3 and this message, and that it is continued on a device
/// that is whole again.
#[track_caller]
fn ends_and_continues(folder: &Folder, ran: &Ran, parts: &[&str]) {
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    let flat = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    parts.iter().for_each(|part| assert!(flat.contains(part), "`{part}` is missing in {flat}"));
    let made = entries(&folder.path("run.jsonl"));
    assert!(!made.is_empty() && made.iter().all(|entry| entry["status"] == "correct"), "{made:#?}");
    set_device(folder, &json!({}), &json!({}));
    let resumed = tune(folder, &["--resume"]);
    assert_eq!(resumed.code, Some(0), "{resumed:#?}");
    assert_eq!(resumed.json()["resumed"], made.len());
    assert_eq!(entries(&folder.path("run.jsonl")).len(), 4);
}

#[test]
fn another_process_on_the_device_is_named_once_and_kept_in_the_journal() {
    let others = json!([{ "pid": 4242, "name": "python3" }, { "pid": 77, "name": "" }]);
    let folder = folder(&json!({ "others": others }), &json!({}));
    let ran = tune(&folder, &[]);
    let line = ["other processes use Scripted GPU: 4242 (python3), 77", "end them or choose another GPU"];
    goes_on(&folder, &ran, &line);
    let journal = std::fs::read_to_string(folder.path("run.jsonl")).unwrap();
    assert_eq!(journal.matches(line[0]).count(), 1, "{journal}");
    let reported = run_scripted(&folder, &["report", "run.jsonl", "-o", "run.html", "--json"]).json();
    let notes = &reported["notes"][0];
    assert_eq!((&notes["run"], &notes["notes"][0]["count"]), (&json!("run.jsonl"), &json!(1)), "{reported:#}");
    assert!(notes["notes"][0]["note"].as_str().unwrap().contains(line[1]), "{reported:#}");
    let page = std::fs::read_to_string(folder.path("run.html")).unwrap();
    assert!(page.contains("<h2>Notes</h2>") && page.contains(line[0]), "the page has the note");
}

#[test]
fn a_device_that_slows_down_is_noted_with_its_reason_and_the_remedy() {
    for (reason, parts) in [
        ("heat", ["slows down because it is too hot", "--power-limit"]),
        ("power_brake", ["slows down because of the external power brake", "power supply"]),
        ("hardware", ["slows down because the hardware asks for it", "cooling"]),
        ("sync_boost", ["follows the slowest GPU of a sync boost group", "nvidia-smi"]),
    ] {
        let folder = folder(&json!({}), &json!({ "slows": reason }));
        goes_on(&folder, &tune(&folder, &[]), &parts);
        let entries = entries(&folder.path("run.jsonl"));
        let slowed = entries.iter().find(|entry| entry["config"]["BLOCK"] == 16).unwrap();
        assert_eq!(slowed["values"]["retaken"].is_array(), reason != "sync_boost", "{slowed:#}");
    }
}

#[test]
fn what_a_memory_error_met_is_measured_again() {
    for rule in [json!({ "memory_errors": 1 }), json!({ "end": "CUDA_ERROR_ECC_UNCORRECTABLE" })] {
        let folder = folder(&json!({}), &rule);
        // The first launch alone has the error. The sandbox would not let it leave the mark.
        let mut once = rule.clone();
        once["once"] = folder.path("once").to_str().into();
        set_device(&folder, &json!({}), &once);
        let ran = tune(&folder, &["--no-sandbox"]);
        goes_on(&folder, &ran, &["Scripted GPU had an uncorrectable memory error (ECC)", "nvidia-smi -q -d ECC"]);
    }
}

#[test]
fn a_device_whose_memory_fails_again_ends_the_run_and_not_the_configuration() {
    let folder = folder(&json!({}), &json!({ "memory_errors": 1 }));
    let ran = tune(&folder, &[]);
    ends_and_continues(&folder, &ran, &["Scripted GPU had an uncorrectable memory error (ECC)", "replace the GPU"]);
}

#[test]
fn a_lost_device_ends_the_run_with_its_journal_intact() {
    for rule in [
        json!({ "end": "CUDA_ERROR_DEVICE_UNAVAILABLE" }),
        json!({ "end": "CUDA_ERROR_UNKNOWN", "loses_device": true }),
    ] {
        let folder = folder(&json!({}), &rule);
        let ran = tune(&folder, &[]);
        ends_and_continues(&folder, &ran, &["the GPU is lost (Scripted GPU: ", "`dmesg` says why", "--resume"]);
    }
}

#[test]
fn a_device_that_is_back_at_once_goes_on() {
    let folder = folder(&json!({}), &json!({}));
    let once = folder.path("once");
    let rule = json!({ "end": "CUDA_ERROR_DEVICE_UNAVAILABLE", "once": once.to_str() });
    set_device(&folder, &json!({}), &rule);
    let ran = tune(&folder, &["--no-sandbox"]);
    goes_on(&folder, &ran, &["the GPU is lost (Scripted GPU: CUDA_ERROR_DEVICE_UNAVAILABLE)"]);
}

#[test]
fn counters_without_permission_are_noted_with_the_remedy() {
    let folder = folder(&json!({ "passes": 2, "counters_denied": true }), &json!({}));
    let ran = tune(&folder, &["--profile"]);
    goes_on(&folder, &ran, &["no counters are read", "(ERR_NVGPUCTRPERM)", "NVreg_RestrictProfilingToAdminUsers=0"]);
}

#[test]
fn device_files_without_permission_are_told_from_a_missing_driver() {
    for (files, reason, remedy) in [
        ("denied", "may not open the GPU's device files", "chmod a+rw /dev/nvidia*"),
        ("absent", "there are no device files", "modprobe nvidia"),
    ] {
        let folder = folder(&json!({ "start": { "error": "CUDA_ERROR_NO_DEVICE", "files": files } }), &json!({}));
        let ran = tune(&folder, &[]);
        assert_eq!(ran.code, Some(3), "{ran:#?}");
        let flat = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(reason) && flat.contains(remedy), "{flat}");
        let listed = run_scripted(&folder, &["devices", "--json"]).json();
        let missing =
            listed["missing"].as_array().unwrap().iter().find(|missing| missing["backend"] == "cuda").unwrap();
        assert!(missing["remedy"].as_str().unwrap().contains(remedy), "{missing:#}");
    }
}
