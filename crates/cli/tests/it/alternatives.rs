//! The search chooses among kernels: by `[[alternative]]`, and by functions whose names depend on
//! parameters.

use crate::common;

use common::{Folder, TWICE, entries, has_opencl, repository, twice_problem};
use serde_json::Value as Json;

/// Two ways to compute twice the buffer. The second is fast and, with `UNROLL = 2`, wrong.
const WAYS: &str = r#"
[[alternative]]
name = "slow"
file = "slow.c"
function = "slow"
parameters = { TIMES = [20, 40] }

[[alternative]]
name = "fast"
file = "fast.c"
function = "fast"
parameters = { UNROLL = [2, 4] }
"#;

const SLOW: &str = "void slow(const float *a, float *b) {\n\
                    for (volatile int t = 0; t < TIMES; ++t) for (int i = 0; i < N; ++i) b[i] = 2 * a[i];\n}\n";

/// A kernel that is right with `UNROLL` values other than `wrong`.
fn fast(wrong: &str) -> String {
    format!("void fast(const float *a, float *b) {{ for (int i = 0; i < N; ++i) b[i] = ({wrong}) ? 0 : 2 * a[i]; }}\n")
}

fn ways(fast: &str) -> Folder {
    let problem = twice_problem(WAYS, "");
    Folder::with(&[("ways.toml", &problem), ("slow.c", SLOW), ("fast.c", fast), ("reference.c", TWICE)])
}

fn example(name: &str) -> String {
    repository().join("examples/alternatives").join(name).display().to_string()
}

#[test]
fn the_space_is_the_sum_of_the_alternatives_and_each_runs_its_own_kernel() {
    let folder = ways(&fast("UNROLL == 0"));
    let checked = folder.run(&["check", "ways.toml", "--json"]).json();
    assert_eq!((&checked["ok"], &checked["space"]["size"]), (&true.into(), &"4".into()), "{checked:#}");
    assert_eq!(checked["messages"].as_array().map(Vec::len), Some(0), "{checked:#}");
    let ran = folder.run(&["tune", "ways.toml", "--json", "--quiet"]);
    assert_eq!(ran.json()["best"]["config"]["alternative"], "fast", "{ran:#?}");
    let configs: Vec<Json> = entries(&folder.path("ways.jsonl")).iter().map(|entry| entry["config"].clone()).collect();
    let of = |name: &str, parameter: &str| {
        let chosen = configs.iter().filter(|config| config["alternative"] == name);
        let mut values: Vec<i64> = chosen.map(|config| config[parameter].as_i64().unwrap()).collect();
        values.sort_unstable();
        values.dedup();
        values
    };
    assert_eq!((of("slow", "TIMES"), of("slow", "UNROLL")), (vec![20, 40], vec![2]), "{configs:?}");
    assert_eq!((of("fast", "TIMES"), of("fast", "UNROLL")), (vec![20], vec![2, 4]), "{configs:?}");
    for (config, other) in [("alternative=slow,TIMES=40", "fast.c"), ("alternative=fast,UNROLL=4", "slow.c")] {
        let shown = folder.run(&["run", "ways.toml", "--config", config, "--show-source"]);
        assert_eq!(shown.code, Some(0), "{shown:#?}");
        assert!(!shown.stdout.contains(other), "{shown:#?}");
    }
    let both = folder.run(&["run", "ways.toml", "--config", "alternative=fast,TIMES=40"]);
    both.refused(&["only slow varies TIMES"]);
}

#[test]
fn a_wrong_alternative_does_not_win_however_fast_it_is() {
    let folder = ways(&fast("UNROLL"));
    let outcome = folder.run(&["tune", "ways.toml", "--json", "--quiet"]).json();
    assert_eq!(outcome["best"]["config"]["alternative"], "slow", "{outcome:#}");
    assert_eq!(outcome["failed"]["correctness"], 2, "{outcome:#}");
    let page = folder.path("page.html");
    let reported = folder.run(&["report", "ways.jsonl", "-o", page.to_str().unwrap()]);
    assert_eq!(reported.code, Some(0), "{reported:#?}");
    let exported = folder.run(&["export", "ways.jsonl", "--as", "wisdom"]);
    assert_eq!(exported.code, Some(0), "{exported:#?}");
}

