//! The stop condition `regret` in the loop: the times of the estimates, and the effect of their
//! answers.

use tunesmith_core::testing::FunctionEvaluator;
use tunesmith_core::*;
use tunesmith_space::{Parameter, Space, Value};

fn line(length: i64) -> Space {
    let x = Parameter::new("X", (0..length).map(Value::Int)).unwrap();
    Space::builder().parameter(x).build().unwrap()
}

/// Asks from the first configuration to the last.
#[derive(Default)]
struct InTurn(u128);

impl Searcher for InTurn {
    fn ask(&mut self, view: &View<'_>, room: usize, _: &mut Rng) -> Vec<Request> {
        let requests: Vec<Request> =
            (self.0..self.0 + room as u128).map_while(|rank| view.space().id(rank)).map(Request::timed).collect();
        self.0 += requests.len() as u128;
        requests
    }
}

/// Surer by a hundredth with every evaluation, and by another for every per cent of regret. Logs
/// when it was asked.
#[derive(Default)]
struct Growing(Vec<(usize, Vec<f64>)>);

impl RegretEstimator for Growing {
    fn within(&mut self, _: &Space, history: &History, shares: &[f64]) -> Vec<f64> {
        self.0.push((history.len(), shares.to_vec()));
        shares.iter().map(|share| history.len() as f64 / 100.0 + share).collect()
    }
}

fn tune(stop: &str, recorded: Vec<Evaluation>, fails: bool) -> (Run, Growing) {
    let space = line(200);
    let mut estimator = Growing::default();
    let mut evaluator = FunctionEvaluator::new(&space, |values| match fails {
        true => Err(Failure::new(FailureKind::Runtime, "killed by SIGSEGV")),
        false => Ok(1.0 + values[0].as_float().unwrap()),
    });
    let run = Tuner::new(&space, &mut InTurn::default(), &mut evaluator)
        .stop(stop.parse().unwrap())
        .judging(Judging::nothing())
        .regret(&mut estimator)
        .recorded(recorded)
        .keep_going(fails)
        .run()
        .unwrap();
    (run, estimator)
}

#[test]
fn without_the_condition_nothing_is_estimated() {
    let (run, estimator) = tune("evaluations 60", Vec::new(), false);
    assert!(estimator.0.is_empty() && run.progress.regret.is_empty());
}

#[test]
fn the_run_ends_at_the_first_estimate_that_is_sure_enough() {
    let (run, estimator) = tune("regret 5% at 60% or evaluations 150", Vec::new(), false);
    assert_eq!(run.stop_reason.to_string(), "regret 5% at 60%");
    assert_eq!(run.history.len(), 56, "sure from 55 on, and asked after 53 and 56");
    assert!(run.progress.regret[0].probability >= 0.6);
    assert_eq!(run.progress.regret[0].evaluations, run.history.len() as u64);
    assert_eq!(estimator.0[0], (20, vec![0.05]));
    assert!(estimator.0.len() < 25, "not at every evaluation: {}", estimator.0.len());
}

#[test]
fn regret_is_joined_with_other_conditions() {
    let ended = |stop: &str| {
        let (run, _) = tune(stop, Vec::new(), false);
        (run.stop_reason.to_string(), run.history.len())
    };
    assert_eq!(ended("regret 5% at 60% or evaluations 30"), ("evaluations 30".to_string(), 30));
    assert_eq!(
        ended("regret 5% at 60% and evaluations 100"),
        ("regret 5% at 60% and evaluations 100".to_string(), 100)
    );
    assert_eq!(ended("regret 2% at 60% or regret 30% at 60%").0, "regret 30% at 60%");
}

#[test]
fn where_everything_fails_no_regret_is_reached_and_the_space_is_exhausted() {
    let (run, _) = tune("regret 5% at 1%", Vec::new(), true);
    assert_eq!((run.stop_reason, run.history.len()), (StopReason::Exhausted, 200));
}

#[test]
fn a_resumed_run_ends_where_the_uninterrupted_one_did() {
    let (whole, _) = tune("regret 5% at 60%", Vec::new(), false);
    let evaluations: Vec<Evaluation> = whole.history.iter().map(|scored| (*scored.evaluation).clone()).collect();
    for cut in [10, 40, evaluations.len()] {
        let (resumed, _) = tune("regret 5% at 60%", evaluations[..cut].to_vec(), false);
        assert_eq!((resumed.history.len(), &resumed.stop_reason), (whole.history.len(), &whole.stop_reason), "{cut}");
    }
}

#[test]
fn without_an_estimator_the_condition_never_holds() {
    let space = line(30);
    let mut evaluator = FunctionEvaluator::new(&space, |_| Ok(1.0));
    let stop = "regret 100% at 1%".parse::<Stop>().unwrap();
    let run = Tuner::new(&space, &mut InTurn::default(), &mut evaluator).stop(stop).run().unwrap();
    assert_eq!(run.stop_reason, StopReason::Exhausted);
}
