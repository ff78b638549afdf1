//! Runs with a planted cause: each must be named.

use tunesmith_core::FailureKind;
use tunesmith_explain::{
    Absence, Advice, Change, DOUBTFUL, Edge, Facts, Importance, Scores, Source, Surrogate, TrialResult, Trials, advice,
    among_best, changes, failure_causes, importance, one_at_a_time,
};
use tunesmith_space::{Parameter, Value};

/// Returns a number from -1 to 1 that looks random.
fn wobble(at: u64) -> f64 {
    let mixed = (at + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Returns 200 configurations of five parameters with the times of `time`, within `noise`.
fn run(noise: f64, time: impl Fn(&[i64]) -> Option<f64>) -> Trials {
    let names = ["TILE", "UNROLL", "PAD", "VECTOR", "ORDER"];
    let parameters = names.map(|name| Parameter::new(name, (0..6).map(Value::Int)).unwrap());
    let mut trials = Trials::new(&parameters);
    for at in 0..200_u64 {
        let values: Vec<i64> = (0..5).map(|axis| ((wobble(7 * at + axis) + 1.0) * 3.0) as i64 % 6).collect();
        let result = match time(&values) {
            Some(time) => TrialResult::Score(time * (1.0 + noise * wobble(99_991 + at))),
            None => TrialResult::Failed { kind: FailureKind::Runtime, headline: "killed by SIGSEGV".to_string() },
        };
        trials.push(&values.iter().copied().map(Value::Int).collect::<Vec<_>>(), result);
    }
    trials
}

fn explained(trials: &Trials) -> Importance {
    importance(trials, Surrogate::fit(trials).as_ref())
}

fn share(found: &Importance, name: &str) -> (f64, f64) {
    let share = found.importance.iter().find(|share| share.parameter == name).unwrap();
    (share.share, share.with_interactions)
}

#[test]
fn a_parameter_that_decides_everything_and_those_that_do_nothing_are_named() {
    let found = explained(&run(0.01, |values| Some(1.0 + values[0] as f64)));
    assert_eq!(found.importance[0].parameter, "TILE");
    assert!(found.importance[0].share > 0.9, "{found:#?}");
    let inert: Vec<&str> =
        found.importance.iter().filter(|share| share.is_inert()).map(|share| share.parameter.as_str()).collect();
    assert_eq!(inert.len(), 4, "{found:#?}");
    assert!(found.unexplained.unwrap() < 0.1, "{found:#?}");
}

#[test]
fn two_parameters_that_act_only_jointly_are_named_as_a_pair() {
    let found = explained(&run(0.01, |values| Some(if (values[1] < 3) == (values[3] < 3) { 1.0 } else { 2.0 })));
    let pair = &found.interactions[0];
    assert_eq!(pair.parameters, ["UNROLL", "VECTOR"]);
    assert!(pair.share > 0.4 && pair.share > 10.0 * found.interactions[1].share, "{found:#?}");
    for name in ["UNROLL", "VECTOR"] {
        let (alone, together) = share(&found, name);
        assert!(alone < 0.1 && together > 0.5, "{name}: {found:#?}");
    }
}

#[test]
fn noise_is_what_the_parameters_do_not_explain() {
    let found = explained(&run(0.5, |_| Some(1.0)));
    assert!(found.unexplained.unwrap() > 0.9, "{found:#?}");
    let half = explained(&run(0.3, |values| Some(1.0 + 0.2 * values[0] as f64)));
    assert!((0.2..0.8).contains(&half.unexplained.unwrap()), "{half:#?}");
    assert_eq!(half.importance[0].parameter, "TILE");
}

#[test]
fn the_shares_add_up_to_at_most_one() {
    for noise in [0.0, 0.1, 1.0] {
        let found = explained(&run(noise, |values| Some(1.0 + (values[0] * values[1] + values[2]) as f64)));
        let main: f64 = found.importance.iter().map(|share| share.share).sum();
        let pairs: f64 = found.interactions.iter().map(|pair| pair.share).sum();
        assert!((main + pairs + found.higher.unwrap() - 1.0).abs() < 1e-9, "{found:#?}");
    }
}

#[test]
fn planted_failures_are_explained() {
    let causes = failure_causes(&run(0.1, |values| (values[2] < 4 || values[0] < 2).then_some(1.0)));
    let cause = causes[0].cause.as_ref().unwrap().to_string();
    assert!(cause.contains("PAD >= 4") && cause.contains("TILE >= 2"), "{cause}");
    assert_eq!((causes[0].correct, causes[0].message.as_str()), (0, "killed by SIGSEGV"));
    assert_eq!(causes[0].covered, causes[0].count);
}

#[test]
fn every_change_from_the_default_tells_what_it_brings_alone() {
    // TILE halves the time whatever the others are; UNROLL helps only where VECTOR is large.
    let time = |values: &[i64]| {
        let unrolled = if values[1] >= 3 && values[3] >= 3 { 0.5 } else { 1.0 };
        Some(if values[0] >= 3 { 4.0 } else { 8.0 } * unrolled)
    };
    let trials = run(0.0, time);
    let (default, winner) = ([0, 0, 2, 2, 2], [5, 5, 2, 4, 2]);
    let model = Surrogate::fit(&trials).unwrap();
    let mut scores = Scores::new(&trials, Some(&model), &|_| true);
    let found = changes(&scores, &default, &winner);
    let names: Vec<&str> = found.iter().map(|change| change.parameter.as_str()).collect();
    assert_eq!((names[0], names.len()), ("TILE", 3));
    assert!((found[0].alone.unwrap().gain.ratio().unwrap() - 2.0).abs() < 0.3, "{found:#?}");
    // Once everything is measured, the ratios are exact.
    for places in one_at_a_time(&default, &winner).into_iter().chain([default.to_vec(), winner.to_vec()]) {
        let values: Vec<i64> = places.iter().map(|place| i64::from(*place)).collect();
        scores.measured(places, time(&values).unwrap());
    }
    let found = changes(&scores, &default, &winner);
    let of = |name: &str| found.iter().find(|change| change.parameter == name).unwrap();
    let ratios =
        |name: &str| (of(name).alone.unwrap().gain.ratio().unwrap(), of(name).needed.unwrap().gain.ratio().unwrap());
    assert_eq!([ratios("TILE"), ratios("UNROLL"), ratios("VECTOR")], [(2.0, 2.0), (1.0, 2.0), (1.0, 2.0)]);
    assert!(found.iter().all(|change| change.alone.unwrap().source == Source::Measured));
}

#[test]
fn a_configuration_that_the_constraints_exclude_or_that_failed_has_no_effect() {
    let trials = run(0.0, |values| (values[0] < 5).then_some(1.0 + values[1] as f64));
    let model = Surrogate::fit(&trials);
    let is_valid = |places: &[u32]| places[1] < 4;
    let scores = Scores::new(&trials, model.as_ref(), &is_valid);
    let found = changes(&scores, &[0, 0, 0, 0, 0], &[0, 5, 0, 0, 0]);
    assert_eq!((found.len(), found[0].alone), (1, Err(Absence::Excluded)));
    // The first configuration with TILE = 5, which failed.
    let failed = trials.all().iter().find(|trial| trial.places[0] == 5 && trial.places[1] < 4).unwrap().places.clone();
    let mut default = failed.clone();
    default[0] = 0;
    let found = changes(&scores, &default, &failed);
    assert_eq!((found.len(), found[0].alone), (1, Err(Absence::Failed(FailureKind::Runtime))));
    assert_eq!(found[0].alone.unwrap_err().to_string(), "failed (runtime)");
}

#[test]
fn a_model_that_explains_less_than_half_predicts_nothing() {
    // The times have nothing to do with the values.
    let trials = run(0.5, |_| Some(1.0));
    let model = Surrogate::fit(&trials).unwrap();
    assert!(model.unexplained() > DOUBTFUL, "{}", model.unexplained());
    let found = changes(&Scores::new(&trials, Some(&model), &|_| true), &[0, 0, 0, 0, 0], &[5, 5, 5, 5, 5]);
    let is_told = |change: &Change| change.alone.is_ok_and(|effect| effect.source == Source::Model);
    assert!(!found.iter().any(is_told), "{found:#?}");
    assert!(found.iter().any(|change| change.alone == Err(Absence::NotMeasured)), "{found:#?}");
}

#[test]
fn the_best_share_values_and_an_edge_is_seen() {
    let trials = run(0.001, |values| Some(10.0 - values[0] as f64 + 0.3 * (values[1] - 2).abs() as f64));
    let best = among_best(&trials).unwrap();
    assert!(best.count >= 5 && best.up_to < 6.0, "{best:#?}");
    assert_eq!(best.parameters[0].condition.to_string(), "TILE = 5");
    assert_eq!(best.parameters[0].edge, Some(Edge::Largest));
    let found = explained(&trials);
    let facts = Facts {
        evaluations: 200,
        correct: 200,
        possible: None,
        ties: 0,
        spread: None,
        near_optimum: Some(0.9),
        is_default: false,
        importance: &found,
        best: Some(&best),
        failures: &[],
    };
    let advised = advice(&facts);
    assert_eq!(advised[0], Advice::Extend { parameter: "TILE".to_string(), edge: Edge::Largest });
    assert_eq!(advised.last(), Some(&Advice::Ship));
    let few = Facts { evaluations: 20, near_optimum: None, ..facts };
    assert_eq!(advice(&few)[0], Advice::GoOn { evaluations: 40, near_optimum: None });
    let noisy = Facts { spread: Some(0.2), ..facts };
    assert_eq!(advice(&noisy)[0], Advice::Quieten { spread: 0.2 });
    let failed = Facts { correct: 0, ..facts };
    assert_eq!(advice(&failed), [Advice::Diagnose { kind: FailureKind::Runtime }]);
}

#[test]
fn a_parameter_with_a_single_value_changes_nothing() {
    let names = ["TILE", "FIXED", "PAD"];
    let lists = [6, 1, 6].map(|count| (0..count).map(Value::Int));
    let parameters: Vec<Parameter> =
        names.iter().zip(lists).map(|(name, list)| Parameter::new(*name, list).unwrap()).collect();
    let (mut with, mut without) =
        (Trials::new(&parameters), Trials::new(&[parameters[0].clone(), parameters[2].clone()]));
    for at in 0..60_u64 {
        let (tile, pad) = ((at % 6) as i64, (at / 10) as i64);
        let result = TrialResult::Score(1.0 + tile as f64 + 0.1 * wobble(at));
        with.push(&[tile.into(), 0.into(), pad.into()], result.clone());
        without.push(&[tile.into(), pad.into()], result);
    }
    let found = explained(&with);
    assert_eq!(found, explained(&without));
    assert_eq!(found.importance.len(), 2);
    assert_eq!(among_best(&with).unwrap().parameters.len(), 2);
}

#[test]
fn too_few_scores_say_nothing() {
    let parameters = [Parameter::new("TILE", (0..6).map(Value::Int)).unwrap()];
    let mut trials = Trials::new(&parameters);
    for tile in 0..6 {
        trials.push(&[tile.into()], TrialResult::Score(1.0 + tile as f64));
    }
    assert!(Surrogate::fit(&trials).is_none());
    let found = importance(&trials, None);
    assert!(found.importance.is_empty() && found.unexplained.is_none() && found.parameters == 1);
    assert_eq!(among_best(&trials).unwrap().count, 5);
    assert!(among_best(&Trials::new(&parameters)).is_none());
}

#[test]
fn scores_that_are_not_above_zero_are_compared_as_they_are() {
    let found = explained(&run(0.0, |values| Some(-(values[4] as f64))));
    assert_eq!(found.importance[0].parameter, "ORDER");
    assert!(found.importance[0].share > 0.9, "{found:#?}");
}

#[test]
fn long_lists_and_texts_are_explained_too() {
    let long = Parameter::new("CHUNK", (1..=1000).map(Value::Int)).unwrap();
    let texts = Parameter::new("SCHEDULE", ["static", "dynamic", "guided"].map(Value::from)).unwrap();
    let mut trials = Trials::new(&[long, texts]);
    for at in 0..150_u64 {
        let chunk = 1 + ((wobble(at) + 1.0) * 499.0) as i64;
        let text = ["static", "dynamic", "guided"][(at % 3) as usize];
        let time = if chunk > 300 { 2.0 } else { 1.0 } * if text == "dynamic" { 1.5 } else { 1.0 };
        trials.push(&[chunk.into(), text.into()], TrialResult::Score(time));
    }
    let found = explained(&trials);
    assert_eq!(found.importance[0].parameter, "CHUNK");
    assert!(found.importance.iter().all(|share| share.share > 0.2), "{found:#?}");
    let best = among_best(&trials).unwrap();
    assert!(best.parameters[0].condition.to_string().starts_with("CHUNK"));
}
