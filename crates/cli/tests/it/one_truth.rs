//! One verdict per run: the same best everywhere, never one that is slower than the default, and
//! no silence about what was not verified.

use crate::common;

use common::{Folder, Ran};
use serde_json::Value as Json;

/// Prints a cost that depends on the time of the run: before `count.3` exists, the search is still
/// under way. X = 1, the default, looks slow in the search and is the fastest afterwards.
const SCRIPT: &str = r#"
case $X in
  1) if test -e count.3; then echo "cost 10"; else echo "cost 30"; fi ;;
  2) echo "cost 12" ;;
  3) touch count.3; echo "cost 13" ;;
esac
"#;

const PROBLEM: &str = r#"
[kernel]
command = ["sh", "run.sh"]
cost = 'cost (\d+)'

[parameters]
X = [1, 2, 3]

[tuning]
strategy = "exhaustive"
"#;

fn folder(script: &str) -> Folder {
    let folder = Folder::with(&[("p.toml", PROBLEM)]);
    // Commands run in a copy of the folder.
    folder.write("run.sh", &script.replace("count.3", folder.path("count.3").to_str().unwrap()));
    folder
}

#[test]
fn a_winner_of_the_search_that_is_slower_than_the_default_is_not_crowned() {
    let folder = folder(SCRIPT);
    let ran = folder.run(&["tune", "p.toml", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    for part in
        ["none: nothing better than the default was found", "X=2 was the best of the search with 12", "10.00 ms"]
    {
        assert!(ran.stdout.contains(part), "`{part}` is missing: {ran:#?}");
    }
    let outcome = folder.run(&["tune", "p.toml", "--quiet", "--json", "--resume"]).json();
    assert_eq!((&outcome["best"]["config"]["X"], &outcome["better_than_default"]), (&1.into(), &false.into()));
    assert_eq!((&outcome["best"]["time_ms"], &outcome["search_best"]["config"]["X"]), (&10.0.into(), &2.into()));
    // A slow machine allows few rounds, which prove nothing.
    for tie in outcome["ties"].as_array().unwrap() {
        assert!(tie["final_times_ms"].as_array().unwrap().len() < 6, "the other was surely slower: {tie}");
    }
}

/// Every reader of the journal names the best that `tune` named, with its time and speed-up.
#[test]
fn tune_top_report_export_and_convert_tell_one_truth() {
    let folder = folder(SCRIPT);
    let best = folder.run(&["tune", "p.toml", "--quiet", "--json"]).json()["best"].clone();
    let top = folder.run(&["top", "p.jsonl", "--json"]).json();
    let first = &top["configs"][0];
    assert_eq!(
        (&first["config"], &first["time_ms"], &first["ratio"]),
        (&best["config"], &best["time_ms"], &1.0.into())
    );
    assert_eq!((&top["default_ms"], &top["better_than_default"]), (&10.0.into(), &false.into()));
    let mut speedups: Vec<&Json> = top["configs"].as_array().unwrap().iter().map(|config| &config["ratio"]).collect();
    // The others have no order that is sure: a slow machine allows few rounds.
    speedups.sort_by(|a, b| b.as_f64().unwrap().total_cmp(&a.as_f64().unwrap()));
    assert_eq!(speedups, [&Json::from(1.0), &Json::from(10.0 / 12.0), &Json::from(10.0 / 13.0)], "one baseline");
    let ran = folder.run(&["top", "p.jsonl"]);
    assert!(ran.stdout.contains("unverified") && ran.stdout.contains("nothing better than the default"), "{ran:#?}");

    assert_eq!(folder.run(&["report", "p.jsonl", "-o", "p.html"]).code, Some(0));
    let page = std::fs::read_to_string(folder.path("p.html")).unwrap();
    assert!(page.contains("Nothing better than the default was found") && page.contains("Unverified"), "{page}");
    let converted = folder.run(&["convert", "p.jsonl", "-o", "p.csv", "--json"]).json();
    assert_eq!(converted["optimum_ms"], best["time_ms"]);
    let ran = folder.run(&["export", "p.jsonl", "--as", "json", "-o", "best.json", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let exported: Json = serde_json::from_str(&std::fs::read_to_string(folder.path("best.json")).unwrap()).unwrap();
    let text = exported.to_string();
    let fastest = exported["entries"].as_array().and_then(|entries| entries.first()).cloned().unwrap_or_default();
    assert_eq!((&fastest["config"]["X"], &fastest["time_ms"]), (&1.into(), &10.0.into()), "{text}");
    assert_eq!(
        exported["best"],
        serde_json::json!({ "config": { "X": 1 }, "time_ms": 10.0, "speedup": 1.0 }),
        "{text}"
    );
}

/// Prints numbers of either sign. The default is X = 1, and X = 3 is the best in each.
const NUMBERS: &str = "echo cost $((39 / X)) score $((1 - 2 * X)) misses $((3 - X)) rate $((10 * X))";

const VALUES: &str = r"values = { score = 'score (-?\d+)', misses = 'misses (\d+)', rate = 'rate (\d+)' }
";

/// Objectives with the value of the best, its gain over the default, and the source of the numbers.
const OBJECTIVES: [(&str, f64, &str, f64, &str); 5] = [
    ("minimise time", 13.0, "ratio", 3.0, "time"),
    ("minimise score", -5.0, "ratio", 5.0, "printed"),
    ("minimise misses", 0.0, "difference", 2.0, "printed"),
    ("maximise rate", 30.0, "ratio", 3.0, "printed"),
    // The geometric mean of 13 and 1 / 30.
    ("minimise time, maximise rate", 0.658_280_588_604_383_3, "ratio", 3.0, "metric"),
];

#[test]
fn every_command_tells_the_same_value_and_gain_of_any_objective() {
    let problem = PROBLEM.replace("[parameters]", &format!("{VALUES}[parameters]"));
    for (objective, value, word, gain, source) in OBJECTIVES {
        let folder = Folder::with(&[("p.toml", &problem), ("run.sh", NUMBERS)]);
        let outcome = folder.run(&["tune", "p.toml", "--objective", objective, "--quiet", "--json"]).json();
        let (top, explained) = (folder.run(&["top", "p.jsonl", "--json"]).json(), explanation(&folder));
        let near = |json: &Json, wanted: f64| (json.as_f64().unwrap() - wanted).abs() < 1e-9 * wanted.abs().max(1.0);
        for best in [&outcome["best"], &top["configs"][0], &explained["best"]] {
            assert_eq!(best["config"]["X"], 3, "{objective}: {best:#}");
            assert!(near(&best["value"], value) && near(&best[word], gain), "{objective}: {best:#}");
        }
        assert!(near(&outcome["speedup"][word], gain), "{objective}: {outcome:#}");
        assert_eq!(outcome["objective"]["source"], source, "{objective}");
        assert!(outcome["objective"] == top["objective"] && top["objective"] == explained["objective"]);
        assert_eq!(outcome["default"]["value"], top["default_value"], "{objective}");
        assert_eq!(folder.run(&["report", "p.jsonl", "-o", "p.html"]).code, Some(0));
        let page = std::fs::read_to_string(folder.path("p.html")).unwrap();
        let shown = if word == "ratio" { format!("{gain:.3}x") } else { format!("by {gain}") };
        let text = folder.run(&["top", "p.jsonl"]).stdout;
        assert!(page.contains(&shown) && text.contains(&shown), "{objective}: {shown} is missing in {text}");
    }
}

fn explanation(folder: &Folder) -> Json {
    folder.run(&["explain", "p.jsonl", "--json"]).json()
}

#[test]
fn equal_configurations_are_ties_of_the_default() {
    let outcome = folder("echo cost 10").run(&["tune", "p.toml", "--quiet", "--json"]).json();
    assert_eq!((&outcome["best"]["config"]["X"], &outcome["better_than_default"]), (&1.into(), &false.into()));
    assert_eq!(outcome["ties"].as_array().unwrap().len(), 2, "{outcome:#}");
    assert_eq!((&outcome["speedup"], &outcome["contender"]["ratio"]), (&Json::Null, &1.0.into()), "{outcome:#}");
}

#[test]
fn a_faster_winner_is_crowned_with_an_interval_of_its_speed_up() {
    let outcome = folder("echo cost $((40 / X))").run(&["tune", "p.toml", "--quiet", "--json"]).json();
    assert_eq!((&outcome["best"]["config"]["X"], &outcome["better_than_default"]), (&3.into(), &true.into()));
    assert_eq!(outcome["speedup"]["ratio"], 40.0 / 13.0);
    assert_eq!((&outcome["speedup"]["basis"], &outcome["verified"]), (&"final".into(), &false.into()));
}

/// A default that is the best has no speed-up. The other configuration is named with its ratio, however slow it is.
#[test]
fn a_ratio_below_1_is_never_the_speed_up_of_a_default_that_is_the_best() {
    let outcome = folder("echo cost $((10 * X))").run(&["tune", "p.toml", "--quiet", "--json"]).json();
    assert_eq!((&outcome["best"]["config"]["X"], &outcome["better_than_default"]), (&1.into(), &false.into()));
    assert_eq!(outcome["speedup"], Json::Null, "{outcome:#}");
    let contender = &outcome["contender"];
    assert_eq!((&contender["config"]["X"], &contender["ratio"]), (&2.into(), &0.5.into()), "{outcome:#}");
    assert!(contender["ci95"][1].as_f64().is_some_and(|high| high < 1.0), "{outcome:#}");
    let faster = folder("echo cost $((40 / X))").run(&["tune", "p.toml", "--quiet", "--json"]).json();
    assert!(faster["speedup"]["ratio"].as_f64() > Some(1.0) && faster.get("contender").is_none(), "{faster:#}");
}

#[test]
fn a_default_that_fails_leaves_the_winner_without_a_claim() {
    let folder = folder("test $X -ne 1 && echo cost $X");
    let ran = folder.run(&["tune", "p.toml", "--quiet"]);
    assert!(ran.stdout.contains("speed-up  unknown: the default configuration failed"), "{ran:#?}");
    let outcome = folder.run(&["tune", "p.toml", "--quiet", "--json", "--resume"]).json();
    assert_eq!((&outcome["best"]["config"]["X"], &outcome["better_than_default"]), (&2.into(), &false.into()));
    assert_eq!(outcome["speedup"], Json::Null);
}

#[test]
fn a_default_that_the_constraints_exclude_is_said_to_be_missing() {
    let folder = Folder::with(&[
        ("p.toml", &format!("{PROBLEM}[constraints]\n\"no one\" = \"X > 1\"\n")),
        ("run.sh", "echo cost $X"),
    ]);
    let ran = folder.run(&["tune", "p.toml", "--quiet"]);
    assert!(ran.stdout.contains("unknown: the constraints exclude the default configuration"), "{ran:#?}");
}

#[test]
fn a_run_that_verifies_nothing_says_so_quiet_or_not_and_one_that_does_says_nothing() {
    let unverified = folder("echo cost $X");
    for options in [&["tune", "p.toml"][..], &["tune", "p.toml", "--quiet"]] {
        let ran = unverified.run(options);
        assert!(ran.stderr.contains("unverified") && ran.stdout.contains("unverified"), "{ran:#?}");
    }
    let verified =
        Folder::with(&[("p.toml", &format!("{PROBLEM}[verify]\noutput = \"cost\"\n")), ("run.sh", "echo cost $X")]);
    let ran = verified.run(&["tune", "p.toml", "--json"]);
    assert!(ran.json()["verified"] == true && !ran.stderr.contains("unverified"), "{ran:#?}");
    assert!(!verified.run(&["top", "p.jsonl"]).stdout.contains("unverified"));
}

const MANY: &str = r#"
[kernel]
command = ["sh", "run.sh"]

[parameters]
X = { range = "0..=30" }

[tuning]
strategy = "exhaustive"
"#;

fn many(script: &str, more: &[&str]) -> (Folder, Ran) {
    let folder = Folder::with(&[("p.toml", MANY), ("run.sh", script)]);
    let ran = folder.run(&[&["tune", "p.toml", "--json"], more].concat());
    (folder, ran)
}

#[test]
fn ten_configurations_that_fail_alike_end_the_run_with_their_message() {
    let (folder, ran) = many("echo no such device $X >&2; exit 3", &[]);
    let outcome = ran.json();
    assert_eq!((ran.code, &outcome["evaluations"], &outcome["best"]), (Some(1), &10.into(), &Json::Null), "{ran:#?}");
    let reason = outcome["stop_reason"].as_str().unwrap();
    assert!(reason.starts_with("the first 10 configurations failed in the same way: runtime: "), "{reason}");
    assert!(ran.stderr.contains("no such device 0") && ran.stderr.contains("--keep-going"), "{ran:#?}");
    let resumed = folder.run(&["tune", "p.toml", "--json", "--resume", "--keep-going", "--quiet"]);
    assert_eq!((resumed.code, &resumed.json()["evaluations"]), (Some(1), &31.into()), "{resumed:#?}");
}

#[test]
fn failures_that_differ_do_not_end_the_run() {
    let (_, ran) = many("test $X -gt 12 || { test $((X % 2)) -eq 0 && exit 3; kill -9 $$; }", &[]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(ran.json()["evaluations"], 31);
}

#[test]
fn an_objective_that_nothing_yields_is_refused_before_the_search() {
    let folder = Folder::with(&[("p.toml", MANY)]);
    folder.write("run.sh", &format!("touch '{}'", folder.path("ran").display()));
    let ran = folder.run(&["tune", "p.toml", "--objective", "minimise joules"]);
    ran.refused(&["`minimise joules` needs `joules`", "nothing yields", "a run yields compile_ms, energy_mj, time_ms"]);
    assert!(!folder.path("ran").exists() && !folder.path("p.jsonl").exists(), "nothing ran");
    let synthetic = ["tune", "p.toml", "--device", "synthetic:X + 1", "--objective", "energy"];
    folder.run(&synthetic).refused(&["`energy_mj`", "nothing yields"]);
    folder.run(&["check", "p.toml"]);
    let named = MANY.replace("strategy =", "objective = \"joules\"\nstrategy =");
    folder.write("q.toml", &named);
    assert_eq!(folder.run(&["check", "q.toml"]).code, Some(2), "check refuses what tune refuses");
}

/// The problem of a program that prints its score, `SCORE` of `X`, and takes the same time for all.
fn scored(score: &str, objective: &str) -> String {
    format!(
        "[kernel]\ncommand = [\"sh\", \"-c\", \"echo score $(({score})); echo cost 1\"]\ncost = \"cost (.*)\"\n\
         values = {{ score = \"score (.*)\" }}\n[parameters]\nX = [1, 2, 3, 4]\n\
         [tuning]\nobjective = \"{objective}\"\nstrategy = \"exhaustive\"\n[measure]\nmax_samples = 1\nmin_samples = 1\n\
         final = false\n",
        score = score.replace('X', "{X}")
    )
}

/// All finite numbers rank, and every reader has the same best, value, and gain over the default.
#[test]
fn scores_of_any_sign_have_one_best_and_one_gain_everywhere() {
    let cases = [
        ("X - 4", "minimise score", 1, -3.0, None, "score -3"),
        ("4 - X", "minimise score", 4, 0.0, Some(("difference", 3.0, "by 3")), "0"),
        ("X * 5 - 9", "maximise score", 4, 11.0, Some(("difference", 15.0, "by 15")), "11"),
        ("X * 10", "maximise score", 4, 40.0, Some(("ratio", 4.0, "4.000x")), "40"),
        ("X - 9", "maximise score", 4, -5.0, Some(("ratio", 1.6, "1.600x")), "-5"),
        (
            "1 - X * 1000000",
            "minimise score",
            4,
            -3_999_999.0,
            Some(("ratio", 3_999_999.0 / 999_999.0, "4.000x")),
            "-3999999",
        ),
    ];
    for (score, objective, best, value, gain, text) in cases {
        let folder = Folder::with(&[("p.toml", &scored(score, objective))]);
        let tuned = folder.run(&["tune", "p.toml", "--quiet", "--json"]).json();
        assert_eq!(tuned["best"]["config"]["X"], best, "{score}, {objective}: {tuned:#}");
        assert_eq!((&tuned["best"]["value"], tuned["unscored"].is_null()), (&Json::from(value), true), "{tuned:#}");
        let top = folder.run(&["top", "p.jsonl", "--json"]).json();
        let explained = folder.run(&["explain", "p.jsonl", "--json"]).json();
        for found in [&top["configs"][0], &explained["best"]] {
            assert_eq!((&found["config"]["X"], &found["value"]), (&best.into(), &value.into()), "{found:#}");
        }
        let [table, page] =
            [&["top", "p.jsonl"][..], &["explain", "p.jsonl"]].map(|command| folder.run(command).stdout);
        let value = text.trim_start_matches("score ");
        assert!(
            table.lines().any(|line| line.starts_with(" 1 ") && line.contains(value)) && page.contains(value),
            "{table}{page}"
        );
        let Some((name, gain, shown)) = gain else { continue };
        for found in [&tuned["speedup"], &top["configs"][0], &explained["best"]] {
            let is_same = (found[name].as_f64().unwrap_or(f64::NAN) - gain).abs() < 1e-12;
            assert!(is_same, "{score}, {objective}: `{name}` is not {gain} in {found:#}");
        }
        assert!(table.contains(shown), "{shown} is missing: {table}");
        assert_eq!(folder.run(&["report", "p.jsonl", "-o", "p.html"]).code, Some(0));
        let html = std::fs::read_to_string(folder.path("p.html")).unwrap();
        assert!(html.contains(&format!(">{shown}<")) && html.contains(&format!(">{value}<")), "{shown}, {value}");
    }
}

/// A point with 0 misses belongs to the front, and the best is one of it.
#[test]
fn a_front_has_its_zero_and_its_negative_points() {
    let rows = "X,time_ms,status,misses\n1,3,ok,0\n2,2,ok,2\n3,1,ok,9\n4,4,ok,0\n5,5,ok,-1\n";
    let folder = Folder::with(&[("p.toml", "[parameters]\nX = [3, 2, 1, 4, 5]\n"), ("r.csv", rows)]);
    let run =
        ["tune", "p.toml", "--device", "replay:r.csv", "--objective", "time,minimise misses", "--quiet", "--json"];
    let tuned = folder.run(&run).json();
    let mut front: Vec<i64> =
        tuned["front"].as_array().unwrap().iter().map(|member| member["config"]["X"].as_i64().unwrap()).collect();
    front.sort_unstable();
    assert_eq!(front, [1, 2, 3, 5], "{tuned:#}");
    assert!(front.contains(&tuned["best"]["config"]["X"].as_i64().unwrap()), "{tuned:#}");
    assert!(tuned["unscored"].is_null(), "{tuned:#}");
}
