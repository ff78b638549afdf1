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
    /// Two recordings are of different subjects.
    #[error("`{first}` and `{second}` differ: {}", differences.join("; "))]
    OtherSubject {
        /// The name of one recording.
        first: String,
        /// The name of the other recording.
        second: String,
        /// The differences.
        differences: Vec<String>,
    },
    /// The file names its objective, but not the direction.
    #[error("its objective is `{name}`, and nothing says whether more of it is better")]
    Undirected {
        /// The name of the objective.
        name: String,
    },
    /// The file has several objectives.
    #[error("it has several objectives ({objectives}), which do not rank configurations")]
    Front {
        /// The objectives.
        objectives: String,
    },
    /// No row has a number of this name.
    #[error("it has no number called `{name}`")]
    NoNumber {
        /// The name.
        name: String,
        /// A known name that resembles it.
        suggestion: Option<String>,
        /// The names of the recorded numbers.
        known: Vec<String>,
    },
}

impl RecordingError {
    /// Returns the faulty row, if a single row is at fault.
    pub fn row(&self) -> Option<usize> {
        match self {
            Self::Length { row, .. } | Self::Value { row, .. } => Some(*row),
            _ => None,
        }
    }

    /// Returns the advice for the user.
    pub fn remedy(&self) -> String {
        match self {
            Self::OtherSubject { .. } => "convert them one by one, or add --keep-apart for a file of each".to_string(),
            Self::Undirected { name } => {
                format!("add --objective \"minimise {name}\" or --objective \"maximise {name}\"")
            }
            Self::Front { .. } => "name one of them with --objective".to_string(),
            Self::NoNumber { suggestion: Some(meant), .. } => format!("did you mean `{meant}`?"),
            Self::NoNumber { known, .. } if known.is_empty() => "it has times only".to_string(),
            Self::NoNumber { known, .. } => format!("beside the times it has {}", known.join(", ")),
            _ => "correct or remove what is named".to_string(),
        }
    }
}
