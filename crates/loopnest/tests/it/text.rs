//! The text form: parsing, printing, and refusals with a place and a remedy.

use crate::common;

use proptest::prelude::*;
use tunesmith_loopnest::{Data, LaneOrder, Nest, Recipe, interpret};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 3 / 4))]
    #[test]
    fn what_is_printed_reads_back_as_the_same_nest(plan in common::plans()) {
        let nest = common::build(&plan);
        let text = nest.to_string();
        let again = text.parse::<Nest>().unwrap_or_else(|error| panic!("{error}: {text}"));
        prop_assert_eq!(again.to_string(), text);
        let run = |nest: &Nest| {
            let mut data = Data::filled(nest, &[5, 7], 3).unwrap();
            let tally = interpret::run(nest, &[5, 7], &mut data, LaneOrder::Ascending).unwrap();
            let bits = data.cells.iter().flatten().map(|value| value.as_f64().to_bits()).collect::<Vec<_>>();
            (bits, tally)
        };
        prop_assert_eq!(run(&again), run(&nest));
    }
}

#[test]
fn a_condition_on_sizes_may_begin_with_a_sign_a_number_or_a_parenthesis() {
    for condition in ["-n + 16 >= 0", "16 - n >= 0", "(n) <= 16", "2 * n <= 32"] {
        let text = format!("sizes n\nassume {condition}\narray a[n]: f32\n{{[i]: 0 <= i < n}}\na[i] = 1.0\n");
        let nest: Nest = text.parse().unwrap_or_else(|error| panic!("{error}: {text}"));
        let printed = nest.to_string();
        let again = printed.parse::<Nest>().unwrap_or_else(|error| panic!("{error}: {printed}"));
        assert_eq!(again.to_string(), printed);
    }
    let named = "sizes n\narray assume[n]: f32\n{[i]: 0 <= i < n}\nassume[i] = 1.0\n";
    assert!(named.parse::<Nest>().is_ok(), "an array may have this name");
}

fn refused(text: &str) -> String {
    let error = text.parse::<Nest>().expect_err(text);
    let place = error.place.map(|place| format!("{place}: ")).unwrap_or_default();
    let remedy = error.remedy.map(|remedy| format!("; {remedy}")).unwrap_or_default();
    format!("{place}{}{remedy}", error.message)
}

const HEAD: &str = "sizes n\narray a[n]: f32\narray b[n, n]: f32\n{[i, j]: 0 <= i < n and 0 <= j < n}\n";

#[test]
fn a_non_affine_subscript_is_refused_where_it_stands() {
    let remedy = "sums of loop indices and sizes, each times an integer, can be counted; nothing else can";
    let cases = [
        ("a[i] = b[i*j, j]", format!("line 5, column 10: the subscript is not affine; {remedy}")),
        ("a[i] = b[i, a[j]]", format!("line 5, column 13: the subscript depends on the data in `a`; {remedy}")),
        ("a[i/2] = 1.0", format!("line 5, column 3: the subscript is not affine; {remedy}")),
    ];
    for (line, message) in cases {
        assert_eq!(refused(&format!("{HEAD}{line}")), message);
    }
}

#[test]
fn names_that_are_not_known_are_refused_with_the_nearest() {
    assert_eq!(
        refused("sizes length\narray a[lenght]: f32"),
        "line 2, column 9: there is no size, loop or array `lenght`; did you mean `length`?"
    );
    assert_eq!(refused("array a[3]: f23"), "line 1, column 13: there is no type `f23`; did you mean `f32`?");
    assert_eq!(
        refused(&format!("{HEAD}a[i] = rsqr(a[i])")),
        "line 5, column 8: there is no function `rsqr`; did you mean `rsqrt`?"
    );
    assert_eq!(
        refused(&format!("{HEAD}a[i] = 1.0 @ i, k")),
        "line 5, column 17: there is no loop `k`; did you mean `i`?"
    );
    assert_eq!(refused("arry a[3]: f32"), "line 1, column 1: there is no declaration `arry`; did you mean `array`?");
}

#[test]
fn unsound_nests_are_refused_with_place_and_remedy() {
    let cases = [
        ("a[i] = b[i, j] @ i", "line 5, column 8: uses the index `j` outside of its loop; add `j` after the `@`"),
        ("b[i] = 1.0", "line 5, column 1: `b` has 2 axes, not 1; write one subscript for each axis"),
        ("{[k]: 0 <= k}", "line 5, column 3: loop `k` has no upper bound"),
        (
            "{[i]: 0 <= i < n}",
            "line 5, column 3: the name `i` is taken twice; sizes, loops and arrays need different names",
        ),
        (
            "{[k]: 0 <= n}",
            "line 5, column 7: the relation contains no loop; write a known property of sizes as `assume n > 0`",
        ),
        ("a[i] = (1.0", "line 5, column 12: expected `)`, found the end of the line"),
        ("a[i] = 1.0 ? 2", "line 5, column 12: `?` has no meaning here"),
        ("{[k]: 0 <= k < max(n, 3)}", "line 5, column 12: `max` stands on the lesser side of a comparison"),
        (
            "argument x: f32\nx = 1.0",
            "line 6, column 1: the argument `x` is written; declare a temporary: `temporary x: f32`",
        ),
    ];
    for (line, message) in cases {
        assert_eq!(refused(&format!("{HEAD}{line}")), message);
    }
}

