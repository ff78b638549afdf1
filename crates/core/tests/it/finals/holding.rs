//! Holding a final, storing it before use, and resuming it.

use crate::common::*;
use crate::finals::setup::*;
use std::sync::Arc;
use tunesmith_core::judge::finals::Finals;
use tunesmith_core::*;

#[test]
fn the_leaders_are_measured_again_in_turn_and_the_close_second_is_a_tie() {
    let mut device = device(1);
    let (run, kept) = tune(&mut device, only_finals(), 1, &Kept::default());
    assert_eq!(run.history.len(), 12, "no budget counts a final");
    assert_eq!(kept.evaluations().len(), 12);
    assert_eq!(kept.again(), run.resamples);
    assert!(run.verdict.by_final);
    let seen: std::collections::BTreeSet<i64> = device.log.iter().map(|visit| visit.0).collect();
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [3, 4]);
    let mut both = vec![winner(&device, &run).unwrap()];
    both.extend(run.verdict.ties.iter().map(|tie| device.x(*tie)));
    both.sort_unstable();
    assert_eq!(both, [3, 4]);
    assert!(device.log.chunks(2).take(11).all(|round| round[0].0 != round[1].0), "each once a round: {:?}", device.log);
}

#[test]
fn every_visit_is_stored_before_it_is_used() {
    struct Full(usize);
    impl Store for Full {
        fn append(&mut self, _: &Evaluation) -> Result<(), Error> {
            Ok(())
        }
        fn append_again(&mut self, _: &Resample) -> Result<(), Error> {
            self.0 += 1;
            if self.0 == 3 { Err(Error::Store("no space left on device".into())) } else { Ok(()) }
        }
    }
    let mut device = device(1);
    let (space, clock) = (device.space.clone(), device.clock.clone());
    let error =
        Tuner::new(&space, &mut InOrder::default(), &mut device).store(&mut Full(0)).clock(clock).run().unwrap_err();
    assert_eq!(error.to_string(), "the journal cannot be written: no space left on device");
    assert_eq!(device.log.len(), 3, "nothing is measured after what could not be stored");
}

#[test]
fn a_durable_run_syncs_every_visit_and_the_verdict() {
    #[derive(Default)]
    struct Synced {
        unsynced: usize,
        visits: usize,
        verdicts: usize,
    }
    impl Store for Synced {
        fn append(&mut self, _: &Evaluation) -> Result<(), Error> {
            self.unsynced += 1;
            Ok(())
        }
        fn sync(&mut self) -> Result<(), Error> {
            self.unsynced = 0;
            Ok(())
        }
        fn append_again(&mut self, _: &Resample) -> Result<(), Error> {
            assert_eq!(self.unsynced, 0, "the visit before was used before it was synced");
            (self.unsynced, self.visits) = (1, self.visits + 1);
            Ok(())
        }
        fn append_verdict(&mut self, _: &Verdict, _: Option<&judge::drift::Drift>) -> Result<(), Error> {
            (self.unsynced, self.verdicts) = (self.unsynced + 1, self.verdicts + 1);
            Ok(())
        }
    }
    let (mut device, mut store) = (device(1), Synced::default());
    let (space, clock) = (device.space.clone(), device.clock.clone());
    let mut searcher = InOrder::default();
    Tuner::new(&space, &mut searcher, &mut device).store(&mut store).clock(clock).durable(true).run().unwrap();
    assert!(store.visits > 10 && store.verdicts == 1, "{} visits", store.visits);
    assert_eq!(store.unsynced, 0, "the verdict is synced, too");
}

#[test]
fn a_final_that_was_held_is_not_held_again() {
    let mut first = device(1);
    let (run, kept) = tune(&mut first, only_finals(), 1, &Kept::default());
    let mut second = device(2);
    let (resumed, after) = tune(&mut second, only_finals(), 1, &kept);
    assert!(second.log.is_empty());
    assert_eq!(after.0, kept.0);
    assert_eq!((resumed.verdict, resumed.resamples), (run.verdict, run.resamples));
}

#[test]
fn a_resumed_final_goes_on_where_it_was_interrupted_and_goes_the_same_way() {
    let mut whole = device(1);
    let (run, kept) = tune(&mut whole, only_finals(), 1, &Kept::default());
    for cut in [0, 1, 7, 20] {
        let mut first = device(1);
        first.interrupt_at = Some(cut);
        let (interrupted, before) = tune(&mut first, only_finals(), 1, &Kept::default());
        assert_eq!(interrupted.stop_reason, StopReason::Interrupted);
        assert!(!interrupted.verdict.by_final && interrupted.verdict.winner.is_some());
        assert_eq!(before.again().len(), cut);
        // The device continues as it would have without the interrupt.
        first.interrupt_at = None;
        first.clock = Arc::default();
        let (resumed, after) = tune(&mut first, only_finals(), 1, &before);
        assert_eq!(first.log, whole.log, "cut {cut}");
        assert_eq!(resumed.verdict, run.verdict, "cut {cut}");
        assert_eq!(after.again().len(), kept.again().len());
    }
}

