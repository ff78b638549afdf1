//! Random nests with looked-up bounds and subscripts: compares counts with the interpreter, and C
//! with the interpreter.

use crate::limits;
use crate::named;
use crate::program;
use crate::steps;

use named::{evaluated, tallied};
use program::{Sample, compare};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestError, TestRunner};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use tunesmith_loopnest::{Amount, Data, LaneOrder, Nest, Tag, Transformation, Value, count, interpret};

/// The choices that make a random nest. Numbers choose among shapes.
#[derive(Clone, Debug)]
struct Plan {
    outer: u8,
    rows: u8,
    data: u8,
    inner: u8,
    body: u8,
    /// True if every row has the same number of cells.
    is_even: bool,
    /// The loops that become work-items before any other transformation.
    lanes: u8,
    steps: Vec<[u8; 3]>,
}

prop_compose! {
    fn plans()(
        [outer, rows, data, inner, body] in [0_u8..3, 0_u8..3, 0_u8..6, 0_u8..4, 0_u8..8],
        is_even in any::<bool>(),
        lanes in 0_u8..8,
        steps in prop::collection::vec(any::<[u8; 3]>(), 0..4),
    ) -> Plan {
        Plan { outer, rows, data, inner, body, is_even, lanes, steps }
    }
}

/// Returns the text of a nest over `n` rows with `c` cells each on average.
fn text(plan: &Plan) -> String {
    let (outer, around, turn) = match plan.outer {
        0 => ("", "i", "0"),
        1 => ("{[t]: 0 <= t < m}\nlookup shift = turn[t]", "t, i", "t"),
        _ => ("{[t]: 0 <= t < 3}", "t, i", "t"),
    };
    // If rows have different lengths, all of them are visited. The mean over rows is then the mean
    // over visits.
    let rows = match (plan.rows, plan.is_even, plan.outer) {
        (1, true, _) => "1 <= i < n",
        (2, true, 1 | 2) => "0 <= i < n and i <= t + 1",
        _ => "0 <= i < n",
    };
    let (data, lookups) = match plan.data {
        0 => ("first <= k < end", "lookup first = row[i]\nlookup end = row[i + 1]"),
        1 => ("0 <= k < length", "lookup length = lengths[i]"),
        2 => ("first <= k < first + c", "lookup first = row[i]"),
        3 => ("first <= k and k - first < length", "lookup first = row[i]\nlookup length = lengths[i]"),
        4 => ("i <= k < i + length", "lookup length = lengths[i]"),
        _ => ("0 <= k < 2*c - length", "lookup length = lengths[i]"),
    };
    let (inner, inside) = match plan.inner {
        0 => ("", "k"),
        1 => ("{[j]: 0 <= j < m}", "k, j"),
        2 => ("{[j]: 0 <= j < 4}\nlookup near = column[j + 2*i]", "k, j"),
        _ => ("lookup cells = lengths[k]\n{[j]: k <= j < k + cells}\nstatistic j = c", "k, j"),
    };
    let last = if plan.inner == 0 { "k" } else { "j" };
    let body = match plan.body {
        0 => "acc = acc + x[at]".to_string(),
        1 => format!("acc = acc + x[at + {last}]*x[there]"),
        2 => "acc = acc*0.5 + there".to_string(),
        3 => format!("out[{turn}, at, i] = out[{turn}, at, i] + x[at]"),
        4 if plan.inner == 2 => "acc = acc + x[near]*x[at]".to_string(),
        5 if plan.outer == 1 => "acc = acc + x[shift + at]".to_string(),
        // Every lane along `j` looks up the same cell.
        6 | 7 if matches!(plan.inner, 1 | 2) => format!("wide[{turn}, i, j] = wide[{turn}, i, j] + x[at]"),
        _ => format!("acc = acc + x[{last}]"),
    };
    format!(
        "nest random\nsizes n, m, c\nassume n > 0, m > 0, c >= 0\narray row[n + 9]: i32\narray lengths[64]: i32\n\
         array column[400]: i32\narray place[n]: i64\narray turn[m]: i32\narray x[400]: f32\narray out[9, 20, n]: f64\narray wide[9, n, 9]: f32\n\
         temporary acc: f32\n{outer}\n{{[i]: {rows}}}\n{lookups}\nlookup there = place[i]\n{{[k]: {data}}}\n\
         statistic k = c\nlookup at = column[k]\n{inner}\nacc = 0.25 @ {around}\n{body} @ {around}, {inside}\n\
         out[{turn}, 0, i] = acc @ {around}\nacc = x[at] @ {around}, k\nout[{turn}, there, i] = acc @ {around}"
    )
}

