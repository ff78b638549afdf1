//! The outcome of a tuning run.

mod candidate;
mod document;

pub use candidate::Valued;
pub use candidate::{Candidate, Rates};
pub(crate) use document::cuts;
pub use document::{CandidateDocument, OutcomeDocument};
pub use tunesmith_core::{CommonFailure, Unscored};
pub use tunesmith_store::arguments;

use crate::FrontMember;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tunesmith_core::{Basis, Comparison, Cuts, FailureKind, Gain, Objective, RegretBound, RunState, StopReason};
use tunesmith_cost::LowerBound;
use tunesmith_explain::serialize_gain;
use tunesmith_propose::ProposalReport;
use tunesmith_search::StrategySpec;
use tunesmith_space::{ConfigId, Space};
use tunesmith_store::{DriftLine, Journal};

/// The result of a tuning run. [`Outcome::document`] is its JSON form.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The problem's name.
    pub problem: String,
    /// The device, by name.
    pub device: String,
    /// The strategy.
    pub strategy: StrategySpec,
    /// Notes to the user about the counter model and the counters.
    pub notes: Vec<String>,
    /// The seed.
    pub seed: u64,
    /// The objective.
    pub objective: Objective,
    /// The reason why the run ended.
    pub stop_reason: StopReason,
    /// Number of evaluations, including failed and resumed ones.
    pub evaluations: u64,
    /// Number of evaluations taken from the resumed journal.
    pub resumed: usize,
    /// Failed evaluations by kind.
    pub failed: BTreeMap<FailureKind, usize>,
    /// Correct configurations without a value of the objective; `None` if all have one.
    pub unscored: Option<Unscored>,
    /// The commonest message of each kind of failure.
    pub common_failures: Vec<CommonFailure>,
    /// Configurations that limits from the best time cut. [`failed`](Self::failed) counts them as timeouts.
    pub cut: Option<Cuts>,
    /// The configuration that speed-ups refer to, if it was evaluated. The final re-measurement
    /// measures it beside the winner, in the same rounds.
    pub default: Option<Candidate>,
    /// True if outputs were compared with correct results. `None` if the run had no outputs.
    pub verified: Option<bool>,
    /// The sentence about outputs that nothing compares, if others are compared.
    pub partly_verified: Option<String>,
    /// The comparison of the best contender with the default; `None` without a correct default, or
    /// without a contender. Only a contender that is better beyond doubt is the best, and only its gain is a
    /// [speed-up](Self::speedup).
    pub comparison: Option<DefaultComparison>,
    /// The best configuration by the search's samples. It differs from [`best`](Self::best) if the
    /// final decided otherwise.
    pub search_best: Option<Candidate>,
    /// True if a final re-measurement decided.
    pub by_final: bool,
    /// The best correct configuration. It is the default, unless another one is better beyond
    /// doubt.
    pub best: Option<Candidate>,
    /// Correct configurations that are statistically indistinguishable from the best, the best of
    /// them first.
    pub ties: Vec<Candidate>,
    /// The finalists that were measured too seldom to be compared with the best.
    pub not_compared: Vec<Candidate>,
    /// The configurations with the machine code of the best, its launches and its arguments. Whatever their times are,
    /// they are ties.
    pub equal_code: Vec<Candidate>,
    /// The state in which the run ended.
    pub state: RunState,
    /// The configurations that no other one dominates, if there are several objectives; the best in
    /// the first objective comes first. [`best`](Self::best) is then the one with the smallest geometric
    /// mean of all objectives.
    pub front: Vec<FrontMember>,
    /// Number of configurations in the final re-measurement; 0 without one.
    pub finalists: usize,
    /// Configurations that were correct at first but failed in a later measurement. None of them
    /// can be the best.
    pub failed_again: Vec<Candidate>,
    /// The drift that the reference showed during the run; `None` if it was not measured.
    pub drift: Option<DriftLine>,
    /// The limit according to the model of the device; `None` without a model.
    pub limit: Option<ModelledLimit>,
    /// The probability that the best is near the optimum: the latest estimate for each `regret` of
    /// the stop condition.
    pub regret: Vec<RegretClaim>,
    /// The balance of the program of `Search::propose`; `None` without one.
    pub proposals: Option<ProposalReport>,
    /// The number of configurations.
    pub space_size: u128,
    /// Wall time of this part of the run, including building the space.
    pub wall_seconds: f64,
    /// The time that the stop conditions of a replayed run saw: the recorded costs of its
    /// evaluations, including those of earlier parts of a resumed run. `None` for devices in real
    /// time.
    pub simulated_seconds: Option<f64>,
    /// The parts of the wall time.
    pub seconds: SecondsOfRun,
    /// The journal.
    pub out: PathBuf,
}

