use super::*;
use tunesmith_space::{Parameter, Value};

/// Returns all configurations of TILE, UNROLL and MODE, those that `fails` names with a failure.
fn trials(fails: impl Fn(i64, i64, &str) -> bool) -> Trials {
    let parameters = [
        Parameter::new("TILE", [1, 2, 4, 8].map(Value::Int)).unwrap(),
        Parameter::new("UNROLL", [1, 2, 3].map(Value::Int)).unwrap(),
        Parameter::new("MODE", ["a", "b", "c"].map(Value::from)).unwrap(),
    ];
    let mut trials = Trials::new(&parameters);
    for tile in [1, 2, 4, 8] {
        for unroll in 1..=3 {
            for mode in ["a", "b", "c"] {
                let headline = "killed after 2 s".to_string();
                let failed = TrialResult::Failed { kind: FailureKind::Timeout, headline };
                let result = if fails(tile, unroll, mode) { failed } else { TrialResult::Score(1.0) };
                trials.push(&[tile.into(), unroll.into(), mode.into()], result);
            }
        }
    }
    trials
}

fn cause(fails: impl Fn(i64, i64, &str) -> bool) -> Option<String> {
    let causes = failure_causes(&trials(fails));
    causes.first()?.cause.as_ref().map(Cause::to_string)
}

#[test]
fn one_value_a_range_and_texts_are_named() {
    assert_eq!(cause(|tile, _, _| tile == 8).as_deref(), Some("TILE = 8"));
    assert_eq!(cause(|tile, _, _| tile >= 4).as_deref(), Some("TILE >= 4"));
    assert_eq!(cause(|tile, _, _| tile == 2 || tile == 4).as_deref(), Some("TILE from 2 to 4"));
    assert_eq!(cause(|_, _, mode| mode == "b").as_deref(), Some("MODE = b"));
    assert_eq!(cause(|_, _, mode| mode != "b").as_deref(), Some("MODE = a or c"));
}

#[test]
fn two_conditions_are_named_where_one_does_not_do() {
    assert_eq!(cause(|tile, unroll, _| tile == 8 && unroll >= 2).as_deref(), Some("TILE = 8 and UNROLL >= 2"));
    let found = failure_causes(&trials(|tile, _, mode| tile <= 2 && mode == "c")).remove(0);
    assert_eq!((found.count, found.covered, found.correct), (6, 6, 0));
    assert_eq!(found.message, "killed after 2 s");
    let mut parts: Vec<String> = found.cause.unwrap().conditions.iter().map(Condition::to_string).collect();
    parts.sort();
    assert_eq!(parts, ["MODE = c", "TILE <= 2"]);
}

#[test]
fn what_chance_explains_as_well_is_no_cause() {
    assert_eq!(cause(|tile, unroll, mode| tile == 4 && unroll == 2 && mode == "a"), None, "a single failure");
    assert_eq!(cause(|_, _, _| true), None, "nothing was correct");
    let scattered = [(1, 1, "a"), (2, 3, "b"), (4, 2, "c"), (8, 1, "b"), (1, 3, "c"), (4, 1, "a")];
    assert_eq!(cause(|tile, unroll, mode| scattered.contains(&(tile, unroll, mode))), None);
    assert!(failure_causes(&trials(|_, _, _| false)).is_empty());
}

#[test]
fn the_tail_of_the_hypergeometric_distribution() {
    // Of 10 evaluations 3 failed; 3 are chosen: all failures with 1 / 120, at least two with 22 / 120.
    assert!((chance(3, 0, 3, 7) - 1.0 / 120.0).abs() < 1e-12);
    assert!((chance(2, 1, 3, 7) - 22.0 / 120.0).abs() < 1e-12);
    assert!((chance(0, 5, 3, 7) - 1.0).abs() < 1e-12);
}
