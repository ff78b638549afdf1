//! The score of a measurement.

use crate::history::Aspects;
use crate::{Evaluation, Failure, Measurement, Objective, statistics};
use std::time::Duration;
use tunesmith_space::ConfigId;

/// Scores a measurement. Smaller is better. Scores are finite numbers of any sign. They are computed from
/// recorded samples, so a finished run can be scored again with another objective.
pub trait ObjectiveFunction {
    /// Returns the objective whose scores this computes.
    fn objective(&self) -> Objective;

    /// Returns the score of every sample of a correct configuration, in the order taken.
    ///
    /// # Errors
    ///
    /// Fails if the measurement lacks what the objective needs, or if its value cannot be a score.
    /// The text tells users the reason.
    fn samples(&self, config: ConfigId, measurement: &Measurement) -> Result<Vec<f64>, String>;

    /// Returns the median of the samples' scores, or `None` if the evaluation failed or has no
    /// score. One disturbed sample moves a mean, and a minimum rewards luck. The median avoids
    /// both.
    fn score(&self, evaluation: &Evaluation) -> Option<f64> {
        let samples = || self.samples(evaluation.request.config, &evaluation.measurement).ok();
        evaluation.is_correct().then(samples).flatten().and_then(|samples| statistics::median(&samples))
    }

    /// Returns the reason if a correct measurement lacks a number that the objective needs. Further
    /// measurements would lack it, too. A number that cannot be a score is no such reason: others
    /// may be able to.
    fn lacks(&self, config: ConfigId, measurement: &Measurement) -> Option<String> {
        let _ = (config, measurement);
        None
    }

    /// Returns the failure of a correct configuration whose measurement breaks a limit. The failure is
    /// [infeasible](crate::FailureKind::Infeasible), and says which limit.
    fn broken(&self, config: ConfigId, measurement: &Measurement) -> Option<Failure> {
        let _ = (config, measurement);
        None
    }

    /// Returns what strategies can learn from an evaluation besides its score, if there is anything:
    /// the distance to limits, and the parts of a score that joins several objectives.
    fn aspects(&self, evaluation: &Evaluation) -> Option<Box<Aspects>> {
        let _ = evaluation;
        None
    }

    /// Returns the time in milliseconds at which `config` would have this score, if the objective is
    /// proportional to the time or to its reciprocal, better for less time, and depends on nothing else
    /// measured. Only then can its times decide to abandon a slow configuration.
    fn time_ms_at(&self, config: ConfigId, score: f64) -> Option<f64> {
        let _ = (config, score);
        None
    }

    /// Returns true if the times of [`time_ms_at`](Self::time_ms_at) and of
    /// [`longest_time_that_can_win`](Self::longest_time_that_can_win) are the same for every configuration. Devices
    /// that measure several configurations at once use them only then.
    fn has_common_times(&self) -> bool {
        false
    }

    /// Returns the longest time at which `config` may still reach the score `best`, if it is certain
    /// that every longer time is worse. Only then may a limit of time end a configuration because
    /// another one is faster.
    ///
    /// It is certain only if the score depends on nothing else that is measured, and nowhere becomes
    /// better for more time. A front has no such time: who is slow may be good in another objective.
    fn longest_time_that_can_win(&self, config: ConfigId, best: f64) -> Option<Duration> {
        let _ = (config, best);
        None
    }
}

/// The time in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct MedianTime;

impl ObjectiveFunction for MedianTime {
    fn objective(&self) -> Objective {
        Objective::time()
    }

    fn samples(&self, _: ConfigId, measurement: &Measurement) -> Result<Vec<f64>, String> {
        Ok(measurement.times_ms.clone())
    }

    fn score(&self, evaluation: &Evaluation) -> Option<f64> {
        evaluation.is_correct().then(|| statistics::median(&evaluation.measurement.times_ms)).flatten()
    }

    fn time_ms_at(&self, _: ConfigId, score: f64) -> Option<f64> {
        Some(score)
    }

    fn has_common_times(&self) -> bool {
        true
    }

    fn longest_time_that_can_win(&self, _: ConfigId, best: f64) -> Option<Duration> {
        Duration::try_from_secs_f64(best / 1e3).ok()
    }
}