impl Outcome {
    /// Returns the JSON form.
    pub fn document(&self) -> OutcomeDocument<'_> {
        OutcomeDocument::new(self)
    }

    /// Returns true if the best is better than the default beyond doubt. Without a correct default there is
    /// nothing to be better than.
    pub fn better_than_default(&self) -> bool {
        self.speedup().is_some()
    }

    /// Returns the comparison of the best with the default, if it is better beyond doubt. Its gain lies above equality.
    pub fn speedup(&self) -> Option<&DefaultComparison> {
        self.comparison.as_ref().filter(|known| known.is_better)
    }

    /// Returns the comparison of the best of the others with the default, if the default itself is the best.
    pub fn contender(&self) -> Option<&DefaultComparison> {
        self.comparison.as_ref().filter(|known| !known.is_better)
    }

    /// Returns how much better a configuration is than the default. For the contender of the comparison, it is
    /// that of the comparison, which is corrected for drift. `None` without a value of both.
    pub fn gain(&self, candidate: &Candidate) -> Option<Gain> {
        let compared = self.comparison.as_ref().filter(|known| known.contender == candidate.index);
        let score = |candidate: &Candidate| candidate.value.map(|value| self.objective.score(value));
        let between = || Some(Gain::between(score(candidate)?, score(self.default.as_ref()?)?));
        compared.map(|known| known.gain).or_else(between)
    }
}

/// The comparison of the best contender with the default, in the objective.
#[derive(Clone, Debug, Serialize)]
pub struct DefaultComparison {
    /// The contender.
    #[serde(skip)]
    pub contender: ConfigId,
    /// Its parameters and values, in the user's order.
    #[serde(skip)]
    pub config: Map<String, Json>,
    /// True if it is better beyond doubt. It is the best then; otherwise the default is.
    #[serde(skip)]
    pub is_better: bool,
    /// The gain of the contender: the speed-up if the objective is time. In files, it is `ratio`, or `difference` where
    /// a ratio has no meaning.
    #[serde(flatten, serialize_with = "serialize_gain")]
    pub gain: Gain,
    /// A 95 % interval of it. `None` if one of the two was measured once.
    pub ci95: Option<(f64, f64)>,
    /// The part of the run that measured both.
    #[serde(serialize_with = "basis")]
    pub basis: Basis,
}

fn basis<S: serde::Serializer>(basis: &Basis, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match basis {
        Basis::Final => "final",
        Basis::Search => "search",
        Basis::Different => "different",
    })
}

impl DefaultComparison {
    /// Names the contender of `comparison` by its values in `space`.
    pub fn new(space: &Space, comparison: &Comparison) -> Self {
        Self {
            contender: comparison.contender,
            config: Journal::config(space, &space.unrank(comparison.contender)),
            is_better: comparison.is_better,
            gain: comparison.gain(),
            ci95: comparison.interval,
            basis: comparison.basis,
        }
    }
}

/// The limit of a kernel's time according to a model, and the distance from it.
#[derive(Clone, Debug, Serialize)]
pub struct ModelledLimit {
    /// The time that no variant of the kernel can beat at the highest measured rates.
    pub time_ms: f64,
    /// The work that takes this time, and its rate.
    pub bound: LowerBound,
    /// This time over that of the best configuration: 1 at the limit. `None` without a best
    /// configuration, and if the limit is withdrawn.
    pub share: Option<f64>,
    /// The reason why the limit does not hold: a shorter time was measured. It then stopped nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withdrawal: Option<String>,
}

/// An estimate of the improvement that is left to find.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RegretClaim {
    /// Maximum distance of the best from the optimum: 0.02 is 2 %.
    pub regret: f64,
    /// The probability that the best is within that distance.
    pub probability: f64,
    /// Number of evaluations that this estimate is based on.
    pub evaluations: u64,
}

impl From<&RegretBound> for RegretClaim {
    fn from(bound: &RegretBound) -> Self {
        Self { regret: bound.share, probability: bound.probability, evaluations: bound.evaluations }
    }
}

/// The parts of the measuring thread's time, in seconds. They add up to the wall time.
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
    /// Everything else: the loop, the progress display, polling the compiler.
    pub other: f64,
}
