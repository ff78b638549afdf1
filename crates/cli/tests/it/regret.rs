//! The stop condition `regret` through the binary.

use crate::common;

use common::Folder;

const PROBLEM: &str = "[problem]\nname = \"p\"\n[kernel]\ncommand = [\"true\"]\n[parameters]\nX = { range = \"1..=30\" }\nY = { range = \"1..=30\" }\n";
/// A wide valley. Many configurations lie within a few per cent of its bottom.
const VALLEY: &str = "synthetic:100 + abs(X - 12) + abs(Y - 20) / 2";

fn tune(folder: &Folder, stop: &str, strategy: &str) -> common::Ran {
    let common = ["tune", "p.toml", "--device", VALLEY, "--strategy", strategy, "--stop", stop, "--json", "--quiet"];
    folder.run(&common)
}

#[test]
fn a_valley_is_left_before_the_budget_with_a_claim_that_is_true() {
    let folder = Folder::with(&[("p.toml", PROBLEM)]);
    for strategy in ["default", "annealing"] {
        let ran = tune(&folder, "regret 5% at 90% or evaluations 500", strategy);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let json = ran.json();
        assert_eq!(json["stop_reason"], "regret 5% at 90%", "{strategy}");
        assert!(json["evaluations"].as_u64().unwrap() < 500);
        assert_eq!(json["regret"][0]["regret"], 0.05);
        assert!(json["regret"][0]["probability"].as_f64().unwrap() >= 0.9);
        assert!(json["best"]["time_ms"].as_f64().unwrap() <= 105.0, "{}", json["best"]);
    }
}

#[test]
fn a_run_that_ends_otherwise_says_how_sure_it_is_all_the_same() {
    let folder = Folder::with(&[("p.toml", PROBLEM)]);
    let json = tune(&folder, "regret 0.001% at 99% or evaluations 25", "random").json();
    assert_eq!(json["stop_reason"], "evaluations 25");
    assert!(json["regret"][0]["probability"].as_f64().unwrap() < 0.99);
    assert!(tune(&folder, "evaluations 25", "random").json().get("regret").is_none());
}

#[test]
fn wrong_regrets_are_refused_with_what_is_right() {
    let folder = Folder::with(&[("p.toml", PROBLEM)]);
    let refused = |stop: &str, part: &str| tune(&folder, stop, "random").refused(&[part, "regret 2% at 95%"]);
    refused("regret 2%", "the probability is missing");
    refused("regret -1% at 95%", "a regret lies above 0%");
    refused("regret 2% at 100%", "only evaluating the whole space is sure");
    refused("regret 2 at 95%", "`2` is no number with %");
}
