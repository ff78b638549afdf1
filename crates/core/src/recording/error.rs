//! Faults in the rows of a recording.

use tunesmith_space::{SpaceError, Value};

/// The error for rows that make no recording, or recordings that cannot be merged. Rows are counted
/// from 0 in the given order.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// There is no row, or no parameter.
    #[error("no configuration was recorded")]
    Empty,
    /// A row has too few or too many values.
    #[error("{found} values for {expected} parameters")]
    Length {
        /// The row.
        row: usize,
        /// The number of its values.
        found: usize,
        /// The number of parameters.
        expected: usize,
    },
    /// A parameter does not take a value.
    #[error("`{value}` is not among the listed values of parameter `{parameter}`")]
    Value {
        /// The row.
        row: usize,
        /// The parameter.
        parameter: String,
        /// The value.
        value: Value,
    },
    /// The columns do not make parameters: a column's values, or two of the same name.
    #[error(transparent)]
    Parameter(SpaceError),
    /// Two recordings are of different spaces.
    #[error("`{first}` and `{second}` have different parameters or values")]
    OtherSpace {
        /// The name of one recording.
        first: String,
        /// The name of the other recording.
        second: String,
    },
}

impl RecordingError {
    /// Returns the faulty row, if a single row is at fault.
    pub fn row(&self) -> Option<usize> {
        match self {
            Self::Length { row, .. } | Self::Value { row, .. } => Some(*row),
            Self::Empty | Self::Parameter(_) | Self::OtherSpace { .. } => None,
        }
    }
}
