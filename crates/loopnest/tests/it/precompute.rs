//! Compares values computed ahead of their uses with nests that compute them again and again.

use crate::outcome;
use crate::steps;
use crate::values;

use outcome::outcome;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};
use std::cell::Cell;
use tunesmith_loopnest::{Data, LaneOrder, Nest, Recipe, Schedule, Step, count, interpret};
use values::{Choices, neighbours, pick, subset};

/// Returns a value that is written and read at any points of loops in any order. Often a read does
/// not get the value that was written last.
fn scrambled(choices: &Choices) -> String {
    const ORDERS: [&str; 4] = ["i, j, x", "x, i, j", "j, x, i", "i, x, j"];
    const VALUES: [&str; 5] = ["two[i + x, j]", "one[i]", "one[x + 2*i]", "one[j + x] + j", "one[x]"];
    const WRITTEN: [&str; 5] = ["", "[x]", "[j]", "[x, j]", "[0]"];
    const EXTENTS: [&str; 5] = ["", "[3]", "[2]", "[3, 2]", "[1]"];
    const READ: [&str; 4] = ["x", "j", "0", "2 - x"];
    const BETWEEN: [&str; 6] = [
        "",
        "",
        "acc = acc + 1.0 @ i",
        "acc = acc*0.5 @",
        "acc = acc - one[x] @ j, x",
        "acc = acc*0.5 @\nacc = acc + 1.0 @ i, j, x",
    ];
    let [order, value, cell, written, same, more, between, early, sweep, indices, ..] = *choices;
    let (target, value) = (pick(&WRITTEN, cell), pick(&VALUES, value));
    let used = match target.matches(',').count() {
        _ if same % 2 == 0 || target.is_empty() => target.to_string(),
        0 => format!("[{}]", pick(&READ, same / 2)),
        _ => format!("[{}, {}]", pick(&READ, same / 2), pick(&READ, same / 8)),
    };
    let within = |text: &str, more: u8| {
        let occurring = ["i", "j", "x"].iter().enumerate().filter(|(_, name)| text.contains(**name));
        let bits = occurring.fold(more, |bits, (at, _)| bits | 1 << at);
        subset(&["i", "j", "x"], bits).trim_end_matches(", ").to_string()
    };
    let written = within(&format!("{target}{value}"), written & written >> 3);
    let read = within(&format!("{used}{}", if more % 4 == 0 { "" } else { &written }), more >> 2 & more >> 5);
    let (set, add) = (format!("v{target} = {value} @ {written}"), format!("acc = acc + v{used}*0.5 @ {read}"));
    let [first, second] = if early % 16 == 0 { [add, set] } else { [set, add] };
    format!(
        "array one[12]: f32\narray two[9, 9]: f64\narray out[1]: f64\ntemporary acc: f64\ntemporary v{}: f64
        {{[{}]: 0 <= i < 3 and 0 <= j < 2 and 0 <= x < 3}}
        acc = 0.5 @
        {first}\n{}\n{second}
        out[0] = acc @
        precompute v sweep {}x -> tile{}",
        pick(&EXTENTS, cell),
        pick(&ORDERS, order),
        pick(&BETWEEN, between),
        subset(&["i", "j"], sweep),
        pick(&["[p]", "[p, q]", "[p]", "[p, q, r]"], indices),
    )
}

/// Returns a nest that is printed and parsed, and then given the tags that are not printed.
fn read_back(nest: &Nest) -> Nest {
    let mut again = nest.to_string().parse::<Nest>().unwrap();
    for own in &mut again.loops {
        own.tag = nest.loop_at(nest.loop_id(&own.name).unwrap()).tag;
    }
    again
}

/// Compares precomputed and further transformed nests with their originals. Returns the numbers of
/// accepted and refused nests.
fn precomputed_keep_every_result(cases: u32, sizes: &[&[i64]], text: fn(&Choices) -> String) -> [usize; 2] {
    let (accepted, refused) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let steps = prop::collection::vec(any::<[u8; 3]>(), 0..5);
    let outcome = runner.run(&(any::<Choices>(), steps), |(choices, steps)| {
        let text = text(&choices);
        let recipe = text.parse::<Recipe>().unwrap_or_else(|error| panic!("{error:?} in\n{text}"));
        let Ok(mut nest) = recipe.apply(&[]) else {
            refused.set(refused.get() + 1);
            return Ok(());
        };
        let again = read_back(&nest);
        for (number, choice) in steps.into_iter().enumerate() {
            let _ = steps::transformation(&nest, number, choice).apply(&mut nest, |_| None);
        }
        if Schedule::new(&nest).is_err() {
            return Ok(());
        }
        accepted.set(accepted.get() + 1);
        for sizes in sizes {
            let mut data = Data::filled(&recipe.nest, sizes, 5).unwrap();
            if interpret::run(&recipe.nest, sizes, &mut data, LaneOrder::Ascending).is_err() {
                continue;
            }
            let expected = outcome(&recipe.nest, sizes, LaneOrder::Ascending);
            let cases = [(&again, LaneOrder::Ascending), (&nest, LaneOrder::Ascending), (&nest, LaneOrder::Descending)];
            for (nest, order) in cases {
                let found = outcome(nest, sizes, order);
                prop_assert!(found[..expected.len()] == expected[..], "{}\n{}", text, nest);
            }
        }
        Ok(())
    });
    if let Err(TestError::Fail(reason, _)) = outcome {
        panic!("{reason}");
    }
    [accepted, refused].map(Cell::into_inner)
}

