use super::*;
use tunesmith_core::{Evaluation, Failure, FailureKind, Measurement, Request};
use tunesmith_space::{Parameter, Value};

fn grid(side: i64) -> Space {
    let parameter = |name: &str| Parameter::new(name, (1..=side).map(Value::Int)).unwrap();
    Space::builder().parameter(parameter("X")).parameter(parameter("Y")).build().unwrap()
}

/// Returns the evaluations of every `step`-th configuration with times from `time`, where `None` is
/// a failure.
fn history(space: &Space, step: usize, time: impl Fn(f64, f64) -> Option<f64>) -> History {
    let mut history = History::default();
    for config in space.iter().step_by(step) {
        let configuration = space.unrank(config);
        let values: Vec<f64> = space.values(&configuration).filter_map(|(_, value)| value.as_float()).collect();
        let score = time(values[0], values[1]);
        let failure = score.is_none().then(|| Failure::new(FailureKind::Compile, "x"));
        let request = Request::timed(config);
        let (measurement, clock) = (Measurement::default(), std::time::Duration::ZERO);
        history.insert(Evaluation { request, failure, measurement, clock, proposed: None }, score);
    }
    history
}

fn bowl(x: f64, y: f64) -> Option<f64> {
    Some(10.0 + (x - 11.0).powi(2) + (y - 7.0).powi(2))
}

#[test]
fn an_evaluated_space_has_no_regret_and_one_where_all_fails_is_never_sure() {
    let space = grid(20);
    let within = |history: &History| RegretModel::default().within(&space, history, &[0.01, 0.5]);
    assert_eq!(within(&history(&space, 1, bowl)), [1.0, 1.0]);
    assert_eq!(within(&history(&space, 1, |_, _| None)), [0.0, 0.0]);
    assert_eq!(within(&history(&space, 3, |_, _| None)), [0.0, 0.0]);
    assert_eq!(within(&History::default()), [0.0, 0.0]);
}

#[test]
fn of_a_smooth_function_it_is_surer_the_more_is_seen_and_the_more_regret_is_allowed() {
    let space = grid(20);
    let sure = |step| RegretModel::default().within(&space, &history(&space, step, bowl), &[0.02, 0.1, 0.3]);
    let (few, many) = (sure(29), sure(3));
    assert!(few.is_sorted() && many.is_sorted(), "{few:?} {many:?}");
    assert!(many[2] > 0.6 && few[2] < 0.4, "{few:?} {many:?}");
}

#[test]
fn a_best_far_ahead_of_all_others_keeps_it_doubtful() {
    let space = grid(20);
    let needle = |x: f64, y: f64| if (x, y) == (1.0, 1.0) { Some(5.0) } else { Some(10.0 + (x + y) / 40.0) };
    let sure = RegretModel::default().within(&space, &history(&space, 2, needle), &[0.02])[0];
    assert!(sure < 0.5, "{sure}");
}

#[test]
fn random_times_are_not_believed_to_be_searched_out_by_a_tenth_of_the_space() {
    let space = grid(40);
    let hash = |x: f64, y: f64| Some(1.0 + ((x * 7919.0 + y * 104_729.0) * 0.618_034).fract());
    let sure = RegretModel::default().within(&space, &history(&space, 10, hash), &[0.001])[0];
    assert!(sure < 0.5, "{sure}");
}

#[test]
fn the_unit_of_the_scores_changes_nothing() {
    let space = grid(20);
    let sure = |unit: f64| {
        let history = history(&space, 7, |x, y| bowl(x, y).map(|time| time * unit));
        RegretModel::default().within(&space, &history, &[0.02, 0.3])
    };
    assert_eq!(sure(1.0), sure(1024.0));
}

#[test]
fn a_space_too_large_to_list_is_sampled() {
    let parameter = |i| Parameter::new(format!("P{i}"), (1..=10).map(Value::Int)).unwrap();
    let space = (0..30).fold(Space::builder(), |builder, i| builder.parameter(parameter(i))).build().unwrap();
    let mut history = History::default();
    let mut rng = Rng::seed_from_u64(1);
    for number in 0..30 {
        let request = Request::timed(space.sample(&mut rng));
        let (measurement, clock) = (Measurement::default(), std::time::Duration::ZERO);
        history.insert(
            Evaluation { request, failure: None, measurement, clock, proposed: None },
            Some(1.0 + f64::from(number)),
        );
    }
    let parts = RegretModel::default().parts(&space, &history, &[0.1]).unwrap()[0];
    assert!(parts.expected > 1.0 && parts.probability() < 0.5, "{parts:?}");
}
