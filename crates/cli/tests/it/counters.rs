//! Counter models from the command line: train, tune with one, explain.

use crate::common;

use common::{Folder, Ran, shared};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Returns twelve configurations whose counters follow from `TILE` and `UNROLL`, with `flaw` in
/// place of one value.
fn table(reads: &str, flaw: Option<&str>) -> String {
    let mut text = format!(
        "TILE,UNROLL,time_ms,dram_utilization,{reads},dram_write_transactions,inst_fp_32,inst_executed,issue_slot_utilization,sm_efficiency\n"
    );
    for at in 0..12_i32 {
        let (tile, unroll) = (1 << (at / 3), 1 + at % 3);
        let (reads, floats) = (8e8 / f64::from(tile), 1e8 * (1.0 + 1.0 / f64::from(unroll)));
        let time = reads / 1e8 + floats / 1e8;
        let floats = flaw.filter(|_| at == 4).map_or_else(|| floats.to_string(), str::to_string);
        let _ = writeln!(text, "{tile},{unroll},{time},8,{reads},1000,{floats},1e7,40,99");
    }
    text
}

const PROBLEM: &str = "[parameters]\nTILE = [1, 2, 4, 8]\nUNROLL = [1, 2, 3]\n";

fn folder() -> Folder {
    let folder = Folder::with(&[("p.toml", PROBLEM), ("table.csv", &table("dram_read_transactions", None))]);
    let trained = folder.run(&["train", "counters", "table.csv", "-o", "m.json", "--method", "exact"]);
    assert_eq!(trained.code, Some(0), "{trained:#?}");
    folder
}

/// Tunes on the table for six evaluations, unless `more` says otherwise.
fn tune(folder: &Folder, more: &[&str]) -> Ran {
    let defaults = [["--device", "replay:table.csv"], ["--stop", "evaluations 6"]];
    let defaults = defaults.into_iter().filter(|[name, _]| !more.contains(name)).flatten();
    let arguments: Vec<&str> =
        ["tune", "p.toml", "--json"].into_iter().chain(defaults).chain(more.iter().copied()).collect();
    let ran = folder.run(&arguments);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    ran
}

/// Returns a file of the shared recordings with counters.
fn recorded(name: &str) -> Option<PathBuf> {
    shared().map(|folder| folder.join("counters").join(name)).filter(|path| path.is_file())
}

#[test]
fn every_method_trains_and_prints_the_promised_json() {
    let folder = folder();
    for method in ["tree", "trees", "least_squares", "exact"] {
        let train = ["train", "counters", "table.csv", "-o", "x.json", "--method", method];
        let document = folder.run(&[&train[..], &["--json"]].concat()).json();
        assert_eq!((document["kind"].as_str(), document["features"].as_u64()), (Some("counters"), Some(2)));
        assert_eq!(document["rows"].as_u64(), Some(if method == "exact" { 12 } else { 6 }));
        assert!(document["fit_seconds"].is_number() && document["out"] == "x.json");
        let errors = document["held_out"].as_object().unwrap();
        assert_eq!(errors.contains_key("inst_fp_32"), method != "exact", "{document:#}");
        let saved: Json = serde_json::from_str(&std::fs::read_to_string(folder.path("x.json")).unwrap()).unwrap();
        assert_eq!(
            (saved["kind"].as_str(), &saved["provenance"]["held_out"]),
            (Some("counters"), &document["held_out"])
        );
        assert!(folder.run(&train).stdout.contains("wrote x.json"));
    }
}

#[test]
fn what_cannot_be_trained_from_is_refused_and_what_is_left_out_is_said() {
    let folder = folder();
    folder.write("plain.csv", "X,time_ms\n1,2\n2,3\n");
    let train =
        |input: &str, method: &str| folder.run(&["train", "counters", input, "-o", "x.json", "--method", method]);
    train("plain.csv", "tree").refused(&["plain.csv", "no counters to learn from", "help"]);
    train("none.csv", "tree").refused(&["none.csv"]);
    train("table.csv", "treees").refused(&["no method `treees`", "did you mean `trees`", "least_squares"]);
    folder.write("nan.csv", &table("dram_read_transactions", Some("nan")));
    folder.write("gap.csv", &table("dram_read_transactions", Some("")));
    for file in ["nan.csv", "gap.csv"] {
        let ran = train(file, "tree");
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        assert!(ran.stderr.contains("`inst_fp_32` is left out: no number in 1 of 12"), "{ran:#?}");
    }
    folder.write("text.csv", &table("dram_read_transactions", Some("many")));
    train("text.csv", "tree").refused(&["text.csv", "line 6", "`many` in column `inst_fp_32` is no number"]);
    folder.run(&["train", "counters", "table.csv", "plain.csv", "-o", "x.json"]).refused(&["plain.csv", "no counters"]);
    let ran = folder.run(&["train", "counters", "table.csv", "-o", "absent/x.json"]);
    ran.refused(&["absent/x.json", "No such file"]);
}

