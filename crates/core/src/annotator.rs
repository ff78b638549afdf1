//! Notes on an evaluation besides its measurement.

use crate::Evaluation;

/// Adds to new evaluations what neither the evaluator nor the tuner knows, such as the origin of a
/// configuration.
pub trait Annotator {
    /// Adds to `evaluation`. The tuner calls this once for each new evaluation, before it is kept and
    /// told. Evaluations of a resumed journal have kept theirs.
    fn annotate(&self, evaluation: &mut Evaluation);
}
