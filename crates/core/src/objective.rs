//! What is minimised.

use crate::{Evaluation, statistics};

/// Scores an evaluation; smaller is better. Scores are computed from the recorded samples, so that a finished run
/// can be scored again with another objective.
pub trait Objective {
    /// The name users write and reports show.
    fn name(&self) -> &str;

    /// The score, or `None` where the evaluation failed or lacks what the objective needs.
    fn score(&self, evaluation: &Evaluation) -> Option<f64>;
}

/// The median of the samples in milliseconds. The median, because one disturbed sample moves a mean and a
/// minimum rewards luck.
#[derive(Clone, Copy, Debug, Default)]
pub struct MedianTime;

impl Objective for MedianTime {
    fn name(&self) -> &str {
        "time"
    }

    fn score(&self, evaluation: &Evaluation) -> Option<f64> {
        if !evaluation.is_correct() {
            return None;
        }
        statistics::median(&evaluation.measurement.times_ms)
    }
}
