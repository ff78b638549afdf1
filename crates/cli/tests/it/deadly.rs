//! A configuration that ends the tuner does not end every resume.

use crate::common::Folder;
use std::fs;
use std::os::unix::process::ExitStatusExt;

/// A program that ends the tuner by force if `WAY` says so. The tuner's id is in a file of the problem's folder.
const PROGRAM: &str = r#"#!/bin/sh
test "$1" = deadly && { kill -9 "$(cat HERE/tuner)"; sleep 60; }
echo "cost $1$2"
"#;

const PROBLEM: &str = r#"
[kernel]
command = ["sh", "program.sh", "{WAY}", "{TILE}"]
cost = "cost [a-z]+([0-9]+)"
unit = "ms"

[parameters]
WAY = ["fine", "deadly"]
TILE = [1, 2, 3]

[constraints]
"one is deadly" = "WAY == 'fine' or TILE == 2"

[tuning]
strategy = "exhaustive"
"#;

/// Runs the tuner by a shell that notes its id. Returns the signal that ended it, and the messages.
fn tune(folder: &Folder, more: &[&str]) -> (Option<i32>, Option<i32>, String) {
    let words = ["tune", "p.toml", "--no-sandbox", "--out", "run.jsonl"];
    let inner = folder.command(&[&words[..], more].concat());
    let shell = ["-c", "echo $$ > tuner; exec \"$0\" \"$@\""];
    let output = crate::common::within("sh", &shell, &inner).output().unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    (output.status.signal(), output.status.code(), messages)
}

#[test]
fn a_configuration_that_ends_the_run_twice_counts_as_failed() {
    let folder = Folder::with(&[("p.toml", PROBLEM)]);
    let here = folder.path("").display().to_string();
    folder.write("program.sh", &PROGRAM.replace("HERE", here.trim_end_matches('/')));
    let beside = folder.path("run.jsonl.started");
    assert_eq!(tune(&folder, &[]).0, Some(9));
    assert!(beside.exists());
    let (signal, _, messages) = tune(&folder, &["--resume"]);
    assert_eq!(signal, Some(9), "{messages}");
    assert!(messages.contains("WAY=deadly,TILE=2") && messages.contains("tried once more"), "{messages}");
    let (_, code, messages) = tune(&folder, &["--resume"]);
    assert_eq!(code, Some(0), "{messages}");
    assert!(messages.contains("now counts as failed"), "{messages}");
    let journal = fs::read_to_string(folder.path("run.jsonl")).unwrap();
    assert_eq!(journal.matches("ended twice while this configuration").count(), 1, "{journal}");
    assert_eq!(journal.matches("\n{\"index\"").count(), 4, "{journal}");
    assert!(!beside.exists());
}
