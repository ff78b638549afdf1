//! Recordings from the command line: replay, compare, convert.

use crate::common;

use common::{Folder, shared};

const TABLE: &str =
    "X,Y,time_ms,status\n1,1,4,ok\n1,2,2,ok\n2,1,3,ok\n2,2,,RuntimeFailedConfig\n3,1,1.5,ok\n3,2,,compile\n";

const PROBLEM: &str = "[parameters]\nX = [1, 2, 3, 4]\nY = [1, 2]\n";

#[test]
fn a_table_is_replayed_under_the_rules_of_a_problem() {
    let folder = Folder::with(&[("table.csv", TABLE), ("p.toml", PROBLEM)]);
    let ran = folder.run(&["tune", "p.toml", "--device", "replay:table.csv", "--strategy", "exhaustive", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let outcome = ran.json();
    assert_eq!(outcome["best"]["config"], serde_json::json!({"X": 3, "Y": 1}));
    assert_eq!(outcome["failed"]["constraints"], 2, "X=4 is not in the recording");
    assert_eq!(outcome["failed"]["runtime"], 1);
    folder.write("other.toml", "[parameters]\nZ = [1, 2]\n");
    folder.run(&["tune", "other.toml", "--device", "replay:table.csv"]).refused(&["no configuration", "X, Y"]);
    folder.run(&["tune", "p.toml", "--device", "replay:no.csv"]).refused(&["no.csv"]);
}

#[test]
fn compare_prints_the_promised_json_and_a_table() {
    let folder = Folder::with(&[("table.csv", TABLE)]);
    let arguments = ["compare", "table.csv", "--strategy", "random", "--strategy", "annealing", "--repeats", "5"];
    let ran = folder.run(&[&arguments[..], &["--budget", "30", "--json"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let document = ran.json();
    assert_eq!(document["recordings"], serde_json::json!(["table"]));
    assert_eq!(document["budgets"], serde_json::json!([10, 25]));
    for result in document["results"].as_array().unwrap() {
        for key in ["strategy", "recording", "repeats", "first_hit_mean", "first_hit_p90", "seconds_per_evaluation"] {
            assert!(!result[key].is_null(), "`{key}` is missing in {result:#}");
        }
        assert_eq!(result["rel"], serde_json::json!({"10": 1.0, "25": 1.0}));
        assert_eq!(result["success"], serde_json::json!({"1.01": 1.0, "1.05": 1.0, "1.10": 1.0}));
        assert!(result.get("paper_metric").is_some() && result["ert"]["1.10"].as_f64().unwrap() >= 1.0);
    }
    assert_eq!(document["overall"].as_array().unwrap().len(), 2);
    let ran = folder.run(&arguments);
    for part in ["rel@10", "ERT 1.01", "annealing", "all (geometric mean)"] {
        assert!(ran.stdout.contains(part), "`{part}` is missing: {ran:#?}");
    }
    folder.run(&["compare", "table.csv", "--strategy", "ranom"]).refused(&["did you mean `random`"]);
    folder.write("failed.csv", "X,time_ms,status\n1,,Failed\n");
    folder.run(&["compare", "failed.csv", "--strategy", "random"]).refused(&["no correct configuration"]);
    folder.write("broken.csv", "X,time_ms\n1,2\n3\n");
    folder.run(&["compare", "broken.csv", "--strategy", "random"]).refused(&["broken.csv", "line 3", "help"]);
}

#[test]
fn journals_are_converted_merged_and_read_back() {
    let folder = Folder::with(&[("p.toml", PROBLEM)]);
    for (seed, out) in [("1", "a.jsonl"), ("2", "b.jsonl")] {
        let tune = ["tune", "p.toml", "--device", "synthetic:X + Y", "--stop", "evaluations 5", "--strategy", "random"];
        let ran = folder.run(&[&tune[..], &["--seed", seed, "--out", out]].concat());
        assert_eq!(ran.code, Some(0), "{ran:#?}");
    }
    let ran = folder.run(&["convert", "a.jsonl", "b.jsonl", "-o", "both.csv.gz", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let configurations = ran.json()["configurations"].as_u64().unwrap();
    assert!((5..=8).contains(&configurations));
    for (to, out) in [("t4", "x.json"), ("kernel-tuner", "y.json"), ("csv", "z.csv")] {
        let ran = folder.run(&["convert", "both.csv.gz", "--to", to, "-o", out]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let ran = folder.run(&["convert", out, "-o", "again.csv", "--json"]);
        assert_eq!(ran.json()["configurations"].as_u64(), Some(configurations), "{ran:#?}");
    }
    folder.run(&["convert", "a.jsonl", "-o", "a.txt"]).refused(&["a.txt", ".csv"]);
    folder.run(&["convert", "a.jsonl", "-o", "a.txt", "--to", "xml"]).refused(&["xml", "kernel-tuner"]);
}

#[test]
fn a_real_cache_is_compared() {
    let Some(shared) = shared() else { return };
    let cache = shared.join("formats/kernel-tuner-cache-convolution-A4000.json.gz");
    let folder = Folder::new();
    let ran = folder.run(&["compare", cache.to_str().unwrap(), "--strategy", "random", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let rel = ran.json()["results"][0]["rel"]["400"].as_f64().unwrap();
    assert!((0.5..1.0).contains(&rel), "{rel}");
}

const COSTS: &str = "X,time_ms,status,rel_std,compile_ms,benchmark_ms,framework_ms\n1,4,ok,0.1,400,90,10\n2,2,ok,0.1,400,90,10\n\
                     3,3,ok,0.1,400,90,10\n4,,CompilationFailedConfig,,400,,100\n5,1.5,ok,0.1,400,90,10\n";

#[test]
fn a_replay_simulates_the_time_and_the_noise_of_a_tuning_run() {
    let folder = Folder::with(&[("table.csv", COSTS), ("p.toml", "[parameters]\nX = [1, 2, 3, 4, 5]\n")]);
    let tune = ["tune", "p.toml", "--strategy", "exhaustive", "--json", "--device"];
    let timed = folder.run(&[&tune[..], &["replay:table.csv", "--stop", "time 1.2s"]].concat()).json();
    assert_eq!((timed["evaluations"].as_u64(), timed["stop_reason"].as_str()), (Some(3), Some("time 1.2s")));
    assert_eq!(timed["simulated_seconds"].as_f64(), Some(1.5));
    assert!(timed["wall_seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(timed["best"]["times_ms"], serde_json::json!([2.0]), "without noise the recorded times");
    let noisy = |seed| {
        let run = folder.run(&[&tune[..], &["replay:table.csv?noise", "--seed", seed]].concat()).json();
        run["best"]["times_ms"].clone()
    };
    let times = noisy("3");
    assert!(times.as_array().unwrap().len() >= 7 && times != noisy("4"), "{times}");
    assert_eq!(times, noisy("3"));
    folder
        .run(&[&tune[..], &["replay:table.csv?nois"]].concat())
        .refused(&["no option `nois`", "did you mean `noise`"]);
    // A file may have such a name.
    folder.write("table.csv?noise", COSTS);
    let named = folder.run(&[&tune[..], &["replay:table.csv?noise"]].concat()).json();
    assert_eq!(named["best"]["times_ms"], serde_json::json!([1.5]));
}

#[test]
fn compare_scores_strategies_and_draws_them() {
    let folder = Folder::with(&[("table.csv", COSTS), ("other.csv", TABLE)]);
    let compare = ["compare", "table.csv", "other.csv", "--strategy", "random", "--strategy", "annealing(explore=0)"];
    let compare = [&compare[..], &["--repeats", "6", "--budget", "10"]].concat();
    let document = folder.run(&[&compare[..], &["--json", "--plots", "deep/plots"]].concat()).json();
    assert_eq!(document["results"][0]["score"].as_f64(), Some(0.0), "random is its own baseline");
    assert!(document["overall"][1]["score"].as_f64().unwrap() < 1.0);
    let baseline = &document["baselines"][0];
    assert_eq!((baseline["recording"].as_str(), baseline["evaluation_seconds"].as_f64()), (Some("table"), Some(0.5)));
    assert_eq!(
        document["plots"],
        serde_json::json!(["deep/plots/table.svg", "deep/plots/other.svg", "deep/plots/overall.svg"])
    );
    for plot in document["plots"].as_array().unwrap() {
        let svg = std::fs::read_to_string(folder.path(plot.as_str().unwrap())).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert!(svg.contains("random") && svg.contains("annealing(explore=0)"));
    }
    let over_time = folder.run(&[&compare[..], &["--json", "--plots", "time", "--over-time"]].concat()).json();
    assert_eq!(over_time["plots"], serde_json::json!(["time/table.svg", "time/other.svg"]));
    assert!(std::fs::read_to_string(folder.path("time/table.svg")).unwrap().contains("simulated seconds"));
    assert!(over_time["results"][0]["first_hit_seconds"].as_f64().unwrap() > 0.0, "{over_time:#}");
    folder.run(&[&compare[..], &["--profile-passes", "0.5"]].concat()).refused(&["`0.5` is no number from 1"]);
    let noisy = folder.run(&[&compare[..], &["--noise", "--json"]].concat()).json();
    assert_eq!(noisy["results"][0]["exact"], false);
    folder.run(&[&compare[..], &["--plots", "table.csv"]].concat()).refused(&["`table.csv` is a file", "folder"]);
    let ran = folder.run(&[&compare[..], &["--plots", "table.csv/plots"]].concat());
    assert!(ran.code == Some(3) && ran.stderr.contains("table.csv/plots"), "{ran:#?}");
}

#[test]
fn compare_judges_by_simulated_seconds_on_so_many_cores() {
    let folder = Folder::with(&[("table.csv", COSTS), ("untimed.csv", TABLE)]);
    let compare = ["compare", "table.csv", "--strategy", "exhaustive", "--repeats", "2"];
    let judged = |more: &[&str]| folder.run(&[&compare[..], &["--seconds", "--json"], more].concat()).json();
    let one = judged(&[]);
    let seconds = &one["results"][0]["seconds"];
    assert_eq!((seconds["median_seconds"].as_f64(), seconds["cores_used"].as_f64()), (Some(0.5), Some(1.0)));
    assert_eq!(seconds["by_median"]["10"]["rel"].as_f64(), Some(1.0), "all five take 2.5 s");
    assert_eq!(seconds["by_median"]["80"]["evaluations"].as_f64(), Some(5.0));
    assert_eq!(one["overall"][0]["seconds"], serde_json::json!({"10": 1.0, "20": 1.0, "40": 1.0, "80": 1.0}));
    let alone = judged(&["--cores", "1", "--in-flight", "1"]);
    assert_eq!(alone["results"][0]["seconds"], *seconds, "the default is one core with one in flight");
    let two = judged(&["--cores", "2"]);
    assert!(two["results"][0]["seconds"]["cores_used"].as_f64() > Some(1.2), "{two:#}");
    let random = folder.run(&["compare", "table.csv", "--strategy", "random", "--seconds", "--cores", "4"]);
    for part in ["10 medians", "80 medians", "evaluations", "cores used", "all (geometric mean)"] {
        assert!(random.stdout.contains(part), "`{part}` is missing: {random:#?}");
    }
    let plain = folder.run(&compare);
    assert!(!plain.stdout.contains("medians") && plain.code == Some(0), "{plain:#?}");
    folder.run(&[&compare[..], &["--cores", "2"]].concat()).refused(&["--seconds"]);
    folder.run(&[&compare[..], &["--seconds", "--cores", "0"]].concat()).refused(&["`0` is no whole number from 1"]);
    let untimed = ["compare", "untimed.csv", "--strategy", "random", "--seconds"];
    folder.run(&untimed).refused(&["`untimed.csv`: no time of compilation is known", "without --seconds"]);
}

/// The times of [`TABLE`] on a device half as fast, and a constant that does not matter.
const ELSEWHERE: &str = "Y,X,N,time_ms,status\n1,1,9,8,ok\n2,1,9,4.1,ok\n1,2,9,6,ok\n1,3,9,3,ok\n2,3,9,,compile\n";

#[test]
fn tuning_begins_with_the_best_of_the_history_and_the_journal_names_it() {
    let folder = Folder::with(&[("table.csv", TABLE), ("p.toml", PROBLEM), ("elsewhere.csv", ELSEWHERE)]);
    folder.write("other.csv", "Z,time_ms\n1,2\n2,3\n");
    let tune =
        ["tune", "p.toml", "--device", "replay:table.csv", "--history", "elsewhere.csv", "other.csv", "table.csv"];
    let ran = folder.run(&[&tune[..], &["--stop", "evaluations 2"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    for part in ["history: elsewhere.csv\n", "`other.csv` is left out: it has no parameter `X`", "help: leave it out"] {
        assert!(ran.stderr.contains(part), "`{part}` is missing: {ran:#?}");
    }
    let journal = folder.path("p.jsonl");
    let header: serde_json::Value =
        serde_json::from_str(std::fs::read_to_string(&journal).unwrap().lines().next().unwrap()).unwrap();
    assert_eq!(header["history"][0]["file"], "elsewhere.csv");
    assert_eq!(header["history"].as_array().unwrap().len(), 1, "neither another kernel's nor the replayed one");
    // The default configuration comes first.
    assert_eq!(common::entries(&journal)[1]["config"], serde_json::json!({"X": 3, "Y": 1}));

    let resume = ["tune", "p.toml", "--device", "replay:table.csv", "--resume", "--stop"];
    let ran = folder.run(&[&resume[..], &["evaluations 3"]].concat());
    assert!(ran.stderr.contains("history: elsewhere.csv\n"), "{ran:#?}");
    folder.write("elsewhere.csv", TABLE);
    let ran = folder.run(&[&resume[..], &["evaluations 4"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stderr.contains("`elsewhere.csv` is left out: it has changed"), "{ran:#?}");
}

#[test]
fn a_history_that_is_absent_or_of_other_kernels_alone_is_refused() {
    let folder =
        Folder::with(&[("table.csv", TABLE), ("p.toml", PROBLEM), ("other.csv", "X,Z,time_ms\n1,1,2\n2,2,3\n")]);
    let tune = ["tune", "p.toml", "--device", "replay:table.csv", "--history"];
    folder.run(&[&tune[..], &["no.csv"]].concat()).refused(&["no.csv"]);
    folder.run(&[&tune[..], &["other.csv"]].concat()).refused(&["other.csv", "no parameter `Y`", "help"]);
    folder.run(&[&tune[..], &["table.csv"]].concat()).refused(&["the recording that is replayed"]);
}

#[test]
fn compare_never_tells_a_strategy_of_the_recording_that_is_judged() {
    let folder = Folder::with(&[("a.csv", TABLE), ("b.csv", ELSEWHERE), ("z.csv", "Z,time_ms\n1,2\n2,3\n")]);
    std::fs::copy(folder.path("a.csv"), folder.path("copy.csv")).unwrap();
    let compare = ["compare", "a.csv", "b.csv", "z.csv", "--strategy", "default", "--repeats", "2", "--budget", "10"];
    let history = ["--history", "a.csv", "b.csv", "copy.csv", "z.csv"];
    let ran = folder.run(&[&compare[..], &history, &["--json"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let used = serde_json::json!({"a": ["b.csv"], "b": ["a.csv", "copy.csv"], "z": []});
    assert_eq!(ran.json()["history"], used);
    assert!(ran.stderr.contains("history of z: none of the history fits"), "{ran:#?}");
    let shuffled = folder.run(&[&compare[..], &history, &["--shuffle-history"]].concat());
    assert_eq!(shuffled.code, Some(0), "{shuffled:#?}");
    assert_eq!(folder.run(&[&compare[..], &["--shuffle-history"]].concat()).code, Some(2));
}

/// A cache of Kernel Tuner whose objective is `GFLOP/s`, which A = 2 has most of. A = 3 is the fastest.
const RATES: &str = r#"{"device_name": "d", "kernel_name": "k", "problem_size": [8], "tune_params_keys": ["A"],
"tune_params": {"A": [1, 2, 3]}, "objective": "GFLOP/s", "cache": {
"1": {"A": 1, "time": 3, "GFLOP/s": 5, "watts": 9}, "2": {"A": 2, "time": 2, "GFLOP/s": 7, "watts": 8},
"3": {"A": 3, "time": 1, "GFLOP/s": 6, "watts": 2}}}"#;

#[test]
fn every_command_ranks_a_recording_by_its_own_objective() {
    let folder = Folder::with(&[("r.cache.json", RATES), ("p.toml", "[parameters]\nA = [1, 2, 3]\n")]);
    for to in ["r.cache.json", "a.csv", "b.json", "c.cache.json"] {
        let ran = folder.run(&["convert", "r.cache.json", "-o", to, "--json"]);
        let input = if to == "r.cache.json" {
            ran.refused(&["this command reads it"]);
            to
        } else {
            let converted = ran.json();
            assert_eq!((&converted["value"], &converted["objective"]["direction"]), (&7.0.into(), &"maximise".into()));
            assert!(converted["assumptions"][0].as_str().unwrap().contains("more of it is taken as better"));
            to
        };
        let compared = folder.run(&["compare", input, "--strategy", "random", "--json"]).json();
        let baseline = &compared["baselines"][0];
        assert_eq!((&baseline["optimum"], &baseline["median"]), (&7.0.into(), &6.0.into()), "{to}");
        assert_eq!(compared["assumptions"].is_object(), to == "r.cache.json", "what we write states the direction");
        let device = format!("replay:{input}");
        let tune = ["tune", "p.toml", "--device", &device, "--strategy", "exhaustive", "--json"];
        let outcome = folder.run(&[&tune[..], &["--out", &format!("{to}.jsonl")]].concat()).json();
        assert_eq!((&outcome["best"]["config"]["A"], &outcome["best"]["value"]), (&2.into(), &7.0.into()), "{to}");
        // The journal of a replay is a recording with the same objective.
        let again = folder.run(&["convert", &format!("{to}.jsonl"), "-o", &format!("again-{to}"), "--json"]).json();
        assert_eq!((&again["value"], &again["objective"]["name"]), (&7.0.into(), &"GFLOP/s".into()), "{to}");
    }
}

#[test]
fn explain_and_export_rank_a_recording_by_its_own_objective() {
    let folder = Folder::with(&[("r.cache.json", RATES)]);
    let explained = folder.run(&["explain", "r.cache.json", "--json"]).json();
    assert_eq!((&explained["best"]["config"]["A"], &explained["best"]["value"]), (&2.into(), &7.0.into()));
    let ran = folder.run(&["export", "r.cache.json", "--as", "env", "-o", "r.env"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(std::fs::read_to_string(folder.path("r.env")).unwrap().contains("A=2"));
    folder.run(&["export", "r.cache.json", "--as", "wisdom", "-o", "r.wisdom"]).refused(&["GFLOP/s"]);
    folder.write("odd.json", &RATES.replace("GFLOP/s", "quality"));
    folder.run(&["export", "odd.json", "--as", "env", "-o", "o.env"]).refused(&["`quality`", "convert it first"]);
    folder.run(&["explain", "odd.json"]).refused(&["nothing says whether more of it is better"]);
    folder.run(&["compare", "odd.json", "--strategy", "random"]).refused(&["maximise quality"]);
    let ran = folder.run(&["convert", "odd.json", "--objective", "maximise quality", "-o", "even.json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(folder.run(&["explain", "even.json", "--json"]).json()["best"]["config"]["A"], 2);
}

#[test]
fn an_export_takes_no_recording_of_another_size_for_a_repeat() {
    let folder = Folder::with(&[
        ("a.json", RATES),
        ("again.json", RATES),
        ("size.json", &RATES.replace("[8]", "[16]")),
        ("device.json", &RATES.replace(r#""d""#, r#""e""#)),
    ]);
    let export = |runs: &[&str]| folder.run(&[&["export"], runs, &["--as", "env", "-o", "r.env"]].concat());
    assert_eq!(export(&["a.json", "again.json"]).code, Some(0));
    export(&["a.json", "size.json"]).refused(&["`a.json` and `size.json` are no repeats", "problem size", "16"]);
    let header = ["export", "a.json", "device.json", "--as", "c-header", "-o", "r.h"];
    assert!(!folder.run(&header).stderr.contains("repeats"));
}

#[test]
fn a_dash_is_standard_output_and_what_is_for_people_goes_to_standard_error() {
    let folder = Folder::with(&[("r.cache.json", RATES)]);
    let convert = |arguments: &[&str]| folder.run(&[&["convert", "r.cache.json", "-o", "-"], arguments].concat());
    let csv = convert(&["--to", "csv"]);
    assert_eq!((csv.code, csv.stdout.lines().next()), (Some(0), Some("A,time_ms,status,GFLOP/s,watts")), "{csv:#?}");
    assert!(csv.stderr.contains("3 configurations") && !csv.stdout.contains("3 configurations"), "{csv:#?}");
    assert!(csv.stderr.contains("csv  standard output") && !csv.stderr.contains("/recording"), "{csv:#?}");
    assert!(csv.stderr.contains("`recording.json` is left out"), "{csv:#?}");
    let t4: serde_json::Value = serde_json::from_str(&convert(&["--to", "t4"]).stdout).unwrap();
    assert_eq!(t4["results"].as_array().map(Vec::len), Some(3));
    convert(&[]).refused(&["suffix", "--to"]);
    convert(&["--to", "csv", "--json"]).refused(&["both write to standard output"]);
    convert(&["--to", "xml"]).refused(&["xml"]);
    let env = folder.run(&["export", "r.cache.json", "--as", "env", "-o", "-"]);
    assert!(env.code == Some(0) && env.stdout.contains("A=2"), "{env:#?}");
    assert!(!folder.path("-").exists());
}

#[test]
fn recorded_numbers_are_objectives_metrics_and_limits_of_compare() {
    let folder = Folder::with(&[("r.cache.json", RATES)]);
    let optimum = |arguments: &[&str]| {
        let compare = ["compare", "r.cache.json", "--strategy", "random", "--json"];
        let ran = folder.run(&[&compare[..], arguments].concat());
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        ran.json()["baselines"][0]["optimum"].as_f64().unwrap()
    };
    assert_eq!(optimum(&["--objective", "minimise watts"]), 2.0);
    assert_eq!(optimum(&["--objective", "time"]), 1.0);
    assert_eq!(optimum(&["--objective", "maximise e", "--metric", "e=watts * time_ms"]), 27.0);
    assert_eq!(optimum(&["--limit", "watts < 5"]), 6.0);
    let compare =
        |arguments: &[&str]| folder.run(&[&["compare", "r.cache.json", "--strategy", "random"], arguments].concat());
    compare(&["--objective", "minimise watt"]).refused(&["no number called `watt`", "did you mean `watts`?"]);
    compare(&["--limit", "watts < 0"]).refused(&["no correct configuration", "watts < 0"]);
    compare(&["--metric", "e"]).refused(&["NAME=EXPR"]);
}

#[test]
fn recordings_of_other_subjects_are_not_joined() {
    let other = |old: &str, new: &str| RATES.replace(old, new);
    let folder = Folder::with(&[
        ("r.json", RATES),
        ("size.json", &other("[8]", "[16]")),
        ("device.json", &other(r#""d""#, r#""e""#)),
        ("kernel.json", &other(r#""k""#, r#""l""#)),
        ("time.json", &other(r#""objective": "GFLOP/s""#, r#""objective": "time""#)),
    ]);
    let convert = |input: &str| folder.run(&["convert", "r.json", input, "-o", "x.csv"]);
    convert("size.json").refused(&["`r` and `size` differ", "problem size: `8` and `16`", "--keep-apart"]);
    convert("device.json").refused(&["device: `d` and `e`"]);
    convert("kernel.json").refused(&["kernel: `k` and `l`"]);
    convert("time.json").refused(&["objective: `maximise GFLOP/s` and `minimise time in ms`"]);
    let apart = folder.run(&["convert", "r.json", "size.json", "--keep-apart", "-o", "all.csv", "--json"]).json();
    assert_eq!(apart.as_array().map(Vec::len), Some(2));
    for name in ["all-r.csv", "all-size.csv"] {
        assert!(folder.path(name).is_file(), "{name}");
    }
    folder.run(&["convert", "all-r.csv", "all-size.csv", "-o", "x.csv"]).refused(&["problem size"]);
    folder.write("p.toml", "[parameters]\nA = ['x', 'y']\n");
    folder
        .run(&["tune", "p.toml", "--device", "replay:r.json"])
        .refused(&["no value of `A` agrees", "'x', 'y' (string)"]);
}