#[test]
fn values_computed_ahead_for_neighbouring_points_keep_every_result() {
    let [accepted, refused] = precomputed_keep_every_result(1000, &[&[1, 1], &[5, 7], &[7, 4]], neighbours);
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted > 200 && refused > 200, "{accepted} accepted, {refused} refused");
}

#[test]
fn values_are_computed_ahead_only_where_each_use_reads_what_was_written_for_it() {
    let [accepted, refused] = precomputed_keep_every_result(2000, &[&[]], scrambled);
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted > 60 && refused > 1000, "{accepted} accepted, {refused} refused");
}

#[test]
fn values_that_cannot_be_computed_ahead_are_refused_with_place_and_reason() {
    let head = "sizes n
array a[n + 4, n + 4]: f32
array b[n, n]: f32
array at[n]: i32
temporary s: f32
temporary v: f32
temporary w[3]: f32
temporary acc: f32
{[i, j, x]: 0 <= i < n and 0 <= j < n and 0 <= x < 3}
lookup place = at[i]
";
    let cases = [
        ("b[i, j] = a[i, j]", "a sweep ji -> t[p]", "line 13, column 1: `a` is not a temporary"),
        ("b[i, j] = v", "v sweep ji -> t[p]", "line 6, column 11: nothing computes `v`"),
        (
            "v = a[i, j] @ i, j\nv = a[i, j]*2.0 @ i, j\nb[i, j] = v",
            "v sweep ji -> t[p]",
            "line 12, column 1: several instructions write `v`",
        ),
        (
            "v = a[i, j + x] + v @ i, j, x",
            "v sweep ji, x -> t[p]",
            "line 11, column 19: `v` is computed from its earlier value",
        ),
        (
            "v = b[i, j] @ i, j\nb[i, j] = v + a[i, j + 1]",
            "v sweep ji -> t[p]",
            "line 11, column 5: `v` is computed from `b`, which is written (line 12): earlier it could be another value",
        ),
        (
            "s = a[i, j]\nv = s**2 @ i, j\nb[i, j] = v",
            "v sweep ji -> t[p]",
            "line 12, column 5: `v` is computed from `s`, which is written (line 11): earlier it could be another value",
        ),
        (
            "v = a[place, j] @ i, j\nb[i, j] = v",
            "v sweep ji -> t[p]",
            "line 11, column 1: which values of `v` are needed depends on the value of `place`",
        ),
        (
            "w[x] = a[i, j + x] @ i, j, x\nb[i, j] = w[1] + w[x] @ i, j, x",
            "w sweep ji, x -> t[p]",
            "line 12, column 11: w[1] may differ from the value that was last computed as w[x]",
        ),
        (
            "w[1] = a[i, j + 1] @ i, j\nb[i, j] = w[0]",
            "w sweep ji -> t[p]",
            "line 12, column 11: w[0] may differ from the value that was last computed as w[1]",
        ),
        (
            "v = a[i, j + x] @ i, j, x\nb[i, j] = v",
            "v sweep ji -> t[p]",
            "line 12, column 11: v is read outside of loop `x`, but it differs in each iteration of the loop",
        ),
        (
            "b[i, j] = v + 0.0*x @ i, j, x\nv = a[i, j + x] @ i, j, x",
            "v sweep ji, x -> t[p]",
            "line 11, column 11: v is read before it is computed",
        ),
        (
            "v = a[i, j + x]*a[i + x, j]*a[i + j, 0] @ i, j, x\nb[i, j] = b[i, j] + v @ i, j, x",
            "v sweep ji, x -> t[p]",
            "line 11, column 1: the values of `v` are no box: the sums i, 4*jo + x + ji, i + x, 4*jo + ji, i + 4*jo + ji do not change independently of each other",
        ),
        (
            "v = a[i, 0] @ i, j\nb[i, j] = v",
            "v sweep ji -> t[p]",
            "line 14, column 1: no value of `v` that is used depends on a swept loop",
        ),
        (
            "acc = 0.0 @ i\nacc = acc + a[i, j] @ i, j\nv = a[i, 1] @ i\nb[i, j] = acc*v @ i, j",
            "v sweep jo -> t[p]",
            "line 13, column 1: without this instruction, the ones before and after it would run in one loop over `jo`",
        ),
        (
            "v = a[j, i + x] @ i, j, x\nb[i, j] = v + b[i, j] @ i, j, x",
            "v sweep i, x -> t[p]",
            "line 9, column 3: loop `i` does not run between constants",
        ),
        (
            "v = a[j, i + x] @ i, j, x\nb[i, j] = v + b[i, j] @ i, j, x",
            "v sweep ji -> t[p]",
            "line 12, column 1: the tile is filled in each iteration of i, jo, x, which is not around all its uses",
        ),
        (
            "v = a[i, j + x] @ i, j, x\nb[i, j] = v + b[i, j] @ i, j, x",
            "v sweep ji, x -> t[p, q]",
            "line 14, column 1: the tile has 1 x 6 cells, so it is filled by 1 loops",
        ),
        (
            "v = a[i, j + x] @ i, j, x\nb[i, j] = v + b[i, j] @ i, j, x",
            "v sweep ij -> t[p]",
            "line 14, column 1: there is no loop `ij`",
        ),
        (
            "{[k]: place <= k < n}\nv = a[i, k] @ i, k\nb[i, 0] = b[i, 0] + v @ i, k",
            "v sweep x -> t[p]",
            "line 11, column 3: the bounds of loop `k` depend on the data in `at`",
        ),
    ];
    for (lines, step, message) in cases {
        let text = format!("{head}{lines}\nsplit j 4 -> jo, ji\nprecompute {step}");
        let error = text.parse::<Nest>().expect_err(&text);
        let place = error.place.map(|place| format!("{place}: ")).unwrap_or_default();
        assert_eq!(format!("{place}{}", error.message), message);
    }
}

