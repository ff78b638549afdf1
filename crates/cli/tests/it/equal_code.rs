//! Configurations that a compiler makes the same code of: their times differ by chance alone.

use crate::common;

use common::Folder;
use serde_json::Value as Json;

const PROBLEM: &str = r#"
[kernel]
file = "f.c"
function = "f"

[parameters]
X = [1, 2, 3, 4]

[[arguments]]
name = "out"
type = "i32"
shape = [64]
access = "out"

[tuning]
strategy = "exhaustive"
"#;

/// Whatever the times are: the compiler removes the parameter.
#[test]
fn configurations_with_equal_code_are_ties_everywhere_and_none_is_better_than_the_default() {
    let source = "void f(int *out) { for (int i = 0; i < 64; i++) out[i] = X > 0 ? i : X; }\n";
    let folder = Folder::with(&[("p.toml", PROBLEM), ("f.c", source)]);
    let ran = folder.run(&["tune", "p.toml", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let line = "3 more have the machine code of the best (equal code, other time): a difference is chance\n";
    assert!(ran.stdout.contains(line), "{ran:#?}");
    let outcome = folder.run(&["tune", "p.toml", "--quiet", "--json", "--resume"]).json();
    assert_eq!((&outcome["best"]["config"]["X"], &outcome["better_than_default"]), (&1.into(), &false.into()));
    let values = |list: &Json| -> Vec<i64> {
        let mut values: Vec<i64> =
            list.as_array().unwrap().iter().map(|one| one["config"]["X"].as_i64().unwrap()).collect();
        values.sort_unstable();
        values
    };
    assert_eq!(values(&outcome["equal_code"]), [2, 3, 4]);
    let journal = outcome["out"].as_str().unwrap();
    let top = folder.run(&["top", journal]);
    assert!(top.stdout.contains(line), "{top:#?}");
    assert_eq!(folder.run(&["top", journal, "--json"]).json()["equal_code"], 3);
    assert_eq!(folder.run(&["report", journal, "-o", "page.html"]).code, Some(0));
    let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
    assert!(page.contains(line.trim_end()), "the page does not say it");
}
