//! `tunesmith explain`: why a run ended as it did.

use crate::common;

use common::{Folder, Ran, shared};
use serde_json::{Value as Json, json};

const PROBLEM: &str = r#"
[parameters]
TILE = { pow2 = "1..=32" }
UNROLL = { range = "1..=4" }
PAD = [0, 1, 2]
MODE = ["fast", "safe"]

[tuning]
default = { TILE = 1 }
"#;

/// TILE halves the time up to 8 and never again; UNROLL helps a little; PAD does nothing.
const TIMES: &str = "synthetic:(1 + 8 / min(TILE, 8)) * (1 + 0.1 / UNROLL)";

/// Returns a folder with a journal of a search over the whole space.
fn tuned(times: &str) -> Folder {
    let folder = Folder::with(&[("p.toml", PROBLEM)]);
    let ran = folder.run(&["tune", "p.toml", "--device", times, "--strategy", "exhaustive", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    folder
}

fn explained(folder: &Folder, run: &str) -> Json {
    let ran = folder.run(&["explain", run, "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    ran.json()
}

/// Checks that the page fits a screen.
fn fits(ran: &Ran) {
    assert!(ran.stdout.lines().count() <= 40, "{ran:#?}");
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{ran:#?}");
}

#[test]
fn a_journal_is_explained_by_its_parameters() {
    let folder = tuned(TIMES);
    let ran = folder.run(&["explain", "p.jsonl"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    fits(&ran);
    for part in [
        "144 evaluations of 144 configurations, 144 correct",
        "TILE",
        "no visible effect: PAD, MODE",
        "UNROLL = 4",
        "TILE 1 -> 8",
        "alone 4.50 times faster",
        "nothing is left to evaluate",
        "tunesmith export p.jsonl --as flags",
    ] {
        assert!(ran.stdout.contains(part), "`{part}` is missing: {ran:#?}");
    }
    let document = explained(&folder, "p.jsonl");
    assert_eq!(document["importance"][0]["parameter"], "TILE");
    assert!(document["importance"][0]["share"].as_f64().unwrap() > 0.9, "{document:#}");
    let changes = document["changes"].as_array().unwrap();
    assert_eq!(
        (&changes[0]["parameter"], &changes[0]["from"], &changes[0]["to"]),
        (&json!("TILE"), &json!(1), &json!(8))
    );
    assert_eq!(changes[0]["source"], "measured");
    assert!((changes[0]["ratio"].as_f64().unwrap() - 4.5).abs() < 1e-9, "{document:#}");
    for key in ["interactions", "failures", "ties", "left", "next", "best", "default", "among_best", "unexplained"] {
        assert!(document.get(key).is_some(), "`{key}` is missing in {document:#}");
    }
    assert!(document.get("bottlenecks").is_none(), "there are no counters");
}

#[test]
fn what_fails_is_explained_by_values_and_by_its_commonest_message() {
    let folder = Folder::new();
    let mut table = String::from("TILE,UNROLL,time_ms,status\n");
    for tile in [1, 2, 4, 8, 16] {
        for unroll in 1..=5 {
            let failed = tile >= 8 && unroll >= 2;
            let (time, status) = if failed { ("", "RuntimeFailedConfig") } else { ("2.5", "ok") };
            table += &format!("{tile},{unroll},{time},{status}\n");
        }
    }
    folder.write("r.csv", &table);
    let document = explained(&folder, "r.csv");
    let failures = &document["failures"][0];
    assert_eq!((&failures["status"], &failures["count"]), (&json!("runtime"), &json!(8)));
    assert_eq!(failures["because"], "TILE >= 8 and UNROLL >= 2");
    assert_eq!((&failures["covered"], &failures["correct"]), (&json!(8), &json!(0)));
    assert!(document["importance"].as_array().unwrap().is_empty(), "all times are the same");
    let ran = folder.run(&["explain", "r.csv"]);
    fits(&ran);
    assert!(ran.stdout.contains("importance  unknown"), "{ran:#?}");
    assert!(ran.stdout.contains("`not (TILE >= 8 and UNROLL >= 2)` would have saved 8"), "{ran:#?}");
}

#[test]
fn two_parameters_that_act_only_jointly_are_named() {
    let folder = tuned("synthetic:2 if (TILE > 4) == (PAD == 1) else 1");
    let document = explained(&folder, "p.jsonl");
    assert_eq!(document["interactions"][0]["parameters"], json!(["TILE", "PAD"]));
    let ran = folder.run(&["explain", "p.jsonl"]);
    assert!(ran.stdout.contains("TILE with PAD") && ran.stdout.contains("jointly"), "{ran:#?}");
}

#[test]
fn a_run_in_which_nothing_was_correct_says_what_to_do() {
    let kernel = "void twice(const float *a, float *b) { for (int i = 0; i < N; ++i) b[i] = S * a[i]; }\n";
    let problem = common::twice_problem("file = \"k.c\"\nfunction = \"twice\"", "S = [3, 4, 5]");
    let folder = Folder::with(&[("p.toml", &problem), ("k.c", kernel), ("reference.c", common::TWICE)]);
    let ran = folder.run(&["tune", "p.toml", "--device", "c", "--quiet", "--stop", "evaluations 3"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    let ran = folder.run(&["explain", "p.jsonl"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    for part in ["3 evaluations of 3 configurations, 0 correct", "3 correctness", "tunesmith check p.toml"] {
        assert!(ran.stdout.contains(part), "`{part}` is missing: {ran:#?}");
    }
}

#[test]
fn the_next_command_works_as_it_is_printed() {
    let folder = Folder::with(&[("p.toml", PROBLEM)]);
    let tune = ["tune", "p.toml", "--device", TIMES, "--strategy", "random", "--stop", "evaluations 12", "--quiet"];
    assert_eq!(folder.run(&tune).code, Some(0));
    let document = explained(&folder, "p.jsonl");
    let commands: Vec<&str> =
        document["next"].as_array().unwrap().iter().filter_map(|step| step["command"].as_str()).collect();
    assert!(commands.iter().any(|command| command.contains("--resume") && command.contains("evaluations 24")));
    for command in commands {
        let words = shlex::split(command).unwrap();
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let ran = folder.run(&words);
        assert_eq!(ran.code, Some(0), "{command}: {ran:#?}");
    }
}

#[test]
fn every_change_is_measured_on_request() {
    let folder = Folder::with(&[("p.toml", PROBLEM)]);
    let tune = ["tune", "p.toml", "--device", TIMES, "--stop", "evaluations 40", "--quiet"];
    assert_eq!(folder.run(&tune).code, Some(0));
    let ran = folder.run(&["explain", "p.jsonl", "--measure", "--device", TIMES, "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let document = ran.json();
    let changes = document["changes"].as_array().unwrap();
    assert!(!changes.is_empty());
    for change in changes {
        assert_eq!((&change["source"], &change["in_winner"]["source"]), (&json!("measured"), &json!("measured")));
    }
    let other = PROBLEM.replace("[0, 1, 2]", "[0, 1]");
    folder.write("other.toml", &other);
    let measure = ["explain", "p.jsonl", "--measure", "--device", TIMES];
    folder.run(&[&measure[..], &["--problem", "other.toml"]].concat()).refused(&["its space differs", "--problem"]);
    folder.write("r.csv", "X,time_ms\n1,2\n2,3\n");
    for (option, value) in [("--problem", "p.toml"), ("--on", "d.json")] {
        folder.run(&["explain", "r.csv", option, value]).refused(&["`r.csv` is no journal", "--measure"]);
    }
}

#[test]
fn the_best_of_a_run_is_run_again() {
    let folder = tuned(TIMES);
    let run = ["run", "p.toml", "--device", TIMES, "--best", "p.jsonl", "--json"];
    let best = explained(&folder, "p.jsonl")["best"].clone();
    assert_eq!(folder.run(&run).json()["config"], best["config"]);
    let changed = folder.run(&[&run[..], &["--config", "TILE=2,MODE=safe"]].concat()).json();
    assert_eq!((&changed["config"]["TILE"], &changed["config"]["MODE"]), (&json!(2), &json!("safe")));
    assert_eq!(changed["config"]["UNROLL"], best["config"]["UNROLL"]);
    folder.run(&["run", "p.toml", "--device", TIMES, "--best", "absent.jsonl"]).refused(&["absent.jsonl"]);
}

#[test]
fn recordings_of_other_tools_are_explained() {
    let Some(shared) = shared() else { return };
    let folder = Folder::new();
    let path = shared.join("recordings/convolution_milo-A4000-hub.csv.gz").display().to_string();
    let ran = folder.run(&["explain", &path]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    fits(&ran);
    assert!(ran.stdout.contains("use_shmem") && ran.stdout.contains("of the best"), "{ran:#?}");
}
