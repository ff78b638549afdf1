//! A fleet as the device of a tuning run.

use super::likeness::{CLOCKS, VERSION, subject};
use super::{Ended, Fleet, Member, Work};
use crate::FleetSpec;
use crate::lease::{JobId, Whom};
use crate::wire::{FromCoordinator, Task};
use serde_json::{Map, Value as Json};
use std::time::Duration;
use tunesmith::{
    Problem,
    runner::{Extras, FoundRemote, RemoteDevice},
};
use tunesmith_core::{
    Bound, Claim, Completion, Confirmed, Depth, Error, Evaluator, Failure, FailureKind, Interrupt, Measurement,
    Request, SecondAnswers, Spent, Waited,
};
use tunesmith_kernel::DeviceError;
use tunesmith_space::{ConfigId, Space, Value};
use tunesmith_store::WorkerRole;

/// Requests in flight for a fleet whose size is not known when the run begins, until the first
/// wait, and for compiling ahead at most: as many as the strategies were measured with.
const USUAL_ROOM: usize = 8;

fn interrupted() -> tunesmith::Error {
    DeviceError::Interrupted.into()
}

fn rank(config: ConfigId) -> String {
    config.rank().to_string()
}

fn spent(seconds: [f64; 3]) -> Spent {
    let [compile, run, verify] = seconds.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or_default());
    Spent { compile, run, verify }
}

/// Returns the completion that the end of a job means.
fn completion(work: &Work, ended: Ended) -> Completion {
    let failed = |failure| Completion { failure: Some(failure), ..Completion::default() };
    match ended {
        Ended::Failed(failure) => failed(failure),
        Ended::Answered(answer, by) => match answer.entry.failure() {
            Ok(failure) if answer.entry.index == work.task.config() => Completion {
                request: None,
                failure,
                measurement: Measurement { by: Some(Box::new(by)), ..answer.entry.measurement() },
                spent: spent(answer.spent),
                unprofiled: answer.unprofiled,
            },
            Ok(_) => failed(Failure::new(FailureKind::Runtime, "the worker measured another configuration")),
            Err(reason) => failed(Failure::new(FailureKind::Runtime, format!("the worker's answer: {reason}"))),
        },
    }
}

impl Evaluator for Fleet {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        let task = Task::Evaluate { config: rank(request.config), profiled: request.depth == Depth::Profiled };
        if self.default == Some(request.config) {
            self.calibration.prefer(request.config);
        }
        self.ask(Work { task, config: request.config });
        self.issue();
        Ok(())
    }

    fn next(&mut self, interrupt: &Interrupt) -> Result<Option<Completion>, Error> {
        self.wait_until(interrupt, Self::take_evaluated)
    }

    fn wait(&mut self, room: usize, interrupt: &Interrupt) -> Result<Waited, Error> {
        let waited = self.wait_until(interrupt, |fleet| {
            let answered = fleet.take_evaluated().map(|completion| Waited::Answered(Box::new(completion)));
            answered.or_else(|| fleet.room().filter(|now| *now != room).map(Waited::Room))
        })?;
        Ok(waited.unwrap_or(Waited::Interrupted))
    }

    fn ready(&mut self) -> Result<Option<Completion>, Error> {
        while let Ok(Some(event)) = self.door.next(Duration::ZERO) {
            self.handle(event);
        }
        Ok(self.take_evaluated())
    }

    fn idle(&mut self, in_flight: usize) -> Option<String> {
        let workers = self.leases.usable();
        let idle = workers.checked_sub(in_flight).filter(|idle| *idle > self.most_idle)?;
        self.most_idle = idle;
        Some(format!(
            "{idle} of {workers} workers have nothing to do: the strategy, or --room, keeps {in_flight} requests in \
             flight; docs/strategies.md says how many each strategy uses well"
        ))
    }

    fn race(&mut self, bar_ms: Option<f64>) {
        self.bar_ms = bar_ms.filter(|_| self.shares_bounds);
    }

    fn share_bounds(&mut self) {
        self.shares_bounds = true;
    }

    fn has_limits(&self) -> bool {
        true
    }

    fn bound(&mut self, bound: Bound) {
        match bound {
            Bound::Own(_) => self.bounds[1] = bound,
            // Other configurations in flight may have another bound.
            Bound::Best(_) if !self.shares_bounds => self.bounds[0] = Bound::Open,
            Bound::Best(_) | Bound::Open | Bound::Beyond(_) => self.bounds = [bound, Bound::Open],
        }
    }

    fn resample(
        &mut self,
        config: ConfigId,
        samples: usize,
        interrupt: &Interrupt,
    ) -> Result<Option<Completion>, Error> {
        let task = Task::Resample { config: rank(config), samples };
        let ended = self.steady(task.clone(), config, interrupt)?;
        Ok(ended.map(|ended| completion(&Work { task, config }, ended)))
    }

    fn confirm(&mut self, config: ConfigId, claim: Claim, interrupt: &Interrupt) -> Result<Option<Confirmed>, Error> {
        let task = Task::Confirm { config: rank(config), claim };
        let Some(ended) = self.steady(task.clone(), config, interrupt)? else { return Ok(None) };
        let (launches, notes) = match &ended {
            Ended::Answered(answer, _) => (answer.launches, answer.notes.clone()),
            Ended::Failed(_) => (0, Vec::new()),
        };
        let Completion { failure, spent, .. } = completion(&Work { task, config }, ended);
        Ok(Some(Confirmed { failure, launches, notes, spent }))
    }

    fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}