#[test]
fn a_fault_of_any_alternative_is_found_before_the_search() {
    let folder = ways("void quick(const float *a, float *b) {}\n");
    for command in [&["tune", "ways.toml"][..], &["check", "ways.toml"]] {
        let ran = folder.run(command);
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains("no function `fast`"), "{ran:#?}");
    }
    let checked = folder.run(&["check", "ways.toml", "--json"]).json();
    let text = std::fs::read_to_string(folder.path("ways.toml")).unwrap();
    let line = text[..text.find("\"fast\"\nparameters").unwrap()].lines().count();
    assert_eq!(checked["messages"][0]["line"], line, "{checked:#}");
    assert!(checked["messages"][0]["text"].as_str().unwrap().starts_with("alternative `fast`: "), "{checked:#}");
    let folder = ways("void fast(const float *a, float *b) { oops; }\n");
    let checked = folder.run(&["check", "ways.toml", "--json"]).json();
    assert_eq!(checked["messages"][0]["line"], line, "{checked:#}");
    let texts = checked["messages"].to_string();
    assert!(texts.contains("an alternative does not compile") && texts.contains("alternative=fast"), "{checked:#}");
}

#[test]
fn an_alternative_may_be_a_sequence_of_kernels() {
    let kernel = "file = \"k.c\"\noptions = [\"-DALL=2\"]\n\
                  [[alternative]]\nname = \"single\"\nfunction = \"single\"\n\
                  [[alternative]]\nname = \"steps\"\nparameters = { BLOCK = [10, 100] }\n\
                  [[alternative.kernel]]\nfunction = \"copied\"\n\
                  [[alternative.kernel]]\nfunction = \"doubled\"\noptions = [\"-DOWN=1\"]\n";
    let source = "void single(const float *a, float *b) { for (int i = 0; i < N; ++i) b[i] = ALL * a[i]; }\n\
                  void copied(const float *a, float *b) {\n\
                  for (int i = 0; i < N; i += BLOCK) for (int j = i; j < i + BLOCK; ++j) b[j] = a[j];\n}\n\
                  #ifdef OWN\nvoid doubled(const float *a, float *b) {\n\
                  for (int i = 0; i < N; ++i) b[i] *= ALL * OWN;\n}\n#endif\n";
    let problem = twice_problem(kernel, "");
    let folder = Folder::with(&[("p.toml", &problem), ("k.c", source), ("reference.c", TWICE)]);
    let ran = folder.run(&["tune", "p.toml", "--json", "--quiet"]);
    assert_eq!((ran.code, &ran.json()["failed"]["correctness"]), (Some(0), &0.into()), "{ran:#?}");
    let entries = entries(&folder.path("p.jsonl"));
    assert_eq!(entries.len(), 3, "{entries:#?}");
    assert!(entries.iter().all(|entry| entry["status"] == "correct"), "{entries:#?}");
}

#[test]
fn the_example_in_c_tunes_and_is_verified() {
    let folder = Folder::new();
    let (path, out) = (example("transpose.toml"), folder.path("out.jsonl"));
    let checked = folder.run(&["check", &path, "--json"]).json();
    assert_eq!((&checked["ok"], &checked["space"]["size"]), (&true.into(), &"62".into()), "{checked:#}");
    assert_eq!(checked["messages"].as_array().map(Vec::len), Some(0), "{checked:#}");
    let more = ["--size", "N=60", "--strategy", "random", "--stop", "evaluations 12", "--json", "--quiet"];
    let ran = folder.run(&[&["tune", &path, "--out", out.to_str().unwrap()], &more[..]].concat());
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let entries = entries(&out);
    assert!(entries.iter().all(|entry| entry["status"] == "correct"), "{entries:#?}");
    assert!(["rows", "tiles"].iter().all(|way| entries.iter().any(|entry| entry["config"]["WAY"] == *way)));
}

