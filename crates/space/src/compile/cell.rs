//! The cells that hold the values of terms: every value is one 64-bit cell.

/// The cell of a value that cannot be computed (because of a division by zero, say). No whole
/// number in a graph reaches it.
pub(crate) const ERROR: i64 = i64::MIN;

/// Upper bound of the magnitude of whole numbers in a graph. Sums of two cannot overflow.
pub(crate) const MAGNITUDE: i64 = 1 << 62;

/// Returns the cell of a float. Negative zero has the bits of [`ERROR`], so it becomes zero; no
/// expression can tell the two apart.
pub(crate) fn float_cell(value: f64) -> i64 {
    (value + 0.0).to_bits() as i64
}

/// The kind of a term's cells, with their range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Class {
    /// Whole numbers between the two bounds, both included.
    Int(i64, i64),
    /// Finite floats between the two bounds, both included.
    Float(f64, f64),
    /// Numbers of values in [`Data`](super::data::Data).
    Datum,
}
