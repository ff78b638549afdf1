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

const C_PROBLEM: &str = r#"
[kernel]
file = "k.c"
function = "f"

[parameters]
TILE = [16, 8, 4]
STEP = [1, 2]

[[arguments]]
name = "out"
type = "i32"
shape = [4]
access = "out"
"#;

fn check(kernel: &str) -> (Json, Ran) {
    let folder = Folder::with(&[("p.toml", C_PROBLEM), ("k.c", kernel), ("tile.h", "#define TILE 32\n")]);
    let ran = folder.run(&["check", "p.toml", "--json"]);
    (ran.json(), ran)
}

/// Returns the texts of the messages of this level.
fn texts(report: &Json, level: &str) -> Vec<String> {
    let messages = report["messages"].as_array().unwrap().iter();
    messages
        .filter(|message| message["level"] == level)
        .map(|message| message["text"].as_str().unwrap().to_string())
        .collect()
}

#[test]
fn check_refuses_a_kernel_that_does_not_compile_with_the_message_of_the_compiler() {
    let (report, ran) = check("void f(int *out) { out[0] = TILE * STEP * undeclared; }");
    assert_eq!((ran.code, &report["ok"]), (Some(2), &false.into()), "{ran:#?}");
    let errors = texts(&report, "error");
    assert!(errors.iter().any(|text| text.contains("undeclared") && text.contains("TILE=16,STEP=1")), "{errors:?}");
}

#[test]
fn check_warns_of_a_default_that_does_not_compile_if_others_do() {
    let (report, ran) = check("#if TILE == 16\n#error too large\n#endif\nvoid f(int *out) { out[0] = TILE * STEP; }");
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let warnings = texts(&report, "warning");
    assert!(warnings.iter().any(|text| text.contains("the default configuration does not compile")), "{warnings:?}");
}

#[test]
fn check_finds_parameters_without_effect_and_trusts_guards() {
    let (report, _) = check("#define TILE 16\nvoid f(int *out) { out[0] = TILE; }");
    let warnings = texts(&report, "warning").join("\n");
    assert!(warnings.contains("`TILE` has no effect: ") && warnings.contains("k.c:1 defines it"), "{warnings}");
    assert!(warnings.contains("nothing depends on parameter `STEP`"), "{warnings}");
    let (report, _) = check("#include \"tile.h\"\nvoid f(int *out) { out[0] = TILE * STEP; }");
    assert!(texts(&report, "warning").join("\n").contains("tile.h:1 defines it"), "{report:#}");
    let (report, _) = check("#ifndef TILE\n#define TILE 16\n#endif\nvoid f(int *out) { out[0] = TILE * STEP; }");
    assert!(!texts(&report, "warning").join("\n").contains("parameter"), "{report:#}");
}

#[test]
fn check_explains_a_macro_that_collides_with_a_declaration() {
    let problem = C_PROBLEM.replace("k.c", "k.cpp");
    let kernel =
        "template <int TILE> int g() { return TILE; }\nextern \"C\" void f(int *out) { out[0] = g<STEP>(); }\n";
    let folder = Folder::with(&[("p.toml", &problem), ("k.cpp", kernel)]);
    let report = folder.run(&["check", "p.toml", "--json"]).json();
    assert_eq!(report["ok"], false, "{report:#}");
    let warnings = texts(&report, "warning").join("\n");
    assert!(warnings.contains("`TILE` is a macro") && warnings.contains("k.cpp:1 declares"), "{warnings}");
}

/// Kernels in which every parameter matters, some in few configurations alone: `check` doubts none.
#[test]
fn check_never_doubts_a_parameter_that_a_source_uses() {
    let long: String = (0..6000).map(|at| format!("extern int variable_of_a_long_header_{at:06};\n")).collect();
    let kernels = [
        "#include \"long.h\"\nvoid f(int *out) { out[0] = TILE * STEP; }",
        "void f(int *out) {\n#if TILE == 8 && STEP == 2\nout[0] = 1;\n#endif\n}",
        "#if STEP == 2\n#define TILE 16\n#endif\nvoid f(int *out) { out[0] = TILE; }",
        "#if STEP == 2\nint a[TILE];\n#endif\n#undef TILE\n#define TILE 16\nvoid f(int *out) { out[0] = TILE; }",
        "#include <assert.h>\nvoid f(int *out) { if (out[0] == '\"') out[1] = STEP; assert(TILE); }",
        "#include <used.h>\nvoid f(int *out) { out[0] = 1; }",
    ];
    let problem = C_PROBLEM.replace("[parameters]", "include = [\".\"]\n\n[parameters]");
    let folder = Folder::with(&[("p.toml", &problem), ("long.h", &long)]);
    folder.write("used.h", "#if TILE == 4 && STEP == 2\n#error no\n#endif\n");
    for kernel in kernels {
        folder.write("k.c", kernel);
        let ran = folder.run(&["check", "p.toml", "--json"]);
        let warnings = texts(&ran.json(), "warning").join("\n");
        assert!(ran.code == Some(0) && !warnings.contains("parameter `"), "{kernel}: {warnings}");
    }
    folder.write("k.c", "void f(int *out) { out[0] = STEP; } // TILE");
    let single = problem.replace("TILE = [16, 8, 4]", "TILE = [16]");
    folder.write("p.toml", &single);
    assert!(!texts(&folder.run(&["check", "p.toml", "--json"]).json(), "warning").join("").contains("`TILE`"));
    let constrained = problem.clone() + "[constraints]\nfits = \"TILE <= 8\"\n";
    for (problem, wanted) in
        [(&problem, "nothing depends on parameter `TILE`"), (&constrained, "besides constraints, ")]
    {
        folder.write("p.toml", problem);
        let warnings = texts(&folder.run(&["check", "p.toml", "--json"]).json(), "warning").join("\n");
        assert!(warnings.contains(wanted), "{warnings}");
    }
    folder.write("p.toml", &problem.replace("[kernel]", "[problem]\nflops = \"TILE\"\n[kernel]"));
    let warnings = texts(&folder.run(&["check", "p.toml", "--json"]).json(), "warning").join("\n");
    assert!(!warnings.contains("parameter `TILE`"), "{warnings}");
}

