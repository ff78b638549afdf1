//! A user's job: turn runs over several inputs into a file for an application.

use crate::common;

use common::{Folder, Ran};
use serde_json::Value as Json;

const PROBLEM: &str = "[problem]\nname = \"bowl\"\nsizes = { N = 2 }\n[parameters]\nX = { range = \"0..=20\" }\n\
    [tuning]\ndefault = { X = 20 }\nstrategy = \"exhaustive\"\n";

const DEVICE: &str = "synthetic:1 + abs(X - N)";

/// The inputs. The best X is N, so that the default is the best for the last input.
const INPUTS: [i64; 4] = [2, 3, 16, 20];

/// The values of `ROWS` depend on a size, those of `X` do not.
const ROWS: &str = "[problem]\nname = \"rows\"\nsizes = { N = 8 }\n[parameters]\nX = [1, 2]\n\
    ROWS = { divisors_of = \"N\" }\n[tuning]\ndefault = { X = 1, ROWS = 1 }\n";

/// Makes a run of one problem for each input.
fn tuned() -> Folder {
    let folder = Folder::with(&[("bowl.toml", PROBLEM)]);
    for n in INPUTS {
        let (size, out) = (format!("N={n}"), format!("{n}.jsonl"));
        let ran = folder.run(&["tune", "bowl.toml", "--device", DEVICE, "--size", &size, "--out", &out, "--quiet"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
    }
    folder
}

/// Exports all runs.
fn export(folder: &Folder, form: &str, more: &[&str]) -> Ran {
    let ran = folder.run(&[&["export", "2.jsonl", "3.jsonl", "16.jsonl", "20.jsonl", "--as", form], more].concat());
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    ran
}

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).unwrap()
}

/// Returns the fastest X of every N in the entries of a document.
fn fastest(entries: &[Json]) -> Vec<(f64, i64)> {
    let mut known: Vec<(f64, f64, i64)> = entries
        .iter()
        .map(|entry| {
            let number = |json: &Json| json.as_f64().unwrap_or_else(|| panic!("{entry:#}"));
            (number(&entry["input"]["N"]), number(&entry["time_ms"]), entry["config"]["X"].as_i64().unwrap())
        })
        .collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    known.dedup_by_key(|(n, ..)| *n);
    known.into_iter().map(|(n, _, x)| (n, x)).collect()
}

const EXPECTED: [(f64, i64); 4] = [(2.0, 2), (3.0, 3), (16.0, 16), (20.0, 20)];

#[test]
fn runs_of_another_objective_become_settings_by_it_and_no_wisdom() {
    // X = 10 is the fastest. The values differ in sign, so that they have no ratios.
    for (objective, best) in [("minimise score", 0), ("maximise score", 20), ("minimise size", 10)] {
        let metrics = "[metrics]\nscore = \"X - 7 + 0 * time_ms\"\nsize = \"abs(X - 10) - 30 + 0 * time_ms\"\n";
        let problem = format!("{PROBLEM}objective = \"{objective}\"\n{metrics}");
        let folder = Folder::with(&[("bowl.toml", &problem)]);
        for n in ["3", "9"] {
            let out = format!("{n}.jsonl");
            let size = format!("N={n}");
            let tune = ["tune", "bowl.toml", "--device", "synthetic:1 + abs(X - 10)", "--size", &size, "--out", &out];
            let ran = folder.run(&tune);
            assert_eq!(ran.code, Some(0), "{ran:#?}");
        }
        for (form, file, text) in [
            ("flags", "bowl.flags", format!("-DX={best}")),
            ("c-header", "bowl.h", format!("{best}")),
            ("env", "bowl.env", format!("X={best}")),
        ] {
            let ran = folder.run(&["export", "3.jsonl", "9.jsonl", "--as", form]);
            assert_eq!(ran.code, Some(0), "{ran:#?}");
            assert!(read(&folder, file).contains(&text), "{objective}: {}", read(&folder, file));
        }
        for form in ["wisdom", "json", "kernel-launcher"] {
            let ran = folder.run(&["export", "3.jsonl", "--as", form]);
            assert!(ran.code == Some(2) && ran.stderr.contains("holds times"), "{ran:#?}");
        }
        let ran = folder.run(&["export", "3.jsonl", "--as", "flags", "--guard"]);
        assert!(ran.code == Some(2) && ran.stderr.contains("the guard measures times"), "{ran:#?}");
        folder.run(&["tune", "bowl.toml", "--device", DEVICE, "--objective", "time", "--out", "time.jsonl"]);
        let ran = folder.run(&["export", "3.jsonl", "time.jsonl", "--as", "flags"]);
        assert!(ran.code == Some(2) && ran.stderr.contains("`time.jsonl` to minimise time"), "{ran:#?}");
    }
}

