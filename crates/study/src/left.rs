//! Estimates how much a recorded run probably left to find.

use serde::Serialize;
use std::time::Duration;
use tunesmith_core::{Evaluation, History, Recording, RegretEstimator as _, Request};
use tunesmith_explain::{TrialResult, Trials};
use tunesmith_search::RegretModel;
use tunesmith_space::{Constraint, Expr, Space, Value};
use tunesmith_store::Header;

/// The probability that the best configuration of a recorded run is near the optimum.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Left {
    /// The estimates, for ascending distances from the optimum.
    pub within: Vec<Within>,
}

/// The probability that the best is within a distance of the optimum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Within {
    /// The distance: 0.02 is 2 %.
    pub regret: f64,
    /// The probability.
    pub probability: f64,
}

/// Distances from the optimum that are estimated.
const SHARES: [f64; 4] = [0.01, 0.02, 0.05, 0.1];
/// The distance that decides if going on is worthwhile.
const NEAR: f64 = 0.05;

impl Left {
    /// Estimates it from the evaluations of `recording`, whose `trials` are in the same order. Returns
    /// `None` if rows are missing in `space` or among the trials.
    pub fn new(space: &Space, recording: &Recording, trials: &Trials) -> Option<Self> {
        let mut history = History::default();
        for (row, trial) in recording.rows().iter().zip(trials.all()) {
            let score = match trial.result {
                TrialResult::Score(score) => Some(score),
                TrialResult::Failed { .. } | TrialResult::Cut(_) | TrialResult::Unscored => None,
            };
            let (failure, measurement) = (row.failure.clone(), row.measurement.clone());
            let request = Request::timed(space.rank_indices(&indices_of(space, &row.values)?)?);
            history.insert(Evaluation { request, failure, measurement, clock: Duration::ZERO, proposed: None }, score);
        }
        if trials.all().len() != recording.rows().len() {
            return None;
        }
        let probabilities = RegretModel::default().within(space, &history, &SHARES);
        let claim = |(regret, probability): (f64, f64)| Within { regret, probability };
        Some(Self { within: SHARES.into_iter().zip(probabilities).map(claim).collect() })
    }

    /// Returns the probability that the best is within 5 % of the optimum.
    pub fn near(&self) -> Option<f64> {
        self.within.iter().find(|claim| claim.regret == NEAR).map(|claim| claim.probability)
    }
}

/// Returns the space of a journal, from its header alone. Returns `None` if it cannot be rebuilt: a
/// constraint is a closure, or needs what the header does not have.
pub fn space_of_journal(header: &Header, recording: &Recording) -> Option<Space> {
    let context = &recording.context;
    let device = context.device.iter().map(|(name, number)| (format!("device.{name}"), Value::of_number(*number)));
    let mut builder = Space::builder();
    for parameter in recording.parameters() {
        builder = builder.parameter(parameter.clone());
    }
    for (name, value) in context.sizes.iter().cloned().chain(device) {
        builder = builder.constant(name, value);
    }
    for (name, text) in &context.constraints {
        builder = builder.constraint(Constraint::new(name, Expr::parse(text).ok()?));
    }
    let space = builder.build().ok()?;
    (header.identity.get("space")?.as_str()? == space.digest()).then_some(space)
}

/// Returns true if these values are a configuration of `space`.
pub fn is_configuration(space: &Space, values: &[Value]) -> bool {
    indices_of(space, values).and_then(|indices| space.rank_indices(&indices)).is_some()
}

/// Returns the positions of values in the lists of a space with the same parameters.
pub fn indices_of(space: &Space, values: &[Value]) -> Option<Vec<u32>> {
    let index = |(parameter, value): (&tunesmith_space::Parameter, &Value)| {
        parameter.index_of(value).and_then(|index| u32::try_from(index).ok())
    };
    space.parameters().iter().zip(values).map(index).collect()
}
