//! Limits of time: they end only what cannot win, and what they ended is measured if nothing else is left.

use crate::common;

use common::line;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::*;
use tunesmith_space::Space;

/// A device with a clock of its own that ends what takes more than ten times its bound.
struct DeviceWithLimits {
    space: Space,
    /// The time of every configuration in milliseconds.
    times_ms: Vec<f64>,
    /// The configurations that are wrong on other data.
    wrong: Vec<usize>,
    clock: Arc<ManualClock>,
    bound: Option<Bound>,
    submitted: std::collections::VecDeque<Request>,
    /// The launches, each with its bound.
    log: Vec<(usize, Option<Bound>)>,
}

impl DeviceWithLimits {
    fn new(times_ms: &[f64], wrong: &[usize]) -> Self {
        Self {
            space: line(times_ms.len() as i64),
            times_ms: times_ms.to_vec(),
            wrong: wrong.to_vec(),
            clock: Arc::default(),
            bound: None,
            submitted: std::collections::VecDeque::new(),
            log: Vec::new(),
        }
    }

    fn launch(&mut self, config: tunesmith_space::ConfigId, samples: usize) -> Completion {
        let x = config.rank() as usize;
        self.log.push((x, self.bound));
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let (limit_ms, cut) = match self.bound {
            Some(Bound::Best(best)) => (10.0 * ms(best), Some(Cut { limit_ms: 10.0 * ms(best), best_ms: ms(best) })),
            Some(Bound::Own(own)) => (10.0 * ms(own), None),
            Some(Bound::Beyond(limit)) => (f64::max(60e3, 10.0 * ms(limit)), None),
            Some(Bound::Open) | None => (60e3, None),
        };
        let time = self.times_ms[x];
        let mut completion = Completion::default();
        self.clock.advance(Duration::from_secs_f64(limit_ms.min(time) / 1e3));
        if time > limit_ms {
            completion.failure = Some(Failure { cut, ..Failure::new(FailureKind::Timeout, "it did not end") });
        } else {
            completion.measurement.times_ms = vec![time; samples];
            // The slower, the fewer.
            completion.measurement.values.insert("misses".into(), vec![1e6 - time; samples]);
        }
        completion
    }

    /// Evaluates everything in order.
    fn tune(&mut self, objective: &dyn ObjectiveFunction, stop: &str) -> (Run, common::Kept) {
        let (mut searcher, mut kept) = (common::InOrder::default(), common::Kept::default());
        let (space, clock) = (self.space.clone(), self.clock.clone());
        let tuner = Tuner::new(&space, &mut searcher, self).store(&mut kept).clock(clock).objective(objective);
        let run = tuner.baseline(space.id(0)).stop(stop.parse().unwrap()).run().unwrap();
        (run, kept)
    }
}

impl Evaluator for DeviceWithLimits {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.submitted.push_back(request);
        Ok(())
    }

    fn next(&mut self, _: &Interrupt) -> Result<Option<Completion>, Error> {
        let request = self.submitted.pop_front();
        Ok(request.map(|request| self.launch(request.config, 7)))
    }

    fn has_limits(&self) -> bool {
        true
    }

    fn bound(&mut self, bound: Bound) {
        self.bound = Some(bound);
    }

    fn resample(
        &mut self,
        config: tunesmith_space::ConfigId,
        samples: usize,
        _: &Interrupt,
    ) -> Result<Option<Completion>, Error> {
        Ok(Some(self.launch(config, samples)))
    }

    fn confirm(
        &mut self,
        config: tunesmith_space::ConfigId,
        _: Claim,
        _: &Interrupt,
    ) -> Result<Option<Confirmed>, Error> {
        let is_wrong = self.wrong.contains(&(config.rank() as usize));
        let failure = is_wrong.then(|| Failure::new(FailureKind::Correctness, "wrong on other data"));
        Ok(Some(Confirmed { failure, launches: 4, ..Confirmed::default() }))
    }
}

