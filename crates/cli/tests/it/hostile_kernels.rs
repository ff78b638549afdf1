//! Configurations that crash, hang or lie: each gets its status, the best correct one wins, and
//! nothing is lost.

use crate::common;

use common::{Folder, TWICE, entries, twice_problem};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::process::Stdio;

const KERNEL: &str = r#"
#include <math.h>
#include <stdlib.h>

enum { FINE, SLOW, CRASH, ABORT, HANG, OVERFLOW, BEYOND, BEFORE, WRONG, UNWRITTEN, NOT_A_NUMBER, QUIT, INPUT };

#if MODE == 13
this does not compile
#endif

static volatile int sink;

static int deep(int depth)
{
    volatile char frame[4096];
    frame[0] = (char)depth;
    return deep(depth + 1) + frame[0];
}

void hostile(float *a, float *b)
{
    for (int i = 0; i < N; ++i)
        b[i] = 2 * a[i];
    switch (MODE) {
    case SLOW: for (int i = 0; i < 20000000; ++i) sink = i; break;
    case CRASH: *(volatile int *)8 = 1; break;
    case ABORT: abort();
    case HANG: for (;;) sink = 1;
    case OVERFLOW: sink = deep(0); break;
    case BEYOND: b[N] = 1; break;
    case BEFORE: b[-1] = 1; break;
    case WRONG: b[N / 2] += 1; break;
    case NOT_A_NUMBER: b[3] = NAN; break;
    case QUIT: exit(0);
    case INPUT: a[5] = 7; break;
    }
}

void lazy(float *a, float *b)
{
    if (MODE != UNWRITTEN)
        hostile(a, b);
    else
        for (int i = 0; i < N - 1; ++i)
            b[i] = 2 * a[i];
}
"#;

fn problem() -> String {
    twice_problem(
        "file = \"hostile.c\"\nfunction = \"lazy\"",
        "MODE = { range = \"0..=13\" }\nCOPY = { range = \"1..=3\" }",
    )
}

fn folder() -> Folder {
    Folder::with(&[("p.toml", &problem()), ("hostile.c", KERNEL), ("reference.c", TWICE)])
}

/// The status each mode must get, and a word its message must hold.
const EXPECTED: [(&str, &str); 14] = [
    ("correct", ""),
    ("correct", ""),
    ("runtime", "SIGSEGV"),
    ("runtime", "SIGABRT"),
    ("timeout", ""),
    ("runtime", "SIG"),
    ("runtime", "`b`"),
    ("runtime", "`b`"),
    ("correctness", "`b`"),
    ("correctness", "written"),
    ("correctness", "NaN"),
    ("runtime", "exit"),
    ("correctness", "`a`"),
    ("compile", "error"),
];

#[track_caller]
fn check_entries(entries: &[Json]) {
    assert_eq!(entries.len(), 42);
    let configs: BTreeMap<String, &Json> = entries.iter().map(|entry| (entry["config"].to_string(), entry)).collect();
    assert_eq!(configs.len(), 42, "a configuration was measured twice");
    for entry in entries {
        let mode = usize::try_from(entry["config"]["MODE"].as_u64().unwrap()).unwrap();
        let (status, word) = EXPECTED[mode];
        assert_eq!(entry["status"], status, "{entry:#}");
        assert!(entry["message"].as_str().unwrap_or_default().contains(word), "{entry:#}");
    }
}

#[test]
fn every_hostile_configuration_gets_its_status_and_the_best_correct_one_wins() {
    let folder = folder();
    let ran = folder.run(&["tune", "p.toml", "--json", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    check_entries(&entries(&folder.path("p.jsonl")));
    let outcome = ran.json();
    assert_eq!(outcome["best"]["config"]["MODE"], 0);
    let failed = &outcome["failed"];
    let counts =
        ["compile", "runtime", "timeout", "correctness", "constraints"].map(|kind| failed[kind].as_u64().unwrap());
    assert_eq!(counts, [3, 18, 3, 12, 0]);
    assert_eq!(outcome["evaluations"], 42);
    assert_eq!(outcome["stop_reason"], "space exhausted");
}

#[test]
fn a_killed_run_resumes_with_nothing_repeated_and_nothing_missing() {
    let folder = folder();
    // Answers come in the order asked if one configuration is compiled at a time.
    let arguments = ["tune", "p.toml", "--quiet", "--seed", "5", "--jobs", "1"];
    let mut child = folder.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let journal = folder.path("p.jsonl");
    // The header and the evaluations. Later measurements have lines of their own.
    let is_counted = |line: &str| line.ends_with('\n') && !line.contains("\"again\"");
    let complete = || {
        let text = std::fs::read_to_string(&journal).unwrap_or_default();
        text.split_inclusive('\n').filter(|line| is_counted(line)).count()
    };
    while complete() < 12 {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it could be killed");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = entries(&journal);
    assert!((11..42).contains(&before.len()));

    let ran = folder.run(&["tune", "p.toml", "--quiet", "--resume", "--json", "--jobs", "1"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let after = entries(&journal);
    assert_eq!(after[..before.len()], before, "what was measured stays as it is");
    check_entries(&after);
    assert_eq!(ran.json()["resumed"], before.len());
    assert_eq!(ran.json()["seed"], 5, "a resumed run goes on with its seed");

    let whole = ["--out", "whole.jsonl"];
    let other = folder.run(&[&arguments[..], &whole].concat());
    assert_eq!(other.code, Some(0), "{other:#?}");
    let order = |entries: &[Json]| entries.iter().map(|entry| entry["index"].clone()).collect::<Vec<_>>();
    assert_eq!(order(&after), order(&entries(&folder.path("whole.jsonl"))), "the order of an uninterrupted run");
}

#[test]
fn one_configuration_can_be_run_and_fails_with_its_message() {
    let folder = folder();
    let ran = folder.run(&["run", "p.toml", "--config", "MODE=8"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(ran.stdout.contains("correctness") && ran.stdout.contains("`b`") && ran.stdout.contains("500"), "{ran:#?}");
    let ran = folder.run(&["run", "p.toml", "--config", "MODE=2", "--json"]);
    assert_eq!((ran.code, &ran.json()["status"]), (Some(1), &"runtime".into()));
}

#[test]
fn a_space_without_a_correct_configuration_ends_with_code_1() {
    let folder = folder();
    folder.write("p.toml", &problem().replace("0..=13", "8..=10"));
    let ran = folder.run(&["tune", "p.toml"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(ran.stdout.contains("no configuration was correct") && ran.stdout.contains("9 correctness"), "{ran:#?}");
}

#[test]
fn ctrl_c_ends_the_run_with_the_best_so_far() {
    let folder = folder();
    folder.write(
        "p.toml",
        &problem().replace("0..=13", "[0, 1]").replace("{ range = \"[0, 1]\" }", "[0, 1]").replace("1..=3", "1..=4000"),
    );
    let mut child = folder
        .command(&["tune", "p.toml", "--json", "--quiet"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let journal = folder.path("p.jsonl");
    while std::fs::read_to_string(&journal).map_or(0, |text| text.matches('\n').count()) < 6 {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    let interrupted = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let ran = common::Ran::of(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130), "{ran:#?}");
    let outcome = ran.json();
    assert_eq!(outcome["stop_reason"], "interrupted");
    assert_eq!(outcome["best"]["config"]["MODE"], 0);
    assert_eq!(entries(&journal).len() as u64, outcome["evaluations"].as_u64().unwrap());
}
