//! The differences between the default and the winner, and the effect of each alone.

use crate::condition::scalar;
use crate::surrogate::Surrogate;
use crate::trials::{Trial, TrialResult, Trials};
use serde::{Serialize, Serializer};
use std::collections::HashMap;
use tunesmith_core::Gain;
use tunesmith_space::Value;

/// A parameter that the winner sets otherwise than the default.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The parameter.
    pub parameter: String,
    /// The default's value.
    pub from: Value,
    /// The winner's value.
    pub to: Value,
    /// The default's score over that of the default with this change alone: above 1 if it helps.
    pub alone: Option<Effect>,
    /// The score of the winner without this change over the winner's: above 1 if it is needed.
    pub needed: Option<Effect>,
}

/// A [`Change`] as JSON.
#[derive(Serialize)]
struct ChangeDocument<'a> {
    parameter: &'a str,
    #[serde(serialize_with = "scalar")]
    from: &'a Value,
    #[serde(serialize_with = "scalar")]
    to: &'a Value,
    ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<f64>,
    source: Option<Source>,
    in_winner: Option<Effect>,
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { parameter, from, to, alone, needed } = self;
        let (gain, source) = (alone.map(|effect| effect.gain), alone.map(|effect| effect.source));
        let (ratio, difference) = (gain.and_then(Gain::ratio), gain.and_then(Gain::difference));
        ChangeDocument { parameter, from, to, ratio, difference, source, in_winner: *needed }.serialize(serializer)
    }
}

/// The gain of one score over another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// The gain. In files, it is `ratio`, or `difference` where a ratio has no meaning.
    #[serde(flatten, serialize_with = "serialize_gain")]
    pub gain: Gain,
    /// Its origin.
    pub source: Source,
}

/// Writes a gain as `ratio` or `difference`.
///
/// # Errors
/// The serializer fails.
pub fn serialize_gain<S: Serializer>(gain: &Gain, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([gain.named()])
}

/// The origin of a gain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Both configurations were measured.
    Measured,
    /// The model predicts at least one of them.
    Model,
}

/// Returns the configurations whose scores tell the effect of each change alone: the default with one
/// value of the winner, and the winner with one of the default.
pub fn one_at_a_time(default: &[u32], winner: &[u32]) -> Vec<Vec<u32>> {
    let with = |base: &[u32], other: &[u32], at: usize| {
        let mut places = base.to_vec();
        places[at] = other[at];
        places
    };
    let differing = (0..default.len()).filter(|at| default[*at] != winner[*at]);
    let mut all: Vec<Vec<u32>> =
        differing.flat_map(|at| [with(default, winner, at), with(winner, default, at)]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Scores of configurations: measured ones, and else those that the model predicts.
pub struct Scores<'a> {
    trials: &'a Trials,
    measured: HashMap<Vec<u32>, f64>,
    model: Option<&'a Surrogate>,
    is_valid: &'a dyn Fn(&[u32]) -> bool,
}

impl<'a> Scores<'a> {
    /// Creates the scores of a run. `is_valid` tells if the constraints admit a configuration: others
    /// have no score.
    pub fn new(trials: &'a Trials, model: Option<&'a Surrogate>, is_valid: &'a dyn Fn(&[u32]) -> bool) -> Self {
        let measured = trials.scored().map(|(places, score)| (places.to_vec(), score)).collect();
        Self { trials, measured, model, is_valid }
    }

    /// Forgets what the run measured. Times of different hours are not comparable.
    pub fn forget(&mut self) {
        self.measured.clear();
    }

    /// Replaces the score of a configuration by a later measurement.
    pub fn measured(&mut self, places: Vec<u32>, score: f64) {
        self.measured.insert(places, score);
    }

    fn of(&self, places: &[u32]) -> Option<(f64, Source)> {
        let predicted = || {
            let model = self.model.filter(|_| (self.is_valid)(places))?;
            Some((model.score(self.trials, places), Source::Model))
        };
        // A configuration that failed has no score, whatever the model says.
        let is_failure = |trial: &Trial| matches!(trial.result, TrialResult::Failed { .. });
        let has_failed = || self.trials.all().iter().any(|trial| trial.places == places && is_failure(trial));
        let measured = self.measured.get(places).map(|score| (*score, Source::Measured));
        measured.or_else(|| if has_failed() { None } else { predicted() })
    }

    /// Returns how much better `better` is than `worse`. Two scores of different origin are not
    /// comparable: then the model predicts both.
    fn gain(&self, worse: &[u32], better: &[u32]) -> Option<Effect> {
        let (one, other) = (self.of(worse)?, self.of(better)?);
        if one.1 == Source::Measured && other.1 == Source::Measured {
            return Some(Effect { gain: Gain::between(other.0, one.0), source: Source::Measured });
        }
        let predicted = |places: &[u32]| Some(self.model?.score(self.trials, places));
        Some(Effect { gain: Gain::between(predicted(better)?, predicted(worse)?), source: Source::Model })
    }
}

/// Returns the changes from `default` to `winner`, the one that brings most alone first.
pub fn changes(scores: &Scores<'_>, default: &[u32], winner: &[u32]) -> Vec<Change> {
    let axes = scores.trials.axes();
    let change = |at: usize| {
        let (mut with, mut without) = (default.to_vec(), winner.to_vec());
        (with[at], without[at]) = (winner[at], default[at]);
        Change {
            parameter: axes[at].name().to_string(),
            from: axes[at].values()[default[at] as usize].clone(),
            to: axes[at].values()[winner[at] as usize].clone(),
            alone: scores.gain(default, &with),
            needed: scores.gain(&without, winner),
        }
    };
    let mut all: Vec<Change> = (0..axes.len()).filter(|at| default[*at] != winner[*at]).map(change).collect();
    let weight = |change: &Change| change.alone.map_or(f64::NEG_INFINITY, |effect| effect.gain.beyond_equality());
    all.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    all
}
