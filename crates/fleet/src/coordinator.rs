//! The coordinator: a device whose answers come from workers.

mod answers;
mod calibration;
mod compilers;
mod device;
mod kinds;
mod likeness;

use crate::bundle::Bundle;
use crate::depot::{Depot, Made};
use crate::hall::{Connection, Door, Event, Offer, Outbox, Subject};
use crate::lease::{Issue, JobId, Leases, Lost, Terms, Whom, WorkerId};
use crate::report::SharedReport;
use crate::start::{Crew, WorkerProgram};
use crate::wire::{Answer, FromCoordinator, FromWorker, Readiness, Task};
use crate::{FleetError, FleetSpec, Token};
use calibration::Calibration;
use compilers::Compilers;
use kinds::Waiting;
use likeness::{VERSION, difference, subject};
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use tunesmith_core::{Asides, Error, Failure, FailureKind, Interrupt, MadeBy};
use tunesmith_space::{ConfigId, Space, Value};
use tunesmith_store::{Journal, WorkerReport, WorkerRole, WorkerState};

/// Time between looks at the interrupt and at started processes.
const LOOK: Duration = Duration::from_millis(50);

/// Maximum number of remarks about peers that were turned away.
const MOST_REFUSALS: usize = 20;

/// The choices for a fleet.
#[derive(Clone, Debug)]
pub struct FleetOptions {
    /// Its workers.
    pub spec: FleetSpec,
    /// The secret of the run.
    pub token: Token,
    /// The file of the problem. What lies in its folder is sent to workers.
    pub problem: PathBuf,
    /// The sizes that replace those of the file.
    pub sizes: Vec<(String, Value)>,
    /// The device of workers that name none themselves, as `--device` takes it.
    pub device: Option<String>,
    /// The command that starts a worker.
    pub worker: WorkerProgram,
    /// The rules of leases.
    pub terms: Terms,
    /// Time to wait for a worker if there is none.
    pub patience: Duration,
    /// True if the bar of a race is a time that holds for all configurations: the objective is time.
    pub is_timed: bool,
    /// True if workers of another kind wait for a run of their own ([`Pools`](crate::Pools)). Otherwise
    /// they are set aside.
    pub pools: bool,
}

impl FleetOptions {
    /// Time to wait for a worker if there is none.
    pub const PATIENCE: Duration = Duration::from_secs(600);
}

/// A worker as the coordinator knows it.
struct Member {
    name: String,
    outbox: Outbox,
    offer: Box<Offer>,
    /// Its id among the leases, once it is ready to measure.
    id: Option<WorkerId>,
    /// Its id among the leases for compiling, once it is ready to compile.
    compiler: Option<WorkerId>,
    /// A digest of the instructions that its processor knows.
    instructions: String,
    /// The parcels that it has.
    sent: Depot<()>,
    /// Its words if it is ready to compile, until somebody is ready to measure.
    readiness: Option<Readiness>,
    /// Its words if it is ready and its pool does not have its turn.
    waiting: Option<Waiting>,
}

impl Member {
    /// Creates a worker that is not ready yet.
    fn new(connection: Connection, offer: Box<Offer>) -> Self {
        Self {
            name: format!("worker {connection} ({}, process {})", offer.who.host, offer.who.process),
            outbox: offer.outbox.clone(),
            offer,
            id: None,
            compiler: None,
            instructions: String::new(),
            sent: Depot::of_worker(),
            readiness: None,
            waiting: None,
        }
    }

    /// Sends machine code that the worker does not have yet. Returns its digest.
    fn send_code(&mut self, made: Made) -> String {
        let digest = made.digest.clone();
        if self.sent.get(&digest).is_none() {
            self.sent.add(&digest, made.content.len() as u64, ());
            self.outbox.send_content(made);
        }
        digest
    }
}

/// Work for a worker, and for whom it is.
#[derive(Clone, Debug)]
struct Work {
    task: Task,
    config: ConfigId,
}

/// The end of a job that counts.
enum Ended {
    Answered(Box<Answer>, MadeBy),
    /// All attempts were lost.
    Failed(Failure),
}

