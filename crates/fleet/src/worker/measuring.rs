//! A worker that measures.

use super::desk::Desk;
use super::{Assignment, Served, failed, ready, unexpected};
use crate::FleetError;
use crate::secure::Speaking;
use crate::wire::{Answer, FromCoordinator, FromWorker, LeaseBound, Task, say};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tunesmith::{
    Machine,
    devices::device_for,
    runner::{Extras, Runner},
};
use tunesmith_core::{
    Completion, Confirmed, Evaluation, Evaluator, Failure, FailureKind, Measurement, Request, Spent, SystemClock,
};
use tunesmith_device::{Device, Parcels};
use tunesmith_space::{ConfigId, Space};
use tunesmith_store::{Entry, Journal};

/// A lease that this worker holds.
struct Held {
    job: u64,
    attempt: u32,
    task: Task,
    config: ConfigId,
    bar_ms: Option<f64>,
    bound: LeaseBound,
}

impl Held {
    /// Returns the request to the device, if the lease is an evaluation.
    fn evaluation(&self) -> Option<Request> {
        match self.task {
            Task::Evaluate { profiled: true, .. } => Some(Request::profiled(self.config)),
            Task::Evaluate { .. } => Some(Request::timed(self.config)),
            Task::Resample { .. } | Task::Confirm { .. } | Task::Compile { .. } => None,
        }
    }
}

/// Opens the device and answers leases, until the worker is to end.
pub(super) fn serve(assignment: Assignment<'_>, speaking: &mut Speaking) -> Result<Served, FleetError> {
    let Assignment { problem, machine, listening, interrupt, options, tell } = assignment;
    let parcels = Arc::new(Parcels::default());
    let machine = Machine { parcels: Some(Arc::clone(&parcels)), ..machine };
    let device = device_for(&problem, &machine).map_err(failed)?;
    let limits = device.limits(&machine);
    let target = if let Device::Kernels(target) = &device { target.description() } else { None };
    let named = limits.iter().map(|(name, value)| (name.clone(), Journal::value(value))).collect();
    say(speaking, &FromWorker::Offer { target, limits: named })?;
    let mut desk = Desk::open(listening, interrupt, options)?;
    let (counters, energy) = match desk.next() {
        Some(FromCoordinator::Begin { counters, energy }) => (counters, energy),
        Some(_) => return Err(unexpected()),
        None => return Ok(desk.ended(0)),
    };
    let space = problem.space_until(&limits, interrupt).map_err(|error| failed(error.into()))?.space;
    let (extras, clock) = (Extras { counters, energy }, Arc::new(SystemClock::new()));
    let mut runner = Runner::open(&problem, &space, &device, &machine, extras, clock).map_err(failed)?;
    if !runner.prepare(interrupt).map_err(failed)? {
        return Ok(desk.ended(0));
    }
    let readiness = ready(runner.identity(), &problem, &space, machine.jobs());
    let name = readiness.identity.get("device").and_then(serde_json::Value::as_str).unwrap_or_default();
    tell(&format!("ready: {} on {name}", problem.spec().name()));
    say(speaking, &FromWorker::Ready(readiness))?;
    Bench { desk, evaluator: runner.evaluator(), space: &space, parcels: &parcels }.answer_all(speaking)
}

/// The device of a worker, and the leases for it.
struct Bench<'a> {
    desk: Desk<'a>,
    evaluator: &'a mut dyn Evaluator,
    space: &'a Space,
    parcels: &'a Parcels,
}

