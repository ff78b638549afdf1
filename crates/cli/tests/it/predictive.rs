//! Tuning over inputs, learning from it, and choosing for inputs that were never tuned.

use crate::common;

use common::{Folder, entries};
use serde_json::Value as Json;
use std::fs;

const PROBLEM: &str = r#"
[problem]
name = "tiles"
sizes = { N = 64, M = 8, K = 8 }

[inputs]
filter = "N * M <= 8192"
count = 24
seed = 3

[inputs.sizes]
N = { pow2 = "16..=1024" }
M = [4, 8, 16, 32]
K = "M"

[inputs.features]
work = "N * M * K"

[parameters]
TILE = [1, 2, 4, 8, 16, 32, 64]
UNROLL = [1, 2, 4, 8]
MODE = ["row", "column"]

[constraints]
"tiles fit" = "TILE <= N"

[tuning]
default = { TILE = 1, UNROLL = 1, MODE = "column" }
grid = [{ TILE = [4, 16], UNROLL = [1, 4], MODE = ["row", "column"] }, { TILE = 64 }]
"#;

/// The best tile is a sixteenth of N and the best unrolling 4. Large tiles with much unrolling
/// cannot run.
const TIMES: &str = "synthetic:N * M * K * (1 + 16 * abs(TILE - N / 16) / N) * (1 + abs(UNROLL - 4) / 8) * \
                     (1 if MODE == 'row' else 1.5) / 1e5 if TILE * UNROLL < 256 else 0";

fn folder() -> Folder {
    Folder::with(&[("tiles.toml", PROBLEM)])
}

fn tune(folder: &Folder, more: &[&str]) -> Json {
    let ran = folder.run(&[&["tune", "tiles.toml", "--device", TIMES, "--json", "--quiet"], more].concat());
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    ran.json()
}

/// Returns the journals of `tiles.inputs`, in the order of their names.
fn journals(folder: &Folder) -> Vec<String> {
    let names = fs::read_dir(folder.path("tiles.inputs")).unwrap();
    let names = names.map(|entry| format!("tiles.inputs/{}", entry.unwrap().file_name().to_str().unwrap()));
    let mut names: Vec<String> = names.filter(|name| name.contains('=')).collect();
    names.sort();
    names
}

#[test]
fn a_stop_condition_goes_before_that_of_every_run_but_the_grids() {
    let folder = folder();
    folder.write("tiles.toml", &PROBLEM.replace("count = 24", "count = 2"));
    let outcome = tune(&folder, &["--inputs", "--stop", "evaluations 3"]);
    let runs = outcome["runs"].as_array().unwrap();
    let evaluations = |strategy: &str| -> Vec<u64> {
        let own = runs.iter().filter(|run| run["strategy"].as_str().unwrap().starts_with(strategy));
        own.map(|run| run["evaluations"].as_u64().unwrap()).collect()
    };
    assert_eq!(evaluations("hill_climbing"), [3, 3], "{outcome:#}");
    assert!(evaluations("grid").iter().all(|count| *count > 3), "{outcome:#}");
}

fn trained() -> (Folder, Json) {
    let folder = folder();
    tune(&folder, &["--inputs"]);
    let journals = journals(&folder);
    // With a given number of trees there is no cross-validation.
    let mut arguments = vec!["train", "timing", "-o", "tiles.json", "--json", "--rounds", "100"];
    arguments.extend(journals.iter().map(String::as_str));
    let ran = folder.run(&arguments);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let json = ran.json();
    (folder, json)
}