#[test]
fn the_example_for_opencl_tunes_and_is_verified() {
    let folder = Folder::new();
    if !has_opencl() {
        return;
    }
    let (path, out) = (example("sum-opencl.toml"), folder.path("out.jsonl"));
    let checked = folder.run(&["check", &path, "--json"]).json();
    assert_eq!((&checked["ok"], &checked["space"]["size"]), (&true.into(), &"21".into()), "{checked:#}");
    let more = ["--strategy", "random", "--stop", "evaluations 10", "--json", "--quiet"];
    let ran = folder.run(&[&["tune", &path, "--out", out.to_str().unwrap()], &more[..]].concat());
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let entries = entries(&out);
    assert!(entries.iter().all(|entry| entry["status"] == "correct"), "{entries:#?}");
    for way in ["by_items", "by_groups"] {
        assert!(entries.iter().any(|entry| entry["config"]["alternative"] == way), "{entries:#?}");
    }
}

/// Returns a folder with a problem whose kernel calls `function`, with scalars that depend on the
/// parameter.
fn named(function: &str, file: &str, source: &str, work: &str) -> Folder {
    let kernel = format!("file = \"{file}\"\nfunction = \"{function}\"\n{work}");
    let problem = twice_problem(&kernel, "VW = [1, 2, 4]")
        + "[[arguments]]\nname = \"count\"\ntype = \"i32\"\nvalue = \"N // VW\"\n";
    // Like the kernels, the reference takes the scalar: it runs once for each of its values.
    let reference = "void twice(const float *a, float *b, int count)\n\
                     { for (int i = 0; i < N; ++i) b[i] = i < count ? 2 * a[i] : 0; }\n";
    Folder::with(&[("named.toml", &problem), (file, source), ("reference.c", reference)])
}

fn statuses(folder: &Folder) -> Vec<(i64, String, String)> {
    let of = |entry: &Json| {
        let text = |key: &str| entry[key].as_str().unwrap_or_default().to_string();
        (entry["config"]["VW"].as_i64().unwrap(), text("status"), text("message"))
    };
    let mut found: Vec<_> = entries(&folder.path("named.jsonl")).iter().map(of).collect();
    found.sort();
    found.dedup_by_key(|(width, ..)| *width);
    found
}

const NAMED_C: &str = "static void all(const float *a, float *b, int count)\n\
                       { for (int i = 0; i < N; ++i) b[i] = i < count ? 2 * a[i] : 0; }\n\
                       void twice_1(const float *a, float *b, int count) { all(a, b, count); }\n\
                       void twice_2(const float *a, float *b, int count) { all(a, b, count); }\n";

#[test]
fn the_function_may_depend_on_a_parameter_and_a_missing_one_is_a_failure_of_its_configurations() {
    let folder = named("twice_{VW}", "named.c", NAMED_C, "");
    let checked = folder.run(&["check", "named.toml", "--json"]).json();
    assert_eq!((&checked["ok"], checked["messages"].as_array().map(Vec::len)), (&true.into(), Some(0)), "{checked:#}");
    let ran = folder.run(&["tune", "named.toml", "--json", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let found = statuses(&folder);
    let status: Vec<&str> = found.iter().map(|(_, status, _)| status.as_str()).collect();
    assert_eq!(status, ["correct", "correct", "compile"], "{found:#?}");
    assert!(found[2].2.contains("twice_4"), "{found:#?}");
    let unknown = named("twice_{WV}", "named.c", NAMED_C, "").run(&["check", "named.toml"]);
    assert!(format!("{unknown:?}").contains("neither a parameter nor a size"), "{unknown:#?}");
    let unbalanced = named("twice_{VW", "named.c", NAMED_C, "").run(&["check", "named.toml"]);
    assert!(format!("{unbalanced:?}").contains("without its partner"), "{unbalanced:#?}");
}

#[test]
fn the_function_of_an_opencl_kernel_may_depend_on_a_parameter() {
    if !has_opencl() {
        return;
    }
    let kernel = |width: i32| {
        format!(
            "kernel void twice_{width}(global const float *a, global float *b, int count) {{\n\
             int i = get_global_id(0);\nb[i] = i < count ? 2 * a[i] : 0;\n}}\n"
        )
    };
    let folder = named("twice_{VW}", "named.cl", &[1, 2, 4].map(kernel).concat(), "global = [\"N\"]");
    let ran = folder.run(&["tune", "named.toml", "--json", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(statuses(&folder).iter().all(|(_, status, _)| status == "correct"), "{:#?}", statuses(&folder));
    assert_eq!(statuses(&folder).len(), 3);
}