#[test]
fn a_header_tells_the_inputs_apart_and_says_what_it_costs() {
    let folder = tuned();
    let exported = export(&folder, "c-header", &["--json"]).json();
    let portfolio = &exported["portfolios"][0];
    let counts = ["inputs", "configurations"].map(|name| portfolio[name].as_u64());
    assert_eq!(counts, [Some(4), Some(4)], "{exported:#}");
    assert!(portfolio["regret_portfolio"].as_f64().unwrap() < 1e-9, "{exported:#}");
    assert!(portfolio["regret_tree"].as_f64().unwrap() < portfolio["regret_default"].as_f64().unwrap(), "{exported:#}");
    assert!(portfolio["regret_default"].as_f64().unwrap() > 1.0, "{exported:#}");
    assert!(portfolio["regret_held_out"].as_f64() < portfolio["regret_fixed"].as_f64(), "{exported:#}");
    assert!(portfolio["tried"].as_array().unwrap().len() > 3, "{exported:#}");
    assert_eq!(portfolio["covers"][0], serde_json::json!(["N", [2.0, 20.0]]));
    // The default is the best for the last input, which no other input tells.
    assert!(exported["notes"][0].as_str().unwrap().contains("worse than the default"), "{exported:#}");
    let header = read(&folder, "bowl.h");
    for text in
        ["static inline int bowl_choose(struct bowl_sizes sizes)", "int bowl_covers(", "It covers N from 2 to 20."]
    {
        assert!(header.contains(text), "{header}");
    }
}

#[test]
fn a_build_gets_one_configuration_as_macros() {
    let folder = tuned();
    for (form, file, expected) in [
        ("flags", "bowl.flags", "-DTUNED_BY_TUNESMITH=1\n-DX=16\n"),
        ("defines", "bowl.defines.h", "#define TUNED_BY_TUNESMITH 1\n#define X 16\n"),
        ("cmake", "bowl.cmake", "set(BOWL_DEFINITIONS\n    TUNED_BY_TUNESMITH=1\n    X=16)\n"),
        ("make", "bowl.mk", "BOWL_FLAGS := -DTUNED_BY_TUNESMITH=1 -DX=16\n"),
        ("env", "bowl.env", "X=16\n"),
    ] {
        // Several inputs share one configuration. What an export wrote, an export may replace.
        let shared = export(&folder, form, &["--json"]).json();
        assert_eq!(shared["portfolios"][0]["configurations"], 1, "{shared:#}");
        let ran = folder.run(&["export", "16.jsonl", "--as", form]);
        assert!(ran.stdout.contains(&format!("wrote {file}")), "{ran:#?}");
        assert!(read(&folder, file).ends_with(expected), "{}", read(&folder, file));
    }
    let guarded = ["--guard", "--problem", "bowl.toml", "--device", DEVICE];
    let ran = folder.run(&[&["export", "16.jsonl", "--as", "flags"], &guarded[..]].concat());
    assert!(ran.code == Some(0) && read(&folder, "bowl.flags").ends_with("-DX=16\n"), "{ran:#?}");
    folder.run(&[&["export", "20.jsonl", "--as", "flags"], &guarded[..]].concat());
    assert!(read(&folder, "bowl.flags").ends_with("-DX=20\n"), "the default, since nothing is faster");
}

/// Sizes in an order that is not that of their names. The best X follows from W alone.
const IMAGE: &str = "[problem]\nname = \"image\"\nsizes = { W = 8, H = 4, BATCH = 2 }\n[parameters]\n\
    X = { range = \"0..=9\" }\n[tuning]\ndefault = { X = 9 }\nstrategy = \"exhaustive\"\n";