#[test]
fn more_evaluations_make_the_final_be_held_again() {
    let mut first = device(1);
    let (_, kept) = tune(&mut first, only_finals(), 1, &Kept::default());
    let lines: Vec<Line> = kept.0.iter().filter(|line| **line != kept.0[5]).cloned().collect();
    let mut second = device(2);
    let (run, after) = tune(&mut second, only_finals(), 1, &Kept(lines));
    assert_eq!(run.history.len(), 12);
    assert!(!second.log.is_empty() && run.verdict.by_final);
    assert_eq!(run.resamples.len(), second.log.len(), "the outdated final is left out");
    assert_eq!(after.again().len(), kept.again().len() + second.log.len());
}

#[test]
fn a_finalist_that_fails_now_loses_its_place_and_is_reported() {
    for from in [0, 5, 15] {
        let mut device = device(1);
        device.breaks = Some((3, from));
        let (run, kept) = tune(&mut device, only_finals(), 1, &Kept::default());
        assert_eq!(winner(&device, &run), Some(4), "from {from}");
        let failed: Vec<i64> = run.verdict.failed.iter().map(|config| device.x(*config)).collect();
        assert_eq!(failed, [3]);
        assert!(run.verdict.ties.is_empty());
        assert!(kept.again().iter().any(|again| again.failure.is_some()), "the failure is in the journal");
    }
}

#[test]
fn when_every_finalist_fails_the_best_of_the_rest_wins_by_the_search() {
    let mut device = Device::new(&line(3), Noise::Quiet, 1, |x| [10.0, 20.0, 30.0][x as usize]);
    device.breaks = None;
    let (space, clock) = (device.space.clone(), device.clock.clone());
    struct Broken(Device);
    impl Evaluator for Broken {
        fn submit(&mut self, request: Request) -> Result<(), Error> {
            self.0.submit(request)
        }
        fn next(&mut self, interrupt: &Interrupt) -> Result<Option<Completion>, Error> {
            self.0.next(interrupt)
        }
        fn resample(
            &mut self,
            _: tunesmith_space::ConfigId,
            _: usize,
            _: &Interrupt,
        ) -> Result<Option<Completion>, Error> {
            Ok(Some(Completion {
                failure: Some(Failure::new(FailureKind::Correctness, "wrong")),
                ..Completion::default()
            }))
        }
    }
    let mut broken = Broken(device);
    let run =
        Tuner::new(&space, &mut InOrder::default(), &mut broken).clock(clock).judging(only_finals()).run().unwrap();
    assert_eq!(run.verdict.failed.len(), 2, "the two finalists");
    assert_eq!(run.verdict.winner, space.id(2));
    assert!(!run.verdict.by_final);
}

#[test]
fn a_space_of_one_configuration_gets_its_interval_and_an_empty_run_no_winner() {
    let mut device = Device::new(&line(1), Noise::Normal(0.02), 1, |_| 10.0);
    let (run, _) = tune(&mut device, only_finals(), 1, &Kept::default());
    assert_eq!((winner(&device, &run), run.verdict.by_final, device.log.len()), (Some(0), true, 17));

    let space = line(4);
    let mut evaluator = testing::FunctionEvaluator::new(&space, |_| Err(Failure::new(FailureKind::Compile, "no")));
    let run = Tuner::new(&space, &mut InOrder::default(), &mut evaluator).run().unwrap();
    assert_eq!(run.verdict, Verdict::default());
}

#[test]
fn a_device_without_more_samples_is_judged_by_those_of_the_search() {
    let space = line(4);
    let times = [3.0, 1.0, 1.0, 2.0];
    let time = |values: &[tunesmith_space::Value]| Ok(times[usize::try_from(values[0].as_int().unwrap()).unwrap()]);
    let mut evaluator = testing::FunctionEvaluator::new(&space, time);
    let mut kept = Kept::default();
    let run = Tuner::new(&space, &mut InOrder::default(), &mut evaluator).store(&mut kept).run().unwrap();
    assert!(!run.verdict.by_final && kept.again().is_empty());
    assert_eq!((run.verdict.winner, run.verdict.ties), (space.id(1), vec![space.id(2).unwrap()]));
}

#[test]
fn the_final_takes_at_most_its_share_of_the_run() {
    let mut device = Device::new(&line(100), Noise::Normal(0.02), 1, |_| 60.0);
    let (run, kept) = tune(&mut device, only_finals(), 1, &Kept::default());
    let searched = kept.evaluations().last().unwrap().clock;
    let spent = run.resamples.last().unwrap().clock - searched;
    assert!(spent <= searched.mul_f64(0.2), "{spent:?} after {searched:?}");
    assert!(spent >= searched.mul_f64(0.1), "{spent:?} after {searched:?}");
}

#[test]
fn the_unit_of_time_changes_neither_the_visits_nor_the_verdict() {
    let results: Vec<_> = [1.0, 1024.0]
        .map(|unit| {
            let mut device = Device::new(&line(12), Noise::Normal(0.02), 1, move |x| unit * (10.0 + 0.1 * x as f64));
            // The clock would advance 1024 times as far.
            device.clock = Arc::default();
            let judging = Judging {
                finals: Some(Finals { floor: std::time::Duration::from_secs(1 << 20), ..Finals::default() }),
                drift: None,
                ..Judging::default()
            };
            let (run, _) = tune(&mut device, judging, 1, &Kept::default());
            (device.log.clone(), run.verdict)
        })
        .into();
    assert_eq!(results[0], results[1]);
}
