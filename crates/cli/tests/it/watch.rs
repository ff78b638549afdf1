//! `tunesmith watch`, with and without a terminal.

use crate::common;

use common::Folder;
use common::terminal::{InTerminal, gives_the_screen_back};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::File;
use std::io::Write;

const PROBLEM: &str = "[parameters]\nX = { range = \"1..=30\" }\nY = [1, 2]\n";

/// Returns a folder with a finished run of 20 evaluations.
fn tuned() -> Folder {
    let folder = Folder::with(&[("p.toml", PROBLEM)]);
    let arguments = ["tune", "p.toml", "--device", "synthetic:1 + abs(X - 12) + Y", "--stop", "evaluations 20"];
    assert_eq!(folder.run(&[&arguments[..], &["--out", "run.jsonl", "--quiet"]].concat()).code, Some(0));
    folder
}

#[test]
fn one_page_is_printed_as_text() {
    let folder = tuned();
    let ran = folder.run(&["watch", "run.jsonl", "--once"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stdout.contains("20 of 20 evaluations") && !ran.stdout.contains('\u{1b}'), "{ran:#?}");
    let top = folder.run(&["top", "run.jsonl", "--json"]).json();
    let best = &top["configs"][0]["config"];
    let best = format!("X={},Y={}", best["X"], best["Y"]);
    for page in ["overview", "leaders"] {
        let ran = folder.run(&["watch", ".", "--once", "--page", page]);
        let first = ran.stdout.lines().find(|line| line.contains("X=")).unwrap();
        assert!(first.contains(&best), "{page}: {ran:#?}");
    }
    assert!(folder.run(&["watch", "run.jsonl", "--once", "--page", "run"]).stdout.contains("stop     evaluations 20"));
    folder.run(&["watch", "run.jsonl", "--once", "--page", "leader"]).refused(&["leader", "leaders"]);
}

#[test]
fn without_a_terminal_the_remedy_is_named() {
    let folder = tuned();
    folder.run(&["watch", "run.jsonl"]).refused(&["needs a terminal", "tunesmith top run.jsonl", "--once"]);
    folder.run(&["watch", "nowhere.jsonl"]).refused(&["nowhere.jsonl"]);
    folder.run(&["watch", "p.toml"]).refused(&["p.toml", "no journal"]);
}

#[test]
fn keys_end_the_view_and_the_terminal_is_as_it_was() {
    let folder = tuned();
    for (keys, code) in [("q", Some(0)), ("\u{3}", Some(130)), ("\t?xq", Some(0))] {
        let mut terminal = InTerminal::start(folder.command(&["watch", "run.jsonl"]));
        terminal.wait_for("quit");
        assert!(!terminal.echoes());
        terminal.press(keys);
        let (ended, written, restored) = terminal.end();
        assert!(restored && gives_the_screen_back(&written), "{keys:?}: {written:?}");
        assert_eq!(ended, code, "{keys:?}");
        assert!(!written.contains("\u{1b}[38;"), "NO_COLOR: {written:?}");
    }
}

#[test]
fn signals_end_the_view_and_the_terminal_is_as_it_was() {
    let folder = tuned();
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT] {
        let mut terminal = InTerminal::start(folder.command(&["watch", "run.jsonl"]));
        terminal.wait_for("quit");
        kill(Pid::from_raw(terminal.child.id() as i32), signal).unwrap();
        let (ended, written, restored) = terminal.end();
        assert!(restored && gives_the_screen_back(&written), "{signal}: {written:?}");
        assert_eq!(ended, Some(130), "{signal}");
    }
}

#[test]
fn a_run_is_followed_while_it_grows() {
    let folder = tuned();
    let whole = std::fs::read_to_string(folder.path("run.jsonl")).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    folder.write("run.jsonl", &lines[..6].concat());
    let mut terminal = InTerminal::start(folder.command(&["watch", "run.jsonl"]));
    terminal.wait_for("5 of 20");
    let mut file = File::options().append(true).open(folder.path("run.jsonl")).unwrap();
    file.write_all(lines[6..].concat().as_bytes()).unwrap();
    terminal.wait_for("20 of 20");
    std::fs::remove_file(folder.path("run.jsonl")).unwrap();
    terminal.wait_for("deleted");
    terminal.press("q");
    assert_eq!(terminal.end().0, Some(0));
}
