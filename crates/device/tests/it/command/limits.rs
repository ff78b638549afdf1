//! Time limits of runs, and runs that stall.

use crate::command::setup::*;
use crate::common::assert_failed;
use std::time::Duration;
use tunesmith_core::{Bound, Clock, Completion, Evaluator as _, FailureKind, SystemClock};
use tunesmith_kernel::command::{CommandSpec, Cost, Unit};

/// A clock that is an hour ahead for every run that says, by a line in a file, that it will not end.
struct Stalls {
    file: std::path::PathBuf,
    real: SystemClock,
}

impl Clock for Stalls {
    fn now(&self) -> Duration {
        let stalled = std::fs::read_to_string(&self.file).unwrap_or_default().lines().count();
        self.real.now() + Duration::from_secs(3600) * stalled as u32
    }

    fn unix(&self) -> Duration {
        self.real.unix()
    }
}

/// Runs a command whose runs with these numbers, counted from 1, never end.
fn run_with_stalls(setup: &Setup, stalls: &[usize]) -> Completion {
    let numbers = stalls.iter().map(usize::to_string).collect::<Vec<_>>().join("|");
    let script = format!(
        "echo >> $HERE/log; case $(($(wc -l < $HERE/log))) in {numbers}) echo >> $HERE/stalls; sleep 5000;; esac"
    );
    let mut options = options(setup.spec(&script));
    options.clock = std::sync::Arc::new(Stalls { file: setup.folder.path().join("stalls"), real: SystemClock::new() });
    setup.evaluate(&mut setup.evaluator(options), 2)
}

#[test]
fn a_later_run_that_does_not_end_is_taken_again() {
    let setup = Setup::new();
    let completion = run_with_stalls(&setup, &[4]);
    assert_correct(&completion);
    assert!(completion.measurement.times_ms.iter().all(|time| *time < 3_600_000.0), "{completion:?}");
    assert!(completion.measurement.times_ms.len() >= 7, "{completion:?}");
    let note = completion.measurement.note.unwrap();
    assert!(note.starts_with("a run after the first did not end within 60 s"), "{note}");
}

#[test]
fn a_second_stall_ends_sampling_and_the_configuration_keeps_its_samples() {
    let setup = Setup::new();
    let completion = run_with_stalls(&setup, &[4, 7]);
    assert_correct(&completion);
    assert_eq!(completion.measurement.times_ms.len(), 4, "runs 2, 3, 5 and 6");
    let note = completion.measurement.note.unwrap();
    assert!(note.starts_with("2 runs after the first did not end within 60 s"), "{note}");
    assert_eq!(setup.file("log").lines().count(), 7);
}

#[test]
fn stalls_before_there_are_samples_or_in_the_first_run_are_a_timeout() {
    for stalls in [&[1][..], &[2, 3], &[3, 5]] {
        let setup = Setup::new();
        let completion = run_with_stalls(&setup, stalls);
        assert_failed(&completion, FailureKind::Timeout, &["the command did not end within 60 s"]);
        assert_eq!(completion.measurement.note, None);
    }
}

#[test]
fn a_command_that_does_not_end_is_a_timeout_with_the_limit() {
    let setup = Setup::new();
    let mut options = options(setup.spec("echo waiting; sleep $((N * 500))"));
    options.policy.limits.first = Duration::from_millis(500);
    let completion = setup.evaluate(&mut setup.evaluator(options), 2);
    let words = ["the command did not end within 500 ms (the limit while no correct time is known)", "waiting"];
    assert_failed(&completion, FailureKind::Timeout, &words);
}

#[test]
fn the_limit_follows_the_best_time_from_start_to_end_whatever_the_cost() {
    let setup = Setup::new();
    let spec =
        CommandSpec { cost: printed("cost ([0-9]+)", Unit::Seconds), ..setup.spec("echo cost 1; sleep $((N * 500))") };
    let mut options = options(spec);
    options.policy.limits.floor = Duration::from_millis(1500);
    let mut evaluator = setup.evaluator(options);
    assert_correct(&setup.evaluate(&mut evaluator, 0));
    let completion = setup.evaluate(&mut evaluator, 2);
    assert_failed(&completion, FailureKind::Timeout, &["within 1.5 s (more than 10 x the best time of"]);
}

/// Evaluates a quick configuration without a bound, then a slow one with `bound`.
fn evaluate_within(bound: Bound, spec: impl FnOnce(&Setup) -> CommandSpec) -> Completion {
    let setup = Setup::new();
    let mut options = options(CommandSpec { warmup: false, ..spec(&setup) });
    options.policy.sampling.max_samples = 1;
    options.policy.sampling.min_samples = 1;
    options.policy.limits.floor = Duration::from_millis(50);
    let mut evaluator = setup.evaluator(options);
    evaluator.bound(Bound::Open);
    assert_eq!(setup.evaluate(&mut evaluator, 0).failure, None);
    evaluator.bound(bound);
    setup.evaluate(&mut evaluator, 2)
}

const SHORT: Bound = Bound::Best(Duration::from_millis(1));

#[test]
fn a_bound_on_the_duration_cuts_and_the_failure_says_so() {
    let completion = evaluate_within(SHORT, |setup| setup.spec("sleep $((N * 500))"));
    assert_failed(&completion, FailureKind::Timeout, &["within 50 ms (more than 10 x the best time of 1.0 ms"]);
    let cut = completion.failure.unwrap().cut.unwrap();
    assert_eq!((cut.limit_ms, cut.best_ms), (50.0, 1.0));
}

#[test]
fn without_a_bound_or_with_another_cost_than_the_duration_a_quick_run_cuts_nothing() {
    let script = "sleep 0.$((N * 15)); echo cost $((100 - N))";
    let costs = [None, Some(Cost::User), Some(Cost::Cpu), Some(printed("cost ([0-9]+)", Unit::Seconds))];
    for (cost, bound) in costs.into_iter().zip([Bound::Open, SHORT, SHORT, SHORT]) {
        let cost = cost.unwrap_or(Cost::Wall);
        let completion = evaluate_within(bound, |setup| CommandSpec { cost, ..setup.spec(script) });
        assert_eq!(completion.failure, None);
    }
    let beyond = Bound::Beyond(Duration::from_millis(1));
    assert_eq!(evaluate_within(beyond, |setup| setup.spec(script)).failure, None);
}
