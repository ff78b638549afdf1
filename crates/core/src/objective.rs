//! What is minimised.

use crate::{Evaluation, Measurement, statistics};
use tunesmith_space::ConfigId;

/// Scores what was measured; smaller is better, and scores are positive. Scores are computed from
/// the recorded samples, so that a finished run can be scored again with another objective.
pub trait Objective {
    /// Returns the name users write and reports show.
    fn name(&self) -> &str;

    /// Returns the score of every sample of a correct configuration, in the order taken.
    ///
    /// # Errors
    /// Why there is none, for users: the measurement lacks what the objective needs, or its value
    /// cannot be a score.
    fn samples(&self, config: ConfigId, measurement: &Measurement) -> Result<Vec<f64>, String>;

    /// Returns the score: the median of those of the samples, because one disturbed sample moves a
    /// mean and a minimum rewards luck. `None` where the evaluation failed or has no score.
    fn score(&self, evaluation: &Evaluation) -> Option<f64> {
        let samples = || self.samples(evaluation.request.config, &evaluation.measurement).ok();
        evaluation.is_correct().then(samples).flatten().and_then(|samples| statistics::median(&samples))
    }

    /// Returns the score per millisecond, where scores of `config` are proportional to its time and
    /// to nothing else that is measured; only then can a slow configuration be given up by its
    /// times.
    fn per_millisecond(&self, config: ConfigId) -> Option<f64> {
        let _ = config;
        None
    }
}

/// The time in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct MedianTime;

impl Objective for MedianTime {
    fn name(&self) -> &str {
        "time"
    }

    fn samples(&self, _: ConfigId, measurement: &Measurement) -> Result<Vec<f64>, String> {
        Ok(measurement.times_ms.clone())
    }

    fn per_millisecond(&self, _: ConfigId) -> Option<f64> {
        Some(1.0)
    }
}
