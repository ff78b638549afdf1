//! Strategies that use times on other devices.

use tunesmith_core::recording::{Column, Row};
use tunesmith_core::testing::FunctionEvaluator;
use tunesmith_core::{Failure, FailureKind, Measurement, MedianTime, Recording, Request, Run, Stop, Tuner};
use tunesmith_search::{Knowledge, Misfit, PastTimes, StrategySpec};
use tunesmith_space::{Parameter, Space, Value};

fn space(parameters: usize, values: i64) -> Space {
    let parameter = |i| Parameter::new(format!("P{i}"), (0..values).map(Value::Int)).unwrap();
    (0..parameters).fold(Space::builder(), |builder, i| builder.parameter(parameter(i))).build().unwrap()
}

/// Returns a smooth function with its minimum of 1 where every parameter is 5.
fn bowl(values: &[Value]) -> f64 {
    1.0 + values.iter().filter_map(Value::as_int).map(|x| ((x - 5) * (x - 5)) as f64).sum::<f64>()
}

fn row(values: Vec<Value>, time: f64) -> Row {
    let measurement = Measurement { times_ms: vec![time], ..Measurement::default() };
    Row { values, measurement, ..Row::default() }
}

/// Returns a recording of the configurations of `space` with these ranks, as another device timed
/// them.
fn recorded(space: &Space, ranks: impl Iterator<Item = u128>, time: impl Fn(&[Value]) -> f64) -> Recording {
    let columns = space.parameters().iter().map(|parameter| Column::of_rows(parameter.name())).collect();
    let values = |rank: u128| {
        let mut indices = Vec::new();
        space.unrank_into(space.id(rank).unwrap(), &mut indices);
        let value = |(index, parameter): (&u32, &Parameter)| parameter.values()[*index as usize].clone();
        indices.iter().zip(space.parameters()).map(value).collect::<Vec<Value>>()
    };
    let rows = ranks.map(values).map(|values| row(values.clone(), time(&values))).collect();
    Recording::new("elsewhere", columns, rows).unwrap()
}

fn knowledge(space: &Space, recordings: &[Recording]) -> Knowledge {
    let past: Vec<PastTimes> =
        recordings.iter().map(|recording| PastTimes::of(recording, space, &MedianTime).unwrap()).collect();
    Knowledge { history: PastTimes::all(&past), ..Knowledge::default() }
}

fn run(strategy: &str, space: &Space, knowledge: &Knowledge, scale: f64) -> Run {
    let mut searcher = strategy.parse::<StrategySpec>().unwrap().build(knowledge).unwrap();
    let mut evaluator = FunctionEvaluator::new(space, |values| Ok(bowl(values) * scale));
    let tuner = Tuner::new(space, searcher.as_mut(), &mut evaluator).stop(Stop::evaluations(30)).seed(3);
    tuner.run().unwrap()
}

fn requests(run: &Run) -> Vec<Request> {
    run.history.iter().map(|scored| scored.evaluation.request).collect()
}

fn first(run: &Run) -> Option<f64> {
    run.history.iter().next().unwrap().score
}

#[test]
fn the_best_elsewhere_is_asked_first_by_the_strategy_and_by_those_made_of_it() {
    let space = space(3, 8);
    let known = knowledge(&space, &[recorded(&space, 0..512, |values| bowl(values) * 7.0)]);
    for strategy in
        ["default", "gaussian_process", "bandit(techniques=default+random)", "round_robin(techniques=default)"]
    {
        assert_eq!(first(&run(strategy, &space, &known, 1.0)), Some(1.0), "{strategy}");
    }
    let without = run("default(picks=0)", &space, &known, 1.0);
    assert_ne!(first(&without), Some(1.0), "nothing is picked");
}

#[test]
fn neither_the_unit_of_the_history_nor_that_of_the_run_changes_a_request() {
    let space = space(3, 8);
    let known = |scale: f64| knowledge(&space, &[recorded(&space, 0..512, |values| bowl(values).sqrt() * scale)]);
    let usual = requests(&run("default", &space, &known(1.0), 1.0));
    assert_eq!(usual, requests(&run("default", &space, &known(1024.0), 1.0)));
    assert_eq!(usual, requests(&run("default", &space, &known(1.0), 1024.0)));
}

