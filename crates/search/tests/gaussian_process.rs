//! What the Gaussian process strategy promises beyond the conformance suite.

use std::collections::HashSet;
use tunesmith_core::testing::FunctionEvaluator;
use tunesmith_core::{Failure, FailureKind, Request, Run, Stop, StopReason, Tuner};
use tunesmith_search::build;
use tunesmith_space::{Parameter, Space, Value};

fn cube(parameters: usize, values: i64) -> Space {
    let parameter = |i| Parameter::new(format!("P{i}"), (1..=values).map(Value::Int)).unwrap();
    (0..parameters).fold(Space::builder(), |builder, i| builder.parameter(parameter(i))).build().unwrap()
}

/// A bowl with its bottom at 4 in every parameter. Where the parameters are large together, nothing runs.
fn bowl(values: &[Value]) -> Result<f64, Failure> {
    let ints: Vec<i64> = values.iter().filter_map(Value::as_int).collect();
    if ints.iter().sum::<i64>() > 7 * ints.len() as i64 {
        return Err(Failure::new(FailureKind::Runtime, "killed by SIGSEGV"));
    }
    Ok(1.0 + ints.iter().map(|x| ((x - 4) * (x - 4)) as f64).sum::<f64>())
}

fn run(strategy: &str, space: &Space, budget: u64, room: usize, seed: u64) -> Run {
    let mut searcher = build(strategy).unwrap();
    let mut evaluator = FunctionEvaluator::new(space, bowl);
    let tuner = Tuner::new(space, searcher.as_mut(), &mut evaluator);
    tuner.stop(Stop::evaluations(budget)).room(room).seed(seed).run().unwrap()
}

fn distinct(run: &Run) -> usize {
    run.history.iter().map(|scored| scored.evaluation.request).collect::<HashSet<Request>>().len()
}

/// The sum over five seeds of the best times found.
fn best(strategy: &str, space: &Space, budget: u64, room: usize) -> f64 {
    (0..5).map(|seed| run(strategy, space, budget, room, seed).history.best_score().unwrap()).sum()
}

#[test]
fn a_bowl_with_a_forbidden_corner_is_solved_better_than_by_annealing_and_random_search() {
    let space = cube(5, 10);
    for room in [1, 4] {
        let [model, annealing, random] =
            ["gaussian_process", "annealing", "random"].map(|strategy| best(strategy, &space, 60, room));
        assert!(model < 0.8 * annealing && model < 0.5 * random, "room {room}: {model}, {annealing}, {random}");
    }
}

#[test]
fn a_run_longer_than_the_model_covers_the_space_and_ends() {
    let space = cube(3, 8);
    let run = run("gaussian_process", &space, 1000, 3, 5);
    assert_eq!((run.history.len(), distinct(&run)), (512, 512));
    assert_eq!(run.stop_reason, StopReason::Exhausted);
}

#[test]
fn spaces_of_ten_to_the_thirtieth_are_searched_beyond_the_first_candidates() {
    let space = cube(30, 10);
    let model = run("gaussian_process", &space, 100, 2, 3);
    assert_eq!((model.history.len(), distinct(&model)), (100, 100));
    let random = run("random", &space, 100, 2, 3);
    assert!(model.history.best_score().unwrap() < 0.7 * random.history.best_score().unwrap());
}

#[test]
fn options_out_of_range_are_refused_with_what_is_right() {
    let error = |text: &str| build(text).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error("gaussian_process(initial=1)").contains("a whole number from 2"));
    assert!(error("gaussian_process(margin=-1)").contains("a number from 0"));
    assert!(build("gaussian_process(initial=4, margin=0, fit_points=50)").is_ok());
}
