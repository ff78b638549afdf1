//! The simulated device: the evaluator of a simulated run, and the searcher that is watched.

use super::Plant;
use super::ledger::SharedLedger;
use super::truth::Truth;
use super::world::World;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::judge::racing::is_beaten;
use tunesmith_core::{
    Claim, Completion, Confirmed, Error, Evaluator, Failure, FailureKind, Interrupt, Measurement, Request, Rng,
    Searcher, Told, View,
};
use tunesmith_space::ConfigId;

/// Measures one configuration after the other.
pub(super) trait Laboratory {
    /// Takes `samples`, or fewer of a configuration that does not reach `bar_ms`. Returns `None` if
    /// interrupted.
    fn measure(
        &mut self,
        config: ConfigId,
        samples: usize,
        bar_ms: Option<f64>,
        interrupt: &Interrupt,
    ) -> Result<Option<Completion>, Error>;

    /// Verifies a configuration on other data. Returns `None` if interrupted.
    fn confirm(&mut self, config: ConfigId, claim: Claim, interrupt: &Interrupt) -> Result<Option<Confirmed>, Error>;
}

/// The number of samples of an evaluation.
const SAMPLES: usize = 7;

/// The evaluator of a simulated run.
pub(super) struct Device<'a> {
    pub(super) world: Arc<World>,
    pub(super) ledger: Arc<SharedLedger>,
    pub(super) laboratory: &'a mut dyn Laboratory,
    pub(super) queue: VecDeque<Request>,
    pub(super) bar_ms: Option<f64>,
    pub(super) plant: Option<Plant>,
}

impl Evaluator for Device<'_> {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.world.step("submit");
        self.ledger.lock().submit(request);
        self.queue.push_back(request);
        Ok(())
    }

    fn next(&mut self, interrupt: &Interrupt) -> Result<Option<Completion>, Error> {
        self.world.step("measure");
        // The planted bug: a worker that took a request and ends is not asked again.
        if self.plant == Some(Plant::LostLease) && self.world.throw(|dice| dice.once_in(50)) {
            self.queue.pop_front();
        }
        let Some(request) = self.queue.pop_front() else { return Ok(None) };
        self.ledger.lock().race(request.config, self.bar_ms);
        let completion = self.laboratory.measure(request.config, SAMPLES, self.bar_ms, interrupt)?;
        self.ledger.lock().measured += usize::from(completion.is_some());
        Ok(completion)
    }

    fn race(&mut self, bar_ms: Option<f64>) {
        self.bar_ms = bar_ms;
    }

    fn resample(
        &mut self,
        config: ConfigId,
        samples: usize,
        interrupt: &Interrupt,
    ) -> Result<Option<Completion>, Error> {
        self.world.step("measure again");
        let completion = self.laboratory.measure(config, samples, None, interrupt)?;
        self.ledger.lock().remeasured += usize::from(completion.is_some());
        Ok(completion)
    }

    fn confirm(&mut self, config: ConfigId, claim: Claim, interrupt: &Interrupt) -> Result<Option<Confirmed>, Error> {
        self.world.step("confirm");
        let confirmed = self.laboratory.confirm(config, claim, interrupt)?;
        self.ledger.lock().remeasured += usize::from(confirmed.is_some());
        Ok(confirmed)
    }
}

/// A laboratory without workers: it knows the truth. The loop, the journal and the judge above it
/// are real.
pub(super) struct Oracle {
    pub(super) world: Arc<World>,
    pub(super) truth: Truth,
    /// One measurement in this many ends with an error of the device. 0 means none.
    pub(super) breaks: u64,
}

impl Oracle {
    fn work(&self, interrupt: &Interrupt, time: Duration) -> Result<bool, Error> {
        self.world.pass(time);
        self.world.step("work");
        if self.world.throw(|dice| dice.once_in(self.breaks)) {
            return Err(Error::Device("the device is gone".into()));
        }
        Ok(!interrupt.is_raised())
    }
}

impl Laboratory for Oracle {
    fn measure(
        &mut self,
        config: ConfigId,
        samples: usize,
        bar_ms: Option<f64>,
        interrupt: &Interrupt,
    ) -> Result<Option<Completion>, Error> {
        let deed = self.truth.deed(config);
        let mut completion = Completion::default();
        let mut total = Duration::from_millis(20);
        let mut times_ms = Vec::new();
        while times_ms.len() < samples && !bar_ms.is_some_and(|bar| is_beaten(&times_ms, bar)) {
            let time = self.truth.time_of_launch(config, times_ms.len() as u64 + 2);
            total += time;
            times_ms.push(time.as_secs_f64() * 1e3);
        }
        match deed.status(1 + times_ms.len() as u64) {
            Some(kind) => completion.failure = Some(Failure::new(kind, format!("it {deed:?}"))),
            None => completion.measurement = Measurement { times_ms, ..Measurement::default() },
        }
        Ok(self.work(interrupt, total)?.then_some(completion))
    }

    fn confirm(&mut self, config: ConfigId, _: Claim, interrupt: &Interrupt) -> Result<Option<Confirmed>, Error> {
        let wrong = || Failure::new(FailureKind::Correctness, "it is wrong on other data");
        let failure = (!self.truth.deed(config).is_right()).then(wrong);
        let confirmed = Confirmed { failure, launches: 4, ..Confirmed::default() };
        Ok(self.work(interrupt, Duration::from_millis(30))?.then_some(confirmed))
    }
}

/// A searcher whose every step is a step of the world, and whose every answer is checked.
pub(super) struct Watched {
    pub(super) world: Arc<World>,
    pub(super) ledger: Arc<SharedLedger>,
    pub(super) searcher: Box<dyn Searcher>,
}

impl Searcher for Watched {
    fn ask(&mut self, view: &View<'_>, room: usize, rng: &mut Rng) -> Vec<Request> {
        self.world.step("ask");
        self.searcher.ask(view, room, rng)
    }

    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        self.ledger.lock().acknowledge(told.evaluation);
        self.world.step("tell");
        self.searcher.tell(view, told);
    }
}