#[test]
fn a_history_that_misleads_does_not_keep_the_optimum_from_being_found() {
    let space = space(3, 8);
    let reversed = knowledge(&space, &[recorded(&space, 0..512, |values| 100.0 / bowl(values))]);
    let found = run("default", &space, &reversed, 1.0);
    let best = found.history.iter().filter_map(|scored| scored.score).fold(f64::INFINITY, f64::min);
    assert!(best <= 2.0, "{best} after 30 of 512 evaluations");
}

#[test]
fn a_few_rows_of_a_space_too_large_to_list_are_used() {
    let space = space(18, 10);
    let ranks = (0..60).map(|at: u128| at * 15_000_000_000_000_007 % 1_000_000_000_000_000_000);
    let known =
        knowledge(&space, &[recorded(&space, ranks.clone(), bowl), recorded(&space, ranks.clone().take(9), bowl)]);
    let with = run("default", &space, &known, 1.0);
    assert_eq!(requests(&with).len(), 30);
    let is_recorded = |request: &Request| ranks.clone().any(|rank| space.id(rank) == Some(request.config));
    assert!(requests(&with)[..3].iter().all(is_recorded), "the picks are of the history");
}

#[test]
fn recordings_of_other_kernels_are_refused_with_what_differs() {
    let space = space(2, 3);
    let misfit = |names: [&str; 2], values: [Value; 2], more: [Value; 2]| {
        let rows = vec![row(values.to_vec(), 1.0), row(more.to_vec(), 2.0)];
        let recording = Recording::new("r", names.map(Column::of_rows).to_vec(), rows).unwrap();
        PastTimes::of(&recording, &space, &MedianTime).err()
    };
    let [zero, one, nine] = [0, 1, 9].map(Value::Int);
    let same = || [zero.clone(), one.clone()];
    let other = misfit(["P0", "Q"], same(), [one.clone(), zero.clone()]);
    assert_eq!(other, Some(Misfit::Missing { name: "P1".into(), suggestion: None }));
    let text = |text: &str| Value::Str(text.into());
    let kind = misfit(["P0", "P1"], [text("a"), one.clone()], [text("b"), one.clone()]).unwrap().to_string();
    assert_eq!(kind, "the values of its parameter `P0` are texts, not integers");
    assert_eq!(
        misfit(["P0", "P1"], [nine.clone(), nine.clone()], [nine.clone(), one.clone()]),
        Some(Misfit::Apart { rows: 2 })
    );
    assert_eq!(misfit(["P0", "P1"], same(), [one.clone(), zero.clone()]), None);
}

#[test]
fn a_parameter_that_only_the_recording_varies_or_that_has_one_value_is_told_apart() {
    let space = space(2, 3);
    let recording = |extra: [i64; 2]| {
        let columns = ["P0", "P1", "EXTRA"].map(Column::of_rows).to_vec();
        let row = |at: i64| row([at, 2, extra[at as usize]].map(Value::Int).to_vec(), 1.0 + at as f64);
        Recording::new("r", columns, vec![row(0), row(1)]).unwrap()
    };
    assert!(PastTimes::of(&recording([7, 7]), &space, &MedianTime).is_ok());
    let misfit = PastTimes::of(&recording([7, 8]), &space, &MedianTime).err();
    assert_eq!(misfit, Some(Misfit::Extra { name: "EXTRA".into() }));
}

#[test]
fn a_recording_of_failures_says_nothing() {
    let space = space(1, 3);
    let failure = Some(Failure::new(FailureKind::Compile, "x"));
    let rows = vec![Row { failure, ..row(vec![Value::Int(1)], 1.0) }];
    let recording = Recording::new("r", vec![Column::of_rows("P0")], rows).unwrap();
    assert_eq!(PastTimes::of(&recording, &space, &MedianTime).err(), Some(Misfit::NothingCorrect));
}
