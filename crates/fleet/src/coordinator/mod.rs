//! The coordinator: a device whose answers come from workers.

mod answers;
mod calibration;
mod compilers;
mod device;
mod kinds;
mod likeness;
mod member;
mod options;
mod state;

use crate::bundle::Bundle;
use crate::hall::{Connection, Door, Entrance, Event, Offer, Outbox, Subject};
use crate::lease::{Issue, JobId, Leases, Lost, Whom, WorkerId};
use crate::report::SharedReport;
use crate::start::{Crew, Patience};
use crate::wire::{Answer, FromCoordinator, FromWorker, Readiness, Task};
use crate::{FleetError, FleetSpec};
use calibration::Calibration;
use compilers::Compilers;
use likeness::{CLOCKS, VERSION, clocks, difference, subject};
use member::{Member, Waiting};
pub use options::FleetOptions;
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;
use tunesmith_core::{Bound, Error, Failure, FailureKind, Interrupt, MadeBy, SecondAnswers};
use tunesmith_space::{ConfigId, Space};
use tunesmith_store::{Journal, WorkerReport, WorkerRole, WorkerState};

/// Time between looks at the interrupt and at started processes.
const LOOK: Duration = Duration::from_millis(50);

/// Maximum number of remarks about peers that were turned away.
const MOST_REFUSALS: usize = 20;

