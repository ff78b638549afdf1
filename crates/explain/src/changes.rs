//! The differences between the default and the winner, and the effect of each alone.

use crate::DOUBTFUL;
use crate::surrogate::Surrogate;
use crate::trials::{TrialResult, Trials};
use serde::{Serialize, Serializer};
use std::collections::HashMap;
use std::fmt;
use tunesmith_core::{FailureKind, Gain};
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
    pub alone: Result<Effect, Absence>,
    /// The score of the winner without this change over the winner's: above 1 if it is needed.
    pub needed: Result<Effect, Absence>,
}

/// A [`Change`] as JSON.
#[derive(Serialize)]
struct ChangeDocument<'a> {
    parameter: &'a str,
    from: &'a Value,
    to: &'a Value,
    ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<f64>,
    source: Option<Source>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explained: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<String>,
    in_winner: Option<Effect>,
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { parameter, from, to, alone, needed } = self;
        let absent = alone.err().map(|absence| absence.to_string());
        let (alone, in_winner) = (alone.ok(), needed.ok());
        let gain = alone.map(|effect| effect.gain);
        let (ratio, difference) = (gain.and_then(Gain::ratio), gain.and_then(Gain::difference));
        let (source, explained) = (alone.map(|effect| effect.source), alone.and_then(|effect| effect.explained));
        let document = ChangeDocument { parameter, from, to, ratio, difference, source, explained, absent, in_winner };
        document.serialize(serializer)
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
    /// The share of the variance of held-out scores that the model explains, if it predicts the gain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explained: Option<f64>,
}

/// The reason why the effect of a change is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// The constraints exclude the configuration.
    Excluded,
    /// The configuration failed.
    Failed(FailureKind),
    /// A limit from the best time cut the configuration.
    Cut,
    /// The configuration has no value of the objective.
    Unscored,
    /// The configuration was not measured, and no model explains enough to predict it.
    NotMeasured,
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Excluded => f.write_str("excluded by the constraints"),
            Self::Failed(kind) => write!(f, "failed ({kind})"),
            Self::Cut => f.write_str("cut by a limit from the best time"),
            Self::Unscored => f.write_str("no value of the objective"),
            Self::NotMeasured => f.write_str("not measured"),
        }
    }
}

/// Writes a gain as `ratio` or `difference`.
///
/// # Errors
/// The serializer fails.
pub fn serialize_gain<S: Serializer>(gain: &Gain, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([gain.named()])
}

/// Writes a gain as [`serialize_gain`] does. Without one, `ratio` is `null`.
///
/// # Errors
/// The serializer fails.
pub fn serialize_known_gain<S: Serializer>(gain: &Option<Gain>, serializer: S) -> Result<S::Ok, S::Error> {
    match gain {
        Some(gain) => serialize_gain(gain, serializer),
        None => serializer.collect_map([("ratio", None::<f64>)]),
    }
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
    /// have no score. A model that leaves [too much](DOUBTFUL) unexplained predicts nothing.
    pub fn new(trials: &'a Trials, model: Option<&'a Surrogate>, is_valid: &'a dyn Fn(&[u32]) -> bool) -> Self {
        let measured = trials.scored().map(|(places, score)| (places.to_vec(), score)).collect();
        let model = model.filter(|model| model.unexplained() <= DOUBTFUL);
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

    fn of(&self, places: &[u32]) -> Result<(f64, Source), Absence> {
        if let Some(score) = self.measured.get(places) {
            return Ok((*score, Source::Measured));
        }
        // A configuration that was tried is not predicted, whatever the model says.
        let tried = self.trials.all().iter().find(|trial| trial.places == places);
        match tried.map(|trial| &trial.result) {
            Some(TrialResult::Failed { kind, .. }) => return Err(Absence::Failed(*kind)),
            Some(TrialResult::Cut(_)) => return Err(Absence::Cut),
            Some(TrialResult::Unscored) => return Err(Absence::Unscored),
            Some(TrialResult::Score(_)) | None => {}
        }
        if !(self.is_valid)(places) {
            return Err(Absence::Excluded);
        }
        let model = self.model.ok_or(Absence::NotMeasured)?;
        Ok((model.score(self.trials, places), Source::Model))
    }

    /// Returns how much better `better` is than `worse`. Two scores of different origin are not
    /// comparable: then the model predicts both.
    fn gain(&self, worse: &[u32], better: &[u32]) -> Result<Effect, Absence> {
        let (one, other) = (self.of(worse)?, self.of(better)?);
        if one.1 == Source::Measured && other.1 == Source::Measured {
            return Ok(Effect { gain: Gain::between(other.0, one.0), source: Source::Measured, explained: None });
        }
        let model = self.model.ok_or(Absence::NotMeasured)?;
        let predicted = |places: &[u32]| model.score(self.trials, places);
        let (gain, explained) = (Gain::between(predicted(better), predicted(worse)), 1.0 - model.unexplained());
        Ok(Effect { gain, source: Source::Model, explained: Some(explained) })
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
    let weight =
        |change: &Change| change.alone.as_ref().map_or(f64::NEG_INFINITY, |effect| effect.gain.beyond_equality());
    all.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    all
}
