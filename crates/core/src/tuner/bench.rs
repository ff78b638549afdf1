//! Measures and keeps the results.

use super::clocks::Clocks;
use super::observers::Observers;
use super::run::Seconds;
use crate::resample::VERIFIED_AS_TIE;
use crate::{
    Bound, Claim, Completion, Confirmed, Error, Evaluation, Evaluator, Event, Failure, FailureKind, Interrupt,
    Measurement, ObjectiveFunction, Request, Resample, Role, SecondAnswer, SecondAnswers, SecondStore, Spent, Start,
    Store, Waited,
};
use std::collections::BTreeMap;
use std::time::Duration;
use tunesmith_space::ConfigId;

/// The name of the number of launches that a verification compared.
const VERIFIED_LAUNCHES: &str = "verified_launches";

/// The device and the journal of a run, with the clocks that date the measurements.
pub(super) struct Bench<'a> {
    pub(super) evaluator: &'a mut dyn Evaluator,
    pub(super) keeper: Keeper<'a>,
    pub(super) objective: &'a dyn ObjectiveFunction,
    pub(super) interrupt: Interrupt,
    /// True if the store is synced before the searcher learns of an answer.
    pub(super) durable: bool,
    /// The measurement that has begun and is not kept.
    pub(super) started: Option<Start>,
    pub(super) clocks: Clocks,
    /// The time by purpose.
    pub(super) seconds: Seconds,
    /// The clock of the latest measurement.
    pub(super) latest: Duration,
}

/// The keeper of what is measured.
pub(super) enum Keeper<'a> {
    /// Nobody.
    None,
    /// A store.
    Store(&'a mut dyn Store),
    /// A store, also of the second answers that come in.
    WithSeconds(&'a mut dyn SecondStore, SecondAnswers),
}

impl Keeper<'_> {
    /// Returns the store, if there is one.
    pub(super) fn store(&mut self) -> Option<&mut dyn Store> {
        match self {
            Self::None => None,
            Self::Store(store) => Some(&mut **store),
            Self::WithSeconds(store, _) => Some(&mut **store),
        }
    }

    /// Keeps the second answers that came in, dated `clock`. Returns true if there were any.
    fn keep_seconds(&mut self, clock: Duration) -> Result<bool, Error> {
        let Self::WithSeconds(store, answers) = self else { return Ok(false) };
        let answers = answers.take();
        let is_any = !answers.is_empty();
        for SecondAnswer { request, failure, mut measurement, by } in answers {
            let failure = failure.or(impossible(&mut measurement));
            store.append_second(&Evaluation { request, failure, measurement, clock, proposed: None }, &by)?;
        }
        Ok(is_any)
    }
}

/// The outcome of a repeated measurement.
pub(super) enum Resampled {
    /// Samples or a failure. They are stored.
    Kept(Box<Resample>),
    /// The evaluator has no more samples to give.
    NothingToAdd,
    /// The run must end.
    Interrupted,
}

/// A new evaluation, and the reason if it lacks counters that it should have.
pub(super) type Evaluated = (Evaluation, Option<String>);