/// The time, of which some configurations break a limit.
struct Within(Vec<usize>);

impl ObjectiveFunction for Within {
    fn objective(&self) -> Objective {
        Objective::time()
    }

    fn samples(&self, config: tunesmith_space::ConfigId, measurement: &Measurement) -> Result<Vec<f64>, String> {
        MedianTime.samples(config, measurement)
    }

    fn broken(&self, config: tunesmith_space::ConfigId, _: &Measurement) -> Option<Failure> {
        let is_broken = self.0.contains(&(config.rank() as usize));
        is_broken.then(|| Failure::new(FailureKind::Infeasible, "`few`"))
    }

    fn longest_time_that_can_win(&self, config: tunesmith_space::ConfigId, best: f64) -> Option<Duration> {
        MedianTime.longest_time_that_can_win(config, best)
    }
}

/// A number that every run yields.
struct Misses;

impl ObjectiveFunction for Misses {
    fn objective(&self) -> Objective {
        Objective::new("misses", Direction::Minimise, None, Source::Printed)
    }

    fn samples(&self, _: tunesmith_space::ConfigId, measurement: &Measurement) -> Result<Vec<f64>, String> {
        Ok(measurement.values.get("misses").cloned().unwrap_or_default())
    }
}

fn winner(run: &Run) -> Option<u128> {
    run.verdict.winner.map(tunesmith_space::ConfigId::rank)
}

#[test]
fn what_breaks_a_limit_cuts_nothing() {
    let all: [(&[f64], &[usize], u128); 4] = [
        (&[1.0, 5000.0], &[0], 1),
        (&[1.0, 2.0, 3.0, 9000.0], &[0, 1, 2], 3),
        (&[50.0, 7000.0, 600.0], &[0], 2),
        (&[9000.0, 4.0, 500.0, 30_000.0], &[1, 2], 0),
    ];
    for (times_ms, infeasible, best) in all {
        let mut device = DeviceWithLimits::new(times_ms, &[]);
        let (run, _) = device.tune(&Within(infeasible.to_vec()), "evaluations 100");
        assert_eq!(winner(&run), Some(best), "{times_ms:?}");
        assert_eq!(run.history.failed(FailureKind::Infeasible), infeasible.len());
    }
}

#[test]
fn a_fast_configuration_cuts_nothing_if_the_objective_is_not_its_time() {
    for times_ms in [&[1.0, 2.0, 5000.0][..], &[5000.0, 1.0, 59_000.0], &[1.0, 20_000.0, 3.0, 100.0]] {
        let mut device = DeviceWithLimits::new(times_ms, &[]);
        let (run, _) = device.tune(&Misses, "evaluations 100");
        let slowest = (0..times_ms.len()).max_by(|a, b| times_ms[*a].total_cmp(&times_ms[*b])).unwrap();
        let result = (winner(&run), run.history.failed(FailureKind::Timeout));
        assert_eq!(result, (Some(slowest as u128), 0), "{times_ms:?}");
        let by_time = device.tune(&MedianTime, "evaluations 100").0;
        assert!(by_time.history.failed(FailureKind::Timeout) > 0, "{times_ms:?}: the time does cut");
    }
}

#[test]
fn what_was_cut_is_measured_to_its_end_if_nothing_else_is_left() {
    let mut device = DeviceWithLimits::new(&[1.0, 5000.0, 300.0, 40_000.0], &[0]);
    let (run, kept) = device.tune(&MedianTime, "evaluations 4");
    assert_eq!((winner(&run), run.progress.evaluations, run.history.len()), (Some(2), 4, 4));
    let cut = |rank: usize| run.history.iter().nth(rank).unwrap().evaluation.cut();
    assert_eq!((cut(1), cut(2)), (None, None));
    assert_eq!(cut(3).unwrap().limit_ms.round(), 3000.0, "by the best that is left");
    let ranks: Vec<u128> = kept.evaluations().iter().map(|line| line.request.config.rank()).collect();
    assert_eq!(ranks, [0, 1, 2, 3, 1, 2, 3]);
    assert_eq!(device.log[3].1, Some(Bound::Best(Duration::from_millis(1))));
    assert!(device.log.contains(&(1, Some(Bound::Beyond(Duration::from_millis(10))))), "{:?}", device.log);
}

