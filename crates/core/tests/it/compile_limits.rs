//! Compilations that take much longer than usual: put aside while time limits the run, and taken up at its end.

use crate::common;

use common::{InOrder, Kept, line};
use rand::{RngExt as _, SeedableRng as _};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::*;
use tunesmith_space::Space;

/// A device with a clock of its own that compiles one configuration after the other.
struct Compiling {
    space: Space,
    /// The compile time and the time of every configuration in milliseconds.
    costs: Vec<(f64, f64)>,
    clock: Arc<ManualClock>,
    limit: Option<CompileLimit>,
    submitted: VecDeque<Request>,
    /// The configurations that were begun, each with the limit.
    log: Vec<(usize, Option<CompileLimit>)>,
}

impl Compiling {
    fn new(costs: &[(f64, f64)]) -> Self {
        let (space, submitted) = (line(costs.len() as i64), VecDeque::new());
        Self { space, costs: costs.to_vec(), clock: Arc::default(), limit: None, submitted, log: Vec::new() }
    }

    /// Evaluates everything in order, until `stop` holds.
    fn tune(&mut self, stop: &str, recorded: Vec<Evaluation>) -> (Run, Kept) {
        let (mut searcher, mut kept) = (InOrder::default(), Kept::default());
        let (space, clock) = (self.space.clone(), self.clock.clone());
        let tuner = Tuner::new(&space, &mut searcher, self).store(&mut kept).clock(clock).recorded(recorded);
        let run = tuner.baseline(space.id(0)).judging(Judging::nothing()).stop(stop.parse().unwrap()).run().unwrap();
        (run, kept)
    }
}

impl Evaluator for Compiling {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.submitted.push_back(request);
        Ok(())
    }

    fn next(&mut self, _: &Interrupt) -> Result<Option<Completion>, Error> {
        let Some(request) = self.submitted.pop_front() else { return Ok(None) };
        let x = request.config.rank() as usize;
        self.log.push((x, self.limit));
        let advance = |ms: f64| self.clock.advance(Duration::from_secs_f64(ms / 1e3));
        let (compile_ms, time_ms) = self.costs[x];
        if let Some(limit) = self.limit.filter(|limit| compile_ms > limit.limit_ms) {
            advance(limit.limit_ms);
            return Ok(Some(Completion { failure: Some(Failure::put_aside(limit)), ..Completion::default() }));
        }
        advance(compile_ms + time_ms);
        let compile = Some(CompileData { time_ms: compile_ms, ..CompileData::default() });
        let measurement = Measurement { times_ms: vec![time_ms], compile, ..Measurement::default() };
        Ok(Some(Completion { measurement, ..Completion::default() }))
    }

    fn cancel(&mut self) {
        self.submitted.clear();
    }

    fn limit_compilation(&mut self, limit: Option<CompileLimit>) {
        self.limit = limit;
    }
}

/// Returns random costs with a heavy tail of compile times.
fn costs(rng: &mut Rng) -> Vec<(f64, f64)> {
    let count = rng.random_range(8..60);
    let usual = rng.random_range(20.0..400.0);
    let cost = |_| {
        let factor = if rng.random_range(0..6) == 0 { rng.random_range(2.0..40.0) } else { rng.random_range(0.7..1.4) };
        (usual * factor, rng.random_range(1.0..9.0))
    };
    (0..count).map(cost).collect()
}

fn asides(run: &Run) -> Vec<usize> {
    let aside = run.history.iter().filter(|scored| scored.evaluation.aside().is_some());
    aside.map(|scored| scored.evaluation.request.config.rank() as usize).collect()
}

