//! A finished run.

use super::findings;
use crate::judge::drift::Drift;
use crate::{History, Progress, Resample, RunState, StopReason, Verdict};
use std::time::Duration;
use tunesmith_space::ConfigId;

/// A finished run.
#[derive(Debug)]
pub struct Run {
    /// Every evaluation, including those of the resumed journal.
    pub history: History,
    /// The verdict.
    pub verdict: Verdict,
    /// The configurations that no other one dominates, in the order made, if the objective has several
    /// parts. Empty otherwise.
    pub front: Vec<ConfigId>,
    /// The drift of the device. `None` if no reference was measured again.
    pub drift: Option<Drift>,
    /// The later measurements, in the order made: the reference, then the finalists.
    pub resamples: Vec<Resample>,
    /// The reason why the run ended.
    pub stop_reason: StopReason,
    /// The progress of the run.
    pub progress: Progress,
    /// The number of evaluations taken from the resumed journal.
    pub resumed: usize,
    /// The time of this part of the run, by purpose.
    pub seconds: Seconds,
}

impl Run {
    /// Returns the state in which the run ended.
    pub fn state(&self) -> RunState {
        match self.stop_reason {
            StopReason::Interrupted if findings::has_final(&self.resamples) => RunState::UnfinishedFinal,
            StopReason::Interrupted => RunState::Interrupted,
            _ => RunState::Complete,
        }
    }
}

/// The time of the measuring thread, by purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    /// The searcher and the estimates of the regret.
    pub search: Duration,
    /// Waiting for the compiler.
    pub compile: Duration,
    /// Running kernels.
    pub run: Duration,
    /// Comparing outputs.
    pub verify: Duration,
    /// Writing the journal.
    pub store: Duration,
    /// The whole loop. The rest beyond the parts above is the loop's own work.
    pub total: Duration,
}
