//! The loop: budget, duplicates, resume, room, interruption and the view of the searcher.

use crate::common;

use common::{crashing, line};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::testing::FunctionEvaluator;
use tunesmith_core::*;
use tunesmith_space::{Space, Value};

/// Asks for random configurations, repeats included, up to the room. Logs its requests and the
/// answers.
#[derive(Default)]
struct Logging {
    rooms: Vec<usize>,
    asked: Vec<Request>,
    told: Vec<(Request, Option<f64>)>,
}

impl Searcher for Logging {
    fn ask(&mut self, view: &View<'_>, room: usize, rng: &mut Rng) -> Vec<Request> {
        self.rooms.push(room);
        let requests: Vec<Request> = (0..room).map(|_| Request::timed(view.space().sample(rng))).collect();
        self.asked.extend(&requests);
        requests
    }

    fn tell(&mut self, _: &View<'_>, told: &Told<'_>) {
        self.told.push((told.evaluation.request, told.score));
    }
}

#[derive(Default)]
struct Kept(Vec<Evaluation>);

impl Store for Kept {
    fn append(&mut self, evaluation: &Evaluation) -> Result<(), Error> {
        self.0.push(evaluation.clone());
        Ok(())
    }
}

fn tune(space: &Space, room: usize, stop: &str, recorded: Vec<Evaluation>) -> (Run, Logging, Kept) {
    let (mut searcher, mut kept) = (Logging::default(), Kept::default());
    let run = Tuner::new(space, &mut searcher, &mut crashing(space))
        .store(&mut kept)
        .stop(stop.parse().unwrap())
        .room(room)
        .seed(3)
        .recorded(recorded)
        .run()
        .unwrap();
    (run, searcher, kept)
}

#[test]
fn the_budget_counts_distinct_evaluations_and_failures() {
    let space = line(100);
    let (run, searcher, kept) = tune(&space, 1, "evaluations 60", Vec::new());
    assert_eq!(run.history.len(), 60);
    assert_eq!(kept.0.len(), 60);
    assert!(run.history.failed(FailureKind::Runtime) > 0);
    assert!(searcher.asked.len() > 60, "repeats are answered from the history");
    assert_eq!(run.stop_reason.to_string(), "evaluations 60");
}

#[test]
fn every_request_is_told_in_the_order_asked() {
    let space = line(100);
    for room in [1, 3, 8] {
        let (_, searcher, _) = tune(&space, room, "evaluations 40", Vec::new());
        let told: Vec<Request> = searcher.told.iter().map(|(request, _)| *request).collect();
        assert_eq!(told, searcher.asked[..told.len()], "room {room}");
        assert!(searcher.rooms.iter().all(|asked| (1..=room).contains(asked)), "room {room}");
    }
}

#[test]
fn requests_in_flight_never_overrun_the_budget() {
    let space = line(1000);
    let mut submitted = 0;
    let mut searcher = Logging::default();
    let mut evaluator = FunctionEvaluator::new(&space, |_| {
        submitted += 1;
        Ok(1.0)
    });
    Tuner::new(&space, &mut searcher, &mut evaluator).stop(Stop::evaluations(10)).room(8).run().unwrap();
    assert_eq!(submitted, 10);
    let distinct: std::collections::HashSet<Request> = searcher.asked.iter().copied().collect();
    assert_eq!(distinct.len(), 10, "nothing was asked that could not be used");
}

#[test]
fn a_resumed_run_goes_the_way_of_an_uninterrupted_one_and_measures_nothing_twice() {
    let space = line(200);
    for room in [1, 4] {
        let (whole, searcher, all) = tune(&space, room, "evaluations 80", Vec::new());
        for cut in [0, 1, 33, 79, 80] {
            let (resumed, again, rest) = tune(&space, room, "evaluations 80", all.0[..cut].to_vec());
            assert_eq!(again.asked, searcher.asked[..again.asked.len()], "room {room}, cut {cut}");
            assert_eq!(rest.0.len(), 80 - cut);
            let order = |run: &Run| run.history.iter().map(|scored| scored.evaluation.request).collect::<Vec<_>>();
            assert_eq!(order(&resumed), order(&whole), "room {room}, cut {cut}");
        }
    }
}

