//! The evaluations of a run as the analyses see them.

use crate::axis::Axis;
use tunesmith_core::{Cut, FailureKind};
use tunesmith_space::{Parameter, Value};

/// The evaluated configurations of a run, with their results.
#[derive(Clone, Debug)]
pub struct Trials {
    axes: Vec<Axis>,
    trials: Vec<Trial>,
}

/// One evaluated configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The place of its value on each axis.
    pub places: Vec<u32>,
    /// Its result.
    pub result: TrialResult,
}

/// The result of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialResult {
    /// It was correct. The score is the time, or what the run minimised.
    Score(f64),
    /// It failed.
    Failed {
        /// The kind of failure.
        kind: FailureKind,
        /// The first line of its message.
        headline: String,
    },
    /// A limit that followed from the best time cut it. It did not fail.
    Cut(Cut),
    /// It was correct, but has no value of the objective.
    Unscored,
}

impl Trials {
    /// Creates an empty list of configurations of `parameters`.
    pub fn new(parameters: &[Parameter]) -> Self {
        Self { axes: parameters.iter().map(Axis::new).collect(), trials: Vec::new() }
    }

    /// Adds a configuration. Leaves it out if a parameter does not have its value, or if its score is
    /// not a finite number.
    pub fn push(&mut self, values: &[Value], result: TrialResult) {
        let is_number = !matches!(result, TrialResult::Score(score) if !score.is_finite());
        if let (Some(places), true) = (self.places(values), is_number) {
            self.trials.push(Trial { places, result });
        }
    }

    /// Returns the places of a configuration's values, or `None` if a parameter does not have one.
    pub fn places(&self, values: &[Value]) -> Option<Vec<u32>> {
        if values.len() != self.axes.len() {
            return None;
        }
        self.axes.iter().zip(values).map(|(axis, value)| axis.place(value)).collect()
    }

    /// Returns the values at `places`.
    pub fn values(&self, places: &[u32]) -> Vec<Value> {
        self.axes.iter().zip(places).map(|(axis, place)| axis.values()[*place as usize].clone()).collect()
    }

    /// Returns the parameters.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Returns the evaluations, in the order given.
    pub fn all(&self) -> &[Trial] {
        &self.trials
    }

    /// Returns the places and the scores of the configurations that have one.
    pub(crate) fn scored(&self) -> impl Iterator<Item = (&[u32], f64)> {
        self.trials.iter().filter_map(|trial| match trial.result {
            TrialResult::Score(score) => Some((trial.places.as_slice(), score)),
            TrialResult::Failed { .. } | TrialResult::Cut(_) | TrialResult::Unscored => None,
        })
    }

    /// Returns the parameters with more than one value: only these can matter.
    pub(crate) fn free(&self) -> Vec<&Axis> {
        self.axes.iter().filter(|axis| axis.is_free()).collect()
    }

    /// Returns the cells of a configuration on the [free](Self::free) axes, as numbers for models.
    pub(crate) fn cells(&self, places: &[u32]) -> Vec<f64> {
        let free = self.axes.iter().zip(places).filter(|(axis, _)| axis.is_free());
        free.map(|(axis, place)| axis.cell(*place) as f64).collect()
    }
}
