//! A search that knows the work-items of its kernel's launches.

use tunesmith_core::testing::FunctionEvaluator;
use tunesmith_core::{Launch, Stop, Tuner};
use tunesmith_search::{Knowledge, StrategySpec};
use tunesmith_space::{Expr, Parameter, Space, Value};

/// Returns a space with work-groups of 1 to 1,048,576 work-items and two other parameters.
fn space() -> Space {
    let powers = |name: &str| Parameter::new(name, (0..=10).map(|power| Value::Int(1 << power))).unwrap();
    let steps = |name: &str| Parameter::new(name, (1..=3).map(Value::Int)).unwrap();
    let builder = Space::builder().parameter(powers("X")).parameter(powers("Y"));
    ["A", "B"].into_iter().fold(builder, |builder, name| builder.parameter(steps(name))).build().unwrap()
}

/// Returns the time of a kernel that wants work-groups of 2^`favoured` work-items.
fn time(values: &[Value], favoured: f64) -> f64 {
    let number = |at: usize| values[at].as_float().unwrap();
    let group = ((number(0) * number(1)).log2() - favoured).abs();
    let rest: f64 = (2..4).map(|at| (number(at) - 2.0).abs()).sum();
    (1.0 + 0.5 * group + 0.02 * (number(0).log2() - 5.0).abs()) * (1.0 + 0.1 * rest)
}

fn exprs(texts: &[&str]) -> Vec<Expr> {
    texts.iter().map(|text| Expr::parse(text).unwrap()).collect()
}

fn launch() -> Knowledge {
    let launch = Launch { local: exprs(&["X", "Y"]), groups: exprs(&["ceildiv(4096, X * A)"]), ..Launch::default() };
    Knowledge { launch: Some(launch), ..Knowledge::default() }
}

/// Returns the mean over `searches` of the best time after `budget` evaluations.
fn mean_best(knowledge: &Knowledge, favoured: f64, budget: u64, searches: u64) -> f64 {
    let space = space();
    let best = |seed: u64| {
        let mut searcher = "gaussian_process".parse::<StrategySpec>().unwrap().build(knowledge).unwrap();
        let mut evaluator = FunctionEvaluator::new(&space, |values| Ok(time(values, favoured)));
        let tuner = Tuner::new(&space, searcher.as_mut(), &mut evaluator);
        let run = tuner.stop(Stop::evaluations(budget)).seed(seed).run().unwrap();
        run.history.iter().filter_map(|scored| scored.score).fold(f64::INFINITY, f64::min)
    };
    (0..searches).map(best).sum::<f64>() / searches as f64
}

#[test]
fn a_known_launch_helps_where_the_usual_work_groups_are_fast() {
    let mean = |knowledge: &Knowledge| mean_best(knowledge, 8.0, 8, 40);
    let (known, unknown) = (mean(&launch()), mean(&Knowledge::default()));
    assert!(known < 0.95 * unknown, "{known} with the launch, {unknown} without");
}

#[test]
fn a_kernel_that_wants_other_work_groups_costs_little() {
    for favoured in [1.0, 17.0] {
        let mean = |knowledge: &Knowledge| mean_best(knowledge, favoured, 35, 10);
        let (known, unknown) = (mean(&launch()), mean(&Knowledge::default()));
        assert!(known < 1.05 * unknown, "{known} with the launch, {unknown} without, at 2^{favoured}");
    }
}
