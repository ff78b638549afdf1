//! Values at the edge of what a key of a problem file can have: refused with their place, or bounded.

use proptest::prelude::*;
use proptest::sample::select;
use tunesmith_core::LONGEST;
use tunesmith_kernel::Language;
use tunesmith_kernel::measure::{Limits, Sampling};
use tunesmith_problem::Problem;

const KERNEL: &str = "void f(const float *a, float *b, int n) { for (int i = 0; i < n; i++) b[i] = X * a[i]; }\n";

/// The sections of a problem file with their keys, and a value of each.
const SCHEMA: &[(&str, &[(&str, &str)])] = &[
    ("problem", &[("sizes", "{ N = 8 }"), ("flops", "\"N\""), ("bytes", "\"4 * N\"")]),
    ("parameters", &[("X", "[1, 2]"), ("Y", "{ range = \"1..4\" }"), ("Z", "{ pow2 = \"1..8\" }")]),
    ("constraints", &[("c", "\"X <= Y\"")]),
    ("limits", &[("l", "\"time_ms < 5\"")]),
    ("metrics", &[("m", "\"N / time_ms\"")]),
    (
        "measure",
        &[
            ("warmups", "2"),
            ("min_samples", "7"),
            ("max_samples", "9"),
            ("stable", "0.01"),
            ("time_cap", "0.5"),
            ("first_limit", "1.0"),
            ("launch_limit", "1.0"),
            ("limit_factor", "5"),
            ("compile_limit", "10"),
            ("reference_limit", "10"),
            ("racing_margin", "0.1"),
            ("final_share", "0.1"),
            ("final_cap", "1.0"),
            ("drift_share", "0.1"),
        ],
    ),
    ("tuning", &[("seed", "1"), ("room", "2"), ("stop", "\"time 5s\""), ("default", "{ X = 1 }")]),
    ("verify", &[("relative", "1e-5"), ("absolute", "1e-8"), ("compare", "{ b = \"0..N\" }")]),
    ("inputs", &[("sizes", "{ N = [8, 16] }"), ("count", "2"), ("seed", "1")]),
];

/// The keys of an argument, and a value of each.
const ARGUMENT: &[(&str, &str)] = &[("shape", "[\"N\"]"), ("align", "64"), ("fill", "\"ones\"")];

/// Numbers that overflow, divide by zero, or are none.
const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "3",
    "10000000",
    "4294967296",
    "-9223372036854775808",
    "9223372036854775807",
    "0.0",
    "-0.0",
    "1e-300",
    "0.3",
    "1.5",
    "1e19",
    "1e300",
    "1.7976931348623157e308",
    "nan",
    "-nan",
    "inf",
    "-inf",
];

/// Expressions and ranges of the same kind.
const TEXTS: &[&str] = &[
    "",
    "N",
    "-N",
    "N / 0",
    "N % 0",
    "9223372036854775807 + 1",
    "9223372036854775807 * N",
    "-9223372036854775808 / -1",
    "2 ** 64",
    "1 << 200",
    "N ** N ** N",
    "0..9223372036854775807",
    "0..0",
    "-5..5",
    "N - 9223372036854775807",
    "ceildiv(N, 0)",
    "1e400",
    "nan",
    "time 1e300h",
    "time 9999999999999h",
    "evaluations 18446744073709551615",
    "\u{0}",
    "abs(-9223372036854775808)",
    "ones",
    "random",
];

/// A value in the place of another one, by the kind of what it replaces.
fn value() -> impl Strategy<Value = String> {
    let number = || select(NUMBERS).prop_map(str::to_string);
    let text = || select(TEXTS).prop_map(|text| format!("{text:?}").replace("\\0", "\\u0000"));
    let scalar = || prop_oneof![number(), number(), any::<i64>().prop_map(|number| number.to_string()), text(), text()];
    let list = prop::collection::vec(scalar(), 0..4).prop_map(|list| format!("[{}]", list.join(", ")));
    let table =
        (select(&["N", "X", "b", "range", "step", "pow2", "divisors_of", "values", "random"][..]), scalar(), list);
    let table = table.prop_flat_map(|(key, one, list)| {
        prop_oneof![Just(format!("{{ {key} = {one} }}")), Just(format!("{{ {key} = {list} }}")), Just(list)]
    });
    prop_oneof![2 => scalar(), 1 => table, 1 => Just("true".to_string())]
}

/// Returns a problem file in which `changes` replace values, each by the number of its key.
fn file(changes: &[(usize, String)]) -> String {
    let changed = |number: usize, usual: &str| {
        let change = changes.iter().find(|(at, _)| *at == number);
        change.map_or_else(|| usual.to_string(), |(_, value)| value.clone())
    };
    let mut text = "[kernel]\nfile = \"f.c\"\nfunction = \"f\"\n".to_string();
    let mut number = 0;
    let mut keys = |keys: &[(&str, &str)]| {
        for (key, usual) in keys {
            text.push_str(&format!("{key} = {}\n", changed(number, usual)));
            number += 1;
        }
        std::mem::take(&mut text)
    };
    let mut whole = keys(&[]);
    for (section, known) in SCHEMA {
        whole.push_str(&format!("[{section}]\n{}", keys(known)));
    }
    whole.push_str(&format!("[[arguments]]\nname = \"a\"\ntype = \"f32\"\n{}", keys(ARGUMENT)));
    whole.push_str("[[arguments]]\nname = \"b\"\ntype = \"f32\"\nshape = [\"N\"]\naccess = \"out\"\n");
    whole + &format!("[[arguments]]\nname = \"n\"\ntype = \"i32\"\n{}", keys(&[("value", "\"N\"")]))
}

fn keys() -> usize {
    SCHEMA.iter().map(|(_, keys)| keys.len()).sum::<usize>() + ARGUMENT.len() + 1
}

/// Does with a problem what a run does before it measures.
fn use_it(problem: &Problem) {
    let Sampling { warmups, min_samples, max_samples, stable, time_cap, .. } = problem.spec().policy().sampling;
    assert!(warmups <= 10_000 && min_samples <= 1_000_000 && max_samples <= 1_000_000 && stable <= 1.0);
    let Limits { first, floor, compile, reference, .. } = problem.spec().policy().limits;
    for time in [time_cap, first, floor, compile, reference] {
        assert!(time <= LONGEST, "{time:?}");
    }
    let tolerances = [problem.spec().verify().relative, problem.spec().verify().absolute];
    assert!(tolerances.into_iter().flatten().all(|tolerance| tolerance >= 0.0 && tolerance.is_finite()));
    let _ = (problem.digest(), problem.input_features(), problem.kernel_spec(Language::C));
    if let Ok(made) = problem.space(&[]) {
        let _ = (made.space.len(), problem.default_configuration(&made.space));
    }
}

#[test]
fn the_schema_is_one_of_a_problem_that_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f.c"), KERNEL).unwrap();
    let problem = Problem::parse(&file(&[]), folder.path());
    use_it(&problem.unwrap_or_else(|error| panic!("{:#?}\n{}", error.messages, file(&[]))));
}

proptest! {
    #[test]
    fn no_value_of_a_key_makes_a_panic(
        changes in prop::collection::vec((0..keys(), value()), 1..4)
    ) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("f.c"), KERNEL).unwrap();
        if let Ok(problem) = Problem::parse(&file(&changes), folder.path()) {
            use_it(&problem);
        }
    }
}
