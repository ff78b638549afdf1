//! Spaces too large to list can be tuned like any other.

use crate::common;

use common::{Folder, entries, shared};

/// 8.24e31 configurations of 32 parameters.
const SPACE: &str = "spaces/synth_chain_32.json";

const COST: &str = "synthetic:1 + abs(x0 - 7) + abs(x16 - 9) + x31 / 100";

#[test]
fn every_strategy_tunes_and_resumes_a_space_of_10_to_the_31st_configurations() {
    let Some(shared) = shared() else { return };
    let folder = Folder::new();
    let path = shared.join(SPACE);
    let path = path.to_str().unwrap();
    let size = folder.run(&["space", path, "--json"]).json()["size"].as_str().unwrap().to_string();
    assert_eq!(size.len(), 32, "{size}");
    for strategy in tunesmith::search::catalogue() {
        let out = format!("{}.jsonl", strategy.name);
        let tune = |evaluations: &str, more: &[&str]| {
            let stop = format!("evaluations {evaluations}");
            let common = ["tune", path, "--device", COST, "--strategy", strategy.name, "--stop", &stop];
            folder.run(&[&common[..], &["--out", &out, "--json", "--quiet"], more].concat())
        };
        let first = tune("12", &[]);
        assert_eq!(first.code, Some(0), "{}: {first:#?}", strategy.name);
        assert_eq!(first.json()["space_size"].as_str(), Some(&*size));
        let resumed = tune("20", &["--resume"]);
        assert_eq!(resumed.json()["evaluations"], 20, "{}: {resumed:#?}", strategy.name);
        check_indices(&folder, path, &out, &resumed.json()["best"]);
    }
}

/// Checks that the indices in a journal, and that of the best, are those of their configurations to
/// the last digit.
fn check_indices(folder: &Folder, path: &str, journal: &str, best: &serde_json::Value) {
    let entries = entries(&folder.path(journal));
    let of = |index: &str| folder.run(&["space", path, "--index", index, "--json"]).json()["configs"][0].clone();
    for entry in [&entries[0], &entries[entries.len() / 2], best] {
        let index = entry["index"].as_str().unwrap_or_else(|| panic!("{journal}: {entry:#}"));
        assert_eq!(of(index)["config"], entry["config"], "{journal}: {index}");
    }
}
