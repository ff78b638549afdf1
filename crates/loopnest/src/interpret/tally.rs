//! The tally of a run: operations counted one by one.

use crate::ir::{ArrayId, Direction, Operation, Type};
use std::collections::{BTreeMap, BTreeSet};

/// The work of one run of a nest, over all work-items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Runs of each instruction.
    pub runs: Vec<u64>,
    /// Arithmetic operations by kind and type.
    pub operations: BTreeMap<(Operation, Type), u64>,
    /// Atomic updates of every array, by operation. They are neither operations nor accesses.
    pub atomics: BTreeMap<(ArrayId, Operation), u64>,
    /// Accesses to every array, by direction.
    pub accesses: BTreeMap<(ArrayId, Direction), u64>,
    /// The cells of every array that were touched, numbered with the last axis fastest.
    pub touched: BTreeMap<ArrayId, BTreeSet<usize>>,
    /// Barriers times the work-items that meet them.
    pub barriers: u64,
    /// Work-groups.
    pub groups: u64,
}
