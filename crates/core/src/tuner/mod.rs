//! The tuning loop. It alone counts, keeps, scores and tells evaluations.

mod arrival;
mod aside;
mod bench;
mod clocks;
mod compile_times;
mod cut;
mod doomed;
mod final_round;
mod findings;
mod observers;
mod pending;
mod queue;
mod race;
mod regret;
mod reserve;
mod room;
mod run;
mod running;
mod watch;

pub use run::{Run, Seconds};

use crate::{
    Annotator, Clock, Error, Evaluation, Evaluator, Interrupt, Judging, MedianTime, ObjectiveFunction, Observer,
    RegretEstimator, Request, Resample, Rng, Searcher, SecondAnswers, SecondStore, Stop, Store, SystemClock,
};
use bench::Keeper;
use rand::SeedableRng;
use running::Running;
use std::sync::Arc;
use tunesmith_space::{ConfigId, Space};

/// Runs a searcher against an evaluator until a stop condition holds.
///
/// By default it keeps nothing ([`Store`] of `()`), minimises the [median time](MedianTime), has
/// room for one request, uses seed 0, and stops after 200 evaluations.
pub struct Tuner<'a> {
    space: &'a Space,
    searcher: &'a mut dyn Searcher,
    evaluator: &'a mut dyn Evaluator,
    keeper: Keeper<'a>,
    objective: &'a dyn ObjectiveFunction,
    regret: Option<&'a mut dyn RegretEstimator>,
    limit: Option<f64>,
    baseline: Option<ConfigId>,
    keep_going: bool,
    judging: Judging,
    observers: Vec<&'a mut dyn Observer>,
    annotator: Option<&'a dyn Annotator>,
    clock: Arc<dyn Clock>,
    /// The clock for the time of the run, if it is not `clock`.
    simulated: Option<Arc<dyn Clock>>,
    interrupt: Interrupt,
    stop: Stop,
    rng: Rng,
    /// The seed of the generator. The final re-measurement draws from it on its own, because its
    /// order must not depend on the search.
    seed: u64,
    room: usize,
    follows_room: bool,
    durable: bool,
    first: Vec<Request>,
    recorded: Vec<Box<Evaluation>>,
    resamples: Vec<Resample>,
}

impl<'a> Tuner<'a> {
    /// Creates a tuner of `space` that asks `searcher` for requests and `evaluator` for answers.
    pub fn new(space: &'a Space, searcher: &'a mut dyn Searcher, evaluator: &'a mut dyn Evaluator) -> Self {
        Self {
            space,
            searcher,
            evaluator,
            keeper: Keeper::None,
            objective: &MedianTime,
            regret: None,
            limit: None,
            baseline: None,
            keep_going: false,
            judging: Judging::default(),
            observers: Vec::new(),
            annotator: None,
            clock: Arc::new(SystemClock::new()),
            simulated: None,
            interrupt: Interrupt::default(),
            stop: Stop::evaluations(200),
            rng: Rng::seed_from_u64(0),
            seed: 0,
            room: 1,
            follows_room: false,
            durable: false,
            first: Vec::new(),
            recorded: Vec::new(),
            resamples: Vec::new(),
        }
    }

    /// Keeps every evaluation in `store` before the searcher learns of it.
    pub fn store(mut self, store: &'a mut dyn Store) -> Self {
        self.keeper = Keeper::Store(store);
        self
    }

    /// Keeps every evaluation in `store`, and also the second answers that an evaluator of several devices
    /// adds to `answers`.
    pub fn store_with_seconds(mut self, store: &'a mut dyn SecondStore, answers: SecondAnswers) -> Self {
        self.keeper = Keeper::WithSeconds(store, answers);
        self
    }

    /// Minimises `objective`.
    pub fn objective(mut self, objective: &'a dyn ObjectiveFunction) -> Self {
        self.objective = objective;
        self
    }

    /// Uses `estimator` for `regret` stop conditions. Without one they never hold.
    pub fn regret(mut self, estimator: &'a mut dyn RegretEstimator) -> Self {
        self.regret = Some(estimator);
        self
    }