/// Returns work-items along rows, along a loop within them, or along a loop around them.
fn lanes(choice: u8) -> Vec<Transformation> {
    let split = |index: &str, length: i64| {
        let [outer, inner] = ["o", "i"].map(|part| format!("{index}_{part}"));
        Transformation::Split { index: index.into(), length: Amount::Number(length), outer, inner }
    };
    let tag = |index: &str, tag: Tag| Transformation::Tag { index: index.into(), tag };
    let lanes = |index: &str, length: i64, axis: u8| {
        let [group, item] = [("o", Tag::Group(axis)), ("i", Tag::Local(axis))];
        [group, item].map(|(part, own)| tag(&format!("{index}_{part}"), own)).into_iter().chain([split(index, length)])
    };
    let mut steps: Vec<Transformation> = match choice {
        0 => Vec::new(),
        1 => lanes("i", 2, 0).collect(),
        2 => lanes("i", 4, 1).collect(),
        3 => lanes("j", 3, 0).collect(),
        4 => lanes("i", 3, 1).chain(lanes("j", 2, 0)).collect(),
        5 => lanes("i", 3, 0).chain(lanes("t", 2, 1)).collect(),
        6 => lanes("t", 4, 0).collect(),
        _ => lanes("i", 1, 0).chain([tag("j", Tag::Local(0))]).collect(),
    };
    steps.reverse();
    steps
}

fn transformed(plan: &Plan) -> Nest {
    let text = text(plan);
    let mut nest = text.parse::<Nest>().unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    for step in lanes(plan.lanes) {
        let _ = step.apply(&mut nest, |_| None);
    }
    for (number, choice) in plan.steps.iter().enumerate() {
        let _ = steps::transformation(&nest, number, *choice).apply(&mut nest, |_| None);
    }
    nest
}

fn cells_of<'a>(data: &'a mut Data, nest: &Nest, name: &str) -> &'a mut Vec<Value> {
    &mut data.cells[nest.arrays.iter().position(|array| array.name == name).unwrap()]
}

/// Returns rows of `c` cells each, or pairs of rows with `c + 1` and `c - 1` cells.
fn data(nest: &Nest, sizes: &[i64], is_even: bool) -> Data {
    let (rows, cells) = (sizes[0], sizes[2]);
    let change = |row: i64| match row % 2 {
        _ if is_even || cells == 0 || row - row % 2 + 1 >= rows => 0,
        0 => 1,
        _ => -1,
    };
    let length = |row: i64| cells + change(row);
    let mut data = Data::filled(nest, sizes, 7).unwrap();
    let mut set = |name: &str, value: &dyn Fn(i64) -> i64| {
        let own = cells_of(&mut data, nest, name);
        own.iter_mut().zip(0..).for_each(|(cell, place)| *cell = Value::Integer(value(place)));
    };
    set("row", &|row| (0..row).map(length).sum());
    set("lengths", &length);
    set("column", &|cell| (cell * 7 + 3) % 20);
    set("place", &|row| row * 3 % 20);
    set("turn", &|turn| 5 * turn);
    data
}

const SIZES: [[i64; 3]; 4] = [[1, 1, 2], [4, 3, 3], [6, 2, 0], [7, 5, 2]];

/// Returns true if the mean over the visits of the loop `j` is the mean over rows: it begins where
/// `k` does and reads the lengths of other rows.
fn has_known_mean(plan: &Plan) -> bool {
    plan.is_even || plan.inner != 3
}

