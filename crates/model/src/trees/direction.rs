//! The direction of a monotone column.

/// The direction in which predictions may move with the numbers of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Never down.
    Rising,
    /// Never up.
    Falling,
}