#[test]
fn a_resumed_journal_of_another_strategy_counts_and_can_win() {
    let space = line(200);
    let best = space.id(7).unwrap();
    let recorded = Evaluation {
        request: Request::timed(best),
        failure: None,
        measurement: Measurement { times_ms: vec![0.5], ..Measurement::default() },
        clock: Duration::from_secs(5),
        proposed: None,
    };
    let (run, _, kept) = tune(&space, 1, "evaluations 3", vec![recorded]);
    assert_eq!(kept.0.len(), 2);
    assert_eq!(run.history.best().unwrap().evaluation.request.config, best);
    assert!(run.progress.elapsed >= Duration::from_secs(5), "the clock goes on where the journal ends");
}

#[test]
fn the_run_ends_when_every_configuration_is_known() {
    let space = line(5);
    let (run, _, _) = tune(&space, 4, "evaluations 200", Vec::new());
    assert_eq!(run.stop_reason, StopReason::Exhausted);
    assert_eq!(run.history.len(), 5);
}

#[test]
fn a_strategy_that_repeats_itself_for_ever_is_stopped() {
    struct Stuck;
    impl Searcher for Stuck {
        fn ask(&mut self, view: &View<'_>, _: usize, _: &mut Rng) -> Vec<Request> {
            vec![Request::timed(view.space().id(0).unwrap())]
        }
    }
    let space = line(5);
    let run = Tuner::new(&space, &mut Stuck, &mut crashing(&space)).run().unwrap();
    assert!(matches!(run.stop_reason, StopReason::Repeating(_)));
    assert_eq!(run.history.len(), 1);
}

#[test]
fn first_configurations_come_before_those_of_the_strategy_and_are_told() {
    let space = line(100);
    let first = [space.id(50).unwrap(), space.id(7).unwrap()];
    let mut searcher = Logging::default();
    let mut evaluator = crashing(&space);
    let run = Tuner::new(&space, &mut searcher, &mut evaluator).first(first).stop(Stop::evaluations(5)).run().unwrap();
    let told: Vec<_> = searcher.told.iter().map(|(request, _)| request.config).collect();
    assert_eq!(told[..2], first);
    assert_eq!(run.history.best_score(), Some(1.0));
}

#[test]
fn an_interrupt_ends_the_run_with_what_it_has() {
    let space = line(100);
    let interrupt = Interrupt::default();
    let raise = interrupt.clone();
    let mut observer = move |event: &Event<'_>| {
        if let Event::Evaluated { progress, .. } = event
            && progress.evaluations == 4
        {
            raise.raise();
        }
    };
    let mut kept = Kept::default();
    let run = Tuner::new(&space, &mut Logging::default(), &mut crashing(&space))
        .store(&mut kept)
        .observer(&mut observer)
        .interrupt(interrupt)
        .run()
        .unwrap();
    assert_eq!(run.stop_reason, StopReason::Interrupted);
    assert_eq!((kept.0.len(), run.history.len()), (4, 4));
}

#[test]
fn time_is_read_from_the_clock_given() {
    let space = line(100);
    let clock = Arc::new(ManualClock::default());
    let tick = clock.clone();
    let mut observer = move |event: &Event<'_>| {
        if matches!(event, Event::Evaluated { .. }) {
            tick.advance(Duration::from_secs(1));
        }
    };
    let run = Tuner::new(&space, &mut Logging::default(), &mut crashing(&space))
        .clock(clock)
        .observer(&mut observer)
        .stop("time 6s".parse().unwrap())
        .run()
        .unwrap();
    assert_eq!(run.history.len(), 6);
    assert_eq!(run.seconds.total, Duration::from_secs(6));
}

