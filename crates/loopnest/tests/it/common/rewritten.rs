//! Random nests whose text ends with a transformation, and their results.

use crate::outcome;
use crate::steps;
use crate::values;

use outcome::outcome;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use tunesmith_loopnest::{LaneOrder, Recipe, Schedule};
use values::Choices;

/// Compares this many nests of `text` with what they compute without their transformations, each after a number
/// of further random steps, in both orders of lanes. Returns the number of nests that were compared, and how
/// often each refusal came.
pub(crate) fn check_rewritten(
    cases: u32,
    text: impl Fn(&Choices) -> String,
    steps: Range<usize>,
    all_sizes: &[[i64; 2]],
) -> (usize, BTreeMap<String, usize>) {
    let found = RefCell::new((0, BTreeMap::<String, usize>::new()));
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let steps = prop::collection::vec(any::<[u8; 3]>(), steps);
    let ran = runner.run(&(any::<Choices>(), steps), |(choices, steps)| {
        let text = text(&choices);
        let recipe = text.parse::<Recipe>().unwrap_or_else(|error| panic!("{error:?} in\n{text}"));
        let mut nest = match recipe.apply(&[]) {
            Ok(nest) => nest,
            Err(error) => {
                *found.borrow_mut().1.entry(error.message).or_default() += 1;
                return Ok(());
            }
        };
        for (number, choice) in steps.into_iter().enumerate() {
            let _ = steps::transformation(&nest, number, choice).apply(&mut nest, |_| None);
        }
        if Schedule::new(&nest).is_err() {
            return Ok(());
        }
        found.borrow_mut().0 += 1;
        for sizes in all_sizes {
            let expected = outcome(&recipe.nest, sizes, LaneOrder::Ascending);
            for order in [LaneOrder::Ascending, LaneOrder::Descending] {
                let found = outcome(&nest, sizes, order);
                prop_assert!(found[..expected.len()] == expected[..], "{:?} at {:?}\n{}\n{}", order, sizes, text, nest);
            }
        }
        Ok(())
    });
    if let Err(TestError::Fail(reason, _)) = ran {
        panic!("{reason}");
    }
    found.into_inner()
}
