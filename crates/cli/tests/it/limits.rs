//! Measured errors, limits and fronts from the command line.

use crate::common;

use common::{Folder, Ran, entries};
use serde_json::Value as Json;

/// `ROUND` decides the error: the larger, the smaller.
const KERNEL: &str = "void halve(const float *x, float *y) {
    for (int i = 0; i < 64; i++) y[i] = x[i] * 0.5f * (1.0f + 1.0f / (1 << ROUND));
}
";

const REFERENCE: &str =
    "void reference(const float *x, float *y) { for (int i = 0; i < 64; i++) y[i] = x[i] * 0.5f; }\n";

const PROBLEM: &str = r#"
[kernel]
file = "k.c"
function = "halve"

[parameters]
ROUND = [2, 4, 6, 8]

[[arguments]]
name = "x"
type = "f32"
shape = [64]
access = "in"
fill = { random = [1, 2] }

[[arguments]]
name = "y"
type = "f32"
shape = [64]
access = "out"

[tuning]
strategy = "exhaustive"
"#;

const VERIFY: &str =
    "[verify]\nreference = { file = \"r.c\", function = \"reference\" }\nrelative = 0.5\nabsolute = 0.0\n";

fn folder(more: &str) -> Folder {
    Folder::with(&[("p.toml", &format!("{PROBLEM}{more}")), ("k.c", KERNEL), ("r.c", REFERENCE)])
}

fn tune(folder: &Folder, more: &[&str]) -> Ran {
    folder.run(&[&["tune", "p.toml", "--json", "--quiet"], more].concat())
}

