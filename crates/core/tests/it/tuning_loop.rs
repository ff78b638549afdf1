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
