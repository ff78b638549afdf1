//! Compares symbolic counts with enumeration.

use crate::common;
use crate::limits;
use crate::named;
use crate::pipelined_tiles;
use crate::reductions_of_rows;
use crate::steps;
use crate::values;

use common::Plan;
use named::{evaluated, tallied};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use tunesmith_loopnest::{ArrayId, Data, LaneOrder, Nest, count, interpret};

/// Returns counts by name, found one by one by the interpreter.
fn enumerated(nest: &Nest, sizes: &[i64]) -> BTreeMap<String, i128> {
    let mut data = Data::filled(nest, sizes, 5).unwrap();
    let tally = interpret::run(nest, sizes, &mut data, LaneOrder::Ascending);
    tallied(nest, &tally.unwrap_or_else(|error| panic!("{error}\n{nest}")))
}

/// Returns the bytes of an array that are touched, found cell by cell.
fn touched_bytes(nest: &Nest, array: ArrayId, sizes: &[i64]) -> i128 {
    let mut data = Data::filled(nest, sizes, 5).unwrap();
    let tally = interpret::run(nest, sizes, &mut data, LaneOrder::Ascending).unwrap();
    let cells = tally.touched.get(&array).map_or(0, |cells| cells.len() as i128);
    cells * i128::from(nest.array(array).element.bits() / 8)
}

#[test]
fn touched_cells_count_as_enumerated() {
    let (counted, refused) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&common::plans(), |plan| {
        let nest = common::build(&plan);
        for name in ["one", "two"] {
            let array = nest.array_id(name).unwrap();
            let Ok(footprint) = count::footprint(&nest, array) else {
                refused.set(refused.get() + 1);
                continue;
            };
            counted.set(counted.get() + 1);
            for sizes in [[1, 1], [2, 5], [7, 4]] {
                let bytes = vec![touched_bytes(&nest, array, &sizes)];
                prop_assert_eq!(footprint.evaluate(&sizes).unwrap(), bytes, "{} at {:?}\n{}", name, sizes, nest);
            }
        }
        Ok(())
    });
    if let Err(TestError::Fail(reason, _)) = outcome {
        panic!("{reason}");
    }
    let (counted, refused) = (counted.get(), refused.get());
    println!("{counted} counted, {refused} refused");
    assert!(counted > 40 * refused, "{counted} counted, {refused} refused");
}

#[test]
fn gaps_that_depend_on_the_sizes_and_lie_off_the_axes_are_counted() {
    let cases = [
        // On the diagonal, with gaps at both ends.
        ("0 <= i < n and 0 <= j < n", "b[3*i + 2*j, 3*i + 2*j] = 1.0"),
        // One loop alone, beyond bounds with coefficients.
        ("0 <= i and 3*i <= n and 0 <= j <= n and i <= 2*j", "a[3*i + 2*j] = 1.0"),
        // Two of three loops move no cell.
        (
            "0 <= i <= n and 0 <= j and i <= 3*j and 2*j <= n + i and j <= 2*k and 3*k <= n + i",
            "b[i, 0] = 1.0 @ i, j, k",
        ),
        // Lattices along different axes and across them.
        ("0 <= i < n and 0 <= j < n", "b[2*i, 5*j] = 1.0\nb[5*j, 2*i] = 1.0\nb[i + j, i + 3] = 1.0"),
        // Lattices that meet for even sizes only.
        ("0 <= i < n and 0 <= j < n", "a[2*i + n] = 1.0\na[4*j] = 1.0"),
        // Tiles that are mostly cut off, or larger than the loop.
        ("0 <= i < n and 0 <= j < n", "b[3*i + 2*j, i + j] = 1.0\nsplit i 4 -> io, ii\nsplit j 16 -> jo, ji"),
    ];
    for (domain, lines) in cases {
        let loops = if domain.contains('k') { "i, j, k" } else { "i, j" };
        let arrays = "array a[8*n + 1]: f32\narray b[8*n + 1, 8*n + 1]: f32";
        let text = format!("sizes n\nassume n > 0\n{arrays}\n{{[{loops}]: {domain}}}\n{lines}");
        let nest = text.parse::<Nest>().unwrap_or_else(|error| panic!("{error}\n{text}"));
        let array = nest.instructions[0].target.array;
        let footprint = count::footprint(&nest, array).unwrap_or_else(|error| panic!("{error}\n{text}"));
        for n in 1..=13 {
            assert_eq!(footprint.evaluate(&[n]).unwrap(), [touched_bytes(&nest, array, &[n])], "{n}\n{text}");
        }
    }
}