#[test]
fn a_model_guides_the_default_strategy_where_there_are_counters() {
    let folder = folder();
    let asked = |more: &[&str]| tune(&folder, more).json()["best"]["config"].clone();
    let guided = ["--model", "m.json", "--strategy"];
    let named = tune(&folder, &[&guided[..], &["profile_guided", "--out", "a.jsonl"]].concat());
    tune(&folder, &[&guided[..], &["default", "--out", "b.jsonl"]].concat());
    let lines =
        |name| common::entries(&folder.path(name)).iter().map(|entry| entry["index"].clone()).collect::<Vec<_>>();
    assert_eq!(lines("a.jsonl"), lines("b.jsonl"), "default is profile_guided");
    assert!(!named.stderr.contains("without the counter model"), "{named:#?}");
    assert_eq!(common::entries(&folder.path("a.jsonl"))[1]["depth"], "profiled");
    for own in ["exact", "trees"] {
        assert_eq!(asked(&["--model", own]), json!({"TILE": 8, "UNROLL": 3}), "{own}");
    }
    // A resumed run takes the model it began with.
    let more = tune(&folder, &["--out", "a.jsonl", "--resume", "--stop", "evaluations 8"]);
    assert_eq!(more.code, Some(0));
    tune(&folder, &[&guided[..], &["profile_guided", "--out", "c.jsonl", "--stop", "evaluations 8"]].concat());
    assert_eq!((lines("a.jsonl").len(), lines("a.jsonl")), (8, lines("c.jsonl")));
}

#[test]
fn a_model_that_does_not_help_is_a_note_and_the_run_goes_on() {
    let folder = folder();
    let says = |more: &[&str], expected: &str| {
        let ran = tune(&folder, more);
        assert!(ran.stderr.matches(expected).count() == 1, "`{expected}` once: {ran:#?}");
        assert_eq!(ran.json()["evaluations"].as_u64(), Some(6));
    };
    says(&["--strategy", "profile_guided"], "no counter model (--model FILE)");
    says(&["--strategy", "annealing", "--model", "m.json"], "`annealing` uses no counter model");
    says(&["--model", "m.json", "--quiet", "--device", "synthetic:TILE + UNROLL"], "the device gives no counters");
    let foreign = std::fs::read_to_string(folder.path("m.json")).unwrap().replace("nvidia before Volta", "abacus");
    folder.write("foreign.json", &foreign);
    says(&["--model", "foreign.json"], "there is no table for the counters of the model, `abacus`");
    let lacking = std::fs::read_to_string(folder.path("m.json")).unwrap().replace("\"UNROLL\"", "\"DEPTH\"");
    folder.write("lacking.json", &lacking);
    says(&["--model", "lacking.json"], "needs the tuning parameters DEPTH");
    folder.write("renamed.csv", &table("dram_read_transaction", None));
    says(
        &["--model", "m.json", "--device", "replay:renamed.csv"],
        "without a usable value of `dram_read_transactions`",
    );
}

#[test]
fn extra_parameters_are_ignored_with_a_warning() {
    let folder = folder();
    let mut wide = String::new();
    for (at, line) in table("dram_read_transactions", None).lines().enumerate() {
        let values = if at == 0 { vec!["X"] } else { vec!["1", "2"] };
        values.iter().for_each(|x| writeln!(wide, "{x},{line}").unwrap());
    }
    folder.write("wide.csv", &wide);
    folder.write("p.toml", &format!("{PROBLEM}X = [1, 2]\n"));
    let ran = tune(&folder, &["--device", "replay:wide.csv", "--model", "m.json"]);
    assert!(ran.stderr.contains("does not know parameter `X`"), "{ran:#?}");
    assert_eq!(
        ran.json()["notes"].as_array().unwrap().len(),
        2,
        "the parameter, and counters that were not read: {ran:#?}"
    );
}

