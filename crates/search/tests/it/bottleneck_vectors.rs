//! The expert system gives the same values as its authors' program.

#![allow(clippy::print_stdout)]

use serde_json::Value as Json;
use std::path::PathBuf;
use tunesmith_core::Measurement;
use tunesmith_core::counters::{CounterSet, Hardware};
use tunesmith_model::bottleneck::{
    Analysis, Bottleneck, Family, Rules, Variant, analyse, scores, wanted_changes, weights,
};
use tunesmith_search::profile_guided::{name_of, readings, size};

const DATA_SETS: [&str; 4] = ["convolution_2080ti", "coulomb3d_1070", "coulomb3d_2080ti", "vectoradd_2080ti"];

#[allow(clippy::disallowed_methods)] // the environment names the test data
fn vectors(name: &str) -> Option<Json> {
    let named = std::env::var_os("TUNESMITH_SHARED").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")));
    let path = folder.join(format!("vectors/bottleneck/{name}.json.gz"));
    let Ok(file) = std::fs::File::open(&path) else {
        println!("skipped: no {}; set TUNESMITH_SHARED", path.display());
        return None;
    };
    Some(serde_json::from_reader(flate2::read::GzDecoder::new(file)).unwrap())
}

/// The counter of issued instructions, before Volta and from Volta on.
const ISSUE: [&str; 2] = ["issue_slot_utilization", "smsp__issue_active.avg.pct_of_peak_sustained_active"];

/// Bottlenecks with their names in the file: in the authors' program and in the paper's variant.
const NAMES: [(Bottleneck, &str, &str); 22] = [
    (Bottleneck::MemoryRead, "bnDRAMRead", "dram_read"),
    (Bottleneck::MemoryWrite, "bnDRAMWrite", "dram_write"),
    (Bottleneck::L2Read, "bnL2Read", "l2_read"),
    (Bottleneck::L2Write, "bnL2Write", "l2_write"),
    (Bottleneck::Texture, "bnTex", "tex"),
    (Bottleneck::Local, "bnLocal", "local"),
    (Bottleneck::SharedRead, "bnSMRead", "shared_read"),
    (Bottleneck::SharedWrite, "bnSMWrite", "shared_write"),
    (Bottleneck::Float32, "bnSP", "fp32"),
    (Bottleneck::Float64, "bnDP", "fp64"),
    (Bottleneck::Integer, "bnInt", "int"),
    (Bottleneck::Other, "bnMisc", "misc"),
    (Bottleneck::LoadStore, "bnLDST", "ldst"),
    (Bottleneck::Control, "bnCF", "cont"),
    (Bottleneck::Conversion, "bnBconv", "bconv"),
    (Bottleneck::Issue, "bnInstIssue", "issue"),
    (Bottleneck::Idle, "bnGparal", "sm"),
    (Bottleneck::Parallelism, "bnThreads", "paral"),
    (Bottleneck::Occupancy, "bnMPparal", ""),
    (Bottleneck::Tail, "bnTailEffect", ""),
    (Bottleneck::Special, "bnSFU", ""),
    (Bottleneck::TextureUnit, "bnTexFu", ""),
];

fn numbers(json: &Json) -> Vec<f64> {
    json.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// Returns true if the values agree to 1e-9 relative. Differences of nearly equal shares keep fewer
/// digits, so 1e-15 absolute is allowed.
fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs() + 1e-15
}

/// One data set with one threshold and one variant.
struct Check<'a> {
    data: &'a Json,
    names: Vec<&'a str>,
    rules: Rules,
    reaction: &'a str,
}

