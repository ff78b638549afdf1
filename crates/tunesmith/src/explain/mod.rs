//! Explains a recorded run, and measures what its changes from the default bring.

mod measured;

pub use measured::MeasureOptions;
pub use tunesmith_study::explain::{Ends, ExplainOptions, Explained, Explanation};

use crate::Error;

/// Explains the run of `options`. With `measure`, the effect of each change from the default is measured
/// in place of predicted. Returns `None` if its measurements were interrupted.
///
/// # Errors
/// A file cannot be read, a named configuration has no counters, or the changes cannot be measured.
pub fn explain(options: &ExplainOptions, measure: Option<&MeasureOptions>) -> Result<Option<Explanation>, Error> {
    match measure {
        None => tunesmith_study::explain::explain(options, None),
        Some(how) => tunesmith_study::explain::explain(
            options,
            Some(&|header, trials, ends, scores| measured::add(how, options, header, trials, ends, scores)),
        ),
    }
}
