//! Programs that propose configurations, from the command line.

use crate::common;

use common::{Folder, Ran, entries, repository};
use serde_json::Value as Json;
use std::process::{Command, Stdio};
use std::time::Duration;

const PROBLEM: &str =
    "[parameters]\nX = { range = \"0..=40\" }\nY = { range = \"0..=40\" }\n[constraints]\nc = \"Y <= X\"\n";

/// Answers each request with the next X, and Y = 0.
const COUNTING: &str = r#"x=0
while read -r line; do
    case "$line" in
        *'"event":"request"'*) x=$((x + 1)); echo "[{\"X\": $x, \"Y\": 0}]" ;;
        *'"event":"end"'*) exit 0 ;;
    esac
done
"#;

/// Tunes by random search. The search waits for the program as long as it takes, so that no test
/// depends on a timing.
fn tune(folder: &Folder, evaluations: u32, more: &[&str]) -> Ran {
    tune_waiting(folder, evaluations, "60", more)
}

/// Tunes with this `--propose-wait`.
fn tune_waiting(folder: &Folder, evaluations: u32, wait: &str, more: &[&str]) -> Ran {
    let stop = format!("evaluations {evaluations}");
    let arguments = ["tune", "p.toml", "--device", "synthetic:1 + X + Y", "--strategy", "random", "--stop", &stop];
    folder.run(&[&arguments[..], &["--propose-wait", wait], more].concat())
}

fn proposals(ran: &Ran) -> Json {
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    ran.json()["proposals"].clone()
}

#[test]
fn proposals_compete_are_summed_up_and_kept_in_the_journal() {
    let folder = Folder::with(&[("p.toml", PROBLEM), ("count.sh", COUNTING)]);
    let ran = tune(&folder, 21, &["--propose", "sh count.sh", "--json", "--out", "a.jsonl"]);
    let report = proposals(&ran);
    assert_eq!((&report["evaluated"], &report["is_best"]), (&Json::from(10), &Json::from(false)), "{ran:#?}");
    assert_eq!(report["best"], 2.0);
    let proposed: Vec<Json> = entries(&folder.path("a.jsonl")).iter().map(|entry| entry["proposed"].clone()).collect();
    assert_eq!(proposed.iter().filter(|turn| !turn.is_null()).count(), 10);
    assert_eq!(proposed[2], 1);
    let ran = tune(&folder, 21, &["--propose", "sh count.sh", "--out", "b.jsonl"]);
    let part = "10 evaluated; none of them is the best (their best: 2.000 ms; the strategy's: 1.000 ms)";
    assert!(ran.stdout.contains(part), "{ran:#?}");
    assert!(ran.stdout.contains("--propose 'sh count.sh'"), "the next command names the program: {ran:#?}");
}

#[test]
fn a_resumed_run_repeats_recorded_proposals_with_and_without_the_program() {
    let folder = Folder::with(&[("p.toml", PROBLEM), ("count.sh", COUNTING)]);
    tune(&folder, 15, &["--propose", "sh count.sh", "--out", "a.jsonl"]);
    std::fs::copy(folder.path("a.jsonl"), folder.path("b.jsonl")).unwrap();
    let with = tune(&folder, 60, &["--propose", "sh count.sh", "--out", "a.jsonl", "--resume", "--json"]);
    let report = proposals(&with);
    // The program begins to count anew: its first seven are known.
    assert!(report["refused"]["duplicate"].as_u64().is_some_and(|count| count >= 7), "{with:#?}");
    assert!(report["evaluated"].as_u64().is_some_and(|evaluated| evaluated > 7), "{with:#?}");
    let without = folder.run(
        &["tune", "p.toml", "--device", "synthetic:1 + X + Y", "--stop", "evaluations 25"]
            .into_iter()
            .chain(["--out", "b.jsonl", "--resume", "--json"])
            .collect::<Vec<_>>(),
    );
    let report = proposals(&without);
    assert_eq!((&report["proposed"], &report["evaluated"]), (&Json::from(0), &Json::from(7)));
}

#[test]
fn whatever_the_program_does_the_run_goes_on_and_says_so_once() {
    let silent = "echo oops >&2; exit 3";
    let huge = "read -r l; head -c 3000000 /dev/zero | tr '\\0' x; cat > /dev/null";
    let endless = "yes '[]'";
    for (command, part) in [
        (silent, "ended with status 3 (oops)"),
        ("no-such-program-at-all", "ended with status 127"),
        (huge, "more than a megabyte"),
        (endless, "answer no request"),
        ("kill -SEGV $$", "SIGSEGV"),
        ("cat > /dev/null & echo nonsense; wait", "nonsense"),
    ] {
        let folder = Folder::with(&[("p.toml", PROBLEM)]);
        // Little patience: some say nothing more.
        let ran = tune_waiting(&folder, 300, "2", &["--propose", command, "--json"]);
        assert_eq!(ran.code, Some(0), "{command}: {ran:#?}");
        assert_eq!(ran.json()["evaluations"], 300, "{command}");
        assert!(ran.stderr.contains(part), "{command}: {ran:#?}");
    }
}

#[test]
fn the_example_proposes_what_can_be_evaluated() {
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let script = repository().join("examples/propose/propose.py");
    let folder = Folder::with(&[("p.toml", PROBLEM)]);
    let arguments = ["tune", "p.toml", "--device", "synthetic:1 + abs(X - 30) + abs(Y - 7)", "--strategy", "random"];
    let command = format!("python3 {}", script.display());
    let more = ["--stop", "evaluations 120", "--propose", &command, "--propose-wait", "60", "--json"];
    let report = proposals(&folder.run(&[&arguments[..], &more].concat()));
    assert!(report["evaluated"].as_u64().is_some_and(|evaluated| evaluated >= 8), "{report:#}");
    let kinds: Vec<&String> = report["refused"].as_object().unwrap().keys().collect();
    assert!(kinds.iter().all(|kind| ["constraint", "duplicate"].contains(&kind.as_str())), "{report:#}");
}

/// Returns true if a process whose command line contains `marker` runs.
fn runs(marker: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let command = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
    let own = std::process::id().to_string();
    let others = processes.filter(|entry| entry.file_name().to_string_lossy() != own.as_str());
    others.map(command).any(|line| String::from_utf8_lossy(&line).contains(marker))
}

#[test]
fn the_program_ends_with_the_tuner_also_after_ctrl_c_and_kill() {
    for signal in ["-INT", "-KILL"] {
        let folder = Folder::with(&[("p.toml", PROBLEM)]);
        let marker = format!("echo ready > ready; trap '' INT TERM; sleep 987.{}", std::process::id());
        let mut command = folder.command(&[
            "tune",
            "p.toml",
            "--device",
            "synthetic:1 + X",
            "--propose-wait",
            "900",
            "--propose",
            &marker,
        ]);
        let mut tuner = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while !folder.path("ready").exists() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let kill = Command::new("kill").args([signal, &tuner.id().to_string()]).status().unwrap();
        assert!(kill.success());
        tuner.wait().unwrap();
        let sleeping = format!("987.{}", std::process::id());
        while runs(&sleeping) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_wait_that_is_no_number_and_a_wait_without_a_program_are_refused() {
    let folder = Folder::with(&[("p.toml", PROBLEM)]);
    let ran = folder.run(&["tune", "p.toml", "--propose", "true", "--propose-wait", "soon"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(ran.stderr.contains("`soon` is no number of seconds"), "{ran:#?}");
    assert_eq!(folder.run(&["tune", "p.toml", "--propose-wait", "1"]).code, Some(2));
}
