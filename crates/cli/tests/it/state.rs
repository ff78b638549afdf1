//! A user's job: get a winner that is right in every launch, although others are faster that keep something from
//! launch to launch.

use crate::common;

use common::{Folder, again};

/// The configurations 1 and 2 are the fastest. One is wrong at every tenth launch, the other compares two elements
/// of its input with those of the launch before. Configuration 3 fills a table at its first launch, and is right.
const KERNEL: &str = "#include <string.h>
#include <unistd.h>
static int launches, table[N], kept[N], key[2];
static void twice(const int *in, int *out) { for (int i = 0; i < N; ++i) out[i] = 2 * in[i]; }
void f(const int *in, int *out) {
    ++launches;
#if CASE == 0
    usleep(20000); twice(in, out);
#elif CASE == 1
    twice(in, out); out[5] += launches % 10 == 0;
#elif CASE == 2
    if (launches == 1 || key[0] != in[0] || key[1] != in[N - 1]) { twice(in, kept); key[0] = in[0]; key[1] = in[N - 1]; }
    memcpy(out, kept, sizeof kept);
#else
    usleep(1000);
    if (launches == 1) for (int i = 0; i < N; ++i) table[i] = 2;
    for (int i = 0; i < N; ++i) out[i] = table[i] * in[i];
#endif
}
";

/// Seven samples are too few to reach the tenth launch.
const PROBLEM: &str = r#"
[problem]
sizes = { N = 64 }

[kernel]
file = "f.c"
function = "f"

[parameters]
CASE = [0, 1, 2, 3]

[[arguments]]
name = "in"
type = "i32"
shape = ["N"]

[[arguments]]
name = "out"
type = "i32"
shape = ["N"]
access = "out"

[verify]
reference = { file = "r.c", function = "r" }

[measure]
max_samples = 7

[tuning]
strategy = "exhaustive"
default = { CASE = 0 }
"#;

const REFERENCE: &str = "void r(const int *in, int *out) { for (int i = 0; i < N; ++i) out[i] = 2 * in[i]; }\n";

#[test]
fn kernels_that_are_wrong_by_what_they_keep_are_named_and_the_next_one_wins() {
    let folder = Folder::with(&[("p.toml", PROBLEM), ("f.c", KERNEL), ("r.c", REFERENCE)]);
    let ran = folder.run(&["tune", "p.toml", "--device", "c", "--json", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let outcome = ran.json();
    assert_eq!(outcome["best"]["config"]["CASE"], 3, "{outcome:#}");
    let failed = outcome["failed_again"].as_array().unwrap().iter();
    let mut failed: Vec<u64> = failed.map(|one| one["config"]["CASE"].as_u64().unwrap()).collect();
    failed.sort_unstable();
    assert_eq!(failed, [1, 2], "{outcome:#}");
    let lines = again(&folder.path("p.jsonl"));
    let of = |case: u64| {
        let mut lines = lines.iter().filter(|line| line["again"] == "verification");
        lines.find(|line| line["config"]["CASE"] == case).expect("it was verified")
    };
    assert!([1, 2].map(|case| of(case)["status"] == "correctness").iter().all(|is_wrong| *is_wrong), "{lines:#?}");
    assert!(of(3)["values"]["verified_launches"][0].as_f64().unwrap() >= 6.0, "{:#}", of(3));
}