/// Makes runs of [`IMAGE`] for several widths and heights, and returns the folder and the journals.
fn images() -> (Folder, Vec<String>) {
    let folder = Folder::with(&[("image.toml", IMAGE)]);
    let mut runs = Vec::new();
    for (w, h) in [(2, 64), (2, 2), (3, 8), (8, 64), (8, 2), (7, 16)] {
        let (size, out) = (format!("W={w},H={h}"), format!("{w}.{h}.jsonl"));
        let device = "synthetic:1 + abs(X - W)";
        let ran = folder.run(&["tune", "image.toml", "--device", device, "--size", &size, "--out", &out, "--quiet"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        runs.push(out);
    }
    (folder, runs)
}

#[test]
fn the_order_of_the_problem_file_reaches_code_from_journals_and_through_wisdom() {
    let (folder, runs) = images();
    let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
    let members = "    image_size W;\n    image_size H;\n    image_size BATCH;\n";
    let export = |runs: &[&str], form: &str, out: &str| {
        let ran = folder.run(&[&["export"], runs, &["--as", form, "-o", out, "--force"]].concat());
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        read(&folder, out)
    };
    assert!(export(&runs, "c-header", "image.h").contains(members), "{}", read(&folder, "image.h"));
    assert!(export(&runs, "rust", "image.rs").contains("pub W: f64,\n        pub H: f64,\n        pub BATCH: f64,"));
    let wisdom = export(&runs, "wisdom", "image.wisdom");
    assert!(wisdom.contains("\"sizes\":[\"W\",\"H\",\"BATCH\"]"), "{wisdom}");
    assert!(export(&["image.wisdom"], "c-header", "again.h").contains(members), "{}", read(&folder, "again.h"));
    // Older files say no order; that of the names is left.
    folder.write("old.wisdom", &wisdom.replace("\"sizes\":[\"W\",\"H\",\"BATCH\"],", ""));
    let names = "    image_size BATCH;\n    image_size H;\n    image_size W;\n";
    let old: Vec<String> = wisdom.lines().filter(|line| !line.contains("\"portfolio\"")).map(str::to_string).collect();
    folder.write("entries.wisdom", &(old.join("\n") + "\n"));
    assert!(export(&["entries.wisdom"], "c-header", "entries.h").contains(names), "{}", read(&folder, "entries.h"));
    assert!(export(&["entries.wisdom", runs[0]], "c-header", "both.h").contains(members), "a journal says the order");
    let ran = folder.run(&["export", "old.wisdom", "--as", "c-header", "-o", "old.h"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
}

#[test]
fn the_source_of_a_kernel_is_exported_with_its_macros() {
    let problem = "[problem]\nsizes = { N = 4, M = 2 }\n[kernel]\nfile = \"k.c\"\nfunction = \"k\"\n[parameters]\nX = [1, 2]\n\
        [[arguments]]\nname = \"y\"\ntype = \"f32\"\nshape = [\"N\"]\naccess = \"out\"\n";
    let kernel = "void k(float *y) { for (int i = 0; i < N; i++) y[i] = X * M; }\n";
    let folder = Folder::with(&[("k.toml", problem), ("k.c", kernel)]);
    for n in ["4", "8"] {
        let (size, out) = (format!("N={n}"), format!("k.{n}.jsonl"));
        let device = "synthetic:3 - X";
        let ran = folder.run(&["tune", "k.toml", "--device", device, "--size", &size, "--out", &out, "--quiet"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
    }
    let ran = folder.run(&["export", "k.8.jsonl", "--as", "source"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("wrote k.tuned.c"), "{ran:#?}");
    let text = read(&folder, "k.tuned.c");
    for part in ["#define X 2\n", "#ifndef N\n#define N 8\n#endif\n", "#define M 2\n", "#line 1 \"k.c\"\n", kernel] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let ran = folder.run(&["export", "k.4.jsonl", "k.8.jsonl", "--as", "source", "--problem", "k.toml"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(read(&folder, "k.tuned.c").contains("#ifndef N\n#error"), "the runs differ in it");
    folder.run(&["export", "k.4.jsonl", "--as", "sorce"]).refused(&["no form `sorce`", "did you mean `source`?"]);
    folder.write("moved.jsonl", &read(&folder, "k.4.jsonl"));
    folder.run(&["export", "moved.jsonl", "--as", "source", "-o", "moved.c"]).refused(&["moved.toml"]);
}

#[test]
fn a_rust_module_is_written_where_it_is_wanted_with_as_many_configurations_as_wanted() {
    let folder = tuned();
    let ran = export(&folder, "rust", &["--most", "1", "-o", "chosen.rs"]);
    assert!(ran.stdout.contains("1 of 21 configurations for 4 inputs, the same for all inputs"), "{ran:#?}");
    assert!(ran.stdout.contains("wrote chosen.rs"), "{ran:#?}");
    assert!(read(&folder, "chosen.rs").contains("pub fn choose("));
}

#[test]
fn wisdom_and_json_hold_the_fastest_of_every_input_and_grow() {
    let folder = tuned();
    let ran = folder.run(&["export", "2.jsonl", "--as", "wisdom", "-o", "small.wisdom"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let ran =
        folder.run(&["export", "small.wisdom", "3.jsonl", "16.jsonl", "20.jsonl", "--as", "json", "-o", "all.json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let all: Json = serde_json::from_str(&read(&folder, "all.json")).unwrap();
    assert_eq!(fastest(all["entries"].as_array().unwrap()), EXPECTED);
    assert_eq!(all["defaults"]["bowl"]["X"], 20);
    // A build takes one configuration. Several inputs have no one time.
    let flags = export(&folder, "flags", &["-o", "one.flags"]);
    let flags = (flags.code, read(&folder, "one.flags"));
    assert_eq!((&all["best"]["time_ms"], &all["best"]["speedup"]), (&Json::Null, &Json::Null));
    assert!(flags.1.contains(&format!("-DX={}\n", all["best"]["config"]["X"])), "{flags:?} {all:#}");

    export(&folder, "wisdom", &["--keep", "1"]);
    let text = read(&folder, "bowl.wisdom");
    let lines: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let entries: Vec<Json> = lines.iter().filter(|line| line.get("time_ms").is_some()).cloned().collect();
    assert_eq!((entries.len(), fastest(&entries)), (4, EXPECTED.to_vec()));
    assert!(lines.iter().any(|line| line.get("portfolio").is_some()), "{text}");
}

#[test]
fn kernel_launchers_wisdom_is_read_back() {
    let folder = tuned();
    export(&folder, "kernel-launcher", &["--problem-size", "N", "-o", "launcher.wisdom"]);
    let header: Json = serde_json::from_str(read(&folder, "launcher.wisdom").lines().next().unwrap()).unwrap();
    assert!(header.get("tunable_parameters").is_some(), "{header}");
    let ran = folder.run(&["export", "launcher.wisdom", "--as", "rust", "-o", "back.rs", "--json"]);
    assert_eq!(ran.json()["portfolios"][0]["inputs"], 4, "{ran:#?}");
}

/// Winners in Kernel Launcher's format. The first size was tuned twice.
const WINNERS: &str = r#"{"version": "1.0", "objective": "time", "tunable_parameters": ["B"], "key": "k"}
{"config": [32], "problem_size": [64], "time": 0.1, "environment": {"device_name": "any"}}
{"config": [16], "problem_size": [64], "time": 0.05, "environment": {"device_name": "any"}}
{"config": [64], "problem_size": [1024], "time": 0.2, "environment": {"device_name": "any"}}
"#;

#[test]
fn winners_that_share_no_configuration_serve_each_input_with_its_own() {
    let folder = Folder::with(&[("w.wisdom", WINNERS), ("e.wisdom", &WINNERS.replace("\"time\"", "\"energy\""))]);
    let ran = folder.run(&["export", "w.wisdom", "--as", "json", "-o", "w.json", "--json"]);
    assert_eq!(ran.json()["portfolios"][0]["regret_worst"], 0.0, "{ran:#?}");
    assert!(ran.stderr.contains("nothing compares"), "{ran:#?}");
    folder.run(&["export", "e.wisdom", "--as", "json", "-o", "e.json"]).refused(&["objective is `energy`", "times"]);
}

#[test]
fn the_guard_confirms_what_is_faster_than_the_default() {
    let folder = tuned();
    let guarded = ["--guard", "--problem", "bowl.toml", "--device", DEVICE, "--keep", "1"];
    let ran = export(&folder, "json", &[&guarded[..], &["-o", "guarded.json", "--json"]].concat());
    let found = &ran.json()["portfolios"][0]["guarded"];
    assert_eq!((&found["confirmed"], &found["refused"]), (&Json::from(3), &Json::from(0)), "{ran:#?}");
    let all: Json = serde_json::from_str(&read(&folder, "guarded.json")).unwrap();
    let entries = all["entries"].as_array().unwrap();
    assert_eq!(fastest(entries), EXPECTED);
    let gains = entries.iter().filter(|entry| entry.to_string().contains("guarded_speedup")).count();
    assert_eq!(gains, 3, "the default gains nothing on itself: {all:#}");
}

/// Each input has a best configuration of its own that was measured for no other. The default is 5 %
/// slower everywhere.
#[test]
fn a_chooser_that_is_no_better_than_one_configuration_ships_only_by_force() {
    let line = |n: u32, x: u32, ms: f64| {
        format!(
            "{{\"kernel\": \"k\", \"device\": \"d\", \"input\": {{\"N\": {n}}}, \"config\": {{\"X\": {x}}}, \"time_ms\": {ms}}}\n"
        )
    };
    let mut text = "{\"format\": \"tunesmith wisdom\", \"version\": 1}\n{\"kernel\": \"k\", \"default\": {\"X\": 9}}\n"
        .to_string();
    (0..6).for_each(|at| text += &(line(16 << at, at, 1.0) + &line(16 << at, 9, 1.05)));
    let folder = Folder::with(&[("all.wisdom", &text)]);
    let export = |more: &[&str]| folder.run(&[&["export", "all.wisdom", "--as", "rust", "-o", "k.rs"], more].concat());
    let ran = export(&[]);
    assert!(ran.stdout.contains("1 of 7 configurations for 6 inputs, the same for all inputs"), "{ran:#?}");
    assert!(ran.stdout.contains("held out 5.0 % (worst 5.0 %)") && !ran.stderr.contains("warning"), "{ran:#?}");
    let ran = export(&["--force"]);
    assert!(ran.stdout.contains("by the measured inputs nearby in N"), "{ran:#?}");
}

#[test]
fn wrong_requests_are_refused_with_what_to_do() {
    let folder = tuned();
    let refused = |arguments: &[&str], parts: &[&str]| {
        folder.run(&[&["export"], arguments].concat()).refused(parts);
    };
    refused(&["2.jsonl", "--as", "cobol"], &["no form `cobol`", "c-header"]);
    refused(&["nowhere.jsonl", "--as", "rust"], &["nowhere.jsonl"]);
    refused(&["2.jsonl", "--as", "rust", "--device", "c"], &["--guard"]);
    refused(&["2.jsonl", "--as", "rust", "--most", "0"], &["at least one configuration"]);
    refused(&["2.jsonl", "--as", "json", "--guard"], &["2.toml"]);
    refused(&["--as", "rust"], &["RUN"]);
    let journal = read(&folder, "2.jsonl");
    let last = journal.trim_end().rfind('\n').unwrap();
    folder.write("torn.jsonl", &journal[..last + 10]);
    folder.write("header.jsonl", &format!("{}\n", journal.lines().next().unwrap()));
    folder.write("photo.jsonl", "PNG");
    refused(&["photo.jsonl", "--as", "rust"], &["photo.jsonl"]);
    refused(&["header.jsonl", "--as", "rust"], &["no correct configuration"]);
    let ran = folder.run(&["export", "torn.jsonl", "--as", "wisdom"]);
    assert_eq!(ran.code, Some(0), "a killed run is as good without its last line: {ran:#?}");
}

#[test]
fn a_parameter_whose_values_follow_from_a_size_is_named_once() {
    let folder = Folder::with(&[("rows.toml", ROWS)]);
    for n in [8, 16, 12] {
        let (size, out) = (format!("N={n}"), format!("{n}.jsonl"));
        let ran =
            folder.run(&["tune", "rows.toml", "--device", "synthetic:ROWS", "--size", &size, "--out", &out, "--quiet"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
    }
    let ran = folder.run(&["export", "8.jsonl", "16.jsonl", "12.jsonl", "--as", "rust", "--json"]);
    let said: Vec<Json> = ran.json()["notes"].as_array().unwrap().clone();
    let said: Vec<&Json> = said.iter().filter(|note| note.as_str().unwrap().contains("other values")).collect();
    let only = said[0].as_str().unwrap();
    assert!(only.contains("`ROWS` of `rows` has other values in `16.jsonl` than in `8.jsonl`"), "{ran:#?}");
    assert_eq!(said.len(), 1, "{ran:#?}");
    assert!(ran.stderr.contains("warning: `ROWS`"), "{ran:#?}");
    let ran = folder.run(&["export", "8.jsonl", "--as", "rust", "--json"]);
    let said = ran.json()["notes"].clone();
    assert!(said[0].as_str().unwrap().contains("one input was measured"), "{ran:#?}");
    assert_eq!(said.as_array().unwrap().len(), 1, "{ran:#?}");
}