#[test]
fn texts_that_would_exhaust_the_stack_or_the_memory_are_refused_where_they_do() {
    let long = |count: usize| format!("{HEAD}a[i] = a[i]{}", " + a[i]*2.0".repeat(count));
    assert!(refused(&long(50_000)).contains("line 5, column 3"), "it has a place");
    assert!(refused(&long(301)).contains("more than 600 operators; compute a part of it into a temporary first"));
    let nest = long(300).parse::<Nest>().unwrap();
    assert_eq!(nest.to_string().parse::<Nest>().unwrap().to_string(), nest.to_string());
    let names = |count: usize| (0..count).map(|at| format!("l{at}")).collect::<Vec<_>>().join(", ");
    let bounds = |count: usize| (0..count).map(|at| format!("0 <= l{at} < 2")).collect::<Vec<_>>().join(" and ");
    let deep = |count: usize| {
        format!("array a[2]: f32\n{{[{}]: {}}}\na[l0] = 1.0 @ {}", names(count), bounds(count), names(count))
    };
    assert_eq!(refused(&deep(3_000)), "line 3, column 1: within 3000 loops, more than 64");
    assert!(deep(64).parse::<Nest>().is_ok());
    let terms = |word: &str| format!("{word}({})", ["n"; 2_000].join(", "));
    let pairs = format!("{HEAD}{{[k]: 0 <= k < n and {} <= {}}}", terms("max"), terms("min"));
    assert!(refused(&pairs).contains("more than 256 bounds"));
}

#[test]
fn a_nest_keeps_no_number_that_it_could_not_read_again() {
    let nest = |condition: &str, extent: &str, value: &str| {
        format!("nest x\nsizes n\nassume {condition}\narray a[{extent}]: f32\n{{[i]: 0 <= i < n}}\na[i] = {value}\n")
    };
    let large = "1099511627776"; // the largest integer that can be written
    let remedy = format!("at most {large}");
    let error = refused(&nest(&format!("0 > {large}"), "n", "1"));
    assert!(error.starts_with("line 3") && error.contains("the numbers of the comparison") && error.contains(&remedy));
    let error = refused(&nest("n > 0", &format!("n + {large} + 1"), "1"));
    assert!(error.starts_with("line 4") && error.contains("the numbers of the extent") && error.contains(&remedy));
    // A value may be larger than its numbers.
    for value in [format!("{large} + {large} + i"), format!("{large} * {large}")] {
        let read: Nest = nest(&format!("n < {large}"), "n", &value).parse().unwrap();
        assert_eq!(read.to_string().parse::<Nest>().unwrap().to_string(), read.to_string());
    }
}

#[test]
fn bounds_may_have_floor_ceil_min_and_max() {
    let text = "sizes n, m
        array a[n, n]: f32
        {[i, j, k]: 0 <= i < floor((n + i0)/3)}";
    assert!(text.parse::<Nest>().is_err(), "i0 is not a name");
    let nest = "sizes n, m
        array a[n + m]: i32
        {[i, j, k]: 0 <= i < ceil((n + 1)/4) and max(i, 2) <= j < min(n, m - floor(i/2)) and floor(j/3) <= k <= i + 1}
        a[k] = 1 @ i, j, k"
        .parse::<Nest>()
        .unwrap();
    for (n, m) in [(1, 1), (9, 4), (12, 12), (13, 20)] {
        let mut expected = 0;
        for i in 0..(n + 4) / 4 {
            for j in std::cmp::max(i, 2)..std::cmp::min(n, m - i / 2) {
                expected += (j / 3..=i + 1).count();
            }
        }
        let mut data = Data::filled(&nest, &[n, m], 1).unwrap();
        let tally = interpret::run(&nest, &[n, m], &mut data, LaneOrder::Ascending).unwrap();
        assert_eq!(tally.runs[0], expected as u64, "n = {n}, m = {m}");
    }
}

const SWITCHED: &str = "sizes n
array a[n]: f32
array b[n, n]: f32
{[i, j]: 0 <= i < n and 0 <= j < n}
a[i] = a[i] + b[i, j]
parameter width = 4
parameter blocked = 0
split i width -> io, ii when blocked = 1
tag io group.0 when blocked = 1
tag i group.0 when blocked = 0
layout b column pad 0, 1 when blocked = 2
";

#[test]
fn a_step_is_done_only_where_its_parameter_has_the_value() {
    let recipe = SWITCHED.parse::<Recipe>().unwrap();
    let groups = |values: &[(&str, i64)]| recipe.apply(values).unwrap().group_counts(&[20])[0];
    assert_eq!(groups(&[]), 20);
    assert_eq!(groups(&[("blocked", 1)]), 5);
    assert_eq!(groups(&[("blocked", 1), ("width", 10)]), 2);
    assert_eq!(groups(&[("blocked", 7)]), 1, "no step is done");
}

#[test]
fn a_condition_that_cannot_be_read_or_names_no_parameter_is_refused_where_it_stands() {
    let with = |line: &str| refused(&format!("{SWITCHED}{line}"));
    assert_eq!(
        with("tag j unroll when bloked = 1"),
        "line 12, column 1: there is no parameter `bloked`; did you mean `blocked`?"
    );
    assert_eq!(with("tag j unroll when blocked"), "line 12, column 26: expected `=`, found the end of the line");
    assert_eq!(with("tag j unroll when blocked = width"), "line 12, column 29: expected an integer, found `width`");
}