#[test]
fn wrong_models_are_refused() {
    let folder = folder();
    let tune = |model: &str, device: &str| folder.run(&["tune", "p.toml", "--device", device, "--model", model]);
    folder.write("timing.json", r#"{"kind": "timing"}"#);
    folder.write("weather.json", r#"{"kind": "weather"}"#);
    folder.write("cut.json", &std::fs::read_to_string(folder.path("m.json")).unwrap()[..200]);
    let text = std::fs::read_to_string(folder.path("m.json")).unwrap();
    let mut json: Json = serde_json::from_str(&text).unwrap();
    json["counters"].as_array_mut().unwrap().pop();
    folder.write("damaged.json", &json.to_string());
    tune("weather.json", "replay:table.csv").refused(&["weather.json", "kind `weather`", "train counters"]);
    tune("timing.json", "replay:table.csv").refused(&["timing.json", "damaged", "train timing"]);
    tune("cut.json", "replay:table.csv").refused(&["cut.json", "not readable as JSON"]);
    tune("damaged.json", "replay:table.csv").refused(&["damaged.json", "damaged"]);
    tune("absent.json", "replay:table.csv").refused(&["absent.json"]);
    tune("exact", "synthetic:TILE").refused(&["--model exact", "train counters"]);
}

#[test]
fn a_configuration_is_explained_by_its_counters() {
    let folder = folder();
    let ran = folder.run(&["explain", "table.csv", "--config", "TILE=1,UNROLL=1", "--model", "m.json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    for part in ["TILE=1,UNROLL=1", "reading global memory", "dram_read_transactions = 8.000e8", "TILE 1 -> 8", "###"] {
        assert!(ran.stdout.contains(part), "`{part}` is missing: {ran:#?}");
    }
    let document = folder.run(&["explain", "table.csv", "--model", "m.json", "--json"]).json();
    assert_eq!(document["config"], json!({"TILE": 8, "UNROLL": 3}), "the fastest");
    assert_eq!(document["bottlenecks"][0]["name"], "reading global memory");
    assert!(document["wanted"][0]["change"].as_f64().unwrap() < 0.0);
    folder.write("plain.csv", "X,time_ms\n1,2\n2,3\n");
    let plain = ["explain", "plain.csv", "--config", "X=1"];
    folder.run(&plain).refused(&["no configuration has counters", "record counters"]);
    let whole = folder.run(&["explain", "table.csv"]);
    assert!(whole.stdout.contains("reading global memory at") && whole.stdout.contains("TILE"), "{whole:#?}");
    folder.run(&["explain", "table.csv", "--config", "TIL=1"]).refused(&["no parameter `TIL`", "TILE, UNROLL"]);
    folder.run(&["explain", "table.csv", "--config", "TILE=3"]).refused(&["`TILE` is never 3", "1, 2, 4, 8"]);
}

#[test]
fn one_configuration_is_profiled_where_the_device_can() {
    let folder = folder();
    let run = ["run", "p.toml", "--config", "TILE=2", "--profile", "--device"];
    let ran = folder.run(&[&run[..], &["replay:table.csv", "--model", "m.json"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stdout.contains("bottlenecks (0 idle") && ran.stdout.contains("TILE 2 -> 8"), "{ran:#?}");
    let ran = folder.run(&[&run[..], &["synthetic:TILE"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stderr.contains("no profile: the device gave no counters; record counters"), "{ran:#?}");
}

#[test]
fn a_model_of_an_older_gpu_guides_and_explains_a_newer_one() {
    let (Some(old), Some(new)) = (recorded("coulomb3d_1070.csv.gz"), recorded("coulomb3d_2080ti.csv.gz")) else {
        return;
    };
    let (old, new) = (old.display().to_string(), new.display().to_string());
    let folder = Folder::new();
    for method in ["tree", "least_squares", "trees"] {
        let ran = folder.run(&["train", "counters", &old, "-o", "m.json", "--method", method, "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let error = ran.json()["held_out"]["inst_fp_32"].as_f64().unwrap();
        assert!(error < 0.2, "{method} {error}");
    }
    let ran = folder.run(&["explain", &new, "--model", "m.json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stdout.contains("inst_fp_32") && ran.stdout.contains("32-bit float"), "{ran:#?}");
}
