//! Counters that are 0, not numbers, unknown or unavailable each give a message, and the run goes
//! on.

use crate::common;

use common::{Folder, Ran};
use std::fmt::Write as _;

const PROBLEM: &str = "[parameters]\nTILE = [1, 2, 4, 8]\nUNROLL = [1, 2, 3]\n";
/// Utilisations of memory and issue, reads, floats and instructions.
const COUNTERS: [&str; 6] = [
    "dram_utilization",
    "dram_read_transactions",
    "dram_write_transactions",
    "inst_fp_32",
    "inst_executed",
    "issue_slot_utilization",
];

/// A recording of twelve configurations with these counters, whose readings are `flawed`.
fn table(names: [&str; 6], flawed: impl Fn(&str, f64) -> String) -> String {
    let mut text = format!("TILE,UNROLL,time_ms,{}\n", names.join(","));
    for at in 0..12_i32 {
        let (tile, unroll) = (1 << (at / 3), 1 + at % 3);
        let (reads, floats) = (8e8 / f64::from(tile), 1e8 * (1.0 + 1.0 / f64::from(unroll)));
        let readings = [8.0, reads, 1e3, floats, 1e7, 40.0];
        let _ = write!(text, "{tile},{unroll},{}", (reads + floats) / 1e8);
        for (name, reading) in names.iter().zip(readings) {
            let _ = write!(text, ",{}", flawed(name, reading));
        }
        text.push('\n');
    }
    text
}

/// Trains a model on the sound recording and searches `recording` with it.
fn tune(recording: &str, sidecar: Option<&str>) -> Ran {
    let sound = table(COUNTERS, |_, reading| reading.to_string());
    let folder = Folder::with(&[("p.toml", PROBLEM), ("sound.csv", &sound), ("flawed.csv", recording)]);
    if let Some(sidecar) = sidecar {
        folder.write("flawed.json", sidecar);
    }
    let trained = folder.run(&["train", "counters", "sound.csv", "-o", "m.json", "--method", "exact"]);
    assert_eq!(trained.code, Some(0), "{trained:#?}");
    let stop = ["--stop", "evaluations 12", "--json"];
    folder.run(&[&["tune", "p.toml", "--device", "replay:flawed.csv", "--model", "m.json"][..], &stop].concat())
}

/// Checks that the run found everything and printed `note` once.
fn went_on(ran: &Ran, note: &str) {
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(ran.stderr.matches(note).count(), 1, "`{note}` once: {ran:#?}");
    let outcome = ran.json();
    assert_eq!((outcome["evaluations"].as_u64(), outcome["best"]["config"]["TILE"].as_u64()), (Some(12), Some(8)));
}

#[test]
fn denominators_of_zero() {
    let zeros = ["dram_read_transactions", "dram_write_transactions", "inst_executed"];
    let ran = tune(&table(COUNTERS, |name, x| if zeros.contains(&name) { "0".into() } else { x.to_string() }), None);
    went_on(&ran, "`dram_read_transactions`, `dram_write_transactions`, `inst_executed` read 0 in a run that was busy");
    let ran = tune(&table(COUNTERS, |_, _| "0".into()), None);
    assert_eq!((ran.code, ran.json()["evaluations"].as_u64()), (Some(0), Some(12)), "{ran:#?}");
}

#[test]
fn readings_that_are_no_numbers() {
    let ran =
        tune(&table(COUNTERS, |name, x| if name == "inst_executed" { "nan".into() } else { x.to_string() }), None);
    went_on(&ran, "`inst_executed`");
    assert!(ran.stderr.contains("without a usable value of"), "{ran:#?}");
    let ran = tune(&table(COUNTERS, |_, _| "inf".into()), None);
    went_on(&ran, "the device gives no counters");
}

#[test]
fn counters_of_no_table() {
    let renamed = ["a", "b", "c", "d", "e", "f"];
    let sidecar =
        r#"{"params": {"TILE": [1, 2, 4, 8], "UNROLL": [1, 2, 3]}, "counters": ["a", "b", "c", "d", "e", "f"]}"#;
    let ran = tune(&table(renamed, |_, reading| reading.to_string()), Some(sidecar));
    went_on(&ran, "no table has the counters of this device (`a`, `b`, `c`)");
}

#[test]
fn the_processors_counters_are_read_or_it_is_said_why_not() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["init", "--out", "first"]).code, Some(0));
    let run = ["run", "first/problem.toml", "--size", "N=256", "--profile"];
    let ran = folder.run(&run);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let missing = folder.run(&["devices", "--json"]).json()["missing"].clone();
    let missing = missing.as_array().unwrap().iter().find(|missing| missing["backend"] == "counters of the processor");
    let Some(missing) = missing else {
        let profile = folder.run(&[&run[..], &["--json"]].concat()).json()["profile"].clone();
        assert_eq!(profile["counter_set"], "processor", "{profile:#}");
        return;
    };
    let why = format!("{}; {}", missing["reason"].as_str().unwrap(), missing["remedy"].as_str().unwrap());
    assert!(ran.stderr.contains(&format!("no profile: {why}")), "{ran:#?}");
    // A model of counters that this processor does not have.
    folder.write("sound.csv", &table(COUNTERS, |_, reading| reading.to_string()));
    folder.run(&["train", "counters", "sound.csv", "-o", "m.json", "--method", "exact"]);
    assert!(folder.path("m.json").is_file());
    let tune = ["tune", "first/problem.toml", "--size", "N=256", "--stop", "evaluations 2", "--model", "m.json"];
    let ran = folder.run(&tune);
    assert!(ran.code == Some(0) && ran.stderr.contains(&format!("the device gives no counters ({why})")), "{ran:#?}");
}