impl Check<'_> {
    fn measurement(&self, counters: &Json) -> Measurement {
        let mut measurement = Measurement::default();
        for (name, value) in self.names.iter().zip(numbers(counters)) {
            match *name {
                "Global size" => drop(measurement.values.insert("global_size".into(), vec![value])),
                "Local size" => drop(measurement.values.insert("local_size".into(), vec![value])),
                name if CounterSet::knows(name) => drop(measurement.counters.insert(name.into(), value)),
                _ => {}
            }
        }
        measurement
    }

    /// Checks the bottlenecks and returns the wanted changes, by column of the file.
    fn changes(&self, case: &Json, bottlenecks: &Json, delta: &Json) -> Vec<f64> {
        let device = &self.data["device"];
        let number = |key: &str| device[key].as_f64();
        let hardware =
            Hardware { compute_capability: number("cc"), multiprocessors: number("sm"), cores: number("cores") };
        let (family, readings) = readings(&self.measurement(&case["counters"])).unwrap();
        let Analysis { bottlenecks: found, missing, .. } =
            analyse(&readings, family, size(&hardware), &self.rules).unwrap();
        assert!(missing.is_empty(), "{missing:?}");
        for (bottleneck, code, paper) in NAMES {
            let name = if self.rules.variant == Variant::Paper { paper } else { code };
            if let Some(expected) = bottlenecks.get(name) {
                let found = found.get(bottleneck).unwrap_or_else(|| panic!("{name}"));
                assert!(close(found, expected.as_f64().unwrap()), "{name}: {found} {expected}");
            }
        }
        let set = CounterSet::named(family.name).unwrap();
        let mut changes = vec![0.0; self.names.len()];
        for (quantity, change) in wanted_changes(&found, family, &self.rules) {
            let name = name_of(set, quantity).unwrap();
            let name = if name == "global_size" { "Global size" } else { name };
            changes[self.names.iter().position(|column| *column == name).unwrap()] = change;
        }
        let issue = self.names.iter().position(|name| ISSUE.contains(name)).unwrap();
        for (at, expected) in numbers(delta).into_iter().enumerate() {
            // The file has the sign of the authors' program in both variants.
            let is_printed = self.rules.variant == Variant::Paper && at == issue;
            let expected = if is_printed { -expected } else { expected };
            assert!(close(changes[at], expected), "{}: {} {expected}", self.names[at], changes[at]);
        }
        changes
    }

    fn scores(&self, case: &Json, changes: &[f64], variant: Variant, expected: &Json) -> Vec<f64> {
        let candidates: Vec<Vec<f64>> = case["candidate_counters"].as_array().unwrap().iter().map(numbers).collect();
        let profiled = &candidates[case["profiled_position"].as_u64().unwrap() as usize];
        let columns: Vec<Vec<f64>> =
            (0..self.names.len()).map(|at| candidates.iter().map(|row| row[at]).collect()).collect();
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let found = scores(changes, profiled, &columns, variant);
        all_close("scores", &found, &numbers(expected));
        found
    }

    fn case(&self, case: &Json) {
        let values = &case["by_inst_reaction"][self.reaction];
        if self.rules.variant == Variant::Paper {
            self.changes(case, &case["paper_bottlenecks_eq6_14"], &values["paper_delta"]);
            let recorded = numbers(&values["paper_delta"]);
            let found = self.scores(case, &recorded, Variant::Paper, &values["paper_raw_score"]);
            all_close("weights", &weights(&found, Variant::Paper, 1.0), &numbers(&values["paper_weights_eq17"]));
            return;
        }
        let changes = self.changes(case, &values["code_bottlenecks"], &values["code_delta"]);
        self.scores(case, &changes, Variant::Paper, &values["raw_score_paper_zero_rule"]);
        let found = self.scores(case, &changes, Variant::Authors, &values["raw_score_code_zero_rule"]);
        for (key, scale) in [("weights_v22_exact", 1.0), ("weights_v22_predictor_x2", 2.0)] {
            all_close(key, &weights(&found, Variant::Authors, scale), &numbers(&values[key]));
        }
    }
}

fn all_close(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(close(*found, *expected), "{what}: {found} {expected}");
    }
}

fn check_all(variant: Variant) {
    for name in DATA_SETS {
        let Some(data) = vectors(name) else { return };
        let names: Vec<&str> = data["counter_names"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
        for reaction in ["0.5", "0.7"] {
            let rules = Rules { variant, reaction: reaction.parse().unwrap() };
            let check = Check { data: &data, names: names.clone(), rules, reaction };
            let cases = data["cases"].as_array().unwrap();
            assert!(!cases.is_empty());
            cases.iter().for_each(|case| check.case(case));
        }
    }
}

#[test]
fn the_authors_values_are_those_of_their_program() {
    check_all(Variant::Authors);
}

#[test]
fn the_papers_values_are_those_of_its_equations() {
    check_all(Variant::Paper);
}

/// Section 3.5 says that Eq. 15 holds "for all instruction-related bottlenecks including b_issue".
#[test]
fn the_paper_wants_fewer_cycles_that_issue_instructions_and_the_authors_program_more() {
    for name in DATA_SETS {
        let Some(data) = vectors(name) else { return };
        let names: Vec<&str> = data["counter_names"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
        let issue = names.iter().position(|name| ISSUE.contains(name)).unwrap();
        let mut reacted = 0;
        for case in data["cases"].as_array().unwrap() {
            let values = &case["by_inst_reaction"]["0.5"];
            let change = |variant, bottlenecks: &Json, delta: &Json| {
                let rules = Rules { variant, reaction: 0.5 };
                Check { data: &data, names: names.clone(), rules, reaction: "0.5" }.changes(case, bottlenecks, delta)
            };
            let paper = change(Variant::Paper, &case["paper_bottlenecks_eq6_14"], &values["paper_delta"]);
            let authors = change(Variant::Authors, &case["code_bottlenecks"], &values["code_delta"]);
            let excess = (case["paper_bottlenecks_eq6_14"]["issue"].as_f64().unwrap() - 0.5) / 0.5;
            assert!(close(paper[issue], -excess.max(0.0)), "{name}: {} {excess}", paper[issue]);
            assert!(authors[issue] >= 0.0, "{name}");
            reacted += usize::from(paper[issue] < 0.0);
        }
        assert_eq!(reacted > 0, name != "vectoradd_2080ti", "{name}: no case reaches the threshold");
    }
}

#[test]
fn a_model_of_another_architecture_gets_its_own_counters() {
    let Some(data) = vectors("coulomb3d_2080ti") else { return };
    let names: Vec<&str> = data["counter_names"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
    let rules = Rules { variant: Variant::Mended, reaction: 0.5 };
    let check = Check { data: &data, names, rules, reaction: "0.5" };
    let (family, readings) = readings(&check.measurement(&data["cases"][0]["counters"])).unwrap();
    let found = analyse(&readings, family, Default::default(), &rules).unwrap();
    let set = CounterSet::named(Family::BEFORE_VOLTA.name).unwrap();
    let changes = wanted_changes(&found.bottlenecks, &Family::BEFORE_VOLTA, &rules);
    let names: Vec<_> = changes.iter().map(|(quantity, _)| name_of(set, *quantity).unwrap()).collect();
    assert!(names.contains(&"dram_read_transactions") && names.contains(&"issue_slot_utilization"), "{names:?}");
}

#[test]
fn every_set_of_counters_has_its_family() {
    for set in CounterSet::ALL {
        assert!(Family::of_set(set.name).is_some(), "{}", set.name);
    }
}
