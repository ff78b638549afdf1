//! Ranks the best configurations of a recorded run.

use crate::outcome::cuts;
use crate::{Error, FrontMember, JudgedRun, Measurements};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json};
use std::collections::HashMap;
use std::path::Path;
use tunesmith_core::{Cuts, FailureKind, Gain, Objective, RunState, statistics};
use tunesmith_explain::serialize_known_gain;
use tunesmith_report::{TopRow, amount};
use tunesmith_store::Brief;

/// The remark on runs that compared no outputs.
pub const UNVERIFIED: &str = "unverified: no output was compared with a correct result";

/// The best configurations of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Top {
    /// The problem's name.
    pub problem: String,
    /// The objective of the run.
    pub objective: Objective,
    /// Number of evaluations in the journal.
    pub evaluations: usize,
    /// Number of correct ones among them.
    pub correct: usize,
    /// Number of correct ones that break a limit. They are not among [`Top::correct`].
    #[serde(skip_serializing_if = "is_zero")]
    pub infeasible: usize,
    /// Configurations that limits from the best time cut.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "cuts")]
    pub cut: Option<Cuts>,
    /// The median time of the default configuration, if it was evaluated and correct: of the final
    /// re-measurement if that measured it, else of the search.
    pub default_ms: Option<f64>,
    /// The value of the objective for the default configuration, if it has one.
    pub default_value: Option<f64>,
    /// True if outputs were compared with correct results. `None` if the journal does not say so,
    /// and for runs without outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// True if the best is better than the default beyond doubt.
    pub better_than_default: bool,
    /// True if the default is correct and nothing is better beyond doubt. It is the best then.
    #[serde(skip)]
    pub nothing_better: bool,
    /// Number of configurations that are indistinguishable from the best. They follow it.
    pub ties: usize,
    /// Number of finalists that were measured too seldom to be compared with the best.
    pub not_compared: usize,
    /// Number of configurations with the machine code of the best, its launches and its arguments: ties whatever their
    /// times are.
    #[serde(skip_serializing_if = "is_zero")]
    pub equal_code: usize,
    /// The state in which the run ended. `None` if the journal does not tell.
    #[serde(serialize_with = "state")]
    pub state: Option<RunState>,
    /// The best configurations, the best first.
    pub configs: Vec<TopConfig>,
    /// The configurations that no other one dominates, if the run has several objectives.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub front: Vec<FrontMember>,
}

/// One of the best configurations.
#[derive(Clone, Debug, Serialize)]
pub struct TopConfig {
    /// The rank in the space, in decimal.
    pub index: String,
    /// Parameters and values, in the user's order.
    pub config: Map<String, Json>,
    /// The median time: of the final re-measurement for finalists, else of all samples.
    pub time_ms: f64,
    /// A 95 % interval of the median. `None` for a single measurement.
    pub ci95_ms: Option<(f64, f64)>,
    /// Number of these samples; for finalists, of visits.
    pub samples: usize,
    /// The value of the objective.
    pub value: f64,
    /// A 95 % interval of the value. `None` for a single measurement.
    pub value_ci95: Option<(f64, f64)>,
    /// The gain over the default configuration, in the objective: the speed-up if that is time. In files, it is
    /// `ratio`, or `difference` where a ratio has no meaning.
    #[serde(flatten, serialize_with = "serialize_known_gain")]
    pub gain: Option<Gain>,
}

impl TopConfig {
    /// Returns the configuration in the form that `--config` takes.
    pub fn arguments(&self) -> String {
        crate::outcome::arguments(&self.config)
    }

    /// Returns its row in a table of configurations of a run with this objective.
    pub fn row(&self, objective: &Objective) -> TopRow {
        TopRow {
            time_ms: self.time_ms,
            ci95_ms: self.ci95_ms,
            gain: self.gain,
            value: objective.beside_time(amount(self.value, objective)),
            config: self.arguments(),
        }
    }

    /// Returns the parameters with their values as texts.
    pub fn pairs(&self) -> Vec<(String, String)> {
        pairs(&self.config)
    }
}

/// Returns a configuration as `--config` takes it, pair by pair.
pub fn pairs(config: &Map<String, Json>) -> Vec<(String, String)> {
    let text = |json: &Json| json.as_str().map_or_else(|| json.to_string(), str::to_string);
    config.iter().map(|(name, json)| (name.clone(), text(json))).collect()
}

/// Writes the state of a run as its word.
pub(crate) fn state<S: Serializer>(state: &Option<RunState>, serializer: S) -> Result<S::Ok, S::Error> {
    state.map(RunState::word).serialize(serializer)
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn is_infeasible(brief: &&Brief) -> bool {
    brief.failure == Some(FailureKind::Infeasible)
}

/// Returns the `count` best configurations of the journal at `path`, in the order of the run's
/// verdict.
///
/// # Errors
/// The journal cannot be read.
pub fn top(path: &Path, count: usize) -> Result<Top, Error> {
    let recorded = tunesmith_store::read_brief(path)?;
    let judged = JudgedRun::new(&recorded);
    Ok(Top { front: crate::front_of_journal(&judged)?, ..top_of(&judged, count) })
}

/// Returns the `count` best configurations of a recorded run.
pub fn top_of(judged: &JudgedRun<'_>, count: usize) -> Top {
    let JudgedRun { recorded, verdict, metric, default } = judged;
    let places: HashMap<u128, usize> =
        verdict.order.iter().take(count).enumerate().map(|(place, key)| (*key, place)).collect();
    let measured = Measurements::new(judged, |key| places.contains_key(&key) || Some(key) == *default);
    let default_ms = default.and_then(|default| statistics::median(&measured.counted(default)?));
    let value = |key: u128| statistics::median(&measured.values(metric, key)?);
    let score = |key: u128| value(key).map(|value| metric.objective().score(value));
    let default_score = default.filter(|_| default_ms.is_some()).and_then(score);
    let config = |key: &u128| {
        let (entry, times) = (measured.entry(*key)?, measured.counted(*key)?);
        let time_ms = statistics::median(&times)?;
        Some(TopConfig {
            index: entry.index.clone(),
            config: entry.config.clone(),
            time_ms,
            ci95_ms: statistics::reported_interval(&times),
            samples: times.len(),
            value: value(*key)?,
            value_ci95: statistics::reported_interval(&measured.values(metric, *key)?),
            gain: judged.gain(*key, default_score, score(*key)?),
        })
    };
    Top {
        problem: recorded.header.problem.clone(),
        objective: metric.objective().clone(),
        evaluations: recorded.entries.len(),
        correct: verdict.order.len(),
        infeasible: recorded.entries.briefs().iter().filter(is_infeasible).count(),
        cut: Cuts::of(recorded.entries.cuts().unwrap_or_default().into_iter().map(|(_, cut)| cut)),
        default_ms,
        default_value: default.filter(|_| default_ms.is_some()).and_then(value),
        verified: recorded.header.verified,
        better_than_default: verdict.is_better_than_default(),
        nothing_better: default.is_some() && verdict.winner == *default,
        ties: verdict.ties.len(),
        not_compared: verdict.not_compared.len(),
        equal_code: verdict.equal_code.len(),
        state: judged.state(),
        configs: verdict.order.iter().take(count).filter_map(config).collect(),
        front: Vec::new(),
    }
}
