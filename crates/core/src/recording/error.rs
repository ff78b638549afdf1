//! What is wrong with the rows of a recording.

use tunesmith_space::{SpaceError, Value};

/// Rows make no recording, or two recordings not one. Rows are counted from 0, as they were given.
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
    /// A value that its parameter does not take.
    #[error("`{value}` is not among the listed values of parameter `{parameter}`")]
    Value {
        /// The row.
        row: usize,
        /// The parameter.
        parameter: String,
        /// The value.
        value: Value,
    },
    /// The values of a column make no parameter.
    #[error(transparent)]
    Parameter(SpaceError),
    /// Two recordings are of different spaces.
    #[error("`{first}` and `{second}` have different parameters or values")]
    OtherSpace {
        /// The one.
        first: String,
        /// The other.
        second: String,
    },
}

impl RecordingError {
    /// Returns the row that is at fault, where it is one.
    pub fn row(&self) -> Option<usize> {
        match self {
            Self::Length { row, .. } | Self::Value { row, .. } => Some(*row),
            Self::Empty | Self::Parameter(_) | Self::OtherSpace { .. } => None,
        }
    }
}