#[test]
fn nothing_is_touched_beside_loops_over_no_work_group() {
    let text = "sizes n\nassume n > 0\narray a[n]: f32\narray b[1]: f32\ntemporary x: f32\n{[i]: 0 <= i < n - 1}\n\
                x = b[0] @\na[i] = 1.0 @ i\ntag i group.0";
    let nest = text.parse::<Nest>().unwrap();
    let array = nest.array_id("b").unwrap();
    let footprint = count::footprint(&nest, array).unwrap();
    for n in 1..4 {
        assert_eq!(footprint.evaluate(&[n]).unwrap(), [touched_bytes(&nest, array, &[n])], "{n}");
    }
}

#[test]
fn a_sum_of_strides_touches_all_cells_but_some_at_its_ends() {
    let nest = "sizes n\nassume n > 2\narray a[5*n]: f32\n{[i, j]: 0 <= i < n and 0 <= j < n}\na[2*i + 3*j] = 1.0";
    let nest = nest.parse::<Nest>().unwrap();
    let footprint = count::footprint(&nest, nest.array_id("a").unwrap()).unwrap();
    // From 0 to 5*(n - 1), except the second and the last but one.
    for n in 3..9 {
        assert_eq!(footprint.evaluate(&[n]).unwrap(), [4 * i128::from(5 * n - 6)]);
    }
}

