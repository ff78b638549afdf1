//! Commands as a shell's user meets them: completions, manual pages, files that need not be named.

use crate::common;

use common::Folder;
use std::process::Command;

const PROBLEM: &str = "[parameters]\nX = [1, 2, 3]\n";

/// Returns the names of all commands, as the help lists them.
fn commands(folder: &Folder) -> Vec<String> {
    let help = folder.run(&["--help"]).stdout;
    let list = help.split("Commands:").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_string).collect()
}

fn tune(folder: &Folder, out: &str) {
    let tune = ["tune", "p.toml", "--device", "synthetic:X", "--strategy", "exhaustive", "--out", out];
    assert_eq!(folder.run(&tune).code, Some(0));
}

#[test]
fn completions_know_every_command_in_every_shell() {
    let folder = Folder::new();
    let commands = commands(&folder);
    assert!(commands.len() > 15, "{commands:?}");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = folder.run(&["completions", shell]).stdout;
        commands.iter().for_each(|name| assert!(script.contains(name.as_str()), "{shell}: {name}"));
    }
    folder.run(&["completions", "zhs"]).refused(&["zhs", "zsh"]);
    folder.write("tunesmith.bash", &folder.run(&["completions", "bash"]).stdout);
    let asked = "source ./tunesmith.bash; COMP_WORDS=(tunesmith tune --strat); COMP_CWORD=2; \
                 _tunesmith tunesmith --strat tune; echo ${COMPREPLY[@]}";
    let bash = Command::new("bash").args(["-c", asked]).current_dir(folder.path("")).output();
    let answer = String::from_utf8(bash.expect("bash starts").stdout).unwrap();
    assert_eq!(answer.trim(), "--strategy");
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = Folder::new();
    let commands = commands(&folder);
    assert_eq!(folder.run(&["man", "pages/man1"]).code, Some(0));
    for name in commands {
        let page = std::fs::read_to_string(folder.path(&format!("pages/man1/tunesmith-{name}.1"))).expect("a page");
        assert!(page.contains(".SH SYNOPSIS"), "{name}: {page}");
    }
    folder.write("file", "");
    let ran = folder.run(&["man", "file"]);
    assert!(ran.code == Some(3) && ran.stderr.contains("cannot write `file`"), "{ran:#?}");
}

#[test]
fn a_report_needs_no_name() {
    let folder = Folder::with(&[("p.toml", PROBLEM)]);
    tune(&folder, "run.jsonl");
    let ran = folder.run(&["report", "run.jsonl"]);
    assert!(ran.stdout.contains("1 run, 3 evaluations: run.html"), "{ran:#?}");
    assert_eq!(folder.run(&["report", "run.jsonl"]).code, Some(0), "its own page is replaced");
    folder.write("run.html", "<p>mine</p>");
    folder.run(&["report", "run.jsonl"]).refused(&["run.html", "did not write it"]);
}

#[test]
fn a_folder_stands_for_its_latest_journal() {
    let folder = Folder::with(&[("p.toml", PROBLEM), ("other.jsonl", "{\"mine\": 1}\n")]);
    std::fs::create_dir(folder.path("runs")).unwrap();
    std::fs::create_dir(folder.path("empty")).unwrap();
    folder.run(&["top", "empty"]).refused(&["the folder `empty` holds no journal", "tunesmith tune PROBLEM"]);
    tune(&folder, "runs/a.jsonl");
    let ran = folder.run(&["top", "runs"]);
    assert!(ran.stdout.contains("3 evaluations, 3 correct") && !ran.stderr.contains("latest"), "{ran:#?}");
    tune(&folder, "runs/b.jsonl");
    let older = std::time::SystemTime::UNIX_EPOCH;
    std::fs::File::options().append(true).open(folder.path("runs/b.jsonl")).unwrap().set_modified(older).unwrap();
    let ran = folder.run(&["top", "runs", "--json"]);
    assert!(ran.stderr.contains("`runs/a.jsonl` is the latest of 2 journals in its folder"), "{ran:#?}");
    assert_eq!(ran.json()["evaluations"], 3);
    assert!(folder.run(&["report", "runs"]).stdout.contains("runs/a.html"));
}

#[test]
fn a_single_thing_is_not_plural() {
    let folder = Folder::with(&[("p.toml", "[parameters]\nX = [1]\n")]);
    assert!(folder.run(&["space", "p.toml"]).stdout.starts_with("1 configuration of 1 combination\n1 parameter, "));
    tune(&folder, "run.jsonl");
    assert!(folder.run(&["top", "run.jsonl"]).stdout.contains(": 1 evaluation, 1 correct"));
    let exported = folder.run(&["export", "run.jsonl", "--as", "wisdom"]).stdout;
    assert!(exported.contains(": the best of 1 configuration") && exported.contains("\n1 entry\n"), "{exported}");
    assert!(folder.run(&["check", "p.toml"]).stdout.contains("1 configuration of 1 combination"));
}