/// Returns the warnings about a problem whose parameter is called `name`, and its errors.
fn collision(name: &str, file: &str, kernel: &str) -> (String, String) {
    let problem = C_PROBLEM.replace("k.c", file).replace("TILE", name);
    let folder = Folder::with(&[("p.toml", &problem), (file, kernel)]);
    let report = folder.run(&["check", "p.toml", "--json"]).json();
    (texts(&report, "warning").join("\n"), texts(&report, "error").join("\n"))
}

#[test]
fn check_names_a_parameter_that_collides_with_the_language_a_header_or_the_kernel() {
    let vector =
        "#include <vector>\nextern \"C\" void f(int *out) { std::vector<int> v(3); out[0] = STEP + v.size(); }";
    let fails = [
        ("int", "k.c", "void f(int *out) { out[0] = STEP; }", "a keyword of C"),
        ("float", "k.c", "void f(int *out) { float x = STEP; out[0] = x; }", "a keyword of C"),
        ("class", "k.cpp", "class A { int x; };\nextern \"C\" void f(int *out) { out[0] = STEP; }", "a keyword of C++"),
        ("size", "k.cpp", vector, "uses the name"),
        ("begin", "k.cpp", vector, "uses the name"),
        ("f", "k.c", "void f(int *out) { out[0] = STEP; }", "k.c:1 declares"),
        ("data", "k.c", "\nvoid f(int *data) { data[0] = STEP; }", "k.c:2 declares"),
    ];
    for (name, file, kernel, wanted) in fails {
        let (warnings, errors) = collision(name, file, kernel);
        let is_named = warnings.contains(&format!("`{name}` is ")) && warnings.contains(wanted);
        assert!(is_named, "{name}: {warnings}\n{errors}");
        assert!(errors.contains("compiles") && errors.lines().count() == 1, "{name}: {errors}");
    }
    let (warnings, errors) = collision("size", "k.cpp", "void f(int *out) { out[0] = size * STEP * typo; }");
    assert!(!warnings.contains("`size`") && errors.contains("typo"), "{warnings}\n{errors}");
}

#[test]
fn check_names_a_parameter_whose_macro_the_compiler_or_a_header_defines() {
    let redefined = [
        ("linux", "void f(int *out) { out[0] = STEP * linux; }", "the compiler defines the macro `linux` itself"),
        ("unix", "void f(int *out) { out[0] = STEP * unix; }", "the compiler defines the macro `unix` itself"),
        ("M_PI", "#include <math.h>\nvoid f(int *out) { out[0] = STEP * (int)M_PI; }", "math.h:"),
        ("EOF", "#include <stdio.h>\nvoid f(int *out) { out[0] = STEP * EOF; }", "stdio.h:"),
        ("INT_MAX", "#include <limits.h>\nvoid f(int *out) { out[0] = STEP * INT_MAX; }", "limits.h:"),
    ];
    for (name, kernel, wanted) in redefined {
        let (warnings, errors) = collision(name, "k.c", kernel);
        assert!(warnings.contains(wanted) && errors.is_empty(), "{name}: {warnings}\n{errors}");
    }
    // Nothing but the parameter defines them here, or the header asks first.
    let free = [
        ("M_PI", "void f(int *out) { out[0] = STEP * M_PI; }"),
        ("NDEBUG", "#include <assert.h>\nvoid f(int *out) { assert(out); out[0] = STEP; }"),
        ("size", "#include <stdlib.h>\nvoid f(int *out) { out[0] = STEP * size; }"),
        ("class", "void f(int *out) { out[0] = STEP * class; }"),
    ];
    for (name, kernel) in free {
        let (warnings, errors) = collision(name, "k.c", kernel);
        assert!(!warnings.contains(&format!("`{name}`")) && errors.is_empty(), "{name}: {warnings}\n{errors}");
    }
}

#[test]
fn a_failure_to_compile_names_the_parameter_that_is_called_like_a_keyword() {
    let kernel = "void f(int *out) { out[0] = STEP; }";
    let folder = Folder::with(&[("p.toml", &C_PROBLEM.replace("TILE", "int")), ("k.c", kernel)]);
    let ran = folder.run(&["run", "p.toml"]);
    let said = ran.stdout.clone() + &ran.stderr;
    assert!(said.contains("`int` is a keyword of C, and -Dint=16 replaces it"), "{ran:#?}");
}

#[test]
fn check_refuses_what_tune_refuses() {
    let folder = Folder::with(&[("p.toml", &C_PROBLEM.replace("\"f\"", "\"absent\"")), ("k.c", "void f(int *out) {}")]);
    for command in ["check", "tune"] {
        assert_eq!(folder.run(&[command, "p.toml"]).code, Some(2), "{command}");
    }
    let folder = Folder::with(&[("p.toml", "[parameters]\nX = [1, 2]\n")]);
    for command in ["check", "tune"] {
        folder.run(&[command, "p.toml"]).refused(&["no kernel"]);
    }
    assert_eq!(folder.run(&["check", "p.toml", "--device", "synthetic:X"]).code, Some(0));
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
