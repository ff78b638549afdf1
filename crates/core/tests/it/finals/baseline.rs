//! The default configuration in the final.

use crate::common::*;
use crate::finals::setup::*;
use std::sync::Arc;
use tunesmith_core::judge::finals::Finals;
use tunesmith_core::*;

/// Tunes `device` with X = 0 as the baseline and with enough time for it.
fn tune_beside(device: &mut Device, before: &Kept) -> (Run, Kept) {
    let finals = Finals { floor: std::time::Duration::from_secs(60), ..Finals::default() };
    let mut kept = before.clone();
    let (space, clock) = (device.space.clone(), device.clock.clone());
    let run = Tuner::new(&space, &mut InOrder::default(), device)
        .store(&mut kept)
        .clock(clock)
        .judging(Judging { finals: Some(finals), ..Judging::nothing() })
        .baseline(space.id(0))
        .recorded(before.evaluations())
        .resamples(before.again())
        .run()
        .unwrap();
    (run, kept)
}

#[test]
fn how_much_faster_the_winner_is_does_not_depend_on_when_the_baseline_was_measured_first() {
    let mut device = device(1);
    // The first configuration is measured before the device becomes twice as slow: 14 ms against 20
    // ms.
    device.drift = Box::new(|at| if at.as_millis() > 160 { 2.0 } else { 1.0 });
    let (run, _) = tune_beside(&mut device, &Kept::default());
    let best = winner(&device, &run).unwrap();
    let (default, best) = (medians(&device, &run, 0, Role::Baseline), medians(&device, &run, best, Role::Confirmation));
    assert_eq!(default.len(), best.len());
    let speedup = statistics::median(&default).unwrap() / statistics::median(&best).unwrap();
    assert!((speedup - 1.4).abs() < 0.05, "{speedup}");
    assert!(winner(&device, &run) != Some(0) && !run.verdict.ties.contains(&device.space.id(0).unwrap()));
}

#[test]
fn a_final_with_a_baseline_is_resumed_where_it_was_interrupted_and_is_not_held_again() {
    let mut whole = device(1);
    let (run, kept) = tune_beside(&mut whole, &Kept::default());
    let mut again = device(2);
    let (resumed, after) = tune_beside(&mut again, &kept);
    assert!(again.log.is_empty());
    assert_eq!((after.0, resumed.verdict, resumed.resamples), (kept.0, run.verdict.clone(), run.resamples));
    // A final that was cut in its last round names a winner already. It is not over for that.
    for cut in 0..whole.log.len() {
        let mut first = device(1);
        first.interrupt_at = Some(cut);
        let (_, before) = tune_beside(&mut first, &Kept::default());
        (first.interrupt_at, first.clock) = (None, Arc::default());
        let (resumed, _) = tune_beside(&mut first, &before);
        assert_eq!((first.log, resumed.verdict), (whole.log.clone(), run.verdict.clone()), "cut {cut}");
    }
}

#[test]
fn a_baseline_that_fails_now_is_reported_and_costs_nobody_else_a_place() {
    let mut device = device(1);
    device.breaks = Some((0, 0));
    let (run, _) = tune_beside(&mut device, &Kept::default());
    let failed: Vec<i64> = run.verdict.failed.iter().map(|config| device.x(*config)).collect();
    assert_eq!(failed, [0]);
    assert!(run.verdict.by_final && run.verdict.winner.is_some());
}

#[test]
fn a_default_that_the_resumed_journal_lacks_is_evaluated_and_takes_its_turn() {
    let mut first = device(1);
    let (_, kept) = tune(&mut first, only_finals(), 1, &Kept::default());
    let lines = kept.0.into_iter().filter(|line| matches!(line, Line::Evaluation(e) if first.x(e.request.config) != 0));
    let before = Kept(lines.collect());
    let mut second = device(2);
    let (space, clock) = (second.space.clone(), second.clock.clone());
    let (default, mut kept) = (space.id(0), before.clone());
    let run = Tuner::new(&space, &mut InOrder::default(), &mut second)
        .store(&mut kept)
        .clock(clock)
        .judging(only_finals())
        .stop(Stop::evaluations(11))
        .baseline(default)
        .recorded(before.evaluations())
        .run()
        .unwrap();
    assert_eq!(run.history.len(), 12);
    assert!(!medians(&second, &run, 0, Role::Baseline).is_empty());
    assert!(run.verdict.is_better_than_default());
}

#[test]
fn the_default_is_the_first_that_is_evaluated() {
    let mut device = device(1);
    let space = device.space.clone();
    let run = Tuner::new(&space, &mut InOrder::default(), &mut device)
        .judging(Judging::nothing())
        .first(space.id(5))
        .baseline(space.id(7))
        .stop(Stop::evaluations(3))
        .run()
        .unwrap();
    let asked: Vec<i64> = run.history.iter().map(|scored| device.x(scored.evaluation.request.config)).collect();
    assert_eq!(asked, [7, 5, 0]);
}
