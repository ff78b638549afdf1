//! Accesses that leave their arrays.

use proptest::prelude::*;
use tunesmith_loopnest::{Data, LaneOrder, Nest, Outside, interpret};

/// Returns true if an access of a run leaves its array. First compares the run with `outside`.
pub(crate) fn leaves(nest: &Nest, outside: &Outside, sizes: &[i64], data: &mut Data) -> Result<bool, TestCaseError> {
    let ran = interpret::run(nest, sizes, data, LaneOrder::Ascending);
    let found = outside.refuse(sizes);
    let has_left = ran.is_err();
    prop_assert_eq!(found.is_err(), has_left, "{:?} and {:?} at {:?}\n{}", found, ran.err(), sizes, nest);
    Ok(has_left)
}