/// The workers of a run, as the device of a tuner.
pub struct Fleet {
    // Declared first, so that it is dropped first: no connection is made while processes end.
    door: Door,
    events: Receiver<Event>,
    members: BTreeMap<Connection, Member>,
    crew: Crew,
    leases: Leases<Work>,
    compilers: Compilers,
    calibration: Calibration,
    space: Option<Space>,
    /// The message with which workers begin, once the problem is known.
    begin: Option<FromCoordinator>,
    /// The digests of the problem and of its space.
    subject: Map<String, Json>,
    identity: Option<Map<String, Json>>,
    /// The kind of the present pool, unless it is that of the first worker.
    kind: Option<Map<String, Json>>,
    /// The kinds whose pools have ended.
    finished: Vec<Map<String, Json>>,
    bar_ms: Option<f64>,
    ended: VecDeque<(JobId, Work, Ended)>,
    asides: Asides,
    refusals: usize,
    /// The time since which no worker is usable.
    alone_since: Option<Duration>,
    first_ready: Option<Duration>,
    looked: Duration,
    report: SharedReport,
    options: FleetOptions,
}

fn unusable(reason: impl Into<String>) -> Error {
    Error::Device(reason.into().into())
}

impl Fleet {
    /// Listens for workers, and starts those that the options ask for.
    ///
    /// # Errors
    /// The problem's files cannot be read, the address cannot be listened on, or a program cannot be
    /// started.
    pub fn start(options: FleetOptions) -> Result<Self, FleetError> {
        let sizes = options.sizes.iter().map(|(name, value)| (name.clone(), Journal::value(value))).collect();
        let subject = Subject { bundle: Bundle::of(&options.problem)?, sizes, device: options.device.clone() };
        let address = match &options.spec {
            FleetSpec::Local(_) => "127.0.0.1:0".to_string(),
            FleetSpec::Listen(address) => address.clone(),
            FleetSpec::Ssh(_) | FleetSpec::Slurm(_) | FleetSpec::HyperQueue(_) => "[::]:0".to_string(),
        };
        let (door, events) = Door::open(&address, options.token.clone(), subject)?;
        let crew = Crew::start(&options.spec, &options.worker, door.address, &options.token)?;
        let mut fleet = Self {
            door,
            events,
            members: BTreeMap::new(),
            crew,
            leases: Leases::new(options.terms),
            compilers: Compilers::new(options.terms),
            calibration: Calibration::default(),
            space: None,
            begin: None,
            subject: Map::new(),
            identity: None,
            kind: None,
            finished: Vec::new(),
            bar_ms: None,
            ended: VecDeque::new(),
            asides: Asides::default(),
            refusals: 0,
            alone_since: None,
            first_ready: None,
            looked: Duration::ZERO,
            report: SharedReport::default(),
            options,
        };
        fleet.report.change(|report| report.spec = fleet.options.spec.to_string());
        if let FleetSpec::Listen(_) = fleet.options.spec {
            fleet.note(format!("waiting for workers on port {}", fleet.door.address.port()));
        }
        Ok(fleet)
    }

    /// Returns the report of this fleet, which outlives it.
    pub fn report(&self) -> SharedReport {
        self.report.clone()
    }

    /// Returns the port that workers connect to.
    pub fn port(&self) -> u16 {
        self.door.address.port()
    }

    fn note(&mut self, text: String) {
        self.asides.notes.push(text);
    }

    /// Waits until `done` returns something. Returns `None` if interrupted.
    fn wait<T>(
        &mut self,
        interrupt: &Interrupt,
        mut done: impl FnMut(&mut Self) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        loop {
            if let Some(done) = done(self) {
                return Ok(Some(done));
            }
            if interrupt.is_raised() {
                return Ok(None);
            }
            self.step()?;
        }
    }