#[test]
fn uses_that_are_no_loop_read_neighbouring_cells() {
    let text = "sizes n\narray a[n + 2]: f32\narray out[n]: f32\ntemporary v[3]: f32
        {[i, x]: 0 <= i < n and 0 <= x < 3}
        v[x] = sqrt(a[i + x])               @ i, x
        out[i] = v[0] - 2.0*v[1] + v[2]     @ i
        split i 4 -> io, ii
        precompute v sweep ii -> tile[t]";
    let nest = text.parse::<Nest>().unwrap().to_string();
    assert!(nest.contains("local tile[6]: f32\n"), "{nest}");
    let instructions =
        "tile[t] = sqrt(a[4*io + t]) @ io, t\nout[4*io + ii] = tile[ii] - 2.0*tile[ii + 1] + tile[ii + 2] @ io, ii\n";
    assert!(nest.ends_with(instructions), "{nest}");
}

const BLUR: &str = include_str!("../../../../examples/nests/blur.nest");

/// Returns the count of a property of the blur.
fn blurred(values: &[(&str, i64)], property: &str, n: i64) -> i128 {
    let counts = count::count(&BLUR.parse::<Recipe>().unwrap().apply(values).unwrap()).unwrap();
    let at = counts.properties().iter().position(|own| own.to_string() == property).unwrap();
    counts.evaluate(&[n]).unwrap()[at]
}

#[test]
fn a_value_is_computed_once_for_each_pixel_of_a_block_and_its_rim() {
    assert_eq!(blurred(&[("ahead", 0)], "op:f32:pow", 64), 64 * 64 * 25);
    // 8 rows of 2 blocks.
    assert_eq!(blurred(&[("ahead", 1)], "op:f32:pow", 64), 16 * (8 + 4) * (32 + 4));
    assert_eq!(blurred(&[("ahead", 1)], "l:32:load", 64), 64 * 64 * 25);
    // The last block has 6 rows less, and the block beside it 2 columns less.
    let uneven = [("rows", 10), ("columns", 32)];
    assert_eq!(blurred(&uneven, "op:f32:pow", 62), (6 * (10 + 4) + (2 + 4)) * ((32 + 4) + (30 + 4)));
}

#[test]
fn work_items_wait_for_each_other_between_computing_values_and_using_them() {
    let barriers =
        |nest: &Nest| Schedule::new(nest).unwrap().steps.iter().filter(|step| **step == Step::Barrier).count();
    assert_eq!(barriers(&BLUR.parse::<Nest>().unwrap()), 1);
    let (blur, _) = BLUR.split_once("parameter").unwrap();
    let own = format!(
        "{blur}\nsplit i 2 -> io, ii\nsplit j 16 -> jo, ji\ntag io group.0\ntag jo group.1\ntag ji local.0
        precompute light sweep ii, x, y -> temporary lights[l0, l1]"
    );
    let own = own.parse::<Nest>().unwrap();
    assert_eq!(barriers(&own), 0, "each work-item has a tile of its own");
    assert!(own.to_string().contains("temporary lights[6, 5]: f32"), "{own}");
}
