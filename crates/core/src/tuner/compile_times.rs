//! The compile times of a run, and the limit that follows from them.

use crate::{CompileLimit, Evaluation, statistics};
use std::collections::VecDeque;

/// The limit of a compilation, in usual ones. With three, convolution on PoCL lost its fast configurations, which take
/// up to five (bench/results/seconds.md).
const LIMIT: f64 = 5.0;
/// The least limit in milliseconds. A compilation below it costs about as much as the rest of an evaluation.
const LEAST_MS: f64 = 250.0;
/// Number of compile times that must be known before there is a limit.
const FEWEST: usize = 3;
/// Number of compile times that say what is usual: the latest.
const LATEST: usize = 100;

/// The compile times of the latest evaluations in milliseconds.
#[derive(Debug, Default)]
pub(super) struct CompileTimes {
    latest: VecDeque<f64>,
}

impl CompileTimes {
    /// Adds the compile time of an evaluation, if it has one. A compilation that was put aside counts as its limit.
    pub(super) fn add(&mut self, evaluation: &Evaluation) {
        let compile_ms = evaluation.aside().map(|limit| limit.limit_ms).or(compile_ms(evaluation));
        let Some(ms) = compile_ms.filter(|ms| *ms > 0.0) else { return };
        if self.latest.len() == LATEST {
            self.latest.pop_front();
        }
        self.latest.push_back(ms);
    }

    /// Returns the limit for compilations, if enough are known. The usual time is the median of the latest, or that of
    /// the `best` configuration, if it takes longer: where good configurations are long ones, such as those with unrolled
    /// loops, the search is about them.
    pub(super) fn limit(&self, best: Option<&Evaluation>) -> Option<CompileLimit> {
        if self.latest.len() < FEWEST {
            return None;
        }
        let median = statistics::median(&self.latest.iter().copied().collect::<Vec<_>>())?;
        let usual_ms = best.and_then(compile_ms).map_or(median, |of_best| median.max(of_best));
        Some(CompileLimit { limit_ms: (LIMIT * usual_ms).max(LEAST_MS), usual_ms })
    }
}

/// Returns the compile time of an evaluation in milliseconds, if it is known.
fn compile_ms(evaluation: &Evaluation) -> Option<f64> {
    evaluation.measurement.compile.as_ref().map(|compile| compile.time_ms)
}