    /// Handles the next event, or what is due without one.
    fn step(&mut self) -> Result<(), Error> {
        let deadlines = [self.leases.next_deadline(), self.compilers.leases.next_deadline()];
        let left = deadlines.into_iter().flatten().min().map(|deadline| deadline.saturating_sub(self.door.now()));
        match self.events.recv_timeout(left.unwrap_or(LOOK).min(LOOK)) {
            Ok(event) => self.handle(event),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(unusable("the listener has ended")),
        }
        let now = self.door.now();
        for lost in self.leases.expire(now) {
            self.missed(lost);
        }
        for lost in self.compilers.leases.expire(now) {
            self.missed_compiling(lost);
        }
        self.issue();
        if now >= self.looked + LOOK {
            self.looked = now;
            let notes = self.crew.look();
            self.asides.notes.extend(notes);
            self.update_report(now);
            let unwritten = self.report.write(now, false);
            self.asides.notes.extend(unwritten);
            self.check_alone(now)?;
        }
        Ok(())
    }

    /// Tells that a worker did not answer a lease in time. A process of this host is replaced: nothing
    /// but itself can keep it from answering.
    fn missed(&mut self, lost: Lost<Work>) {
        let name = self.name(lost.worker);
        let is_probe = self.calibration.was_probe(lost.job);
        let again = if lost.failed.is_some() || is_probe { "" } else { "; it is issued anew" };
        let member = self.members.values().find(|member| member.id == Some(lost.worker));
        let is_ended = member.is_some_and(|member| self.crew.end(member.offer.who.process));
        let ended = if is_ended { "; its process is ended" } else { "" };
        self.note(format!("{name} did not answer lease {} in time{again}{ended}", lost.job.0));
        self.tell_if_aside(lost.worker);
        self.after_loss(lost);
    }

