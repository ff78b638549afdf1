//! The verification of winners on other data.

use crate::common::*;
use crate::finals::setup::*;
use std::sync::Arc;
use tunesmith_core::*;

#[test]
fn a_winner_that_is_wrong_on_other_data_loses_its_place_to_one_that_is_right() {
    let mut device = device(1);
    device.fails_verification = Some(vec![4]);
    let (run, kept) = tune(&mut device, only_finals(), 1, &Kept::default());
    assert_eq!(device.confirmed[0], 4, "the winner is verified first");
    assert_eq!(winner(&device, &run), Some(3));
    let failed: Vec<i64> = run.verdict.failed.iter().map(|config| device.x(*config)).collect();
    assert_eq!((failed, run.verdict.ties.is_empty()), (vec![4], true));
    let verified = kept.again().into_iter().filter(|again| again.role == Role::Verification);
    let verified: Vec<(i64, bool)> = verified.map(|again| (device.x(again.config), again.failure.is_none())).collect();
    assert_eq!(verified, [(4, false), (3, true)], "each verification is in the journal, whatever it found");
}

#[test]
fn without_a_final_the_winner_of_the_search_is_verified_and_a_wrong_one_loses_its_place() {
    let mut device = Device::new(&line(4), Noise::Quiet, 1, |x| 10.0 + x as f64);
    device.fails_verification = Some(vec![0, 1]);
    let (run, _) = tune(&mut device, Judging { finals: None, ..only_finals() }, 1, &Kept::default());
    assert_eq!((winner(&device, &run), &device.confirmed), (Some(2), &vec![0, 1, 2]));
}

#[test]
fn when_every_configuration_is_wrong_on_other_data_nothing_wins() {
    let mut device = device(1);
    device.fails_verification = Some((0..12).collect());
    let (run, _) = tune(&mut device, only_finals(), 1, &Kept::default());
    assert_eq!((run.verdict.winner, run.verdict.failed.len()), (None, 12));
}

#[test]
fn a_resumed_run_verifies_nothing_twice() {
    let mut first = device(1);
    first.fails_verification = Some(vec![4]);
    let (run, kept) = tune(&mut first, only_finals(), 1, &Kept::default());
    let mut second = device(2);
    second.fails_verification = Some(Vec::new());
    let (again, after) = tune(&mut second, only_finals(), 1, &kept);
    assert_eq!((again.verdict, after), (run.verdict, kept));
    assert!(second.confirmed.is_empty());
}

/// Returns a device whose configurations take `times` milliseconds and pass every verification.
fn passing(seed: u64, times: [f64; 4]) -> Device {
    let mut device = Device::new(&line(4), Noise::Normal(0.01), seed, move |x| times[x as usize]);
    device.fails_verification = Some(Vec::new());
    device
}

#[test]
fn a_tie_that_becomes_the_winner_is_verified_as_one() {
    let mut first = passing(1, [10.0; 4]);
    let (run, mut before) = tune(&mut first, only_finals(), 1, &Kept::default());
    let (best, ties) = first.claims.split_first().unwrap();
    assert_eq!((*best, ties.len()), (Claim::Best, run.verdict.ties.len()));
    assert!(!ties.is_empty() && ties.iter().all(|claim| *claim == Claim::Tie), "{ties:?}");
    // A journal that lacks one evaluation holds its final again. Its reader leaves the first one out.
    let tie = first.x(run.verdict.ties[0]);
    before.0.retain(|line| match line {
        Line::Again(again) => again.role == Role::Verification,
        Line::Evaluation(one) => ![tie, first.x(run.verdict.winner.unwrap())].contains(&first.x(one.request.config)),
    });
    let mut times = [10.0; 4];
    times[tie as usize] = 5.0;
    let mut second = passing(2, times);
    let (run, _) = tune(&mut second, only_finals(), 1, &before);
    assert_eq!((winner(&second, &run), &second.confirmed, &second.claims), (Some(tie), &vec![tie], &vec![Claim::Best]));
}

#[test]
fn failures_in_the_final_and_in_verifications_keep_their_order_when_the_run_is_resumed() {
    let mut first = device(1);
    first.breaks = Some((3, 0));
    first.fails_verification = Some(vec![4]);
    let (run, kept) = tune(&mut first, only_finals(), 1, &Kept::default());
    let failed: Vec<i64> = run.verdict.failed.iter().map(|config| first.x(*config)).collect();
    assert_eq!(failed, [3, 4], "3 fails in the final, and 4 when it is verified");
    let (again, after) = tune(&mut device(2), only_finals(), 1, &kept);
    assert_eq!((again.verdict, again.resamples, after), (run.verdict, run.resamples, kept));
}

#[test]
fn a_later_final_that_was_cut_goes_on_although_the_winner_of_an_earlier_one_was_verified() {
    let verifying = |seed| {
        let mut device = device(seed);
        device.fails_verification = Some(Vec::new());
        device
    };
    let (_, mut before) = tune(&mut verifying(1), only_finals(), 1, &Kept::default());
    // A journal that lacks one evaluation holds its final again. Its reader leaves the first one out.
    let lost = before.0.remove(5);
    before.0.retain(|line| !matches!(line, Line::Again(again) if again.role != Role::Verification));
    assert!(matches!(lost, Line::Evaluation(_)) && !before.again().is_empty());
    let mut whole = verifying(2);
    let (run, _) = tune(&mut whole, only_finals(), 1, &before);
    let mut cut = verifying(2);
    cut.interrupt_at = Some(7);
    let (_, half) = tune(&mut cut, only_finals(), 1, &before);
    (cut.interrupt_at, cut.clock) = (None, Arc::default());
    let (resumed, _) = tune(&mut cut, only_finals(), 1, &half);
    assert_eq!(cut.log, whole.log);
    assert_eq!(resumed.verdict, run.verdict);
}