#[test]
fn what_random_nests_do_and_look_up_counts_as_enumerated() {
    let (counted, laned) = (Cell::new(0), Cell::new(0));
    let refused = RefCell::new(BTreeMap::<String, usize>::new());
    let mut runner = TestRunner::new(Config { cases: 600, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&plans().prop_filter("no mean", has_known_mean), |plan| {
        let nest = transformed(&plan);
        if nest.loops.iter().any(|own| own.tag == Tag::Vector) {
            return Ok(());
        }
        let counts = match count::count(&nest) {
            Ok(counts) => counts,
            Err(error) => {
                *refused.borrow_mut().entry(error.message).or_default() += 1;
                return Ok(());
            }
        };
        counted.set(counted.get() + 1);
        laned.set(laned.get() + usize::from(nest.local_size().unwrap() != [1; 3]));
        for sizes in SIZES {
            let mut data = data(&nest, &sizes, plan.is_even);
            let tally = interpret::run(&nest, &sizes, &mut data, LaneOrder::Ascending);
            let tally = tally.unwrap_or_else(|error| panic!("{error:?} at {sizes:?}\n{nest}"));
            let mean = interpret::mean_iterations(&nest, nest.loop_id("k").unwrap(), &sizes, &data).unwrap();
            prop_assert!(mean.is_none_or(|mean| mean == sizes[2] as f64), "at {:?}: {:?}\n{}", sizes, mean, nest);
            let (expected, found) = (tallied(&nest, &tally), evaluated(&counts, &sizes));
            prop_assert!(found == expected, "at {:?}: {:?}, not {:?}\n{}", sizes, found, expected, nest);
        }
        Ok(())
    });
    if let Err(TestError::Fail(reason, _)) = outcome {
        panic!("{reason}");
    }
    let (counted, laned, refused) = (counted.get(), laned.get(), refused.into_inner());
    println!("{counted} counted, {laned} with work-items, refused: {refused:?}");
    assert!(counted > 400 && laned > 150, "{counted} counted, {laned} with work-items, refused: {refused:?}");
}

#[test]
fn random_nests_with_lookups_compute_in_c_what_the_interpreter_says() {
    let mut runner = TestRunner::deterministic();
    let samples = (0..150).map(|number| {
        let plan = plans().new_tree(&mut runner).unwrap().current();
        let (nest, sizes) = (transformed(&plan), SIZES[number % SIZES.len()]);
        let data = data(&nest, &sizes, plan.is_even);
        Sample { nest, sizes: sizes.to_vec(), data }
    });
    // A nest may still need a barrier where none can stand. Scheduling refuses such a nest.
    let samples: Vec<Sample> =
        samples.filter(|sample| tunesmith_loopnest::Schedule::new(&sample.nest).is_ok()).collect();
    assert!(samples.len() > 120, "{}", samples.len());
    compare(&samples);
}

#[test]
fn lookups_leave_their_arrays_where_the_interpreter_says_so() {
    let (left, stayed) = (Cell::new(0), Cell::new(0));
    let one_more = |cell: &Cell<usize>| cell.set(cell.get() + 1);
    let mut runner = TestRunner::new(Config { cases: 120, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&(plans(), [-1..3_i128, -1..3_i128, -1..3_i128]), |(plan, room)| {
        let mut nest = transformed(&plan);
        for (name, room) in ["row", "place", "turn"].into_iter().zip(room) {
            let own = nest.arrays.iter_mut().find(|array| array.name == name).unwrap();
            let offset = own.shape[0].offset();
            own.shape[0] = own.shape[0].plus(room - offset);
        }
        let outside = count::outside(&nest).unwrap_or_else(|error| panic!("{error:?}\n{nest}"));
        // Every loop has iterations: a loop over data is assumed to have some.
        for sizes in SIZES.into_iter().filter(|sizes| sizes[2] > 0) {
            let mut data = data(&nest, &sizes, plan.is_even);
            let has_left = limits::leaves(&nest, &outside, &sizes, &mut data)?;
            one_more(if has_left { &left } else { &stayed });
        }
        Ok(())
    });
    if let Err(TestError::Fail(reason, _)) = outcome {
        panic!("{reason}");
    }
    let (left, stayed) = (left.get(), stayed.get());
    println!("{left} left, {stayed} stayed");
    assert!(left > 50 && stayed > 50, "{left} left, {stayed} stayed");
}

#[test]
fn data_lead_out_of_arrays_where_the_interpreter_says_so() {
    let (left, stayed) = (Cell::new(0), Cell::new(0));
    let one_more = |cell: &Cell<usize>| cell.set(cell.get() + 1);
    let mut runner = TestRunner::new(Config { cases: 200, failure_persistence: None, ..Config::default() });
    let wrong = (0_usize..6, 0_usize..12, prop::sample::select(vec![-30_i64, -1, 3, 19, 399, 5000]));
    let outcome = runner.run(&(plans(), wrong), |(plan, (array, cell, value))| {
        let nest = transformed(&plan);
        for sizes in SIZES.into_iter().filter(|sizes| sizes[2] > 0) {
            let mut data = data(&nest, &sizes, plan.is_even);
            if let Some(name) = ["row", "lengths", "column", "place", "turn"].get(array) {
                let cells = cells_of(&mut data, &nest, name);
                let own = cell % cells.len();
                cells[own] = Value::Integer(value);
            }
            let found = interpret::refuse_data(&nest, &sizes, &data);
            let ran = interpret::run(&nest, &sizes, &mut data, LaneOrder::Ascending);
            one_more(if ran.is_err() { &left } else { &stayed });
            // A loop without iterations hides errors inside it.
            let is_refused = found.is_err() && (ran.is_err() || value < 20);
            prop_assert!(
                is_refused || found.is_ok() == ran.is_ok(),
                "{:?} and {:?} at {:?}\n{}",
                found,
                ran.err(),
                sizes,
                nest
            );
        }
        Ok(())
    });
    if let Err(TestError::Fail(reason, _)) = outcome {
        panic!("{reason}");
    }
    let (left, stayed) = (left.get(), stayed.get());
    println!("{left} left, {stayed} stayed");
    assert!(left > 40 && stayed > 100, "{left} left, {stayed} stayed");
}
