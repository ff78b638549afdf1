//! What can be wrong with data and settings of a fit.

/// A model could not be fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// There is nothing to learn from.
    #[error("there are no rows to fit a model to")]
    Empty,
    /// More rows than a model counts.
    #[error("{rows} rows are too many; a model takes at most 4294967295")]
    TooMany {
        /// The rows given.
        rows: usize,
    },
    /// Rows and targets do not belong together.
    #[error("there are {targets} targets for {rows} rows; give one for each")]
    Targets {
        /// The rows given.
        rows: usize,
        /// The targets given.
        targets: usize,
    },
    /// A target is no number, or too large to be squared and summed.
    #[error("the target of row {row} is {value}; leave out rows whose target is not a number within 1e100 of 0")]
    Target {
        /// The row, counted from 0.
        row: usize,
        /// Its target.
        value: f64,
    },
    /// A column that is to be monotone cannot be.
    #[error("there is no ordinal column `{name}` that could be monotone")]
    Column {
        /// The name given.
        name: String,
    },
    /// A setting is out of range.
    #[error("the setting `{name}` cannot be {value}: it is {expected}")]
    Setting {
        /// Its name.
        name: &'static str,
        /// The value given.
        value: f64,
        /// What it must be.
        expected: &'static str,
    },
}

/// Squares of targets up to this, summed over all rows there can be, are finite.
const LARGEST_TARGET: f64 = 1e100;

/// Refuses the `value` of a setting unless it is `valid`.
pub(crate) fn check(name: &'static str, value: f64, valid: bool, expected: &'static str) -> Result<(), FitError> {
    if valid { Ok(()) } else { Err(FitError::Setting { name, value, expected }) }
}

/// Refuses what no model can be fitted to.
pub(crate) fn check_data(rows: usize, targets: &[f64]) -> Result<(), FitError> {
    if rows == 0 {
        return Err(FitError::Empty);
    }
    if u32::try_from(rows).is_err() {
        return Err(FitError::TooMany { rows });
    }
    if rows != targets.len() {
        return Err(FitError::Targets { rows, targets: targets.len() });
    }
    match targets.iter().position(|target| target.is_nan() || target.abs() > LARGEST_TARGET) {
        Some(row) => Err(FitError::Target { row, value: targets[row] }),
        None => Ok(()),
    }
}
