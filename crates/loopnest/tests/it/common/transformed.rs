//! Random nests after random transformations.

use crate::{common, steps};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};
use tunesmith_loopnest::Nest;

/// Checks this many random nests, each after up to four transformations. What cannot be applied is
/// left out.
pub(crate) fn check_transformed(cases: u32, check: impl Fn(&Nest) -> Result<(), TestCaseError>) {
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let plans = (common::plans(), prop::collection::vec(any::<[u8; 3]>(), 0..5));
    let outcome = runner.run(&plans, |(plan, choices)| {
        let mut nest = common::build(&plan);
        for (number, choice) in choices.into_iter().enumerate() {
            let _ = steps::transformation(&nest, number, choice).apply(&mut nest, |_| None);
        }
        check(&nest)
    });
    if let Err(TestError::Fail(reason, _)) = outcome {
        panic!("{reason}");
    }
}