impl Bench<'_> {
    /// Answers leases, the oldest first, until the worker is to end.
    fn answer_all(&mut self, speaking: &mut Speaking) -> Result<Served, FleetError> {
        let (mut held, mut answers) = (VecDeque::new(), 0);
        loop {
            // Takes all that waits, so that later configurations compile while this one is measured.
            while let Some(message) = self.desk.next_within(Duration::ZERO) {
                held.push_back(self.begin(message)?);
            }
            let lease = match self.take(&mut held)? {
                Some(lease) => lease,
                None => match self.desk.next() {
                    Some(message) => self.begin(message)?,
                    None => return Ok(self.desk.ended(answers)),
                },
            };
            let Some(answer) = self.measure(&lease)? else { return Ok(self.desk.ended(answers)) };
            let Held { job, attempt, .. } = lease;
            say(speaking, &FromWorker::Answer { job, attempt, answer: Box::new(answer) })?;
            answers += 1;
        }
    }

    /// Takes a lease, and gives an evaluation to the device at once.
    fn begin(&mut self, message: FromCoordinator) -> Result<Held, FleetError> {
        let FromCoordinator::Lease { job, attempt, task, bar_ms, bound, parcel } = message else {
            return Err(unexpected());
        };
        let config = task.config().parse().ok().and_then(|rank| self.space.id(rank));
        let config = config.ok_or_else(|| FleetError::Protocol("a lease names no configuration".to_string()))?;
        if let Some(content) = parcel.and_then(|digest| self.desk.parcel(&digest)) {
            self.parcels.add(config.rank(), content.to_vec());
        }
        let lease = Held { job, attempt, task, config, bar_ms, bound };
        if let Some(request) = lease.evaluation() {
            self.evaluator.submit(request).map_err(|error| failed(error.into()))?;
        }
        Ok(lease)
    }

    /// Takes the lease that is measured next: the oldest, unless it is an evaluation. Of evaluations, it is the one that
    /// the device measures next. Returns `None` if there are no leases.
    fn take(&mut self, held: &mut VecDeque<Held>) -> Result<Option<Held>, FleetError> {
        let request = match held.front().map(Held::evaluation) {
            None => return Ok(None),
            Some(None) => None,
            Some(Some(_)) => self.evaluator.upcoming(self.desk.interrupt).map_err(|error| failed(error.into()))?,
        };
        let place = request.and_then(|request| held.iter().position(|lease| lease.evaluation() == Some(request)));
        Ok(held.remove(place.unwrap_or_default()))
    }

    /// Does the work of a lease. Returns `None` if the worker is to end.
    fn measure(&mut self, lease: &Held) -> Result<Option<Answer>, FleetError> {
        self.desk.pause();
        let interrupt = self.desk.interrupt;
        let device = |error: tunesmith_core::Error| failed(error.into());
        let request = lease.evaluation().unwrap_or(Request::timed(lease.config));
        self.evaluator.bound(lease.bound.into());
        let completion = match &lease.task {
            Task::Evaluate { .. } => {
                self.evaluator.race(lease.bar_ms);
                self.evaluator.next(interrupt).map_err(device)?
            }
            Task::Resample { samples, .. } => {
                self.evaluator.resample(lease.config, *samples, interrupt).map_err(device)?
            }
            Task::Confirm { claim, .. } => {
                let confirmed = self.evaluator.confirm(lease.config, *claim, interrupt).map_err(device)?;
                let Some(Confirmed { failure, launches, notes, spent }) = confirmed else { return Ok(None) };
                let completion = Completion { failure, spent, ..Completion::default() };
                return Ok(Some(Answer { launches, notes, ..answer(self.space, request, completion) }));
            }
            Task::Compile { .. } => return Err(unexpected()),
        };
        Ok(completion.map(|completion| answer(self.space, request, completion)))
    }
}

/// Returns the answer that a completion means.
pub(crate) fn answer(space: &Space, request: Request, completion: Completion) -> Answer {
    let Completion { failure, measurement, spent, unprofiled, .. } = completion;
    let Spent { compile, run, verify } = spent;
    let (failure, measurement) = sendable(failure, measurement);
    let evaluation = Evaluation { request, failure, measurement, clock: Duration::ZERO, proposed: None };
    let spent = [compile, run, verify].map(|time| time.as_secs_f64());
    Answer { entry: Entry::new(space, &evaluation), spent, unprofiled, launches: 0, notes: Vec::new() }
}

/// Replaces a time that JSON cannot carry by the failure that it means.
fn sendable(failure: Option<Failure>, measurement: Measurement) -> (Option<Failure>, Measurement) {
    let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
    let lists = measurement.values.values().chain(measurement.parts_ms.values());
    if finite(&measurement.times_ms) && lists.clone().all(|list| finite(list)) {
        return (failure, measurement);
    }
    let wrong = measurement.times_ms.iter().find(|time| !time.is_finite()).copied();
    let reason = wrong.map_or("a value is not finite".to_string(), |time| format!("a sample took {time} ms"));
    (Some(failure.unwrap_or_else(|| Failure::new(FailureKind::Runtime, reason))), Measurement::default())
}