#[test]
fn a_store_that_fails_ends_the_run_before_the_searcher_is_told() {
    struct Full;
    impl Store for Full {
        fn append(&mut self, _: &Evaluation) -> Result<(), Error> {
            Err(Error::Store("no space left on device".into()))
        }
    }
    let space = line(100);
    let mut searcher = Logging::default();
    let error = Tuner::new(&space, &mut searcher, &mut crashing(&space)).store(&mut Full).run().unwrap_err();
    assert_eq!(error.to_string(), "the journal cannot be written: no space left on device");
    assert!(searcher.told.is_empty());
}

/// A store that someone deletes once, when it holds a number of evaluations.
struct Deleted {
    kept: Vec<Evaluation>,
    at: Option<usize>,
    is_lost: bool,
}

impl Store for Deleted {
    fn append(&mut self, evaluation: &Evaluation) -> Result<(), Error> {
        if self.at.take_if(|at| *at == self.kept.len()).is_some() {
            (self.kept, self.is_lost) = (Vec::new(), true);
        }
        if self.is_lost {
            return Err(Error::Store("deleted".into()));
        }
        self.kept.push(evaluation.clone());
        Ok(())
    }

    fn is_lost(&self) -> bool {
        self.is_lost
    }

    fn renew(&mut self, evaluations: &[&Evaluation], _: &[Resample]) -> Result<String, Error> {
        self.kept = evaluations.iter().map(|evaluation| (*evaluation).clone()).collect();
        self.is_lost = false;
        Ok("all is elsewhere".to_string())
    }
}

#[test]
fn a_store_that_is_deleted_is_given_everything_once_more() {
    let space = line(100);
    let recorded = tune(&space, 1, "evaluations 20", Vec::new()).2.0;
    let whole = tune(&space, 1, "evaluations 50", Vec::new()).2.0;
    for at in [0, 1, 29] {
        let mut store = Deleted { kept: Vec::new(), at: Some(at), is_lost: false };
        let mut searcher = Logging::default();
        Tuner::new(&space, &mut searcher, &mut crashing(&space))
            .store(&mut store)
            .stop("evaluations 50".parse().unwrap())
            .seed(3)
            .recorded(recorded.clone())
            .run()
            .unwrap();
        let ids = |all: &[Evaluation]| all.iter().map(|evaluation| evaluation.request.config).collect::<Vec<_>>();
        assert_eq!(ids(&store.kept), ids(&whole), "lost at {at}");
    }
}

#[test]
fn a_time_that_no_clock_measures_is_a_failure_and_never_the_best() {
    let space = line(10);
    let time = |values: &[Value]| Ok(if values[0].as_int() == Some(3) { 0.0 } else { 5.0 });
    let (mut evaluator, mut searcher) = (FunctionEvaluator::new(&space, time), Logging::default());
    let run = Tuner::new(&space, &mut searcher, &mut evaluator)
        .room(4)
        .stop("evaluations 10".parse().unwrap())
        .run()
        .unwrap();
    let zero = run.history.of(space.id(3).unwrap()).unwrap();
    assert_eq!(zero.evaluation.status(), Some(FailureKind::Runtime));
    assert!(zero.evaluation.measurement.times_ms.is_empty());
    assert_ne!(run.verdict.winner, space.id(3));
}

#[test]
fn a_simulated_clock_ends_the_run_and_the_seconds_stay_real() {
    let (space, simulated) = (line(20), Arc::new(ManualClock::default()));
    let moved = simulated.clone();
    let mut evaluator = FunctionEvaluator::new(&space, move |_: &[Value]| {
        moved.advance(Duration::from_secs(10));
        Ok(1.0)
    });
    let mut searcher = Logging::default();
    let run = Tuner::new(&space, &mut searcher, &mut evaluator)
        .clock(Arc::new(ManualClock::default()))
        .simulated(simulated)
        .judging(Judging::nothing())
        .stop("time 25s".parse().unwrap())
        .run()
        .unwrap();
    assert_eq!(run.progress.elapsed, Duration::from_secs(30));
    assert_eq!(run.history.iter().map(|scored| scored.evaluation.clock.as_secs()).collect::<Vec<_>>(), [10, 20, 30]);
    assert_eq!(run.seconds.total, Duration::ZERO);
}

