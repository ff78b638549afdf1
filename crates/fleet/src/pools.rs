//! Pools: workers of several kinds, each with a search of its own, one after the other.

use crate::{Fleet, SharedReport};
use serde_json::{Map, Value as Json};
use std::cell::RefCell;
use std::rc::Rc;
use tunesmith::{
    Problem,
    runner::{Extras, FoundRemote, RemoteDevice},
};
use tunesmith_core::{
    Bound, Claim, CompileLimit, Completion, Confirmed, Error, Evaluator, Interrupt, Request, SecondAnswers, Waited,
};
use tunesmith_space::{ConfigId, Space};

/// A fleet that serves one run for each kind of worker it has.
pub struct Pools {
    fleet: Rc<RefCell<Fleet>>,
    runs: usize,
}

impl Pools {
    /// Takes over `fleet`.
    pub fn new(fleet: Fleet) -> Self {
        Self { fleet: Rc::new(RefCell::new(fleet)), runs: 0 }
    }

    /// Returns the report of the present pool.
    pub fn report(&self) -> SharedReport {
        self.fleet.borrow().report()
    }

    /// Returns the device of the next run: of the workers that came first, then of the largest kind of
    /// those that wait. Returns `None` if nobody waits.
    ///
    /// The device of the run before must be dropped.
    pub fn next_run(&mut self) -> Option<Box<dyn RemoteDevice>> {
        let is_first = self.runs == 0;
        self.runs += 1;
        let is_any = is_first || self.fleet.borrow_mut().next_pool();
        is_any.then(|| Box::new(Lent(Rc::clone(&self.fleet))) as Box<dyn RemoteDevice>)
    }
}

/// The fleet for the time of one run.
struct Lent(Rc<RefCell<Fleet>>);

impl Drop for Lent {
    fn drop(&mut self) {
        self.0.borrow_mut().finish_report();
    }
}

impl RemoteDevice for Lent {
    fn find(&mut self, interrupt: &Interrupt) -> Result<FoundRemote, tunesmith::Error> {
        self.0.borrow_mut().find(interrupt)
    }

    fn open(
        &mut self,
        problem: &Problem,
        space: &Space,
        extras: Extras,
        interrupt: &Interrupt,
    ) -> Result<Map<String, Json>, tunesmith::Error> {
        self.0.borrow_mut().open(problem, space, extras, interrupt)
    }

    fn first_room(&self) -> usize {
        self.0.borrow().first_room()
    }

    fn second_answers(&self) -> SecondAnswers {
        self.0.borrow().second_answers()
    }

    fn evaluator(&mut self) -> &mut dyn Evaluator {
        self
    }
}

// Whatever an evaluator can do, the lent one does.
#[deny(clippy::missing_trait_methods)]
impl Evaluator for Lent {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.0.borrow_mut().submit(request)
    }

    fn next(&mut self, interrupt: &Interrupt) -> Result<Option<Completion>, Error> {
        self.0.borrow_mut().next(interrupt)
    }

    fn upcoming(&mut self, interrupt: &Interrupt) -> Result<Option<Request>, Error> {
        self.0.borrow_mut().upcoming(interrupt)
    }

    fn cancel(&mut self) {
        self.0.borrow_mut().cancel();
    }

    fn wait(&mut self, room: usize, interrupt: &Interrupt) -> Result<Waited, Error> {
        self.0.borrow_mut().wait(room, interrupt)
    }

    fn runs_here(&self) -> bool {
        self.0.borrow().runs_here()
    }

    fn ready(&mut self) -> Result<Option<Completion>, Error> {
        self.0.borrow_mut().ready()
    }

    fn idle(&mut self, in_flight: usize) -> Option<String> {
        self.0.borrow_mut().idle(in_flight)
    }

    fn race(&mut self, bar_ms: Option<f64>) {
        self.0.borrow_mut().race(bar_ms);
    }

    fn share_bounds(&mut self) {
        self.0.borrow_mut().share_bounds();
    }

    fn limit_compilation(&mut self, limit: Option<CompileLimit>) {
        self.0.borrow_mut().limit_compilation(limit);
    }

    fn has_limits(&self) -> bool {
        self.0.borrow().has_limits()
    }

    fn bound(&mut self, bound: Bound) {
        self.0.borrow_mut().bound(bound);
    }

    fn resample(
        &mut self,
        config: ConfigId,
        samples: usize,
        interrupt: &Interrupt,
    ) -> Result<Option<Completion>, Error> {
        self.0.borrow_mut().resample(config, samples, interrupt)
    }

    fn confirm(&mut self, config: ConfigId, claim: Claim, interrupt: &Interrupt) -> Result<Option<Confirmed>, Error> {
        self.0.borrow_mut().confirm(config, claim, interrupt)
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.0.borrow_mut().take_notes()
    }
}