#[test]
fn what_was_put_aside_is_taken_up_once_nothing_else_is_left_and_a_resumed_run_agrees() {
    let mut were_aside = 0;
    for seed in 0..60 {
        let mut rng = Rng::seed_from_u64(seed);
        let costs = costs(&mut rng);
        let mut device = Compiling::new(&costs);
        let (run, kept) = device.tune("time 1000s", Vec::new());
        assert_eq!((asides(&run).len(), run.history.len()), (0, costs.len()), "seed {seed}");
        assert_eq!(run.stop_reason, StopReason::Exhausted);
        assert_eq!(run.progress.evaluations as usize, costs.len(), "nothing counts twice");
        let best = costs.iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
        assert_eq!((run.history.best_score(), run.progress.best()), (Some(best), Some(best)));
        // Three compile times are known before anything is put aside, and the default never is.
        let limited = device.log.iter().take(costs.len()).position(|(_, limit)| limit.is_some());
        assert_eq!(limited, Some(3));
        were_aside += device.log.len() - costs.len();
        let end = rng.random_range(0..costs.len());
        let earlier = kept.evaluations()[..end].to_vec();
        let known: HashSet<usize> = finished(&earlier);
        let mut again = Compiling::new(&costs);
        let (resumed, _) = again.tune("time 1000s", earlier);
        assert!(again.log.iter().all(|(x, _)| !known.contains(x)), "seed {seed}: nothing is measured twice");
        assert_eq!(asides(&resumed), [0; 0]);
        assert_eq!(resumed.history.best_score(), Some(best));
    }
    assert!(were_aside > 100, "{were_aside}");
}

/// Returns the configurations that were evaluated to their end.
fn finished(evaluations: &[Evaluation]) -> HashSet<usize> {
    let finished = evaluations.iter().filter(|evaluation| !evaluation.is_unfinished());
    finished.map(|evaluation| evaluation.request.config.rank() as usize).collect()
}

#[test]
fn a_limit_is_five_usual_compilations_and_says_so() {
    let mut costs = vec![(200.0, 5.0); 6];
    costs.extend([(3000.0, 1.0), (1010.0, 4.0), (990.0, 3.0), (200.0, 5.0)]);
    let mut device = Compiling::new(&costs);
    // The time ends with the last one.
    let (run, _) = device.tune("time 4.4s", Vec::new());
    assert_eq!(asides(&run), [6, 7]);
    let failure = run.history.iter().nth(6).unwrap().evaluation.failure.clone().unwrap();
    let said =
        "its compilation was put aside after 1000 ms, because the usual one takes 200 ms and time limits the run";
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Timeout, said));
    // Where the best takes longer to compile than others, it is the usual one.
    let mut long = vec![(200.0, 5.0); 6];
    long.extend([(990.0, 1.0), (4900.0, 4.0), (5000.0, 4.0), (200.0, 5.0)]);
    let (run, _) = Compiling::new(&long).tune("time 12.2s", Vec::new());
    assert_eq!(asides(&run), [8]);
    // Quick compilations are never limited below a quarter of a second.
    let mut quick = vec![(10.0, 5.0); 6];
    quick.extend([(240.0, 9.0), (260.0, 1.0), (10.0, 5.0)]);
    let (run, _) = Compiling::new(&quick).tune("time 0.585s", Vec::new());
    assert_eq!(asides(&run), [7]);
}

#[test]
fn nothing_is_put_aside_unless_time_alone_limits_the_run() {
    let mut costs = vec![(100.0, 5.0); 6];
    costs.extend([(2000.0, 1.0); 8]);
    for stop in ["evaluations 14", "time 60s or evaluations 14", "fraction 1", "cost 0.5ms"] {
        let mut device = Compiling::new(&costs);
        let (run, _) = device.tune(stop, Vec::new());
        assert_eq!((asides(&run).len(), run.history.len()), (0, 14), "{stop}");
        assert!(device.log.iter().all(|(_, limit)| limit.is_none()), "{stop}");
    }
    // Ten that are put aside in a row are no fault of the problem.
    let costs = [[(100.0, 5.0); 12].as_slice(), &[(2000.0, 1.0); 10]].concat();
    let (run, _) = Compiling::new(&costs).tune("time 7s or cost 0.5ms", Vec::new());
    assert_eq!(asides(&run).len(), 10, "{:?}", run.stop_reason);
}

#[test]
fn what_is_taken_up_ends_with_the_time_of_the_run() {
    let mut costs = vec![(100.0, 5.0); 6];
    costs.extend([(4000.0, 1.0), (900.0, 2.0)]);
    let mut device = Compiling::new(&costs);
    let (run, _) = device.tune("time 3s", Vec::new());
    let clock = device.clock.now().as_secs_f64();
    assert!((3.0..3.1).contains(&clock), "{clock}");
    assert_eq!(asides(&run), [6, 7]);
}
