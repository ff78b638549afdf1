//! Measured errors, limits and fronts from the command line.

mod common;

use common::{Folder, Ran, entries};

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