/// Maximum number of remarks that an end without workers repeats.
const MOST_REASONS: usize = 3;

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
    door: Box<dyn Entrance>,
    members: BTreeMap<Connection, Member>,
    /// The connections of the workers that measure.
    measuring: HashMap<WorkerId, Connection>,
    /// The connections of the workers that compile.
    compiling: HashMap<WorkerId, Connection>,
    crew: Crew,
    leases: Leases<Work>,
    compilers: Compilers,
    calibration: Calibration,
    space: Option<Space>,
    /// The default configuration of the problem.
    default: Option<ConfigId>,
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
    /// True if the bar and the bound of the best are the same for all configurations.
    shares_bounds: bool,
    /// The bound of evaluations, and that of what is measured again.
    bounds: [Bound; 2],
    ended: VecDeque<(JobId, Work, Ended)>,
    /// The remarks for users.
    notes: Vec<String>,
    seconds: SecondAnswers,
    refusals: usize,
    /// The reason why a thread of this fleet failed.
    broken: Option<String>,
    /// The most workers without work that a remark has told of.
    most_idle: usize,
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
        let door = Door::open(&address, options.token.clone(), subject)?;
        let patience = Patience { time: options.patience, interrupt: &options.interrupt };
        let crew = Crew::start(&options.spec, &options.worker, door.address, &options.token, &patience)?;
        let mut fleet = Self::behind(Box::new(door), crew, options);
        if let FleetSpec::Listen(_) = fleet.options.spec {
            fleet.note(format!("waiting for workers on port {}", fleet.door.port()));
        }
        Ok(fleet)
    }

    /// Creates a fleet whose workers come by `door`.
    pub(crate) fn behind(door: Box<dyn Entrance>, crew: Crew, options: FleetOptions) -> Self {
        let fleet = Self {
            door,
            members: BTreeMap::new(),
            measuring: HashMap::new(),
            compiling: HashMap::new(),
            crew,
            leases: Leases::new(options.terms),
            compilers: Compilers::new(options.terms),
            calibration: Calibration::default(),
            space: None,
            default: None,
            begin: None,
            subject: Map::new(),
            identity: None,
            kind: None,
            finished: Vec::new(),
            bar_ms: None,
            shares_bounds: false,
            bounds: [Bound::Open; 2],
            ended: VecDeque::new(),
            notes: Vec::new(),
            seconds: SecondAnswers::default(),
            refusals: 0,
            broken: None,
            most_idle: 0,
            alone_since: None,
            first_ready: None,
            looked: Duration::ZERO,
            report: SharedReport::default(),
            options,
        };
        fleet.report.change(|report| report.spec = fleet.options.spec.to_string());
        fleet
    }

    /// Returns the report of this fleet, which outlives it.
    pub fn report(&self) -> SharedReport {
        self.report.clone()
    }

    /// Returns the port that workers connect to.
    pub fn port(&self) -> u16 {
        self.door.port()
    }

    fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    /// Waits until `done` returns something. Returns `None` if interrupted.
    fn wait_until<T>(
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
        let event = self.door.next(left.unwrap_or(LOOK).min(LOOK));
        if let Some(event) = event.map_err(|_| unusable("the listener has ended"))? {
            self.handle(event);
        }
        if let Some(sentence) = self.broken.take() {
            return Err(unusable(sentence));
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
            let notes = self.crew.look(now);
            self.notes.extend(notes);
            self.update_report(now);
            let unwritten = self.report.write(now, false);
            self.notes.extend(unwritten);
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
        let process = self.measures(lost.worker).map(|member| member.offer.who.process);
        let is_ended = process.is_some_and(|process| self.crew.end(process));
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
        let notes = &self.notes[self.notes.len().saturating_sub(MOST_REASONS)..];
        let last = (!notes.is_empty()).then(|| notes.join("; ")).or_else(|| self.crew.running());
        let last = last.map(|note| format!(" ({note})")).unwrap_or_default();
        Err(unusable(format!("no worker is left{last}; --resume continues the run with new ones")))
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Offered(connection, offer) => self.offered(connection, offer),
            Event::Said(connection, message) => self.said(connection, message),
            Event::Compiled(connection, job, result) => self.compiled(connection, JobId(job), result),
            Event::Left(connection, reason) => self.left(connection, &reason),
            Event::Broken(sentence) => self.broken = Some(sentence),
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
        let clocks = clocks(member.offer.target.as_ref(), &member.offer.limits);
        identity.extend(clocks.map(|clocks| (CLOCKS.to_string(), Json::from(clocks))));
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
            self.measuring.insert(id, connection);
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
        id.map(|id| self.measuring.remove(&id));
        compiler.map(|id| self.compiling.remove(&id));
        self.members.remove(&connection);
        self.count_others();
        self.issue();
    }

    /// Answers for a job whose attempts were all lost.
    fn after_loss(&mut self, lost: Lost<Work>) {
        let Some(work) = lost.failed else { return };
        self.calibration.learn(work.config, &[]);
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
        let connection = self.measuring.get(&issue.worker);
        let Some(member) = connection.and_then(|connection| self.members.get_mut(connection)) else { return };
        let Issue { job, attempt, work, .. } = issue;
        let is_evaluation = matches!(work.task, Task::Evaluate { .. });
        let made = self.compilers.made(work.config, &member.instructions).filter(|_| is_evaluation);
        let parcel = made.map(|made| member.send_code(made));
        let bound = self.bounds[usize::from(!is_evaluation)].into();
        let (job, task, bar_ms) = (job.0, work.task, self.bar_ms);
        member.outbox.send(FromCoordinator::Lease { job, attempt, task, bar_ms, bound, parcel });
    }

    fn name(&self, worker: WorkerId) -> String {
        self.measures(worker).map_or_else(|| format!("worker {}", worker.0), |member| member.name.clone())
    }

    /// Returns a worker that measures.
    fn measures(&self, worker: WorkerId) -> Option<&Member> {
        self.members.get(self.measuring.get(&worker)?)
    }

    /// Returns the number of leases of one worker: a second one on a device that compiles beside its
    /// measurements.
    fn room_of_one(&self) -> usize {
        let own = self.members.values().filter(|member| member.is_of_pool());
        let target = own.into_iter().find_map(|member| member.offer.target.as_ref());
        1 + usize::from(target.is_some_and(|target| !target.is_processor()))
    }
}

/// Maximum time that the end of a run waits for its workers to hear of it.
const GOODBYE: Duration = Duration::from_secs(1);

impl Drop for Fleet {
    /// Tells the workers that the run has ended. Processes that were started end next.
    fn drop(&mut self) {
        self.finish_report();
        self.door.close();
        let mut outboxes: Vec<Outbox> = self.members.values().map(|member| member.outbox.clone()).collect();
        while let Ok(Some(event)) = self.door.next(Duration::ZERO) {
            if let Event::Offered(_, offer) = event {
                outboxes.push(offer.outbox);
            }
        }
        outboxes.iter().for_each(|outbox| outbox.send(FromCoordinator::End { reason: None }));
        // Otherwise this process may end before they have heard it, and they would report a coordinator that is gone.
        let (mut open, end) = (outboxes.len(), self.door.now() + GOODBYE);
        while open > 0 {
            match self.door.next(end.saturating_sub(self.door.now())) {
                Ok(Some(Event::Left(..))) => open -= 1,
                Ok(Some(_)) if self.door.now() < end => {}
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests;
