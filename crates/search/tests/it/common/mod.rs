//! A bowl to search, for the strategies that fit models.

use tunesmith_core::testing::FunctionEvaluator;
use tunesmith_core::{Failure, FailureKind, Run, Stop, Tuner};
use tunesmith_search::build;
use tunesmith_space::{Parameter, Space, Value};

/// Returns the space of `parameters` parameters with the values 1 to `values`.
pub(crate) fn cube(parameters: usize, values: i64) -> Space {
    let parameter = |i| Parameter::new(format!("P{i}"), (1..=values).map(Value::Int)).unwrap();
    (0..parameters).fold(Space::builder(), |builder, i| builder.parameter(parameter(i))).build().unwrap()
}

/// Returns a bowl with its bottom at 4 in every parameter. Configurations with a large sum of
/// parameters fail.
fn bowl(values: &[Value]) -> Result<f64, Failure> {
    let ints: Vec<i64> = values.iter().filter_map(Value::as_int).collect();
    if ints.iter().sum::<i64>() > 7 * ints.len() as i64 {
        return Err(Failure::new(FailureKind::Runtime, "killed by SIGSEGV"));
    }
    Ok(1.0 + ints.iter().map(|x| ((x - 4) * (x - 4)) as f64).sum::<f64>())
}

/// Searches the bowl with `strategy`.
pub(crate) fn run(strategy: &str, space: &Space, budget: u64, room: usize, seed: u64) -> Run {
    let mut searcher = build(strategy).unwrap();
    let mut evaluator = FunctionEvaluator::new(space, bowl);
    let tuner = Tuner::new(space, searcher.as_mut(), &mut evaluator);
    tuner.stop(Stop::evaluations(budget)).room(room).seed(seed).run().unwrap()
}

/// Returns the sum over five seeds of the best times found.
pub(crate) fn best(strategy: &str, space: &Space, budget: u64, room: usize) -> f64 {
    (0..5).map(|seed| run(strategy, space, budget, room, seed).history.best_score().unwrap()).sum()
}
