//! Evaluations in full.

use tunesmith_store::{Entry, Outline, StoreError};

/// An evaluation in full with its position.
pub(super) type FullEntry = (usize, Entry);

/// Returns the evaluations at these positions in full.
pub(super) fn full(outline: &Outline, positions: impl Iterator<Item = usize>) -> Result<Vec<FullEntry>, StoreError> {
    positions.map(|at| Ok((at, outline.entries.get(at)?))).collect()
}

/// Returns at most `most` of `count` positions, evenly spread.
pub(super) fn even(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let kept = count.min(most);
    (0..kept).map(move |at| at * count / kept)
}
