//! A fleet as the device of a tuning run.

use super::likeness::{VERSION, subject};
use super::{Ended, Fleet, Member, Work};
use crate::FleetSpec;
use crate::lease::JobId;
use crate::wire::{FoundTarget, FromCoordinator, Task};
use serde_json::{Map, Value as Json};
use std::time::Duration;
use tunesmith::{Extras, FoundRemote, Problem, RemoteDevice};
use tunesmith_core::{
    Asides, Completion, Confirmed, Depth, Error, Evaluator, Failure, FailureKind, Interrupt, Measurement, Request,
    Spent,
};
use tunesmith_device::DeviceError;
use tunesmith_space::{ConfigId, Space};
use tunesmith_store::{Journal, WorkerRole};

/// Requests in flight for a fleet whose size is not known when the run begins: as many as the
/// strategies were measured with.
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
        self.ask(Work { task, config: request.config });
        self.issue();
        Ok(())
    }

    fn next(&mut self, interrupt: &Interrupt) -> Result<Option<Completion>, Error> {
        let evaluated = |fleet: &mut Self| {
            let is_evaluation = |(_, work, _): &(JobId, Work, Ended)| matches!(work.task, Task::Evaluate { .. });
            fleet.ended.iter().position(is_evaluation).and_then(|place| fleet.ended.remove(place))
        };
        let Some((_, work, ended)) = self.wait(interrupt, evaluated)? else { return Ok(None) };
        let is_profiled = matches!(work.task, Task::Evaluate { profiled: true, .. });
        let depth = if is_profiled { Depth::Profiled } else { Depth::Timed };
        let request = Some(Request { config: work.config, depth });
        Ok(Some(Completion { request, ..completion(&work, ended) }))
    }

    fn race(&mut self, bar_ms: Option<f64>) {
        self.bar_ms = bar_ms.filter(|_| self.options.is_timed);
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

    fn confirm(&mut self, config: ConfigId, interrupt: &Interrupt) -> Result<Option<Confirmed>, Error> {
        let task = Task::Confirm { config: rank(config) };
        let Some(ended) = self.steady(task.clone(), config, interrupt)? else { return Ok(None) };
        let (launches, notes) = match &ended {
            Ended::Answered(answer, _) => (answer.launches, answer.notes.clone()),
            Ended::Failed(_) => (0, Vec::new()),
        };
        let Completion { failure, spent, .. } = completion(&Work { task, config }, ended);
        Ok(Some(Confirmed { failure, launches, notes, spent }))
    }

    fn take_asides(&mut self) -> Asides {
        std::mem::take(&mut self.asides)
    }
}

impl RemoteDevice for Fleet {
    fn find(&mut self, interrupt: &Interrupt) -> Result<FoundRemote, tunesmith::Error> {
        let first = |fleet: &mut Self| {
            let measures = |member: &&Member| member.offer.who.role == WorkerRole::Measures;
            let own = |member: &&Member| fleet.is_of_pool(member.waiting.as_ref());
            let offer = &fleet.members.values().filter(measures).find(own)?.offer;
            let (target, limits) = (offer.target.clone(), offer.limits.clone());
            let value = |(name, json): (&String, &Json)| Some((name.clone(), Journal::value_of(json)?));
            let named = limits.iter().filter_map(value).collect();
            fleet.compilers.device = FromCoordinator::Compile { target: target.clone(), limits };
            Some((target.map(FoundTarget::target), named))
        };
        self.wait(interrupt, first)?.ok_or_else(interrupted)
    }

    fn open(
        &mut self,
        problem: &Problem,
        space: &Space,
        extras: Extras,
        interrupt: &Interrupt,
    ) -> Result<Map<String, Json>, tunesmith::Error> {
        self.subject = subject(&problem.digest(), space.digest());
        let begin = FromCoordinator::Begin { counters: extras.counters, energy: extras.energy };
        if self.begin.is_none() {
            let measures = |member: &&Member| member.offer.who.role == WorkerRole::Measures;
            self.members.values().filter(measures).for_each(|member| member.outbox.send(begin.clone()));
        }
        (self.begin, self.space) = (Some(begin), Some(space.clone()));
        self.begin_compiling();
        self.let_pool_serve();
        let ready = |fleet: &mut Self| fleet.identity.clone();
        let mut identity = self.wait(interrupt, ready)?.ok_or_else(interrupted)?;
        // A journal may be resumed by another version.
        identity.remove(VERSION);
        Ok(identity)
    }

    fn room(&self) -> usize {
        let workers = match self.options.spec {
            FleetSpec::Local(count) => count,
            _ => self.members.values().filter(|member| member.is_of_pool()).count().max(USUAL_ROOM),
        };
        workers * self.room_of_one()
    }

    fn evaluator(&mut self) -> &mut dyn Evaluator {
        self
    }
}
