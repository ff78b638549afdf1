//! The main jobs of users, from the command line.

use crate::common;

use common::{Folder, entries, repository, shared};
use serde_json::Value as Json;

const BOWL: &str = r#"
[parameters]
X = { range = "0..=20" }
Y = [1, 2, 4, 8, 16]
MODE = ["fast", "slow"]

[constraints]
"X is a multiple of Y" = "X % Y == 0"
"#;

const TIMES: &str = "synthetic:(1 + abs(X - 12) + 8 / Y) * (1 if MODE == 'fast' else 3)";

#[test]
fn init_check_and_tune_work_one_after_the_other() {
    let folder = Folder::new();
    let ran = folder.run(&["init", "--out", "first"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let ran = folder.run(&["check", "first/problem.toml"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let ran = folder.run(&["tune", "first/problem.toml", "--stop", "evaluations 8", "--size", "N=256"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    for part in ["best", "speed-up", "GB/s", "journal  first/problem.jsonl", "tunesmith top first/problem.jsonl"] {
        assert!(ran.stdout.contains(part), "`{part}` is missing: {ran:#?}");
    }
    assert!(ran.stderr.contains("1/8 evaluations"), "plain lines without a terminal: {ran:#?}");
    folder.run(&["init", "--out", "first"]).refused(&["exists already", "--out"]);
}

/// Returns the commands that a run recommends, as words.
fn recommended(ran: &common::Ran) -> Vec<Vec<String>> {
    let commands = ran.stdout.lines().filter_map(|line| line.split_once("tunesmith ").map(|(_, words)| words));
    commands.map(|words| shlex::split(words).unwrap()).collect()
}

#[test]
fn what_a_run_recommends_next_works_as_it_is_printed() {
    let sized = format!("[problem]\nsizes = {{ N = 3 }}\n{BOWL}");
    let folder = Folder::with(&[("a bowl.toml", &sized)]);
    let device = format!("{TIMES} + N");
    let tuned = [
        "tune",
        "a bowl.toml",
        "--size",
        "N=5",
        "--device",
        &device,
        "--stop",
        "evaluations 6",
        "--out",
        "my run.jsonl",
    ];
    let ran = folder.run(&tuned);
    let [top, more] = &recommended(&ran)[..] else { panic!("{ran:#?}") };
    let run = |words: &[String]| folder.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(run(top).code, Some(0), "{top:?}");
    let resumed = run(more);
    assert_eq!(resumed.code, Some(0), "{more:?}: {resumed:#?}");
    assert!(resumed.stdout.contains("12 of ") && resumed.stdout.contains("(6 from the journal)"), "{resumed:#?}");
    let whole = folder.run(&["tune", "a bowl.toml", "--device", &device, "--strategy", "exhaustive"]);
    assert_eq!(recommended(&whole).len(), 1, "nothing is left to search: {whole:#?}");
}

#[test]
fn a_journal_of_other_sizes_is_not_resumed_and_the_sizes_are_named() {
    let sized = format!("[problem]\nsizes = {{ N = 3 }}\n{BOWL}");
    let folder = Folder::with(&[("bowl.toml", &sized)]);
    let tune = |more: &[&str]| {
        folder.run(&[&["tune", "bowl.toml", "--device", "synthetic:X + N", "--stop", "evaluations 3"], more].concat())
    };
    assert_eq!(tune(&["--size", "N=5"]).code, Some(0));
    tune(&["--resume"]).refused(&["cannot be resumed", "size N: 5 in the journal, 3 now"]);
}

#[test]
fn tune_prints_the_promised_json() {
    let folder = Folder::with(&[("bowl.toml", BOWL)]);
    let ran =
        folder.run(&["tune", "bowl.toml", "--device", TIMES, "--stop", "evaluations 30", "--json", "--seed", "4"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let outcome = ran.json();
    for key in [
        "problem",
        "device",
        "strategy",
        "seed",
        "stop_reason",
        "evaluations",
        "failed",
        "default",
        "best",
        "ties",
        "space_size",
        "wall_seconds",
        "seconds",
        "out",
    ] {
        assert!(outcome.get(key).is_some(), "`{key}` is missing in {outcome:#}");
    }
    assert_eq!(outcome["default"]["config"], serde_json::json!({"X": 0, "Y": 1, "MODE": "fast"}));
    assert_eq!(outcome["default"]["time_ms"], 21.0);
    assert_eq!(outcome["best"]["times_ms"].as_array().unwrap().len(), 1);
    let parts: f64 = outcome["seconds"].as_object().unwrap().values().filter_map(Json::as_f64).sum();
    assert!((parts - outcome["wall_seconds"].as_f64().unwrap()).abs() < 1e-6, "the seconds add up to the wall time");
}

#[test]
fn the_same_seed_asks_the_same_and_scaling_the_times_by_1024_changes_nothing() {
    let folder = Folder::with(&[("bowl.toml", BOWL)]);
    let requests = |name: &str, times: &str, seed: &str| {
        let arguments = [
            "tune",
            "bowl.toml",
            "--device",
            times,
            "--stop",
            "evaluations 40",
            "--seed",
            seed,
            "--out",
            name,
            "--quiet",
        ];
        assert_eq!(folder.run(&arguments).code, Some(0));
        entries(&folder.path(name)).iter().map(|entry| entry["index"].clone()).collect::<Vec<_>>()
    };
    let scaled = TIMES.replace("synthetic:", "synthetic:1024 * ");
    let first = requests("a.jsonl", TIMES, "1");
    assert_eq!(first, requests("b.jsonl", TIMES, "1"));
    assert_eq!(first, requests("c.jsonl", &scaled, "1"));
    assert_ne!(first, requests("d.jsonl", TIMES, "2"));
}

#[test]
fn exhaustive_search_runs_to_the_end_of_the_space() {
    let folder = Folder::with(&[("bowl.toml", BOWL)]);
    let ran = folder.run(&["tune", "bowl.toml", "--device", TIMES, "--strategy", "exhaustive", "--json", "--quiet"]);
    let outcome = ran.json();
    assert_eq!(outcome["stop_reason"], "space exhausted");
    assert_eq!(outcome["evaluations"].to_string(), outcome["space_size"].as_str().unwrap());
    // 12 is a multiple of 4 and not of 8; 8 is 4 away from 12 and saves 1: 12 with 4 is the
    // optimum.
    assert_eq!(outcome["best"]["config"], serde_json::json!({"X": 12, "Y": 4, "MODE": "fast"}));
}

#[test]
fn a_start_configuration_and_a_journal_of_a_chosen_name() {
    let folder = Folder::with(&[("bowl.toml", BOWL)]);
    let arguments = [
        "tune",
        "bowl.toml",
        "--device",
        TIMES,
        "--start",
        "X=8,Y=8",
        "--stop",
        "evaluations 2",
        "--out",
        "mine.jsonl",
    ];
    assert_eq!(folder.run(&arguments).code, Some(0));
    let configs: Vec<Json> = entries(&folder.path("mine.jsonl")).iter().map(|entry| entry["config"].clone()).collect();
    assert_eq!(configs[1], serde_json::json!({"X": 8, "Y": 8, "MODE": "fast"}));
}

#[test]
fn top_ranks_a_recorded_run() {
    let folder = Folder::with(&[("bowl.toml", BOWL)]);
    folder.run(&["tune", "bowl.toml", "--device", TIMES, "--strategy", "exhaustive", "--quiet"]);
    let ran = folder.run(&["top", "bowl.jsonl", "-n", "3"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 5, "{ran:#?}");
    assert!(
        lines[2].contains("3.000 ms") && lines[2].contains("7.000x") && lines[2].ends_with("X=12,Y=4,MODE=fast"),
        "{ran:#?}"
    );
    let top = folder.run(&["top", "bowl.jsonl", "-n", "3", "--json"]).json();
    assert_eq!(top["configs"].as_array().unwrap().len(), 3);
    assert_eq!(top["configs"][0]["time_ms"], 3.0);
}

#[test]
fn a_journal_of_a_strategy_that_is_gone_is_read_and_resumed_with_another_alone() {
    let folder = Folder::with(&[("bowl.toml", BOWL)]);
    let tune = |more: &[&str]| {
        let all = ["tune", "bowl.toml", "--device", TIMES, "--stop", "evaluations 9", "--quiet"];
        folder.run(&[&all, more].concat())
    };
    tune(&["--strategy", "gaussian_process(compiled=8)"])
        .refused(&["strategy `gaussian_process` has no option `compiled`", "its options"]);
    assert_eq!(tune(&["--strategy", "gaussian_process(picks=8)"]).code, Some(0));
    // A line without its checksum may be edited.
    let journal = std::fs::read_to_string(folder.path("bowl.jsonl")).unwrap();
    let (header, rest) = journal.split_once('\n').unwrap();
    let (header, _) = header.split_once(r#","sum":"#).unwrap();
    let header = header.replace("gaussian_process(picks=8)", "gaussian_process(compiled=8)");
    std::fs::write(folder.path("bowl.jsonl"), format!("{header}}}\n{rest}")).unwrap();
    let top = folder.run(&["top", "bowl.jsonl"]);
    assert!(top.code == Some(0) && top.stderr.is_empty() && top.stdout.contains("MODE=fast"), "{top:#?}");
    assert_eq!(folder.run(&["report", "bowl.jsonl", "-o", "page.html"]).code, Some(0));
    assert!(std::fs::read_to_string(folder.path("page.html")).unwrap().contains("gaussian_process(compiled=8)"));
    tune(&["--resume"]).refused(&["bowl.jsonl` cannot go on", "no option `compiled`", "--strategy NAME"]);
    assert_eq!(tune(&["--resume", "--strategy", "gaussian_process"]).code, Some(0));
}

#[test]
fn report_writes_one_page_of_runs_and_never_over_a_journal() {
    let folder = Folder::with(&[("bowl.toml", BOWL)]);
    for strategy in ["exhaustive", "random"] {
        folder.run(&["tune", "bowl.toml", "--device", TIMES, "--strategy", strategy, "--quiet"]);
    }
    let ran = folder.run(&["report", "bowl.jsonl", "bowl.2.jsonl", "-o", "page.html", "--json"]);
    assert_eq!((ran.code, &ran.json()["runs"]), (Some(0), &serde_json::json!(2)), "{ran:#?}");
    let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
    let wanted = ["2 runs of bowl", "bowl.jsonl", "bowl.2.jsonl", "exhaustive", "X=12,Y=4,MODE=fast", "3.000 ms"];
    wanted.iter().for_each(|text| assert!(page.contains(text), "{text}"));
    assert!(page.contains("-DX=12") && page.contains("--strategy exhaustive --seed 0"), "flags, and how to repeat it");
    let journal = std::fs::read(folder.path("bowl.jsonl")).unwrap();
    let ran = folder.run(&["report", "bowl.2.jsonl", "-o", "bowl.jsonl"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("name it FILE.html"), "{ran:#?}");
    assert_eq!(std::fs::read(folder.path("bowl.jsonl")).unwrap(), journal);
}

#[test]
fn space_counts_samples_and_numbers() {
    let folder = Folder::with(&[("bowl.toml", BOWL)]);
    let space = |more: &[&str]| folder.run(&[&["space", "bowl.toml", "--json"], more].concat()).json();
    let summary = space(&[]);
    for key in [
        "digest",
        "size",
        "cartesian",
        "parameters",
        "constraints",
        "groups",
        "nodes",
        "arcs",
        "bytes",
        "build_seconds",
    ] {
        assert!(summary.get(key).is_some(), "`{key}` is missing in {summary:#}");
    }
    assert_eq!((&summary["size"], &summary["cartesian"]), (&"86".into(), &"210".into()));
    assert_eq!(summary["groups"], serde_json::json!([["X", "Y"], ["MODE"]]));
    let listed = space(&["--list"])["configs"].as_array().unwrap().clone();
    assert_eq!(listed.len(), 86);
    assert_eq!(listed[17], space(&["--index", "17"])["configs"][0]);
    let sampled = space(&["--sample", "5", "--seed", "9"])["configs"].clone();
    assert_eq!(sampled.as_array().unwrap().len(), 5);
    assert!(sampled.as_array().unwrap().iter().all(|config| listed.contains(config)));
    assert_eq!(sampled, space(&["--sample", "5", "--seed", "9"])["configs"]);
    assert!(!space(&["--neighbours", "17"])["configs"].as_array().unwrap().is_empty());
    folder.run(&["space", "bowl.toml", "--index", "86"]).refused(&["no configuration 86", "86"]);
}

#[test]
fn published_t1_problems_are_counted_and_tuned_on_a_synthetic_device() {
    let Some(shared) = shared() else { return };
    let folder = Folder::new();
    let path = shared.join("formats/t1-gemm_milo.json");
    let path = path.to_str().unwrap();
    let ran = folder.run(&["space", path, "--json"]);
    assert_eq!(ran.json()["size"], "116928", "{ran:#?}");
    let arguments = [
        "tune",
        path,
        "--device",
        "synthetic:MWG / MDIMC + VWM",
        "--stop",
        "evaluations 20",
        "--out",
        "t1.jsonl",
        "--json",
        "--quiet",
    ];
    let ran = folder.run(&arguments);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(ran.json()["default"]["config"]["MWG"], 64);
    folder.run(&["tune", path]).refused(&["`block_size_x` in LocalSize is no tuning parameter", "synthetic"]);
    let path = shared.join("formats/t1-hotspot_milo.json");
    let path = path.to_str().unwrap();
    folder.run(&["tune", path]).refused(&["there is no file", "synthetic"]);
    let ran = folder.run(&["check", path, "--json"]);
    assert_eq!((ran.code, &ran.json()["ok"]), (Some(2), &Json::Bool(false)), "tune refuses it, too: {ran:#?}");
    let ran = folder.run(&["check", path, "--device", "synthetic:1", "--json"]);
    assert_eq!((ran.code, &ran.json()["ok"]), (Some(0), &Json::Bool(true)), "its space is fine: {ran:#?}");
}

#[test]
fn the_examples_check_out_and_give_right_results_in_their_default_configuration() {
    let folder = Folder::new();
    let examples = [
        "gemm/gemm.toml",
        "gemm/baseline/naive.toml",
        "stencil/stencil.toml",
        "conv2d/conv2d-c.toml",
        "reduce/reduce.toml",
        "filterbank/filterbank.toml",
    ];
    for example in examples {
        let path = repository().join("examples").join(example);
        let path = path.to_str().unwrap();
        let ran = folder.run(&["check", path, "--json"]);
        assert_eq!(ran.json()["ok"], true, "{ran:#?}");
        let ran = folder.run(&["run", path, "--json"]);
        assert_eq!(ran.json()["status"], "correct", "{ran:#?}");
        if example.starts_with("reduce") {
            assert_eq!(ran.json()["parts_ms"].as_object().map(|parts| parts.len()), Some(2), "{ran:#?}");
        }
    }
}

#[test]
fn the_gemm_example_tunes() {
    let folder = Folder::new();
    let path = repository().join("examples/gemm/gemm.toml");
    let arguments =
        ["tune", path.to_str().unwrap(), "--stop", "evaluations 12", "--out", "gemm.jsonl", "--json", "--quiet"];
    let ran = folder.run(&arguments);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let outcome = ran.json();
    assert_eq!(outcome["evaluations"], 12);
    assert_eq!(outcome["failed"]["correctness"], 0, "{outcome:#}");
}

#[test]
fn run_shows_what_is_compiled_and_how() {
    let folder = Folder::new();
    let path = repository().join("examples/gemm/gemm.toml");
    let run = |flag: &str| folder.run(&["run", path.to_str().unwrap(), "--config", "MC=64", flag]);
    let command = run("--show-command");
    assert!(
        command.stdout.contains("-O3") && command.stdout.contains("-DMC=64") && command.stdout.contains("-DM=512"),
        "{command:#?}"
    );
    let source = run("--show-source");
    assert!(source.stdout.contains("#include") && source.stdout.contains("gemm.c"), "{source:#?}");
}

#[test]
fn devices_lists_this_processor() {
    let ran = Folder::new().run(&["devices", "--json"]);
    let report = ran.json();
    let c = report["devices"].as_array().unwrap().iter().find(|device| device["id"] == "c").unwrap();
    assert_eq!(c["backend"], "c");
    assert!(c["limits"].as_object().is_some_and(|limits| !limits.is_empty()));
    assert!(report["missing"].as_array().is_some());
}

#[test]
fn a_missing_compiler_is_explained() {
    let folder = Folder::new();
    let ran = common::Ran::of(folder.command(&["devices", "--json"]).env("CC", "no-such-compiler").output().unwrap());
    let missing = &ran.json()["missing"];
    assert!(missing[0]["reason"].as_str().unwrap().contains("no-such-compiler"), "{missing:#}");
    assert!(!missing[0]["remedy"].as_str().unwrap().is_empty());
}

#[test]
fn every_command_has_help_with_an_example() {
    let folder = Folder::new();
    for command in ["devices", "init", "check", "space", "tune", "run", "top"] {
        let ran = folder.run(&[command, "--help"]);
        assert_eq!(ran.code, Some(0));
        assert!(ran.stdout.contains("Example") && ran.stdout.contains(&format!("tunesmith {command}")), "{ran:#?}");
    }
    assert!(folder.run(&["--version"]).stdout.starts_with("tunesmith 0.1.0"));
}

#[test]
fn limits_of_the_device_are_known_to_constraints_and_otherwise_left_out_with_a_warning() {
    let problem = BOWL.replace("[constraints]", "[constraints]\n\"few\" = \"Y <= device.threads * 100\"");
    let folder = Folder::with(&[("bowl.toml", &problem)]);
    let ran = folder.run(&["space", "bowl.toml", "--json"]);
    assert_eq!((&ran.json()["constraints"], ran.stderr.as_str()), (&2.into(), ""), "{ran:#?}");
    let ran = folder.run(&["tune", "bowl.toml", "--device", TIMES, "--stop", "evaluations 2"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stderr.contains("constraint `few` is left out") && ran.stderr.contains("device.threads"), "{ran:#?}");
}
