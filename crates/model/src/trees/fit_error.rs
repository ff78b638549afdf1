//! Errors in the data and the settings of a fit.

/// The error of fitting a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// There is nothing to learn from.
    #[error("there are no rows to fit a model to")]
    Empty,
    /// There are more rows than a model can count.
    #[error("{rows} rows are too many; a model takes at most 4294967295")]
    TooMany {
        /// The number of rows.
        rows: usize,
    },
    /// The numbers of rows and targets differ.
    #[error("there are {targets} targets for {rows} rows; give one for each")]
    Targets {
        /// The number of rows.
        rows: usize,
        /// The number of targets.
        targets: usize,
    },
    /// A target is not a number, or is too large to be squared and summed.
    #[error("the target of row {row} is {value}; leave out rows whose target is not a number within 1e100 of 0")]
    Target {
        /// The row, counted from 0.
        row: usize,
        /// Its target.
        value: f64,
    },
    /// A column cannot be monotone.
    #[error("there is no ordinal column `{name}` that could be monotone")]
    Column {
        /// Its name.
        name: String,
    },
    /// A setting is out of range.
    #[error("the setting `{name}` cannot be {value}: it is {expected}")]
    Setting {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The valid range.
        expected: &'static str,
    },
}

/// Largest target. The squares of such targets, summed over the maximum number of rows, are finite.
const LARGEST_TARGET: f64 = 1e100;

/// Refuses the `value` of a setting unless it is `valid`.
pub(crate) fn check(name: &'static str, value: f64, valid: bool, expected: &'static str) -> Result<(), FitError> {
    if valid { Ok(()) } else { Err(FitError::Setting { name, value, expected }) }
}

/// Refuses data to which no model can be fitted.
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
