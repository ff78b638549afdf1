//! The final re-measurement: its order, its storage before use, its resumption, interruption and
//! failures.

mod common;

use common::*;
use std::sync::Arc;
use tunesmith_core::judge::drift::Drift;
use tunesmith_core::judge::finals::Finals;
use tunesmith_core::*;

/// Returns a device on which X = 3 is best, 4 is a close second, and the others are far off.
fn device(seed: u64) -> Device {
    Device::new(&line(12), Noise::Normal(0.02), seed, |x| match x {
        3 => 10.0,
        4 => 10.05,
        x => 14.0 + x as f64,
    })
}

fn winner(device: &Device, run: &Run) -> Option<i64> {
    run.verdict.winner.map(|config| device.x(config))
}

/// Returns rules that do not measure the reference.
fn only_finals() -> Judging {
    Judging { finals: Some(Finals::default()), ..Judging::nothing() }
}

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

/// Asks at random and logs its requests.
#[derive(Default)]
struct AtRandom(Vec<Request>);

impl Searcher for AtRandom {
    fn ask(&mut self, view: &View<'_>, room: usize, rng: &mut Rng) -> Vec<Request> {
        let asked: Vec<Request> = (0..room).map(|_| Request::timed(view.space().sample(rng))).collect();
        self.0.extend(&asked);
        asked
    }
}

#[test]
fn probes_of_the_reference_are_stored_bounded_and_change_no_request() {
    let run = |judging: Judging, before: &Kept| {
        let mut device = Device::new(&line(200), Noise::Normal(0.02), 1, |x| 10.0 + x as f64 * 0.1);
        let (space, clock) = (device.space.clone(), device.clock.clone());
        let (mut searcher, mut kept) = (AtRandom::default(), before.clone());
        let run = Tuner::new(&space, &mut searcher, &mut device)
            .store(&mut kept)
            .clock(clock)
            .judging(judging)
            .room(4)
            .stop(Stop::evaluations(120))
            .recorded(before.evaluations())
            .resamples(before.again())
            .run()
            .unwrap();
        (searcher.0, run, kept)
    };
    let (without, ..) = run(Judging::nothing(), &Kept::default());
    let watching = || Judging { drift: Some(Default::default()), ..Judging::nothing() };
    let (with, watched, kept) = run(watching(), &Kept::default());
    assert_eq!(with, without);
    let probes = kept.again();
    assert!(probes.iter().all(|probe| probe.role == Role::Reference && probe.config == probes[0].config));
    assert_eq!((watched.drift.unwrap().probes, watched.resamples), (probes.len(), probes));
    // Cut anywhere, the resumed run asks the same and keeps the probes.
    for cut in [1, 30, kept.0.len() / 2, kept.0.len()] {
        let before = Kept(kept.0[..cut].to_vec());
        let (asked, resumed, after) = run(watching(), &before);
        assert_eq!(asked[..], with[..asked.len()], "cut {cut}");
        assert_eq!(after.evaluations().len(), 120);
        assert!(resumed.resamples.starts_with(&before.again()));
    }
}

#[test]
fn a_reference_that_fails_later_is_reported_and_not_measured_again() {
    let mut device = Device::new(&line(60), Noise::Normal(0.02), 1, |x| if x == 0 { 9.0 } else { 10.0 });
    device.breaks = Some((0, 0));
    let judging = Judging { drift: Some(Default::default()), ..only_finals() };
    let (run, kept) = tune(&mut device, judging, 1, &Kept::default());
    let probes = kept.again().iter().filter(|again| again.role == Role::Reference).count();
    assert_eq!((probes, run.drift), (1, None));
    assert_eq!(device.x(run.verdict.failed[0]), 0);
    assert_ne!(winner(&device, &run), Some(0), "what failed once does not win");
}

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

/// Returns the medians of the visits of X in this role.
fn medians(device: &Device, run: &Run, x: i64, role: Role) -> Vec<f64> {
    let own = run.resamples.iter().filter(|again| again.role == role && device.x(again.config) == x);
    own.filter_map(|again| statistics::median(&again.measurement.times_ms)).collect()
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

/// A store that someone deletes just before the verdict.
#[derive(Default)]
struct LostLast {
    kept: usize,
    again: usize,
    verdicts: usize,
    is_lost: bool,
    was_lost: bool,
}

impl Store for LostLast {
    fn append(&mut self, _: &Evaluation) -> Result<(), Error> {
        self.kept += 1;
        Ok(())
    }

    fn append_again(&mut self, _: &Resample) -> Result<(), Error> {
        self.again += 1;
        Ok(())
    }

    fn append_verdict(&mut self, _: &Verdict, _: Option<&Drift>) -> Result<(), Error> {
        if !std::mem::replace(&mut self.was_lost, true) {
            *self = Self { is_lost: true, was_lost: true, ..Self::default() };
            return Err(Error::Store("deleted".into()));
        }
        self.verdicts += 1;
        Ok(())
    }

    fn is_lost(&self) -> bool {
        self.is_lost
    }

    fn renew(&mut self, evaluations: &[&Evaluation], resamples: &[Resample]) -> Result<String, Error> {
        (self.kept, self.again, self.is_lost) = (evaluations.len(), resamples.len(), false);
        Ok("all is elsewhere".to_string())
    }
}

#[test]
fn a_store_that_is_deleted_before_the_verdict_is_given_everything_and_the_verdict() {
    let mut device = device(1);
    let space = device.space.clone();
    let mut store = LostLast::default();
    let run = Tuner::new(&space, &mut InOrder::default(), &mut device)
        .store(&mut store)
        .judging(only_finals())
        .run()
        .unwrap();
    assert!(run.verdict.by_final);
    assert_eq!((store.kept, store.again, store.verdicts), (12, run.resamples.len(), 1));
}