#[test]
fn every_input_is_tuned_by_grid_and_climb_and_finished_runs_are_not_repeated() {
    let folder = folder();
    let first = tune(&folder, &["--inputs"]);
    assert_eq!((first["inputs"].as_u64(), first["runs"].as_array().unwrap().len()), (Some(24), 48));
    assert_eq!(first["skipped"], Json::Array(Vec::new()));
    let grid =
        first["runs"].as_array().unwrap().iter().find(|run| run["strategy"] == "grid" && run["sizes"]["N"] == 64);
    // Eight of the first table, one of the second, and the default.
    assert_eq!(grid.unwrap()["evaluations"], 10);
    let journal = folder.path(&journals(&folder)[0]);
    let header: Json = serde_json::from_str(fs::read_to_string(&journal).unwrap().lines().next().unwrap()).unwrap();
    assert_eq!(header["sizes"]["K"], header["sizes"]["M"]);
    assert_eq!(header["features"]["work"], "N * M * K");
    assert_eq!(header["constraints"]["tiles fit"], "TILE <= N");

    // Interrupted in the middle: half of the list is gone, and one journal is cut short.
    let list = folder.path("tiles.inputs/runs.jsonl");
    let text = fs::read_to_string(&list).unwrap();
    let half: Vec<&str> = text.lines().take(20).collect();
    fs::write(&list, half.join("\n") + "\n{\"inp").unwrap();
    let again = tune(&folder, &["--inputs", "--resume"]);
    assert_eq!(again["runs"].as_array().unwrap().len(), 48);
    let plain = |json: &Json| {
        let run = |run: &Json| (run["input"].clone(), run["strategy"].clone(), run["best"].clone());
        json["runs"].as_array().unwrap().iter().map(run).collect::<Vec<_>>()
    };
    assert_eq!(plain(&again), plain(&first));
    let other = tune(&folder, &["--inputs"]);
    assert!(other["out"].as_str().unwrap().ends_with("tiles.inputs.2"), "{}", other["out"]);
}

