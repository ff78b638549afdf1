//! Honest measurements from the command line: the leaders of a C kernel are re-measured.

use crate::common;

use common::{Folder, TWICE, again, entries, twice_problem};
use serde_json::Value as Json;

/// `WORK` decides the time; `SAME` has no effect.
const KERNEL: &str = "void spin(int *out) {
    volatile int left = WORK;
    while (left > 0) left = left - 1;
    out[0] = 7;
}
";

const PROBLEM: &str = r#"
[kernel]
file = "spin.c"
function = "spin"

[parameters]
WORK = [20000, 4000000]
SAME = [0, 1]

[[arguments]]
name = "out"
type = "i32"
shape = [1]
access = "out"

[tuning]
strategy = "exhaustive"
"#;

fn folder() -> Folder {
    Folder::with(&[("p.toml", PROBLEM), ("spin.c", KERNEL)])
}

#[test]
fn the_winner_comes_with_its_interval_its_ties_and_what_it_took_at_first() {
    let folder = folder();
    let ran = folder.run(&["tune", "p.toml", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let outcome = ran.json();
    let best = &outcome["best"];
    assert_eq!(best["config"]["WORK"], 20000);
    let number = |value: &Json| value.as_f64().unwrap();
    let (low, high) = (number(&best["ci95_ms"][0]), number(&best["ci95_ms"][1]));
    assert!(low <= number(&best["time_ms"]) && number(&best["time_ms"]) <= high);
    assert!(number(&best["first_time_ms"]) > 0.0);
    assert!(best["final_times_ms"].as_array().unwrap().len() >= 6);
    assert!(outcome["finalists"].as_u64().unwrap() >= 2, "{outcome:#}");
    assert!(outcome["ties"].as_array().unwrap().iter().all(|tie| tie["config"]["WORK"] == 20000));
    assert!(outcome.get("drift").is_some() && outcome["failed_again"] == serde_json::json!([]), "{outcome:#}");
    assert!(ran.stderr.contains("leaders are measured again"), "{ran:#?}");
    let parts: f64 = outcome["seconds"].as_object().unwrap().values().filter_map(Json::as_f64).sum();
    assert!((parts - number(&outcome["wall_seconds"])).abs() < 1e-6, "the seconds add up to the wall time");

    let journal = folder.path("p.jsonl");
    assert_eq!(entries(&journal).len(), 4, "the final counts as no evaluation");
    for line in again(&journal) {
        let number = line["evaluation"].as_u64().unwrap() as usize;
        assert_eq!(entries(&journal)[number - 1]["config"], line["config"], "it refers to its evaluation");
    }

    let top = folder.run(&["top", "p.jsonl", "--json"]).json();
    assert_eq!(top["configs"][0]["config"], best["config"], "top names the same winner");
    assert_eq!(top["configs"][0]["time_ms"], best["time_ms"]);
    assert_eq!(top["configs"][0]["ci95_ms"], best["ci95_ms"]);
    assert_eq!((&top["evaluations"], &top["correct"]), (&4.into(), &4.into()));

    let resumed = folder.run(&["tune", "p.toml", "--json", "--quiet", "--resume"]);
    assert_eq!(resumed.json()["best"], *best, "a final that was held is not held again");
    assert_eq!(resumed.json()["finalists"], outcome["finalists"]);
}

#[test]
fn the_speed_up_is_that_of_one_run_the_default_configuration_takes_part_in_the_final() {
    let folder = folder();
    let problem = PROBLEM.replace("4000000", "400000") + "default = { WORK = 400000 }\n";
    folder.write("p.toml", &problem);
    let ran = folder.run(&["tune", "p.toml", "--quiet"]);
    assert!(
        ran.stdout.contains("times the default configuration (") && ran.stdout.contains(" in the final; 95 %: "),
        "{ran:#?}"
    );
    let outcome = folder.run(&["tune", "p.toml", "--json", "--quiet", "--resume"]).json();
    let (best, default) = (&outcome["best"], &outcome["default"]);
    let visits = |candidate: &Json| candidate["final_times_ms"].as_array().unwrap().len();
    assert_eq!((visits(default), default["config"]["WORK"].as_i64()), (visits(best), Some(400_000)), "{outcome:#}");
    assert_eq!(outcome["finalists"], 2, "it is no finalist: {outcome:#}");
    let top = folder.run(&["top", "p.jsonl", "--json"]).json();
    assert_eq!(top["default_ms"], default["time_ms"]);
    let is_other = |config: &&Json| config["config"] == serde_json::json!({ "WORK": 400_000, "SAME": 1 });
    let other = top["configs"].as_array().unwrap().iter().find(is_other).unwrap();
    let speedup = default["time_ms"].as_f64().unwrap() / other["time_ms"].as_f64().unwrap();
    assert_eq!(other["ratio"], speedup, "a run has one baseline, for what was in no final as well");

    folder.write("q.toml", &format!("{problem}\n[measure]\nfinal = false\n"));
    let ran = folder.run(&["tune", "q.toml", "--quiet"]);
    assert!(ran.stdout.contains(" in the search; 95 %: "), "{ran:#?}");
}

#[test]
fn a_configuration_200_times_slower_gets_three_samples_unless_racing_is_off() {
    let folder = folder();
    let samples = |name: &str| {
        let ran = folder.run(&["tune", name, "--json", "--quiet", "--out", &name.replace("toml", "jsonl")]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let lines = entries(&folder.path(&name.replace("toml", "jsonl")));
        let slow = lines.into_iter().filter(|line| line["config"]["WORK"] == 4_000_000);
        slow.map(|line| (line["status"].clone(), line["times_ms"].as_array().unwrap().len())).collect::<Vec<_>>()
    };
    assert_eq!(samples("p.toml"), [("correct".into(), 3), ("correct".into(), 3)]);
    folder.write("full.toml", &format!("{PROBLEM}\n[measure]\nracing = false\nfinal = false\ndrift = false\n"));
    assert!(samples("full.toml").iter().all(|(status, count)| status == "correct" && *count >= 7));
    assert!(again(&folder.path("full.jsonl")).is_empty(), "without a final nothing is measured again");
}

#[test]
fn a_wrong_key_or_value_of_measure_is_refused_with_its_place() {
    let folder = folder();
    folder.write("q.toml", &format!("{PROBLEM}\n[measure]\nracing_margins = 0.1\n"));
    folder.run(&["check", "q.toml"]).refused(&["racing_margins", "racing_margin"]);
    folder.write("q.toml", &format!("{PROBLEM}\n[measure]\nfinal_share = 7\nracing = 3\n"));
    folder.run(&["check", "q.toml"]).refused(&["between 0 and 1", "true or false"]);
}

/// A synthetic device, whose times are known.
const BOWL: &str = r#"
[problem]
sizes = { N = 1000 }
flops = "N * X"

[parameters]
X = { range = "1..=8" }

[metrics]
product = "time_ms * X"
loss = "X - 4"
huge = "1e307 * time_ms"
"#;

const TIMES: &str = "synthetic:X * X + 5";

fn bowl(objective: &[&str]) -> common::Ran {
    let folder = Folder::with(&[("bowl.toml", BOWL)]);
    let fixed = ["tune", "bowl.toml", "--device", TIMES, "--strategy", "exhaustive", "--quiet", "--json"];
    folder.run(&[&fixed, objective].concat())
}

#[test]
fn any_number_the_run_yields_can_be_the_objective() {
    let best = |objective: &[&str]| {
        let ran = bowl(objective);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let outcome = ran.json();
        let Json::Object(objective) = &outcome["objective"] else { panic!("{outcome:#}") };
        let text = ["direction", "name", "unit", "source"].map(|key| objective[key].as_str().unwrap_or("-"));
        (outcome["best"]["config"]["X"].clone(), outcome["best"]["value"].clone(), text.join(" "))
    };
    assert_eq!(best(&[]), (1.into(), 6.0.into(), "minimise time ms time".to_string()));
    // X / (X * X + 5) is largest at the root of 5.
    let (x, value, text) = best(&["--objective", "gflops"]);
    assert_eq!((x, text), (2.into(), "maximise gflops GFLOP/s metric".to_string()));
    assert!((value.as_f64().unwrap() - 2000.0 / 9.0 / 1e6).abs() < 1e-12);
    assert_eq!(best(&["--objective", "maximise product"]).0, 8);
    assert_eq!(
        best(&["--objective", "minimise product"]),
        (1.into(), 6.0.into(), "minimise product - metric".to_string())
    );
    let outcome = bowl(&["--objective", "minimise loss"]).json();
    assert_eq!((&outcome["best"]["config"]["X"], &outcome["best"]["value"]), (&1.into(), &(-3.0).into()));
    assert_eq!(outcome["unscored"], Json::Null);
    let outcome = bowl(&["--objective", "minimise huge"]).json();
    assert_eq!((&outcome["best"]["config"]["X"], &outcome["unscored"][0]), (&1.into(), &5.into()));
    assert!(outcome["unscored"][1].as_str().unwrap().contains("`huge` is inf"), "{outcome:#}");
}

#[test]
fn a_wrong_objective_is_refused_before_anything_is_measured() {
    bowl(&["--objective", "gflop"]).refused(&["did you mean `gflops`?"]);
    bowl(&["--objective", "gbytes"]).refused(&["does not declare its `bytes`"]);
    bowl(&["--objective", "make it good"]).refused(&["maximise NAME"]);
}

#[test]
fn a_cost_ends_a_search_whose_value_is_as_good_whether_minimised_or_maximised() {
    let ended = |objective: &str, stop: &str| {
        let outcome = bowl(&["--objective", objective, "--stop", stop]).json();
        (outcome["stop_reason"].as_str().unwrap().to_string(), outcome["best"]["value"].as_f64().unwrap())
    };
    let (reason, value) = ended("maximise product", "cost 20");
    assert!(reason == "cost 20" && (20.0..500.0).contains(&value), "{reason}: {value}");
    let (reason, value) = ended("minimise product", "cost 9");
    assert!(reason.starts_with("cost 9") && value <= 9.0, "{reason}: {value}");
}

#[test]
fn the_gain_of_a_front_with_a_zero_is_no_ratio() {
    let problem = "[parameters]\nA = [3, 2, 1]\n[metrics]\nmisses = \"A - 1\"\n";
    let folder = Folder::with(&[("p.toml", problem)]);
    let tune = ["tune", "p.toml", "--device", "synthetic:A", "--objective", "time,minimise misses", "--quiet"];
    let outcome = folder.run(&[&tune[..], &["--json"]].concat()).json();
    // The geometric mean of 3 ms and 2 misses is 2.449, and that of 1 ms and none is 0.
    let gain = &outcome["speedup"];
    let difference = gain["difference"].as_f64().unwrap_or_else(|| panic!("{outcome:#}"));
    assert!((difference - 6f64.sqrt()).abs() < 1e-9 && gain.get("ratio").is_none(), "{gain:#}");
    let top = folder.run(&["top", "p.jsonl"]).stdout;
    assert!(top.contains("by 2.44949  0          A=1"), "{top}");
}

#[test]
fn the_journal_knows_its_objective() {
    let folder = Folder::with(&[("bowl.toml", BOWL)]);
    let tune = |more: &[&str]| {
        let fixed = ["tune", "bowl.toml", "--device", TIMES, "--strategy", "exhaustive", "--quiet", "--json"];
        folder.run(&[&fixed, more].concat())
    };
    assert_eq!(tune(&["--objective", "gflops", "--stop", "evaluations 4"]).code, Some(0));
    let top = folder.run(&["top", "bowl.jsonl", "--json"]).json();
    assert_eq!((&top["objective"]["name"], &top["configs"][0]["config"]["X"]), (&"gflops".into(), &2.into()));
    assert!(folder.run(&["top", "bowl.jsonl"]).stdout.contains("objective: maximise gflops"));
    tune(&["--resume", "--objective", "time"]).refused(&["objective: maximise gflops"]);
    let resumed = tune(&["--resume"]).json();
    assert_eq!((&resumed["objective"]["name"], &resumed["evaluations"]), (&"gflops".into(), &8.into()));
}

#[test]
fn the_largest_values_of_a_policy_are_measured_and_larger_ones_refused() {
    let policy = |seconds: &str, factor: &str| {
        let keys = ["time_cap", "first_limit", "launch_limit", "compile_limit", "reference_limit", "final_cap"];
        let times: String = keys.iter().map(|key| format!("{key} = {seconds}\n")).collect();
        let kernel = "file = \"reference.c\"\nfunction = \"twice\"\nlanguage = \"c\"";
        let problem = twice_problem(kernel, "X = [1, 2]");
        let (rest, _) = problem.split_once("[measure]").unwrap();
        format!("{rest}[measure]\nlimit_factor = {factor}\nmax_samples = 9\n{times}")
    };
    let folder = Folder::with(&[("reference.c", TWICE), ("p.toml", &policy("1e9", "1000000"))]);
    let tune = |jobs: &str| folder.run(&["tune", "p.toml", "--quiet", "--stop", "evaluations 2", "--jobs", jobs]);
    let ran = tune("1");
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    tune("1000000000").refused(&["1000000000 builds at once are more than this machine carries", "--jobs"]);
    folder.write("p.toml", &policy("1e19", "1000001"));
    let ran = tune("1");
    ran.refused(&["`measure.time_cap` must be above 0 and at most 1000000000", "`measure.limit_factor` must be"]);
}

#[test]
fn an_output_that_nothing_compares_is_named_before_the_run_and_in_its_summary() {
    let kernel = "void f(const float *a, float *b, float *c) { for (int i = 0; i < N; i++) b[i] = 1, c[i] = X; }\n";
    let whole = twice_problem("file = \"f.c\"\nfunction = \"f\"\nlanguage = \"c\"", "X = [1, 2]");
    let further = "[[arguments]]\nname = \"c\"\ntype = \"f32\"\nshape = [\"N\"]\naccess = \"out\"\n\n[verify]";
    let reference = "reference = { file = \"reference.c\", function = \"twice\" }";
    let problem = whole.replace("[verify]", further).replace(reference, "expected = { b = \"ones\" }");
    let folder = Folder::with(&[("f.c", kernel), ("p.toml", &problem)]);
    std::fs::write(folder.path("ones"), 1_f32.to_le_bytes().repeat(1000)).unwrap();
    let text = "partly verified: nothing compares the output `c` with a correct result";
    let checked = folder.run(&["check", "p.toml"]);
    assert!(checked.code == Some(0) && checked.stderr.contains(text), "{checked:#?}");
    let ran = folder.run(&["tune", "p.toml", "--stop", "evaluations 2"]);
    assert!(ran.stderr.contains(text) && ran.stdout.contains(&format!("verify  {text}")), "{ran:#?}");
    folder.write("p.toml", &problem.replace("access = \"out\"\n\n[verify]", "\n[verify]"));
    let ran = folder.run(&["check", "p.toml"]);
    assert!(!ran.stderr.contains("partly verified"), "an input: {ran:#?}");
}