    /// Ends the run if nobody has been there to work for too long.
    fn check_alone(&mut self, now: Duration) -> Result<(), Error> {
        if self.leases.usable() > 0 {
            self.alone_since = None;
            return Ok(());
        }
        let since = *self.alone_since.get_or_insert(now);
        let may_come = matches!(self.options.spec, FleetSpec::Listen(_)) || self.crew.is_running();
        let is_anyone_there = may_come || !self.members.is_empty();
        if is_anyone_there && now < since + self.options.patience {
            return Ok(());
        }
        let last = self.asides.notes.last().map(|note| format!(" ({note})")).unwrap_or_default();
        Err(unusable(format!("no worker is left{last}; --resume continues the run with new ones")))
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Offered(connection, offer) => self.offered(connection, offer),
            Event::Said(connection, message) => self.said(connection, message),
            Event::Compiled(connection, job, result) => self.compiled(connection, JobId(job), result),
            Event::Left(connection, reason) => self.left(connection, &reason),
            Event::Refused(text) => {
                self.refusals += 1;
                if self.refusals <= MOST_REFUSALS {
                    self.note(text);
                }
            }
        }
    }

    fn offered(&mut self, connection: Connection, offer: Box<Offer>) {
        let member = Member::new(connection, offer);
        let begin = match member.offer.who.role {
            WorkerRole::Measures => &self.begin,
            WorkerRole::Compiles => &self.compilers.begin,
        };
        if let Some(begin) = begin {
            member.outbox.send(begin.clone());
        }
        self.members.insert(connection, member);
    }

    fn said(&mut self, connection: Connection, message: FromWorker) {
        let Some(member) = self.members.get(&connection) else { return };
        match message {
            FromWorker::Ready(readiness) => match member.offer.who.role {
                WorkerRole::Measures => self.ready(connection, readiness),
                WorkerRole::Compiles => self.ready_to_compile(connection, readiness),
            },
            FromWorker::Answer { job, attempt: _, answer } => match member.id {
                Some(worker) => self.answered(connection, worker, JobId(job), answer),
                None => self.turn_away(connection, "it answered before it was ready".to_string()),
            },
            FromWorker::Unable { reason } => self.turn_away(connection, reason),
            _ => self.turn_away(connection, "a message came out of turn".to_string()),
        }
    }

    /// Compares a worker with the first one. Lets it serve if they are alike.
    fn ready(&mut self, connection: Connection, readiness: Readiness) {
        let Some(member) = self.members.get_mut(&connection).filter(|member| member.id.is_none()) else { return };
        let Readiness { mut identity, problem, space, instructions, .. } = readiness;
        identity.insert(VERSION.to_string(), Json::from(member.offer.who.version.as_str()));
        member.instructions = instructions;
        self.compare_kind(connection, Waiting { identity, problem, space });
    }

    /// Lets a worker serve whose device and problem are those of the others.
    fn compare_kind(&mut self, connection: Connection, own: Waiting) {
        let identity = own.identity.clone();
        if let Some(member) = self.members.get_mut(&connection).filter(|_| self.space.is_none()) {
            // Its pool begins as soon as the search does.
            member.waiting = Some(own);
            return;
        }
        let of_device = self.identity.as_ref().and_then(|known| difference(known, &identity));
        let different = of_device.or_else(|| difference(&self.subject, &subject(&own.problem, &own.space)));
        if let Some(difference) = different {
            return if self.may_wait(&own) {
                self.keep_waiting(connection, own, &difference);
            } else {
                self.turn_away(connection, format!("its {difference}; times of both cannot be compared"));
            };
        }
        if let Some(other) = self.sharer(connection) {
            let reason = format!("{other} measures on the same device; choose another with --device");
            return self.turn_away(connection, reason);
        }
        self.identity.get_or_insert_with(|| identity.clone());
        let room = self.room_of_one();
        let device = identity.get("device").and_then(Json::as_str).unwrap_or_default().to_string();
        let (id, now) = (self.leases.join(room), self.door.now());
        self.first_ready.get_or_insert(now);
        self.calibration.join(id, now);
        if let Some(member) = self.members.get_mut(&connection) {
            member.id = Some(id);
            let name = member.name.clone();
            let worker = WorkerReport { id: connection, name, device, ..WorkerReport::default() };
            self.report.change(|report| report.workers.push(worker));
        }
        self.note_ready(connection);
        self.look_at_compilers();
        self.probe_all();
        self.issue();
    }

    fn note_ready(&mut self, connection: Connection) {
        let Some(name) = self.members.get(&connection).map(|member| member.name.clone()) else { return };
        let count = self.members.values().filter(|member| member.id.is_some()).count();
        self.note(format!("{name} is ready; {count} serve now"));
    }

    /// Ends the connection of a worker that cannot serve, and says why.
    fn turn_away(&mut self, connection: Connection, reason: String) {
        let Some(member) = self.members.get(&connection) else { return };
        let text = format!("{} is set aside: {reason}", member.name);
        member.outbox.send(FromCoordinator::End { reason: Some(reason.clone()) });
        self.note(text);
        self.remove(connection, WorkerState::SetAside, &reason);
    }

    fn left(&mut self, connection: Connection, reason: &str) {
        let Some(member) = self.members.get(&connection) else { return };
        let text = format!("{} left: {reason}", member.name);
        self.note(text);
        self.remove(connection, WorkerState::Gone, reason);
    }

    fn remove(&mut self, connection: Connection, state: WorkerState, reason: &str) {
        let Some((id, compiler)) = self.members.get(&connection).map(|member| (member.id, member.compiler)) else {
            return;
        };
        let now = self.door.now();
        self.update_report(now);
        let lost = id.map(|id| self.leases.leave(id, now)).unwrap_or_default();
        let uncompiled = compiler.map(|id| self.compilers.leases.leave(id, now)).unwrap_or_default();
        self.report.change(|report| {
            if let Some(worker) = report.worker(connection) {
                (worker.state, worker.reason) = (state, Some(reason.to_string()));
                worker.lost += (lost.len() + uncompiled.len()) as u64;
                worker.holds = 0;
            }
        });
        if let Some(id) = id {
            self.calibration.leave(id);
        }
        lost.into_iter().for_each(|lost| self.after_loss(lost));
        uncompiled.into_iter().for_each(|lost| self.uncompiled(lost));
        self.members.remove(&connection);
        self.count_others();
        self.issue();
    }

    /// Answers for a job whose attempts were all lost.
    fn after_loss(&mut self, lost: Lost<Work>) {
        let Some(work) = lost.failed else { return };
        let attempts = self.options.terms.most_attempts;
        let text = format!("{attempts} workers were lost, or did not answer, while they measured this configuration");
        self.ended.push_back((lost.job, work, Ended::Failed(Failure::new(FailureKind::Timeout, text))));
    }

    fn tell_if_aside(&mut self, worker: WorkerId) {
        if self.leases.is_set_aside(worker) {
            let name = self.name(worker);
            self.note(format!("{name} is set aside: it has not answered {} leases", self.options.terms.most_failures));
        }
    }

    fn issue(&mut self) {
        let now = self.door.now();
        self.issue_compiling(now);
        self.leases.issue(now).into_iter().for_each(|issue| self.send_lease(issue));
        // A worker that has nothing to do compiles what nobody compiles yet.
        while self.leases.waiting() == 0 && self.leases.has_idle() {
            let Some(work) = self.compilers.leases.take_waiting() else { return };
            self.leases.add(work, Whom::Any);
            self.leases.issue(now).into_iter().for_each(|issue| self.send_lease(issue));
        }
    }

    /// Sends a lease, and before it the machine code of an evaluation that is compiled.
    fn send_lease(&mut self, issue: Issue<Work>) {
        let member = self.members.values_mut().find(|member| member.id == Some(issue.worker));
        let Some(member) = member else { return };
        let Issue { job, attempt, work, .. } = issue;
        let is_evaluation = matches!(work.task, Task::Evaluate { .. });
        let made = self.compilers.made(work.config, &member.instructions).filter(|_| is_evaluation);
        let parcel = made.map(|made| member.send_code(made));
        let (job, task, bar_ms) = (job.0, work.task, self.bar_ms);
        member.outbox.send(FromCoordinator::Lease { job, attempt, task, bar_ms, parcel });
    }

    fn name(&self, worker: WorkerId) -> String {
        let member = self.members.values().find(|member| member.id == Some(worker));
        member.map_or_else(|| format!("worker {}", worker.0), |member| member.name.clone())
    }

    /// Returns the number of leases of one worker: a second one on a device that compiles beside its
    /// measurements.
    fn room_of_one(&self) -> usize {
        let own = self.members.values().filter(|member| member.is_of_pool());
        let target = own.into_iter().find_map(|member| member.offer.target.clone());
        1 + usize::from(target.is_some_and(|target| !target.target().is_processor()))
    }

    fn update_report(&mut self, now: Duration) {
        let since = now.saturating_sub(self.first_ready.unwrap_or(now));
        let (measuring, compiling) = (&self.leases, &self.compilers.leases);
        let members = &self.members;
        self.report.change(|report| {
            for (connection, member) in members {
                let own = member.id.map(|id| (measuring, id)).or(member.compiler.map(|id| (compiling, id)));
                let (Some((leases, id)), Some(worker)) = (own, report.worker(*connection)) else { continue };
                count(worker, leases, id, now);
            }
            report.waiting = measuring.waiting() + compiling.waiting();
            report.settle(since);
        });
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
        let ended = self.wait(interrupt, of_job)?;
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

/// Brings the report about a worker up to date.
fn count(worker: &mut WorkerReport, leases: &Leases<Work>, id: WorkerId, now: Duration) {
    let counts = leases.counts(id);
    (worker.second, worker.lost, worker.holds) = (counts.second, counts.lost, leases.held_by(id));
    match worker.role {
        WorkerRole::Measures => (worker.evaluations, worker.checks) = (counts.answered, counts.own),
        WorkerRole::Compiles => worker.compiled = counts.answered,
    }
    worker.busy = leases.busy(id, now).as_secs_f64();
    worker.state = match (leases.is_set_aside(id), leases.is_usable(id)) {
        (true, _) => WorkerState::SetAside,
        (false, false) => WorkerState::Silent,
        (false, true) => WorkerState::Ready,
    };
}

impl Drop for Fleet {
    /// Tells the workers that the run has ended. Processes that were started end next.
    fn drop(&mut self) {
        self.finish_report();
        self.door.close();
        let late = self.events.try_iter().filter_map(|event| match event {
            Event::Offered(_, offer) => Some(offer.outbox),
            _ => None,
        });
        for outbox in self.members.values().map(|member| member.outbox.clone()).chain(late) {
            outbox.send(FromCoordinator::End { reason: None });
        }
    }
}

#[cfg(test)]
mod tests;
