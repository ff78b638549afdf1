//! The end of the tuner is the end of everything that it started, and Ctrl-C works from the first
//! moment on.

use crate::common;

use common::{Folder, within};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::Duration;

const PROBLEM: &str = r#"
[problem]
name = "copy"

[parameters]
P = [1, 2]

[kernel]
file = "copy.c"
function = "copy"

[[arguments]]
name = "b"
type = "i32"
shape = [4]
access = "out"

[tuning]
stop = "evaluations 2"
"#;

/// A compiler that hangs, with a child and a daemon, when it is called with words that match a pattern.
const COMPILER: &str = r#"#!/bin/sh
case "$*" in
PATTERN)
    sleep 1000 &
    child=$!
    setsid sleep 1000 &
    echo $$ $child $! > "FOLDER/new"
    mv "FOLDER/new" "FOLDER/hangs"
    wait;;
esac
exec cc "$@"
"#;

/// Returns a folder with a problem and a compiler that hangs.
fn folder(pattern: &str) -> Folder {
    let kernel = "void copy(int *b) { for (int i = 0; i < 4; i++) b[i] = P; }";
    let folder = Folder::with(&[("p.toml", PROBLEM), ("copy.c", kernel)]);
    let here = folder.path("").display().to_string();
    let compiler = COMPILER.replace("PATTERN", pattern).replace("FOLDER", here.trim_end_matches('/'));
    folder.write("slow-cc", &compiler);
    fs::set_permissions(folder.path("slow-cc"), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Starts a run and waits until its compiler hangs. Returns the run, and the processes that hang.
fn hanging(folder: &Folder) -> (Child, Vec<String>) {
    let mut command = folder.command(&["tune", "p.toml", "--quiet"]);
    command.env("CC", folder.path("slow-cc")).stdout(Stdio::null()).stderr(Stdio::null());
    let tuner = command.spawn().unwrap();
    let file = folder.path("hangs");
    assert!(within_a_minute(|| file.exists()), "the compiler was not called");
    let processes = fs::read_to_string(file).unwrap().split_whitespace().map(str::to_owned).collect();
    (tuner, processes)
}

fn within_a_minute(mut is_true: impl FnMut() -> bool) -> bool {
    (0..1200).any(|_| {
        sleep(Duration::from_millis(50));
        is_true()
    })
}

fn signal(tuner: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &tuner.id().to_string()]).status().unwrap().success());
}

fn ended(mut tuner: Child) -> ExitStatus {
    let mut status = None;
    let has_ended = within_a_minute(|| {
        status = tuner.try_wait().unwrap();
        status.is_some()
    });
    assert!(has_ended, "the tuner runs on");
    status.unwrap()
}

/// Returns true if the process runs. One that has ended may still have an entry.
fn runs(process: &String) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(process).join("stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

const STAGES: [(&str, &str); 3] =
    [("version", "*--version*"), ("dependencies", "*-MM*"), ("the first compilation", "*-o*")];

#[test]
fn an_interrupt_ends_a_compiler_that_hangs_while_the_run_starts() {
    for (stage, pattern) in STAGES {
        let (tuner, processes) = hanging(&folder(pattern));
        signal(&tuner, "-INT");
        assert_eq!(ended(tuner).code(), Some(130), "{stage}");
        assert!(within_a_minute(|| !processes.iter().any(runs)), "{stage}");
    }
}

#[test]
fn a_tuner_that_is_killed_leaves_no_compiler() {
    for (stage, pattern) in STAGES {
        let (tuner, processes) = hanging(&folder(pattern));
        signal(&tuner, "-KILL");
        assert_eq!(ended(tuner).code(), None, "{stage}");
        assert!(within_a_minute(|| !processes.iter().any(runs)), "{stage}");
    }
}

#[test]
fn signals_that_end_a_process_end_a_run_with_its_summary_and_a_whole_journal() {
    let numbers: Vec<String> = (1..200).map(|number| number.to_string()).collect();
    let problem = format!("[kernel]\ncommand = [\"sleep\", \"0.05\"]\n[parameters]\nX = [{}]\n", numbers.join(", "));
    for (name, code) in [("-TERM", 130), ("-HUP", 130), ("-XFSZ", 130)] {
        let folder = Folder::with(&[("p.toml", &problem)]);
        // Whoever runs the tests may have signals ignored.
        let mut tuner = within("env", &["--default-signal=TERM,HUP,XFSZ"], &folder.command(&["tune", "p.toml"]));
        let tuner = tuner.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let journal = folder.path("p.jsonl");
        assert!(within_a_minute(|| fs::read_to_string(&journal).is_ok_and(|text| text.lines().count() > 2)), "{name}");
        signal(&tuner, name);
        let output = tuner.wait_with_output().unwrap();
        let summary = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{name}: {summary}");
        assert!(summary.contains("ended by: interrupted") && summary.contains("--resume"), "{name}: {summary}");
        for entry in common::entries(&journal) {
            assert!(entry.is_object(), "{name}");
        }
    }
}

#[test]
fn a_run_that_was_started_without_hangups_goes_on_after_one() {
    let folder =
        Folder::with(&[("p.toml", "[kernel]\ncommand = [\"sleep\", \"0.05\"]\n[parameters]\nX = [1, 2, 3, 4]\n")]);
    let mut command = within("nohup", &[], &folder.command(&["tune", "p.toml", "--quiet"]));
    let tuner = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert!(within_a_minute(|| folder.path("p.jsonl").exists()));
    signal(&tuner, "-HUP");
    assert_eq!(ended(tuner).code(), Some(0));
    assert_eq!(common::entries(&folder.path("p.jsonl")).len(), 4);
}