#[test]
fn accesses_leave_their_arrays_where_the_interpreter_says_so() {
    let (left, stayed, uncounted) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let one_more = |cell: &Cell<usize>| cell.set(cell.get() + 1);
    let mut runner = TestRunner::new(Config { cases: 300, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&(common::plans(), 1..10_i128), |(plan, room)| {
        let mut nest = common::build(&plan);
        let extent = nest.assumptions.at_least_zero[0].plus(room);
        nest.arrays.iter_mut().flat_map(|array| &mut array.shape).for_each(|own| *own = extent.clone());
        let Ok(outside) = count::outside(&nest) else {
            one_more(&uncounted);
            return Ok(());
        };
        for sizes in [[1, 1], [2, 5], [4, 3], [7, 7]] {
            let mut data = Data::filled(&nest, &sizes, 5).unwrap();
            let has_left = limits::leaves(&nest, &outside, &sizes, &mut data)?;
            one_more(if has_left { &left } else { &stayed });
        }
        Ok(())
    });
    if let Err(TestError::Fail(reason, _)) = outcome {
        panic!("{reason}");
    }
    let found = [left, stayed, uncounted].map(Cell::into_inner);
    println!("{found:?} left, stayed, not counted");
    assert!(found[0] > 100 && found[1] > 100 && found[2] < 30, "{found:?}");
}

/// Plans with transformations, without vector loops: these count several accesses as one.
fn cases() -> impl Strategy<Value = (Plan, Vec<[u8; 3]>)> {
    (common::plans(), prop::collection::vec(any::<[u8; 3]>(), 0..4))
}

/// Compares the counts of nests that `make` builds from random plans with those of the interpreter.
/// Skips plans from which `make` builds no nest.
fn count_as_enumerated<S: Strategy>(cases: u32, plans: &S, make: impl Fn(S::Value) -> Option<Nest>) {
    let (counted, refused) = (Cell::new(0), RefCell::new(BTreeMap::<String, usize>::new()));
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(plans, |plan| {
        let Some(nest) = make(plan) else { return Ok(()) };
        let counts = match count::count(&nest) {
            Ok(counts) => counts,
            Err(error) => {
                let reason = error.message.rsplit(": ").next().unwrap_or_default().to_string();
                *refused.borrow_mut().entry(reason).or_default() += 1;
                return Ok(());
            }
        };
        counted.set(counted.get() + 1);
        for sizes in [[1, 1], [2, 5], [4, 3], [7, 7]] {
            let (expected, found) = (enumerated(&nest, &sizes), evaluated(&counts, &sizes));
            prop_assert!(found == expected, "at {:?}: {:?}, not {:?}\n{}", sizes, found, expected, nest);
        }
        Ok(())
    });
    if let Err(TestError::Fail(reason, _)) = outcome {
        panic!("{reason}");
    }
    let (counted, refused) = (counted.get(), refused.into_inner());
    assert!(counted > 30 * refused.values().sum::<usize>(), "{counted} counted, refused: {refused:?}");
}

/// Returns the stride of `a` by the paper's section 2.1: the share of its cells that the
/// interpreter finds touched, in parts of the distance between lanes. All cells lie between lanes.
fn utilised(nest: &Nest, sizes: &[i64], distance: i128) -> String {
    let a = nest.array_id("a").unwrap();
    let touched = touched_bytes(nest, a, sizes) / i128::from(nest.array(a).element.bits() / 8);
    let cells: i128 = nest.array(a).shape.iter().map(|extent| extent.at_sizes(sizes)).product();
    let parts = distance.min(4);
    let used = (touched * parts + cells - 1) / cells;
    if distance > 4 { format!("{used}/>4") } else { format!("{used}/{distance}") }
}

#[test]
fn stride_fractions_are_the_share_of_cells_that_the_interpreter_touches() {
    let tagged = "split i 16 -> io, ii\ntag io group.0\ntag ii local.0\n";
    let forms = [
        // One after the other in a row, as an axis of its own, and with another axis between.
        ("a[{s}*n]", "a[{s}*i + {step}*c]"),
        ("a[n, {s}]", "a[i, {step}*c]"),
        ("a[{s}, n]: f32 column", "a[{step}*c, i]"),
    ];
    let mut seen = BTreeSet::new();
    for (distance, (shape, access)) in (2..=9_i128).flat_map(|distance| forms.map(|form| (distance, form))) {
        for (step, used) in
            [1, 2].into_iter().flat_map(|step| (1..=(distance + step - 1) / step).map(move |used| (step, used)))
        {
            let fill = |text: &str| text.replace("{s}", &distance.to_string()).replace("{step}", &step.to_string());
            let (shape, access) = (fill(shape), fill(access));
            let shape = if shape.contains(':') { shape } else { format!("{shape}: f32") };
            let load = (format!("acc = {access} @ i, c"), "load");
            for (stated, direction) in [load, (format!("{access} = 1.0 @ i, c"), "store")] {
                let text = format!(
                    "sizes n\nassume n > 0\narray {shape}\ntemporary acc: f32\n\
                     {{[i, c]: 0 <= i < n and 0 <= c < {used}}}\n{stated}\n{tagged}"
                );
                let nest = text.parse::<Nest>().unwrap_or_else(|error| panic!("{error}\n{text}"));
                let counts = count::count(&nest).unwrap_or_else(|error| panic!("{error}\n{text}"));
                let found: Vec<String> = counts
                    .properties()
                    .iter()
                    .zip(counts.evaluate(&[100]).unwrap())
                    .filter(|(property, count)| property.to_string().starts_with("g:32:") && *count > 0)
                    .map(|(property, _)| property.to_string())
                    .collect();
                let expected = utilised(&nest, &[100], distance);
                assert_eq!(found, [format!("g:32:{direction}:{expected}")], "{text}");
                seen.insert(expected);
            }
        }
    }
    assert_eq!(seen.len(), 2 + 3 + 4 + 4, "every fraction occurs: {seen:?}");
}

/// Returns the nest of a plan after its transformations, if each access of it is counted on its own.
fn counted_one_by_one((plan, choices): (Plan, Vec<[u8; 3]>)) -> Option<Nest> {
    let mut nest = common::build(&plan);
    for (number, choice) in choices.into_iter().enumerate() {
        let _ = steps::transformation(&nest, number, choice).apply(&mut nest, |_| None);
    }
    let counts_accesses_together = nest.loops.iter().any(|own| own.tag == tunesmith_loopnest::Tag::Vector);
    (!counts_accesses_together).then_some(nest)
}

#[test]
fn some_random_nests_count_as_enumerated() {
    count_as_enumerated(60, &cases(), counted_one_by_one);
}

#[test]
fn random_nests_count_as_enumerated() {
    count_as_enumerated(2000, &cases(), counted_one_by_one);
}

#[test]
fn nests_with_values_computed_ahead_count_as_enumerated() {
    count_as_enumerated(400, &any::<values::Choices>(), |choices| values::neighbours(&choices).parse::<Nest>().ok());
}

#[test]
fn reductions_by_work_items_count_as_enumerated() {
    let shared = |choices| reductions_of_rows::shared_rows(&choices).parse::<Nest>().ok();
    count_as_enumerated(400, &any::<values::Choices>(), shared);
}

#[test]
fn tiles_that_are_loaded_ahead_count_as_enumerated() {
    let ahead = |choices| pipelined_tiles::tiled(&choices).parse::<Nest>().ok();
    count_as_enumerated(150, &any::<values::Choices>(), ahead);
}