#[test]
fn what_is_measured_to_its_end_may_be_wrong_as_well_and_the_next_one_follows() {
    let all: [(&[f64], &[usize], Option<u128>); 3] = [
        (&[1.0, 5000.0, 7000.0], &[0, 1], Some(2)),
        (&[2.0, 700.0, 30_000.0], &[0, 1, 2], None),
        (&[1.0, 70_000.0, 900.0], &[0], Some(2)),
    ];
    for (times_ms, wrong, best) in all {
        let (run, _) = DeviceWithLimits::new(times_ms, wrong).tune(&MedianTime, "evaluations 100");
        assert_eq!(winner(&run), best, "{times_ms:?}");
    }
}

#[test]
fn without_time_left_the_rest_stays_cut() {
    let (run, kept) =
        DeviceWithLimits::new(&[1.0, 5000.0, 300.0], &[0]).tune(&MedianTime, "evaluations 3 or time 0.03s");
    assert_eq!((winner(&run), kept.evaluations().len()), (None, 3));
    let cuts = Cuts::of(run.history.iter().filter_map(|scored| scored.evaluation.cut())).unwrap();
    assert_eq!((cuts.count, cuts.limit_ms.0.round(), cuts.factor.round()), (2, 10.0, 10.0));
}

#[test]
fn a_slow_default_is_measured_again_within_its_own_time() {
    let mut device = DeviceWithLimits::new(&[5000.0, 1.0, 1.01, 1.02], &[]);
    let (run, kept) = device.tune(&MedianTime, "evaluations 100");
    assert!(run.verdict.failed.is_empty() && run.verdict.is_better_than_default(), "{:?}", run.verdict);
    assert!(kept.again().iter().any(|again| again.role == Role::Baseline));
    let of_default = device.log.iter().filter(|(x, _)| *x == 0).skip(1);
    assert!(of_default.clone().count() > 0);
    assert!(of_default.clone().all(|(_, bound)| *bound == Some(Bound::Own(Duration::from_secs(5)))));
}

#[test]
fn a_stop_condition_of_time_includes_the_final() {
    let mut device = DeviceWithLimits::new(&[20.0; 700], &[]);
    let (run, _) = device.tune(&MedianTime, "time 12s");
    assert_eq!(run.stop_reason.to_string(), "time 12s");
    let searched = run.history.iter().map(|scored| scored.evaluation.clock.as_secs_f64()).fold(0.0, f64::max);
    assert!((10.0..10.2).contains(&searched), "{searched}");
    let end = run.progress.elapsed.as_secs_f64();
    assert!(run.resamples.iter().any(|again| again.role == Role::Confirmation));
    assert!(end > 10.5 && end < 12.2, "{end}");
    // The longest final of such launches takes 19 s, a fifth of that of the search.
    let mut device = DeviceWithLimits::new(&[20.0; 30_000], &[]);
    let (run, _) = device.tune(&MedianTime, "time 600s");
    let searched = run.history.iter().map(|scored| scored.evaluation.clock.as_secs_f64()).fold(0.0, f64::max);
    let end = run.progress.elapsed.as_secs_f64();
    assert!(searched > 575.0 && end > searched && end < 600.1, "{searched} {end}");
    // Without a final, all of the time is for the search.
    let mut device = DeviceWithLimits::new(&[20.0; 700], &[]);
    let (space, clock) = (device.space.clone(), device.clock.clone());
    let (mut searcher, stop) = (common::InOrder::default(), "time 12s".parse().unwrap());
    let tuner = Tuner::new(&space, &mut searcher, &mut device).clock(clock).judging(Judging::nothing());
    assert_eq!(tuner.stop(stop).run().unwrap().history.len(), 600);
}
