//! Pipes in the place of files: nothing waits for a writer or a reader that never comes.

use crate::common::{Folder, Ran, TWICE, twice_problem, within};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

/// Returns a folder with a problem, a journal, a recording, and a pipe that nobody opens.
fn folder() -> Folder {
    let folder = Folder::with(&[
        ("reference.c", TWICE),
        ("k.c", TWICE),
        ("p.toml", "[parameters]\nX = [1, 2]\n"),
        ("r.csv", "X,time_ms\n1,2\n2,1\n"),
        ("data.toml", &kernel("k.c", "").replacen("shape", "fill = \"file\"\npath = \"fifo\"\nshape", 1)),
        ("sources.toml", &kernel("k.c", "sources = [\"fifo\"]")),
        ("file.toml", &kernel("fifo", "")),
    ]);
    let ran = folder.run(&["tune", "p.toml", "--device", "synthetic:X", "--out", "j.jsonl", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    mkfifo(&folder.path("fifo"), Mode::S_IRWXU).unwrap();
    folder
}

/// Returns a problem in C with this file and these further lines of its kernel.
fn kernel(file: &str, more: &str) -> String {
    twice_problem(&format!("file = \"{file}\"\nfunction = \"twice\"\nlanguage = \"c\"\n{more}"), "X = [1]")
}

/// Runs a command with a limit that none of them should come near to.
fn run(folder: &Folder, arguments: &[&str]) -> Ran {
    Ran::of(within("timeout", &["-k", "1", "60"], &folder.command(arguments)).output().unwrap())
}

#[test]
fn inputs_that_are_pipes_are_refused_at_once() {
    let folder = folder();
    let tune = ["tune", "p.toml", "--device", "synthetic:X", "--quiet"];
    let cases: [&[&str]; 14] = [
        &["check", "fifo"],
        &["check", "sources.toml"],
        &["tune", "sources.toml", "--quiet"],
        &["check", "data.toml"],
        &["tune", "data.toml", "--quiet"],
        &["tune", "p.toml", "--device", "replay:fifo", "--quiet"],
        &[&tune[..], &["--history", "fifo"]].concat(),
        &[&tune[..], &["--out", "fifo"]].concat(),
        &[&tune[..], &["--out", "fifo", "--resume"]].concat(),
        &["convert", "fifo", "-o", "x.csv"],
        &["compare", "fifo", "--strategy", "random"],
        &["explain", "fifo"],
        &["export", "fifo", "--as", "env", "-o", "x.env"],
        &["train", "counters", "fifo", "-o", "m.json"],
    ];
    for case in cases {
        let ran = run(&folder, case);
        assert!(ran.code == Some(2) && ran.stderr.contains("a FIFO, not a regular file"), "{case:?}: {ran:#?}");
    }
    run(&folder, &["check", "file.toml"]).refused(&["fifo"]);
}

#[test]
fn outputs_that_are_pipes_are_refused_if_nobody_reads_them() {
    let folder = folder();
    let cases: [&[&str]; 4] = [
        &["convert", "r.csv", "-o", "fifo", "--to", "kernel-tuner"],
        &["export", "j.jsonl", "--as", "env", "-o", "fifo"],
        &["export", "j.jsonl", "--as", "c-header", "-o", "fifo"],
        &["nest", "import", "k.c", "--function", "twice", "-o", "fifo"],
    ];
    for case in cases {
        let ran = run(&folder, case);
        assert!(ran.code.is_some_and(|code| code == 2 || code == 3), "{case:?}: {ran:#?}");
    }
    let reader = std::thread::spawn({
        let fifo = folder.path("fifo");
        move || std::fs::read_to_string(fifo).unwrap()
    });
    let export = || run(&folder, &["export", "j.jsonl", "--as", "env", "-o", "fifo"]);
    while export().code != Some(0) {}
    assert!(reader.join().unwrap().contains("X=1"));
}