    /// Sets the best score that a model considers possible, for `limit` stop conditions. Without
    /// one they never hold.
    pub fn limit(mut self, limit: Option<f64>) -> Self {
        self.limit = limit;
        self
    }

    /// Sets the default configuration, with which the winner is compared. It is asked first,
    /// and takes its turn in the final re-measurement. The [verdict](crate::Evidence::verdict) names
    /// another winner only if that one is better beyond doubt.
    pub fn baseline(mut self, baseline: Option<ConfigId>) -> Self {
        self.baseline = baseline;
        self
    }

    /// Sets the rules of judging. The default is [`Judging::default`].
    pub fn judging(mut self, judging: Judging) -> Self {
        self.judging = judging;
        self
    }

    /// Adds an observer.
    pub fn observer(mut self, observer: &'a mut dyn Observer) -> Self {
        self.observers.push(observer);
        self
    }

    /// Lets an annotator add to each new evaluation before it is kept. The default has none.
    pub fn annotator(mut self, annotator: Option<&'a dyn Annotator>) -> Self {
        self.annotator = annotator;
        self
    }

    /// Reads the time from `clock`.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Reads the duration of the run from `clock`. Stop conditions, the final re-measurement and
    /// the clocks of evaluations use it. It serves devices that advance the clock by the recorded
    /// cost of each evaluation. [`Seconds`] stay those of the real clock.
    pub fn simulated(mut self, clock: Arc<dyn Clock>) -> Self {
        self.simulated = Some(clock);
        self
    }

    /// Ends the run if `interrupt` is raised.
    pub fn interrupt(mut self, interrupt: Interrupt) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// Goes on even if the first evaluations show that something is wrong with all of them: the
    /// first ten fail in the same way, or the first correct one lacks what the objective needs.
    pub fn keep_going(mut self, keep_going: bool) -> Self {
        self.keep_going = keep_going;
        self
    }

    /// Ends the run once `stop` holds.
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// Seeds the generator.
    pub fn seed(mut self, seed: u64) -> Self {
        (self.rng, self.seed) = (Rng::seed_from_u64(seed), seed);
        self
    }

    /// Allows the searcher up to `room` requests in flight, at least 1.
    pub fn room(mut self, room: usize) -> Self {
        self.room = room.max(1);
        self
    }

    /// Lets the room follow the evaluator from the first wait on, if `follows`: it becomes the number
    /// of requests that [keep the evaluator busy](Evaluator::wait). Each answer is
    /// [kept](crate::Measurement::rooms) with the changes before it. A resumed run repeats them, so
    /// that the seed and the order of the answers decide the requests.
    pub fn follow_room(mut self, follows: bool) -> Self {
        self.follows_room = follows;
        self
    }

    /// [Syncs](Store::sync) the store before the searcher learns of an answer, if `durable`. Answers that
    /// have come in together are synced together.
    pub fn durable(mut self, durable: bool) -> Self {
        self.durable = durable;
        self
    }

    /// Evaluates `configs` before asking the searcher for the first time.
    pub fn first(mut self, configs: impl IntoIterator<Item = ConfigId>) -> Self {
        self.first.extend(configs.into_iter().map(Request::timed));
        self
    }

    /// Resumes a run with these evaluations. They count as made. The searcher is told each of them
    /// when it asks for it. With the seed and room of the earlier part, it repeats its search
    /// without measuring anything twice.
    pub fn recorded(mut self, recorded: Vec<impl Into<Box<Evaluation>>>) -> Self {
        self.recorded = recorded.into_iter().map(Into::into).collect();
        self
    }

    /// Resumes a run with these later measurements: of the reference at any time, and of the
    /// finalists after the last evaluation. A recorded final is not repeated unless there are more
    /// evaluations.
    pub fn resamples(mut self, resamples: Vec<Resample>) -> Self {
        self.resamples = resamples;
        self
    }

    /// Runs to the end and compares the leaders. Failures of configurations are part of the
    /// [`Run`]. An [`Error`] means that the device or the store failed. Everything measured before
    /// is then stored.
    pub fn run(self) -> Result<Run, Error> {
        let started = self.clock.now();
        Running::new(self).run(started)
    }
}