impl Bench<'_> {
    /// Sets the bound of time for what is measured next, if the evaluator has limits.
    pub(super) fn bound(&mut self, bound: impl FnOnce() -> Bound) {
        if self.evaluator.has_limits() {
            self.evaluator.bound(bound());
        }
    }

    /// Waits for an answer, or for a change of the room if one is given. A configuration above `bar_ms`
    /// may be abandoned.
    pub(super) fn wait(&mut self, bar_ms: Option<f64>, room: Option<usize>) -> Result<Waited, Error> {
        self.evaluator.race(bar_ms);
        match room {
            Some(room) => self.evaluator.wait(room, &self.interrupt),
            None => {
                let completion = self.evaluator.next(&self.interrupt)?;
                Ok(completion.map_or(Waited::Interrupted, |completion| Waited::Answered(Box::new(completion))))
            }
        }
    }

    /// Returns the evaluation of a completion, which answers `oldest` unless it names its request.
    pub(super) fn evaluated(&mut self, completion: Completion, oldest: Request) -> Evaluated {
        self.add_spent(completion.spent);
        self.latest = self.clocks.elapsed();
        let Completion { request, failure, mut measurement, unprofiled, .. } = completion;
        let failure = failure.or(impossible(&mut measurement));
        let request = request.unwrap_or(oldest);
        let failure = failure.or_else(|| self.objective.broken(request.config, &measurement));
        (Evaluation { request, failure, measurement, clock: self.latest, proposed: None }, unprofiled)
    }

    /// Syncs the store, if the run is durable.
    pub(super) fn sync(&mut self) -> Result<(), Error> {
        if self.durable { self.store(|store| store.sync()) } else { Ok(()) }
    }

    /// Stores a new evaluation.
    pub(super) fn keep(&mut self, evaluation: &Evaluation) -> Result<(), Error> {
        self.store(|store| store.append(evaluation))?;
        self.started = self.started.filter(|started| started.request != evaluation.request);
        Ok(())
    }

    /// Stores that a measurement begins, if it may end this process or the machine.
    pub(super) fn start(&mut self, start: Start) -> Result<(), Error> {
        if !self.evaluator.runs_here() || self.started == Some(start) {
            return Ok(());
        }
        self.store(|store| store.keep_start(start))?;
        self.started = Some(start);
        Ok(())
    }

    /// Stores that no measurement is under way.
    pub(super) fn forget_start(&mut self) -> Result<(), Error> {
        self.started = None;
        self.store(|store| store.forget_start())
    }

    /// Takes samples of a configuration that was evaluated before, and stores them.
    pub(super) fn resample(&mut self, config: ConfigId, role: Role, samples: usize) -> Result<Resampled, Error> {
        // The reference ran often before.
        if role != Role::Reference {
            self.start(Start { request: Request::timed(config), role: Some(role) })?;
        }
        let Some(completion) = self.evaluator.resample(config, samples, &self.interrupt)? else {
            return Ok(Resampled::Interrupted);
        };
        self.add_spent(completion.spent);
        let Completion { mut failure, mut measurement, .. } = completion;
        failure = failure.or(impossible(&mut measurement));
        if failure.is_none() && measurement.times_ms.is_empty() {
            return Ok(Resampled::NothingToAdd);
        }
        if failure.is_none() {
            let scores = self.objective.samples(config, &measurement);
            failure = scores.err().map(|reason| Failure::new(FailureKind::Runtime, reason));
        }
        // The reference tells how the device drifts. It stays a reference beyond a limit.
        if failure.is_none() && role != Role::Reference {
            failure = self.objective.broken(config, &measurement);
        }
        self.latest = self.clocks.elapsed();
        self.keep_again(Resample { role, config, failure, measurement, clock: self.latest })
    }

    /// Stores a later measurement.
    fn keep_again(&mut self, resample: Resample) -> Result<Resampled, Error> {
        self.store(|store| store.append_again(&resample))?;
        self.sync()?;
        let is_of = |started: &Start| (started.request.config, started.role) == (resample.config, Some(resample.role));
        self.started = self.started.filter(|started| !is_of(started));
        Ok(Resampled::Kept(Box::new(resample)))
    }

    /// Verifies a configuration once more, and stores the result. Returns the remarks for users
    /// beside it.
    pub(super) fn confirm(&mut self, config: ConfigId, claim: Claim) -> Result<(Resampled, Vec<String>), Error> {
        self.start(Start { request: Request::timed(config), role: Some(Role::Verification) })?;
        let Some(confirmed) = self.evaluator.confirm(config, claim, &self.interrupt)? else {
            return Ok((Resampled::Interrupted, Vec::new()));
        };
        self.add_spent(confirmed.spent);
        let Confirmed { failure, launches, notes, .. } = confirmed;
        if failure.is_none() && launches == 0 {
            return Ok((Resampled::NothingToAdd, notes));
        }
        self.latest = self.clocks.elapsed();
        let mut values = BTreeMap::from([(VERIFIED_LAUNCHES.to_owned(), vec![launches as f64])]);
        if claim == Claim::Tie {
            values.insert(VERIFIED_AS_TIE.to_owned(), vec![1.0]);
        }
        let measurement = Measurement { values, ..Measurement::default() };
        let resample = Resample { role: Role::Verification, config, failure, measurement, clock: self.latest };
        Ok((self.keep_again(resample)?, notes))
    }

    /// Stores the second answers that came in, and passes remarks on.
    pub(super) fn pass_on(&mut self, observers: &mut Observers<'_>) -> Result<(), Error> {
        self.evaluator.take_notes().iter().for_each(|text| observers.notice(&Event::Noted { text }));
        let (clock, started) = (self.clocks.elapsed(), self.clocks.real());
        let is_any = self.keeper.keep_seconds(clock)?;
        self.seconds.store += self.clocks.real() - started;
        if is_any { self.sync() } else { Ok(()) }
    }

    fn store(&mut self, append: impl FnOnce(&mut dyn Store) -> Result<(), Error>) -> Result<(), Error> {
        let started = self.clocks.real();
        if let Some(store) = self.keeper.store() {
            append(store)?;
        }
        self.seconds.store += self.clocks.real() - started;
        Ok(())
    }

    fn add_spent(&mut self, spent: Spent) {
        self.seconds.compile += spent.compile;
        self.seconds.run += spent.run;
        self.seconds.verify += spent.verify;
    }
}

/// Cleans a measurement. Returns the failure of a configuration with a time that no clock measures.
fn impossible(measurement: &mut Measurement) -> Option<Failure> {
    let time = measurement.clean()?;
    let reason = format!("a sample took {time} ms, but a time is a finite, positive number");
    Some(Failure::new(FailureKind::Runtime, reason))
}
