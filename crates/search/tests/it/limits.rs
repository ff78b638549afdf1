//! Tests what the Gaussian process strategy learns beside the score: limits, and several objectives.

use tunesmith_core::testing::FunctionEvaluator;
use tunesmith_core::{
    Aspects, Evaluation, Failure, FailureKind, Measurement, Objective, ObjectiveFunction, Run, Stop, Tuner, statistics,
};
use tunesmith_model::hypervolume;
use tunesmith_search::build;
use tunesmith_space::{ConfigId, Parameter, Space, Value};

/// Returns the space of `parameters` parameters with the values 1 to 9.
fn cube(parameters: usize) -> Space {
    let parameter = |i| Parameter::new(format!("P{i}"), (1..=9).map(Value::Int)).unwrap();
    (0..parameters).fold(Space::builder(), |builder, i| builder.parameter(parameter(i))).build().unwrap()
}

/// A bowl with its bottom at 3 in every parameter.
fn time(values: &[f64]) -> f64 {
    4.0 + values.iter().map(|x| (x - 3.0).powi(2)).sum::<f64>()
}

/// Returns another quantity, which is good where the time is bad.
fn size(values: &[f64]) -> f64 {
    100.0 / values.iter().sum::<f64>()
}

fn numbers(space: &Space, config: ConfigId) -> Vec<f64> {
    let configuration = space.unrank(config);
    space.values(&configuration).filter_map(|(_, value)| value.as_float()).collect()
}

/// The time where the size is at most `bound`, or the time and the size.
struct Wanted<'a> {
    space: &'a Space,
    bound: f64,
    /// True if strategies are told how far a limit is broken.
    tells: bool,
    /// True if time and size are the objectives of a front.
    front: bool,
}

impl ObjectiveFunction for Wanted<'_> {
    fn objective(&self) -> Objective {
        Objective::time()
    }

    fn samples(&self, config: ConfigId, measurement: &Measurement) -> Result<Vec<f64>, String> {
        let factor = if self.front { size(&numbers(self.space, config)) } else { 1.0 };
        Ok(measurement.times_ms.iter().map(|time| (time * factor).powf(if self.front { 0.5 } else { 1.0 })).collect())
    }

    fn broken(&self, config: ConfigId, _: &Measurement) -> Option<Failure> {
        let is_broken = size(&numbers(self.space, config)) > self.bound;
        is_broken.then(|| Failure::new(FailureKind::Infeasible, "too large"))
    }

    fn aspects(&self, evaluation: &Evaluation) -> Option<Box<Aspects>> {
        let time = statistics::median(&evaluation.measurement.times_ms).filter(|_| self.tells)?;
        let size = size(&numbers(self.space, evaluation.request.config));
        let excesses = if self.bound.is_finite() { vec![(size / self.bound).ln()] } else { Vec::new() };
        let objectives = if self.front { vec![time, size] } else { Vec::new() };
        let score = statistics::median(&self.samples(evaluation.request.config, &evaluation.measurement).ok()?);
        Some(Box::new(Aspects { score, excesses, objectives }))
    }
}

fn run(wanted: &Wanted<'_>, strategy: &str, budget: u64, seed: u64) -> Run {
    let mut searcher = build(strategy).unwrap();
    let floats = |values: &[Value]| values.iter().filter_map(Value::as_float).collect::<Vec<f64>>();
    let mut evaluator = FunctionEvaluator::new(wanted.space, |values| Ok(time(&floats(values))));
    let tuner = Tuner::new(wanted.space, searcher.as_mut(), &mut evaluator).objective(wanted);
    tuner.stop(Stop::evaluations(budget)).seed(seed).run().unwrap()
}

/// Returns the number of evaluations until the best configuration that keeps the limit, or the budget.
fn until_best(wanted: &Wanted<'_>, budget: u64, seed: u64) -> usize {
    let kept = wanted.space.iter().map(|config| numbers(wanted.space, config)).filter(|x| size(x) <= wanted.bound);
    let least = kept.map(|x| time(&x)).fold(f64::INFINITY, f64::min);
    let run = run(wanted, "gaussian_process", budget, seed);
    let found = run.history.iter().position(|scored| scored.score.is_some_and(|score| score <= least));
    found.map_or(budget as usize, |at| at + 1)
}

#[test]
fn a_learnt_limit_takes_fewer_evaluations_than_one_that_is_a_plain_failure() {
    let space = cube(3);
    // A sum of at least 18, where the bowl has its bottom at 9: the best lies at the limit.
    let total = |tells: bool| -> usize {
        let wanted = Wanted { space: &space, bound: 100.0 / 18.0, tells, front: false };
        (0..6).map(|seed| until_best(&wanted, 60, seed)).sum()
    };
    let (learnt, plain) = (total(true), total(false));
    assert!(learnt * 3 < plain * 2, "{learnt} evaluations with the limit learnt, {plain} without");
}

#[test]
fn a_search_without_a_feasible_start_goes_where_the_limit_is_kept() {
    let space = cube(4);
    // A sum of at least 34 of 36: 15 configurations of 6561.
    let first = |tells: bool| -> usize {
        let wanted = Wanted { space: &space, bound: 100.0 / 34.0, tells, front: false };
        let found = |seed| {
            let run = run(&wanted, "gaussian_process", 40, seed);
            run.history.iter().position(|scored| scored.score.is_some()).unwrap_or(40)
        };
        (0..3).map(found).sum()
    };
    let (learnt, plain) = (first(true), first(false));
    assert!(learnt * 2 < plain, "{learnt} evaluations with the limit learnt, {plain} without");
}

#[test]
fn a_front_grows_faster_than_with_one_number_or_at_random() {
    let space = cube(3);
    let volume = |strategy: &str, tells: bool| -> f64 {
        let wanted = Wanted { space: &space, bound: f64::INFINITY, tells, front: true };
        let of = |seed| {
            let run = run(&wanted, strategy, 30, seed);
            let ids = run.history.iter().map(|scored| scored.evaluation.request.config);
            let point = |config| {
                let values = numbers(&space, config);
                vec![time(&values).ln(), size(&values).ln()]
            };
            hypervolume(&ids.map(point).collect::<Vec<_>>(), &[120f64.ln(), 35f64.ln()])
        };
        (0..5).map(of).sum()
    };
    let [front, scalar, random] = [("gaussian_process", true), ("gaussian_process", false), ("random", true)]
        .map(|(name, tells)| volume(name, tells));
    assert!(front > scalar && front > random, "{front} with a front, {scalar} with one number, {random} at random");
}