impl Fleet {
    /// Takes out the end of an evaluation, if one is there.
    fn take_evaluated(&mut self) -> Option<Completion> {
        let is_evaluation = |(_, work, _): &(JobId, Work, Ended)| matches!(work.task, Task::Evaluate { .. });
        let place = self.ended.iter().position(is_evaluation)?;
        let (_, work, ended) = self.ended.remove(place)?;
        let is_profiled = matches!(work.task, Task::Evaluate { profiled: true, .. });
        let depth = if is_profiled { Depth::Profiled } else { Depth::Timed };
        let request = Some(Request { config: work.config, depth });
        Some(Completion { request, ..completion(&work, ended) })
    }

    /// Returns the number of requests that keep the workers busy, those that compile ahead included.
    /// Returns `None` while no worker measures. A lost worker of `local:N` is replaced at once, so that
    /// N stays.
    fn room(&self) -> Option<usize> {
        if let FleetSpec::Local(_) = self.options.spec {
            return Some(self.first_room());
        }
        let measuring = Some(self.leases.room()).filter(|room| *room > 0)?;
        Some(measuring + self.compilers.leases.room().min(USUAL_ROOM))
    }

    /// Adds work that stays with one worker, and waits for its answer. Returns `None` if interrupted.
    fn steady(&mut self, task: Task, config: ConfigId, interrupt: &Interrupt) -> Result<Option<Ended>, Error> {
        let before = self.leases.anchor();
        let job = self.leases.add(Work { task, config }, Whom::Steady);
        self.issue();
        let of_job = |fleet: &mut Self| {
            let place = fleet.ended.iter().position(|(id, ..)| *id == job)?;
            fleet.ended.remove(place).map(|(_, _, ended)| ended)
        };
        let ended = self.wait_until(interrupt, of_job)?;
        if ended.is_none() {
            self.leases.withdraw(job);
        }
        match (before, self.leases.anchor()) {
            (Some(before), Some(now)) if before != now => {
                let name = self.name(now);
                self.note(format!("further measurements of the same configurations moved to {name}"));
            }
            _ => {}
        }
        Ok(ended)
    }
}

impl RemoteDevice for Fleet {
    fn find(&mut self, interrupt: &Interrupt) -> Result<FoundRemote, tunesmith::Error> {
        let first = |fleet: &mut Self| {
            let measures = |member: &&Member| member.offer.who.role == WorkerRole::Measures;
            let own = |member: &&Member| fleet.is_of_pool(member.waiting.as_ref());
            let offer = &fleet.members.values().filter(measures).find(own)?.offer;
            let (target, limits) = (offer.target.clone(), offer.limits.clone());
            let value = |(name, json): (&String, &Json)| Some((name.clone(), Value::of_document(json)?));
            let named = limits.iter().filter_map(value).collect();
            fleet.compilers.set_device(target.as_ref(), limits);
            Some((target, named))
        };
        self.wait_until(interrupt, first)?.ok_or_else(interrupted)
    }

    fn open(
        &mut self,
        problem: &Problem,
        space: &Space,
        extras: Extras,
        interrupt: &Interrupt,
    ) -> Result<Map<String, Json>, tunesmith::Error> {
        self.subject = subject(&problem.digest(), space.digest());
        self.default = problem.default_configuration(space)?.and_then(|default| space.rank(&default));
        let begin = FromCoordinator::Begin { counters: extras.counters, energy: extras.energy };
        if self.begin.is_none() {
            let measures = |member: &&Member| member.offer.who.role == WorkerRole::Measures;
            self.members.values().filter(measures).for_each(|member| member.outbox.send(begin.clone()));
        }
        (self.begin, self.space) = (Some(begin), Some(space.clone()));
        self.begin_compiling();
        self.let_pool_serve();
        let ready = |fleet: &mut Self| fleet.identity.clone();
        let mut identity = self.wait_until(interrupt, ready)?.ok_or_else(interrupted)?;
        // A journal may be resumed by another version, and by one device, whose clock nobody compares.
        [VERSION, CLOCKS].into_iter().for_each(|name| drop(identity.remove(name)));
        Ok(identity)
    }

    fn first_room(&self) -> usize {
        let workers = match self.options.spec {
            FleetSpec::Local(count) => count,
            _ => self.members.values().filter(|member| member.is_of_pool()).count().max(USUAL_ROOM),
        };
        workers * self.room_of_one()
    }

    fn second_answers(&self) -> SecondAnswers {
        self.seconds.clone()
    }

    fn evaluator(&mut self) -> &mut dyn Evaluator {
        self
    }
}