/// A device with a clock of its own that ends what takes more than ten times its bound.
struct Limited {
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

impl Limited {
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
    fn tune(&mut self, objective: &dyn Objective, stop: &str) -> (Run, common::Kept) {
        let (mut searcher, mut kept) = (common::InOrder::default(), common::Kept::default());
        let (space, clock) = (self.space.clone(), self.clock.clone());
        let tuner = Tuner::new(&space, &mut searcher, self).store(&mut kept).clock(clock).objective(objective);
        let run = tuner.baseline(space.id(0)).stop(stop.parse().unwrap()).run().unwrap();
        (run, kept)
    }
}

impl Evaluator for Limited {
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

    fn confirm(&mut self, config: tunesmith_space::ConfigId, _: &Interrupt) -> Result<Option<Confirmed>, Error> {
        let is_wrong = self.wrong.contains(&(config.rank() as usize));
        let failure = is_wrong.then(|| Failure::new(FailureKind::Correctness, "wrong on other data"));
        Ok(Some(Confirmed { failure, launches: 4, ..Confirmed::default() }))
    }
}

/// The time, of which some configurations break a limit.
struct Within(Vec<usize>);

impl Objective for Within {
    fn name(&self) -> &str {
        "time"
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

impl Objective for Misses {
    fn name(&self) -> &str {
        "misses"
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
        let mut device = Limited::new(times_ms, &[]);
        let (run, _) = device.tune(&Within(infeasible.to_vec()), "evaluations 100");
        assert_eq!(winner(&run), Some(best), "{times_ms:?}");
        assert_eq!(run.history.failed(FailureKind::Infeasible), infeasible.len());
    }
}

#[test]
fn a_fast_configuration_cuts_nothing_if_the_objective_is_not_its_time() {
    for times_ms in [&[1.0, 2.0, 5000.0][..], &[5000.0, 1.0, 59_000.0], &[1.0, 20_000.0, 3.0, 100.0]] {
        let mut device = Limited::new(times_ms, &[]);
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
    let mut device = Limited::new(&[1.0, 5000.0, 300.0, 40_000.0], &[0]);
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
        let (run, _) = Limited::new(times_ms, wrong).tune(&MedianTime, "evaluations 100");
        assert_eq!(winner(&run), best, "{times_ms:?}");
    }
}

#[test]
fn without_time_left_the_rest_stays_cut() {
    let (run, kept) = Limited::new(&[1.0, 5000.0, 300.0], &[0]).tune(&MedianTime, "evaluations 3 or time 0.02s");
    assert_eq!((winner(&run), kept.evaluations().len()), (None, 3));
    let cuts = Cuts::of(run.history.iter().filter_map(|scored| scored.evaluation.cut())).unwrap();
    assert_eq!((cuts.count, cuts.limit_ms.0.round(), cuts.factor.round()), (2, 10.0, 10.0));
}

#[test]
fn a_slow_default_is_measured_again_within_its_own_time() {
    let mut device = Limited::new(&[5000.0, 1.0, 1.01, 1.02], &[]);
    let (run, kept) = device.tune(&MedianTime, "evaluations 100");
    assert!(run.verdict.failed.is_empty() && run.verdict.is_better_than_default(), "{:?}", run.verdict);
    assert!(kept.again().iter().any(|again| again.role == Role::Baseline));
    let of_default = device.log.iter().filter(|(x, _)| *x == 0).skip(1);
    assert!(of_default.clone().count() > 0);
    assert!(of_default.clone().all(|(_, bound)| *bound == Some(Bound::Own(Duration::from_secs(5)))));
}