#[test]
fn a_model_of_some_inputs_chooses_well_for_others() {
    let (folder, trained) = trained();
    assert_eq!(trained["kind"], "timing");
    assert_eq!(trained["held_out"]["inputs"].as_array().unwrap().len(), 5);
    assert!(trained["held_out"]["chosen_over_best"].as_f64().unwrap() > 0.9, "{trained:#}");
    assert!(trained["held_out"]["chosen_over_reference"].as_f64().unwrap() > 1.5, "{trained:#}");

    let mut most = f64::INFINITY;
    for search in ["auto", "exhaustive", "hc75"] {
        let ran = folder.run(&["predict", "tiles.json", "--input", "N=256,M=24,K=24", "--search", search, "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let json = ran.json();
        assert_eq!(json["config"]["MODE"], "row", "{json:#}");
        assert!([8, 16, 32].contains(&json["config"]["TILE"].as_u64().unwrap()), "{json:#}");
        let speedup = json["predicted_speedup"].as_f64().unwrap();
        // No climb finds more than there is.
        assert!(speedup <= most, "{json:#}");
        most = speedup;
        assert!(speedup > 1.5 && json["predicted_time_ms"].as_f64().unwrap() > 0.0, "{json:#}");
        let speedups: Vec<f64> = json["candidates"]
            .as_array()
            .unwrap()
            .iter()
            .map(|candidate| candidate["predicted_speedup"].as_f64().unwrap())
            .collect();
        assert!(speedups.is_sorted_by(|a, b| a >= b) && speedups.len() == 10, "{speedups:?}");
        assert_eq!(json["source"], if search == "auto" { "exhaustive" } else { search });
    }
    let ran = folder.run(&["predict", "tiles.json", "--input", "N=64", "--problem", "tiles.toml", "--search", "grid"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stdout.contains("MODE=row") && ran.stdout.contains("grid, "), "{ran:#?}");
}

#[test]
fn what_lies_outside_of_the_training_set_is_said_with_its_distance() {
    let (folder, _) = trained();
    let ran = folder.run(&["predict", "tiles.json", "--input", "N=100000", "--json"]);
    let said = ["warning: N = 100000 is outside of the training set's 16 to", "times that range"];
    assert!(said.iter().all(|part| ran.stderr.contains(part)), "{ran:#?}");
    let outside = &ran.json()["outside"][0];
    let number = |json: &Json| json.as_f64().unwrap();
    let (low, high) = (number(&outside["trained"][0]), number(&outside["trained"][1]));
    assert_eq!(number(&outside["distance"]), (100_000.0 - high) / (high - low));
    assert_eq!(ran.json()["outside"][0]["feature"], "N");
    let refused = |arguments: &[&str], parts: &[&str]| {
        folder.run(&[&["predict", "tiles.json"], arguments].concat()).refused(parts)
    };
    refused(&["--input", "NN=64"], &["no size `NN`", "did you mean `N`?"]);
    refused(&["--search", "hc"], &["no search `hc`"]);
    refused(&["--search", "grid"], &["no grid", "--problem"]);
}

#[test]
fn a_device_and_a_size_that_were_never_trained_get_the_robust_answer_with_a_warning() {
    let folder = folder();
    folder.write("tiles.toml", &PROBLEM.replace("count = 24", "count = 1"));
    tune(&folder, &["--inputs"]);
    let files = journals(&folder);
    let train = |more: &[&str]| {
        let files = files.iter().map(String::as_str).collect::<Vec<_>>();
        folder.run(&[&["train", "timing", "-o", "one.json", "--rounds", "20"], &files[..], more].concat())
    };
    train(&["--learning-rate", "0"]).refused(&["the learning rate cannot be 0"]);
    let ran = train(&["--learning-rate", "1"]);
    let header: Json =
        serde_json::from_str(fs::read_to_string(folder.path(&files[0])).unwrap().lines().next().unwrap()).unwrap();
    let n = header["sizes"]["N"].as_i64().unwrap();
    assert!(ran.stdout.contains(&format!("covers N = {n}, ")), "{ran:#?}");
    assert_eq!(train(&["--json"]).json()["covers"]["sizes"]["N"], serde_json::json!([n as f64, n as f64]));
    let here = folder.run(&["predict", "one.json", "--input", &format!("N={n}"), "--json"]);
    assert!(here.json()["source"] == "exhaustive" && !here.stderr.contains("warning"), "{here:#?}");
    let other = folder.run(&["predict", "one.json", "--input", &format!("N={}", 4 * n), "--json"]);
    assert_eq!(other.json()["source"], "robust", "{other:#?}");
    let said = [format!("warning: N = {}, but the training set has only {n}", 4 * n), "far outside".to_string()];
    assert!(said.iter().all(|part| other.stderr.contains(part)), "{other:#?}");
    let device = folder.run(&["predict", "one.json", "--device", "A100", "--json"]);
    assert!(device.stderr.contains("the model knows no device `A100`, only "), "{device:#?}");
    assert!(device.code == Some(0) && device.json()["candidates"].as_array().unwrap().len() > 4, "{device:#?}");
}

#[test]
fn few_inputs_are_chosen_far_apart_and_then_by_doubt_and_share_the_best_configurations() {
    let folder = folder();
    let learn =
        |more: &[&str]| tune(&folder, &[&["--inputs", "--learn", "7", "--stop", "evaluations 12"], more].concat());
    let first = learn(&[]);
    let runs = first["runs"].as_array().unwrap();
    let of =
        |is_grid: bool| -> Vec<&Json> { runs.iter().filter(|run| (run["strategy"] == "grid") == is_grid).collect() };
    assert_eq!((of(false).len(), of(true).len()), (7, 7), "{first:#}");
    assert!(of(false).iter().all(|run| run["evaluations"].as_u64() <= Some(12)), "{first:#}");
    // Later runs begin with what the model of the earlier ones prefers.
    let sizes: Vec<u64> = of(false).iter().take(5).map(|run| run["sizes"]["N"].as_u64().unwrap()).collect();
    assert!(sizes.iter().max().unwrap() / sizes.iter().min().unwrap() >= 8, "far apart: {sizes:?}");
    // At most eight winners and the default, where they are valid.
    assert!(of(true).iter().all(|run| run["evaluations"].as_u64() <= Some(9)), "{first:#}");
    let again = learn(&["--resume"]);
    assert_eq!(again["runs"], first["runs"], "nothing is repeated");
    let files = journals(&folder);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let ran = folder.run(&[&["export", "--as", "json", "-o", "tiles.json", "--json"], &files[..]].concat());
    assert_eq!(ran.json()["portfolios"][0]["inputs"], 7, "{ran:#?}");
    folder.run(&["tune", "tiles.toml", "--learn", "3"]).refused(&["--inputs"]);
}

#[test]
fn damaged_empty_foreign_and_later_models_are_refused() {
    let (folder, _) = trained();
    let text = fs::read_to_string(folder.path("tiles.json")).unwrap();
    let refused = |text: &str, parts: &[&str]| {
        folder.write("other.json", text);
        folder.run(&["predict", "other.json"]).refused(parts);
    };
    refused("", &["not readable as JSON", "train timing"]);
    refused(&text[..text.len() / 2], &["not readable as JSON"]);
    refused("{\"kind\": \"counters\", \"version\": 1}", &["model of kind `counters`", "`timing` is wanted"]);
    refused("[1, 2]", &["it has no `kind`", "`tunesmith train timing`"]);
    refused(&text.replacen("\"version\": 1", "\"version\": 2", 1), &["version 2", "newer"]);
    refused(&text.replacen("\"version\": 1", "\"version\": \"old\"", 1), &["damaged", "version"]);
    refused(&text.replacen("\"TILE\": [", "\"TILES\": [", 1), &["damaged"]);
    refused(&text.replacen("\"at_most\"", "\"at_least\"", 1), &["damaged"]);
    folder.run(&["predict", "nothing.json"]).refused(&["nothing.json", "No such file"]);
    let tune = ["tune", "tiles.toml", "--device", TIMES, "--model", "other.json"];
    folder.run(&tune).refused(&["other.json"]);
}

#[test]
fn a_run_begins_with_what_the_model_predicts_and_a_candidate_that_fails_gives_way() {
    let (folder, _) = trained();
    let size = ["--size", "N=256,M=24,K=24"];
    let predicted = folder.run(&["predict", "tiles.json", "--input", size[1], "--json", "-n", "25"]).json();
    let candidates: Vec<&Json> =
        predicted["candidates"].as_array().unwrap().iter().map(|candidate| &candidate["config"]).collect();
    // The model never saw that the best candidate cannot run here.
    let best = candidates[0];
    let times = TIMES.trim_start_matches("synthetic:");
    let failing = format!("synthetic:({times}) if TILE != {} or UNROLL != {} else 0", best["TILE"], best["UNROLL"]);
    for (device, failures) in [(TIMES.to_string(), false), (failing, true)] {
        let arguments = ["tune", "tiles.toml", "--device", &device, "--model", "tiles.json", "--stop", "evaluations 8"];
        let more = ["--strategy", "random", "--out", "run.jsonl", "--json", "--quiet"];
        let ran = folder.run(&[&arguments, &size[..], &more].concat());
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let entries = entries(&folder.path(ran.json()["out"].as_str().unwrap()));
        let asked: Vec<&Json> = entries.iter().skip(1).map(|entry| &entry["config"]).collect();
        assert_eq!(asked[..5], candidates[..5]);
        assert_eq!(entries[1]["status"] == "runtime", failures);
        // As many more as failed are tried, then the strategy goes on.
        let failed = entries[1..6].iter().filter(|entry| entry["status"] == "runtime").count();
        assert_eq!(asked[..5 + failed], candidates[..5 + failed]);
    }
}

#[test]
fn mistakes_in_inputs_and_grid_are_refused_with_their_place() {
    let folder = Folder::new();
    let refused = |from: &str, to: &str, parts: &[&str]| {
        assert!(PROBLEM.contains(from));
        folder.write("tiles.toml", &PROBLEM.replacen(from, to, 1));
        folder.run(&["tune", "tiles.toml", "--device", TIMES, "--inputs"]).refused(parts);
    };
    refused("M = [4, 8, 16, 32]\n", "P = [4]\n", &["no size `P`", "tiles.toml:13"]);
    refused("N * M <= 8192", "N * M <= 1", &["`filter` leaves no input"]);
    refused("N * M <= 8192", "N * Q <= 1", &["`Q` is not known here"]);
    refused("work = \"N * M * K\"", "N = \"M\"", &["`N` is a size already"]);
    refused("seed = 3", "sede = 3", &["no `sede`", "did you mean `seed`"]);
    refused("TILE = [4, 16]", "TILE = [4, 17]", &["the grid", "17"]);
    refused("[inputs]\nfilter", "[inputs]\nruns = [\"grit\"]\nfilter", &["no strategy `grit`", "did you mean `grid`?"]);
    folder.write("none.toml", "[parameters]\nX = [1]\n");
    folder.run(&["tune", "none.toml", "--device", "synthetic:X", "--inputs"]).refused(&["no `[inputs]`"]);
}

/// A recording of a kernel on a GPU with this number of multiprocessors, contained in it if
/// `with_sizes`.
fn recording(folder: &Folder, units: u32, rows: &[String], with_sizes: bool) -> String {
    folder.write(&format!("gpu{units}.csv"), &format!("TILE,OTHER,time_ms,status\n{}\n", rows.join("\n")));
    let hardware = if with_sizes { format!(", \"hardware\": {{\"sm\": {units}}}") } else { String::new() };
    folder.write(&format!("gpu{units}.json"), &format!("{{\"kernel\": \"k\", \"device\": \"GPU {units}\"{hardware}}}"));
    format!("gpu{units}.csv")
}

/// Recordings of a kernel on GPUs of 10, 20 and 40 multiprocessors. The best TILE is a tenth of
/// that.
fn of_devices(folder: &Folder, with_sizes: bool) -> Vec<String> {
    let file = |units: u32| {
        let rows = (0..6).flat_map(|power| (0..20).map(move |other| (1_u32 << power, other)));
        // Too large a tile costs twice as much as one too small. If both cost the same, no first
        // question of a tree would gain anything.
        let time = |tile: u32| {
            let beyond = f64::from(tile).log2() - f64::from(units / 10).log2();
            1.0 + (2.0 * beyond).max(-beyond)
        };
        let rows: Vec<String> = rows.map(|(tile, other)| format!("{tile},{other},{},ok", time(tile))).collect();
        recording(folder, units, &rows, with_sizes)
    };
    [10, 20, 40].map(file).to_vec()
}

#[test]
fn one_model_spans_devices_by_their_numbers_or_else_by_their_names() {
    for with_sizes in [true, false] {
        let folder = Folder::new();
        let files = of_devices(&folder, with_sizes);
        let mut arguments = vec!["train", "timing", "-o", "m.json", "--json", "--reference", "TILE=32,OTHER=0"];
        arguments.extend(files.iter().map(String::as_str));
        let ran = folder.run(&arguments);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        assert_eq!(ran.stderr.contains("nothing is known of the devices but their names"), !with_sizes, "{ran:#?}");
        assert!(ran.stderr.contains("configurations were held out, not inputs"), "{ran:#?}");
        assert_eq!(ran.json()["devices"].as_array().unwrap().len(), 3);
        for (device, tile) in [("GPU 10", 1), ("gpu 20", 2), ("GPU 40", 4)] {
            let ran = folder.run(&["predict", "m.json", "--device", device, "--json"]);
            assert_eq!(ran.json()["config"]["TILE"], tile, "{ran:#?}");
        }
        let ran = folder.run(&["predict", "m.json", "--json"]);
        assert!(ran.stderr.contains("the mean of GPU 10, GPU 20, GPU 40 is predicted"), "{ran:#?}");
    }
}

/// Recordings of three GPUs. One configuration is nearly the best on each, and one for each GPU is
/// the best there and bad elsewhere. The GPU nearest to an unseen one misleads.
fn with_a_safe_configuration(folder: &Folder) -> Vec<String> {
    let file = |units: u32| {
        let time = |tile: u32| match tile {
            1 => 1.1,
            own if own * 10 == units => 1.0,
            _ => 4.0,
        };
        let rows = [1, 2, 4, 6].into_iter().flat_map(|tile| (0..20).map(move |other| (tile, other)));
        let rows: Vec<String> = rows.map(|(tile, other)| format!("{tile},{other},{},ok", time(tile))).collect();
        recording(folder, units, &rows, true)
    };
    [20, 40, 60].map(file).to_vec()
}

#[test]
fn a_device_that_was_never_seen_is_answered_with_what_is_best_over_the_others_where_that_does_better() {
    let folder = Folder::new();
    let files = with_a_safe_configuration(&folder);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let train = |out: &str, more: &[&str]| {
        let ran = folder.run(&[&["train", "timing", "-o", out], &files[..], more].concat());
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        ran
    };
    let trained = train("safe.json", &["--json"]);
    assert!(trained.stderr.contains("`predict` for an unknown device falls back to the robust one"), "{trained:#?}");
    let json = trained.json();
    let (model, single) = (&json["unseen_device"]["model"], &json["unseen_device"]["best_single"]);
    assert_eq!((model.as_f64(), single.as_f64()), (Some(0.25), Some(1.0 / 1.1)), "{json:#}");
    assert_eq!(json["rounds"]["left_out"], "devices");
    let text = train("again.json", &["--rounds", "50"]).stdout;
    let said = [
        "50 trees",
        "the model's choice runs at 25.0 % of the best, the best single configuration of the others at 90.9 %",
    ];
    assert!(said.iter().all(|part| text.contains(part)), "{text}");

    let ran = folder.run(&["predict", "safe.json", "--json"]);
    assert!(ran.stderr.contains("it reached 90.9 % of the best, the model's choice 25.0 %"), "{ran:#?}");
    let unknown = ran.json();
    assert_eq!((&unknown["source"], &unknown["config"]["TILE"]), (&"best_single".into(), &1.into()), "{unknown:#}");
    assert_eq!(unknown["candidates"][0]["config"], unknown["config"]);
    let known = folder.run(&["predict", "safe.json", "--device", "GPU 40", "--json"]).json();
    assert_eq!((&known["source"], &known["config"]["TILE"]), (&"exhaustive".into(), &4.into()), "{known:#}");

    folder.write(
        "k.toml",
        "[problem]\nname = \"k\"\n[parameters]\nTILE = [1, 2, 4, 6]\nOTHER = { range = \"0..=19\" }\n",
    );
    let tune = ["tune", "k.toml", "--device", "synthetic:TILE", "--model", "safe.json", "--stop", "evaluations 1"];
    let run = folder.run(&[&tune[..], &["--out", "k.jsonl", "--json", "--quiet"]].concat());
    assert_eq!(entries(&folder.path("k.jsonl"))[0]["config"]["TILE"], 1, "{run:#?}");

    // Earlier versions wrote files without either.
    let mut old: Json = serde_json::from_str(&fs::read_to_string(folder.path("safe.json")).unwrap()).unwrap();
    for name in ["unseen_device", "best_single"] {
        assert!(old.as_object_mut().unwrap().remove(name).is_some());
    }
    folder.write("old.json", &old.to_string());
    assert_eq!(folder.run(&["predict", "old.json", "--json"]).json()["source"], "exhaustive");
    let wrong = fs::read_to_string(folder.path("safe.json")).unwrap().replacen("\"TILE\": 1", "\"TILE\": 3", 2);
    folder.write("wrong.json", &wrong);
    folder.run(&["predict", "wrong.json"]).refused(&["damaged", "has no value of `TILE`"]);
}

#[test]
fn where_the_model_does_as_well_for_unseen_devices_its_own_choice_stands() {
    let folder = Folder::new();
    let files = of_devices(&folder, true);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let ran = folder.run(&[&["train", "timing", "-o", "m.json", "--json"], &files[..]].concat());
    assert!(!ran.stderr.contains("falls back"), "{ran:#?}");
    let unseen = &ran.json()["unseen_device"];
    assert!(unseen["model"].as_f64() >= unseen["best_single"].as_f64(), "{unseen:#}");
    assert_eq!(unseen["devices"].as_array().unwrap().len(), 3);
    assert_eq!(folder.run(&["predict", "m.json", "--json"]).json()["source"], "exhaustive");
}