#[test]
fn the_largest_relative_error_is_measured_and_can_be_the_objective() {
    let folder = folder(VERIFY);
    let ran = tune(&folder, &["--objective", "error"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let best = &ran.json()["best"];
    let error = best["value"].as_f64().unwrap();
    assert_eq!((&best["config"]["ROUND"], (error * 256.0).round()), (&8.into(), 1.0));
    assert_eq!(best["values"]["error"].as_f64(), Some(error));
    let lines = entries(&folder.path("p.jsonl"));
    assert!(lines.iter().all(|line| line["values"]["error"].as_array().unwrap().len() == 1), "{lines:#?}");
    folder.run(&["convert", "p.jsonl", "-o", "p.csv"]);
    let csv = std::fs::read_to_string(folder.path("p.csv")).unwrap();
    assert!(csv.lines().next().unwrap().contains("error"), "{csv}");
    let replayed = folder.run(&["tune", "p.toml", "--device", "replay:p.csv", "--objective", "error", "--json"]);
    assert_eq!(replayed.json()["best"]["config"]["ROUND"], 8, "{replayed:#?}");
}

#[test]
fn without_a_correct_result_there_is_no_error_to_minimise() {
    let ran = tune(&folder(""), &["--objective", "error"]);
    ran.refused(&["`minimise error` needs `error`", "nothing yields", "largest relative error", "[verify]"]);
}

/// A device whose times and metrics are known: the cost falls with the time.
const TRADE: &str = r#"
[parameters]
X = { range = "1..=20" }

[metrics]
size = "100 / X"

[limits]
"small enough" = "size <= 20"

[tuning]
strategy = "exhaustive"
"#;

fn trade(text: &str, more: &[&str]) -> (Folder, Ran) {
    let folder = Folder::with(&[("p.toml", text)]);
    let ran = folder.run(&[&["tune", "p.toml", "--device", "synthetic:X + 1", "--json"], more].concat());
    (folder, ran)
}

#[test]
fn what_breaks_a_limit_is_infeasible_and_never_wins() {
    let (folder, ran) = trade(TRADE, &[]);
    let outcome = ran.json();
    assert_eq!((ran.code, &outcome["best"]["config"]["X"]), (Some(0), &5.into()), "{ran:#?}");
    assert_eq!((&outcome["failed"]["infeasible"], &outcome["failed"]["correctness"]), (&4.into(), &0.into()));
    assert_eq!((&outcome["default"]["status"], &outcome["better_than_default"]), (&"infeasible".into(), &false.into()));
    assert!(outcome["default"]["message"].as_str().unwrap().starts_with("`small enough` (size <= 20)\nsize is 100"));
    let lines = entries(&folder.path("p.jsonl"));
    let broken: Vec<_> = lines.iter().filter(|line| line["status"] == "infeasible").collect();
    assert_eq!((broken.len(), lines.len()), (4, 20), "they count as evaluations");
    assert!(broken.iter().all(|line| line["times_ms"].as_array().unwrap().len() == 1), "they were measured");
    let top = folder.run(&["top", "p.jsonl"]).stdout;
    assert!(top.contains("20 evaluations, 16 correct, 4 infeasible"), "{top}");
    let text = folder.run(&["tune", "p.toml", "--device", "synthetic:X + 1", "--quiet", "--out", "q.jsonl"]).stdout;
    assert!(text.contains("4 infeasible: `small enough` (size <= 20)"), "{text}");
    assert!(text.contains("the default configuration breaks a limit (`small enough`"), "{text}");
    folder.run(&["convert", "p.jsonl", "-o", "p.csv"]);
    assert!(std::fs::read_to_string(folder.path("p.csv")).unwrap().contains("infeasible"));
    assert_eq!(folder.run(&["report", "p.jsonl", "-o", "p.html"]).code, Some(0));
    assert!(std::fs::read_to_string(folder.path("p.html")).unwrap().contains("small enough"));
}

#[test]
fn a_run_with_a_limit_resumes_as_it_would_have_gone_on() {
    let gaussian = TRADE.replace("exhaustive", "gaussian_process");
    let whole = trade(&gaussian, &["--stop", "evaluations 14"]).0;
    let (parts, _) = trade(&gaussian, &["--stop", "evaluations 8"]);
    let more = ["--resume", "--stop", "evaluations 14", "--json"];
    parts.run(&[&["tune", "p.toml", "--device", "synthetic:X + 1"][..], &more].concat());
    let asked = |folder: &Folder| {
        entries(&folder.path("p.jsonl")).iter().map(|line| line["config"]["X"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(asked(&whole), asked(&parts));
    assert_eq!(asked(&parts).len(), 14);
    parts.write("p.toml", &gaussian.replace("size <= 20", "size <= 30"));
    let other = parts.run(&["tune", "p.toml", "--device", "synthetic:X + 1", "--resume"]);
    other.refused(&["problem"]);
}

#[test]
fn a_limit_that_nothing_keeps_leaves_no_winner() {
    let (_, ran) = trade(&TRADE.replace("size <= 20", "size <= 1 and time > 0"), &[]);
    let outcome = ran.json();
    assert_eq!((ran.code, &outcome["best"]), (Some(1), &serde_json::Value::Null), "{ran:#?}");
    assert_eq!((&outcome["failed"]["infeasible"], &outcome["evaluations"]), (&20.into(), &20.into()));
}

#[test]
fn a_wrong_limit_is_refused_before_the_search() {
    let refused = |condition: &str, parts: &[&str]| {
        let (folder, ran) = trade(&TRADE.replace("size <= 20", condition), &[]);
        ran.refused(parts);
        assert!(!folder.path("p.jsonl").exists());
    };
    refused("sise <= 20", &["p.toml:9", "limit `small enough` uses `sise`", "did you mean `size`?"]);
    refused("joules <= 20", &["p.toml:9", "the limit `small enough` needs `joules`, which nothing yields"]);
    refused("error <= 1e-3", &["`error`, which nothing yields", "[verify]"]);
    refused("size", &["must be a condition", "size <= 10"]);
    refused("size <=", &["expression ends"]);
}

#[test]
fn an_error_can_be_limited() {
    let folder = folder(&format!("{VERIFY}\n[limits]\nexact = \"error <= 0.02\"\n"));
    let outcome = tune(&folder, &[]).json();
    assert_eq!((&outcome["failed"]["infeasible"], &outcome["failed"]["correctness"]), (&2.into(), &0.into()));
    assert!(outcome["best"]["config"]["ROUND"].as_u64().unwrap() >= 6, "{outcome:#}");
    assert!(outcome["ties"].as_array().unwrap().iter().all(|tie| tie["config"]["ROUND"].as_u64().unwrap() >= 6));
}

#[test]
fn several_objectives_have_a_front_that_every_command_shows() {
    let text = TRADE.replace("[limits]\n\"small enough\" = \"size <= 20\"\n", "");
    trade(&text, &["--objective", "time,size", "--objective", "time"]).1.refused(&["not an objective", "two or three"]);
    let (folder, ran) = trade(&text, &["--objective", "time", "--objective", "size"]);
    let outcome = ran.json();
    let parts = outcome["objective"]["parts"].as_array().unwrap();
    let names = parts.iter().map(|part| part["name"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!((ran.code, names), (Some(0), vec!["time", "size"]), "{ran:#?}");
    let front = outcome["front"].as_array().unwrap();
    let of = |member: &serde_json::Value| member["config"]["X"].as_u64().unwrap();
    assert_eq!(front.iter().map(of).collect::<Vec<_>>(), (1..=20).collect::<Vec<_>>(), "none dominates another");
    assert_eq!((&front[0]["objectives"]["time_ms"], &front[0]["objectives"]["size"]), (&2.0.into(), &100.0.into()));
    let top = folder.run(&["top", "p.jsonl", "--json"]).json();
    assert_eq!(top["front"], outcome["front"], "one truth");
    let text = folder.run(&["top", "p.jsonl"]).stdout;
    assert!(text.contains("objective: minimise time, minimise size") && text.contains("the front"), "{text}");
    assert_eq!(folder.run(&["report", "p.jsonl", "-o", "p.html"]).code, Some(0));
    let page = std::fs::read_to_string(folder.path("p.html")).unwrap();
    assert!(page.contains("The front") && page.matches("<circle").count() >= 20, "a dot of each");
}

#[test]
fn a_front_of_a_problem_file_keeps_the_limits_and_resumes() {
    let text = TRADE.replace("strategy = \"exhaustive\"", "objective = [\"time\", \"size\"]");
    let (folder, ran) = trade(&text, &["--stop", "evaluations 12"]);
    let front = ran.json()["front"].clone();
    assert!(front.as_array().unwrap().iter().all(|member| member["objectives"]["size"].as_f64().unwrap() <= 20.0));
    let resumed = folder.run(&["tune", "p.toml", "--device", "synthetic:X + 1", "--json", "--resume"]).json();
    assert_eq!(resumed["objective"]["parts"][1]["name"], "size");
    assert_eq!(resumed["front"].as_array().unwrap().len(), 16, "{resumed:#}");
}

/// A command that prints the less, the longer it takes. A launch may take little more than a quick one.
const SLEEPS: &str = r#"
[kernel]
command = ["sh", "-c", "sleep 0.{T}; echo misses $((1000 - 1{T}))"]
values = { misses = "misses ([0-9]+)" }
warmup = false

[parameters]
T = ["00", "01", "25"]

[measure]
launch_limit = 0.02
min_samples = 1
max_samples = 1
final = false
drift = false

[tuning]
strategy = "exhaustive"
"#;

#[test]
fn a_quick_configuration_that_breaks_a_limit_does_not_cut_a_slow_one_that_keeps_it() {
    let limits = ["misses <= 890", "misses < 899", "misses * 2 < 1790"];
    for limit in limits {
        let folder = Folder::with(&[("p.toml", &format!("{SLEEPS}\n[limits]\n\"few\" = \"{limit}\"\n"))]);
        let outcome = tune(&folder, &[]).json();
        assert_eq!(outcome["best"]["config"]["T"], "25", "{limit}: {outcome:#}");
        assert_eq!((&outcome["failed"]["timeout"], outcome.get("cut")), (&0.into(), None), "{limit}: {outcome:#}");
    }
}

#[test]
fn a_quick_configuration_cuts_nothing_in_a_search_for_another_number() {
    let folder = Folder::with(&[("p.toml", SLEEPS)]);
    for objective in ["misses", "minimise misses", "maximise misses", "time,misses"] {
        let outcome = tune(&folder, &["--objective", objective]).json();
        assert_eq!((&outcome["failed"]["timeout"], outcome.get("cut")), (&0.into(), None), "{objective}: {outcome:#}");
        let is_least = objective.starts_with("mini") || objective == "misses";
        assert!(!is_least || outcome["best"]["config"]["T"] == "25", "{objective}: {outcome:#}");
        // The slowest has the fewest misses, so that it is on the front, however the others were timed.
        let is_slowest = |member: &Json| member["config"]["T"] == "25";
        let has_slowest = |front: &Json| front.as_array().unwrap().iter().any(is_slowest);
        assert!(objective != "time,misses" || has_slowest(&outcome["front"]), "{outcome:#}");
    }
}

#[test]
fn what_a_quick_configuration_cuts_is_named_and_no_failure() {
    let command = SLEEPS.lines().find(|line| line.starts_with("command")).unwrap();
    let values = SLEEPS.lines().find(|line| line.starts_with("values")).unwrap();
    let problem = SLEEPS.replace(command, "command = [\"sleep\", \"{T}\"]").replace(values, "");
    let folder = Folder::with(&[("p.toml", &problem.replace("\"01\", \"25\"", "\"99\", \"98\""))]);
    let text = folder.run(&["tune", "p.toml", "--quiet"]).stdout;
    assert!(text.contains("      cut  2 configurations were cut at ") && text.contains(" times the best\n"), "{text}");
    assert!(!text.contains("timeout"), "{text}");
    let lines = entries(&folder.path("p.jsonl"));
    let cut = |line: &serde_json::Value| line["cut"]["limit_ms"].as_f64().is_some_and(|limit| limit >= 20.0);
    assert_eq!(lines.iter().filter(|line| line["status"] == "timeout" && cut(line)).count(), 2, "{lines:#?}");
    let top = folder.run(&["top", "p.jsonl"]).stdout;
    assert!(top.contains("\n2 configurations were cut at "), "{top}");
    assert_eq!(folder.run(&["top", "p.jsonl", "--json"]).json()["cut"]["count"], 2);
    let explained = folder.run(&["explain", "p.jsonl"]).stdout;
    assert!(explained.contains("2 configurations were cut at ") && !explained.contains("timeout"), "{explained}");
    let outcome = folder.run(&["tune", "p.toml", "--resume", "--json", "--quiet"]).json();
    assert_eq!((&outcome["cut"]["count"], &outcome["best"]["config"]["T"]), (&2.into(), &"00".into()), "{outcome:#}");
    assert_eq!(outcome["failed"]["timeout"], outcome["cut"]["count"], "{outcome:#}");
    assert_eq!(folder.run(&["report", "p.jsonl", "-o", "page.html"]).code, Some(0));
    let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
    assert!(page.contains("<td>cut</td><td class=\"number\">2</td>") && !page.contains("<td>timeout</td>"), "{page}");
}
