//! What a tuning run gave.

mod candidate;
mod document;
mod failures;

pub use candidate::Candidate;
pub(crate) use candidate::{Valued, final_medians};
pub use document::{CandidateDocument, OutcomeDocument};
pub(crate) use failures::common_failures;
pub use failures::{CommonFailure, Unscored};
pub(crate) use tunesmith_store::arguments;

use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tunesmith_core::{FailureKind, RegretBound, StopReason, Target};
use tunesmith_search::StrategySpec;
use tunesmith_store::DriftLine;

/// The result of a tuning run. [`Outcome::document`] is its JSON form.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The problem's name.
    pub problem: String,
    /// The device, by name.
    pub device: String,
    /// The strategy.
    pub strategy: StrategySpec,
    /// What the user was told of the counter model and the counters.
    pub notes: Vec<String>,
    /// The seed.
    pub seed: u64,
    /// The objective.
    pub objective: Target,
    /// Why the run ended.
    pub stop_reason: StopReason,
    /// Evaluations made, failures and resumed ones included.
    pub evaluations: u64,
    /// How many of them were taken from the resumed journal.
    pub resumed: usize,
    /// Failed evaluations by kind.
    pub failed: BTreeMap<FailureKind, usize>,
    /// Correct configurations without a value of the objective; `None` where all have one.
    pub unscored: Option<Unscored>,
    /// The commonest message of each kind of failure.
    pub common_failures: Vec<CommonFailure>,
    /// The configuration that speed-ups refer to, when it was evaluated. A final measures it beside the winner, in the
    /// same rounds.
    pub default: Option<Candidate>,
    /// The best correct configuration.
    pub best: Option<Candidate>,
    /// Correct configurations that are statistically indistinguishable from the best, the best of them first.
    pub ties: Vec<Candidate>,
    /// Configurations measured again in turn at the end of the search; 0 when there was no final.
    pub finalists: usize,
    /// Configurations that were correct and failed when they were measured again; none of them can be the best.
    pub failed_again: Vec<Candidate>,
    /// What measuring a reference through the run showed; `None` where it was not measured.
    pub drift: Option<DriftLine>,
    /// What the model of the device holds possible; `None` without one.
    pub limit: Option<ModelledLimit>,
    /// How sure it is that the best is near the optimum: the latest estimate for each `regret` of the stop condition.
    pub regret: Vec<RegretClaim>,
    /// The number of configurations.
    pub space_size: u128,
    /// Wall time of this part of the run, building the space included.
    pub wall_seconds: f64,
    /// The time that the stop conditions of a replayed run saw: the recorded costs of its evaluations, earlier parts of a
    /// resumed run included. `None` for devices in real time.
    pub simulated_seconds: Option<f64>,
    /// Where the wall time went.
    pub seconds: SecondsOfRun,
    /// The journal.
    pub out: PathBuf,
}

impl Outcome {
    /// Returns the JSON form.
    pub fn document(&self) -> OutcomeDocument<'_> {
        OutcomeDocument::new(self)
    }
}

/// The time that a model holds possible, and how far the run came.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ModelledLimit {
    /// The time that no variant of the kernel falls below by the model.
    pub time_ms: f64,
    /// This time over that of the best configuration: 1 at the limit, above where the model is too slow; none without a
    /// best one.
    pub share: Option<f64>,
}

/// An estimate of what is left to find.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RegretClaim {
    /// How far above the optimum the best may be: 0.02 is 2 %.
    pub regret: f64,
    /// The probability that it is no farther.
    pub probability: f64,
    /// The evaluations from which that was estimated.
    pub evaluations: u64,
}

impl From<&RegretBound> for RegretClaim {
    fn from(bound: &RegretBound) -> Self {
        Self { regret: bound.share, probability: bound.probability, evaluations: bound.evaluations }
    }
}

/// Where the time of the measuring thread went, in seconds; the parts add up to the wall time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SecondsOfRun {
    /// Building the space.
    pub space: f64,
    /// In the strategy.
    pub search: f64,
    /// Waiting for compilations.
    pub compile: f64,
    /// Running kernels.
    pub run: f64,
    /// Making data and the reference's results, and comparing outputs with them.
    pub verify: f64,
    /// Writing the journal.
    pub store: f64,
    /// Everything else: the loop, the progress display, looking at the compiler.
    pub other: f64,
}
