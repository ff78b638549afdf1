//! Workers that compile for those that measure.
//!
//! An evaluation is compiled by a lease of its own first, if anybody compiles. Its parcel goes with the
//! lease that measures it. Without a parcel, whatever the reason, the worker that measures compiles. No
//! evaluation waits for a compiler that does not answer for longer than that lease lasts.

use super::likeness::{CLOCKS, VERSION, difference, subject};
use super::{Fleet, Member, Work};
use crate::depot::{Depot, Made};
use crate::hall::Connection;
use crate::lease::{Answered, JobId, Leases, Lost, Terms, Whom, WorkerId};
use crate::wire::{FromCoordinator, LeaseBound, Readiness, Task};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_backend::Target;
use tunesmith_device::SETTING;
use tunesmith_space::ConfigId;
use tunesmith_store::{WorkerReport, WorkerRole};

/// Maximum number of configurations that one worker compiles at once.
const MOST_ROOM: usize = 256;

/// Time that a lease for compiling lasts, at most, until a few were answered; and at least.
const FIRST: Duration = Duration::from_secs(120);
const LEAST: Duration = Duration::from_secs(30);

/// The compiling of a pool's configurations.
pub(super) struct Compilers {
    pub(super) leases: Leases<Work>,
    /// The order that names the device to compile for.
    device: FromCoordinator,
    /// The same order, once the search has begun.
    pub(super) begin: Option<FromCoordinator>,
    depot: Depot<Arc<Vec<u8>>>,
    /// The parcels by configuration, with the instructions of the processor that made them.
    made: BTreeMap<ConfigId, (String, String)>,
    /// True if the machine code is for processors, which must know the same instructions.
    is_for_processors: bool,
}

impl Compilers {
    pub(super) fn new(terms: Terms) -> Self {
        let (first, least) = (terms.first.min(FIRST), terms.least.min(LEAST));
        // Whoever measures can compile, so that one attempt is enough.
        let terms = Terms { first, least, factor: 4, grace: Duration::ZERO, most_attempts: 1, ..terms };
        Self {
            leases: Leases::new(terms),
            device: FromCoordinator::Compile { target: None, limits: Map::new() },
            begin: None,
            depot: Depot::of_coordinator(),
            made: BTreeMap::new(),
            is_for_processors: true,
        }
    }

    /// Sets the device to compile for, without which it is the processor.
    pub(super) fn set_device(&mut self, target: Option<&Target>, limits: Map<String, Json>) {
        self.is_for_processors = target.is_none_or(Target::is_processor);
        self.device = FromCoordinator::Compile { target: target.and_then(Target::description), limits };
    }

    /// Returns the parcel of a configuration for a worker whose processor knows these instructions.
    pub(super) fn made(&self, config: ConfigId, instructions: &str) -> Option<Made> {
        let (digest, known) = self.made.get(&config)?;
        let fits = !self.is_for_processors || known == instructions;
        let content = self.depot.get(digest).filter(|_| fits)?;
        Some(Made { digest: digest.clone(), content: Arc::clone(content) })
    }

    fn keep(&mut self, config: ConfigId, made: Made, instructions: String) {
        let Made { digest, content } = made;
        self.depot.add(&digest, content.len() as u64, content);
        self.made.insert(config, (digest, instructions));
    }
}

impl Member {
    /// Returns true if the worker measures for the present pool.
    pub(super) fn is_of_pool(&self) -> bool {
        self.offer.who.role == WorkerRole::Measures && self.waiting.is_none()
    }

    /// Returns true if both workers run on processors of one machine, and may use the same ones.
    fn shares_processors(&self, other: &Self) -> bool {
        let (own, other) = (&self.offer.who, &other.offer.who);
        let is_apart = !own.cpus.is_empty() && !other.cpus.is_empty();
        let is_apart = is_apart && own.cpus.iter().all(|cpu| !other.cpus.contains(cpu));
        !own.machine.is_empty() && own.machine == other.machine && !is_apart
    }

    /// Returns the address of the GPU on its bus. An instance of a partitioned GPU has none of its own.
    fn gpu_address(&self) -> Option<&str> {
        let target = self.offer.target.as_ref().filter(|target| !target.title().contains("MIG"))?;
        Some(target.managed().ok()?.address.as_str())
    }
}

impl Fleet {
    /// Returns the worker that measures on the same GPU.
    pub(super) fn sharer(&self, connection: Connection) -> Option<String> {
        let own = self.members.get(&connection)?;
        let address = own.gpu_address()?;
        let is_same = |other: &&Member| {
            let is_machine = other.offer.who.machine == own.offer.who.machine;
            other.id.is_some() && is_machine && other.gpu_address() == Some(address)
        };
        self.members.values().find(is_same).map(|other| other.name.clone())
    }

    /// Tells those that compile for which device, now that the search begins.
    pub(super) fn begin_compiling(&mut self) {
        let order = self.compilers.device.clone();
        for member in self.members.values().filter(|member| member.offer.who.role == WorkerRole::Compiles) {
            member.outbox.send(order.clone());
        }
        self.compilers.begin = Some(order);
    }

    /// Lets a worker compile whose machine code fits those that measure.
    pub(super) fn ready_to_compile(&mut self, connection: Connection, readiness: Readiness) {
        let Some(member) = self.members.get_mut(&connection) else { return };
        if member.compiler.is_some() {
            return self.turn_away(connection, "a message came out of turn".to_string());
        }
        member.readiness = Some(readiness);
        self.look_at_compilers();
    }

    /// Judges those that are ready to compile, once somebody is ready to measure.
    pub(super) fn look_at_compilers(&mut self) {
        let Some(mut known) = self.identity.clone() else { return };
        // Whoever compiles needs no reference and has no clock, and its surroundings do not change the code.
        ["reference", CLOCKS].into_iter().chain(SETTING).for_each(|name| drop(known.remove(name)));
        let of_role = |(_, member): &(&Connection, &Member)| member.offer.who.role == WorkerRole::Compiles;
        let compilers: Vec<Connection> = self.members.iter().filter(of_role).map(|(at, _)| *at).collect();
        compilers.into_iter().for_each(|connection| self.judge_compiler(connection, &known));
    }

    /// Compares a worker that is ready to compile with those that measure. Lets it compile if its code
    /// fits them, and if it disturbs none of them.
    fn judge_compiler(&mut self, connection: Connection, known: &Map<String, Json>) {
        if let Some(other) = self.disturbed(connection) {
            let remedy = "start it on another host, or both with processors of their own (--cpus)";
            return self.turn_away(connection, format!("it compiles on the processors of {other}; {remedy}"));
        }
        let Some(member) = self.members.get_mut(&connection) else { return };
        let Some(mut own) = member.readiness.take() else { return };
        own.identity.insert(VERSION.to_string(), Json::from(member.offer.who.version.as_str()));
        let different = difference(known, &own.identity);
        let different = different.or_else(|| difference(&self.subject, &subject(&own.problem, &own.space)));
        match different {
            Some(different) => self.turn_away(connection, format!("its {different}; its code does not fit")),
            None => self.let_compile(connection, own),
        }
    }

    fn let_compile(&mut self, connection: Connection, readiness: Readiness) {
        let Some(member) = self.members.get_mut(&connection) else { return };
        let id = self.compilers.leases.join(readiness.room.min(MOST_ROOM));
        member.compiler = Some(id);
        self.compiling.insert(id, connection);
        member.instructions = readiness.instructions;
        let device = readiness.identity.get("device").and_then(Json::as_str).unwrap_or_default().to_string();
        let (name, role) = (member.name.clone(), WorkerRole::Compiles);
        let worker = WorkerReport { id: connection, name: name.clone(), device, role, ..WorkerReport::default() };
        self.report.change(|report| report.workers.push(worker));
        let count = self.members.values().filter(|member| member.compiler.is_some()).count();
        self.note(format!("{name} is ready to compile; {count} compile now"));
        self.issue();
    }

    /// Returns the worker whose measurements this one would disturb.
    fn disturbed(&self, connection: Connection) -> Option<String> {
        let own = self.members.get(&connection).filter(|_| self.compilers.is_for_processors)?;
        let is_same = |other: &&Member| other.id.is_some() && other.shares_processors(own);
        self.members.values().find(is_same).map(|other| other.name.clone())
    }

    /// Takes an evaluation. It is compiled first, if somebody compiles.
    pub(super) fn ask(&mut self, work: Work) {
        let is_compiled = self.compilers.made.contains_key(&work.config);
        let leases = match self.compilers.leases.usable() {
            1.. if !is_compiled => &mut self.compilers.leases,
            _ => &mut self.leases,
        };
        leases.add(work, Whom::Any);
    }

    /// Issues leases for compiling. Without anybody who compiles, whoever measures does it.
    pub(super) fn issue_compiling(&mut self, now: Duration) {
        if self.compilers.leases.usable() == 0 {
            while let Some(work) = self.compilers.leases.take_waiting() {
                self.leases.add(work, Whom::Any);
            }
        }
        for issue in self.compilers.leases.issue(now) {
            let connection = self.compiling.get(&issue.worker);
            let member = connection.and_then(|connection| self.members.get(connection));
            let task = Task::Compile { config: issue.work.config.rank().to_string() };
            let (job, attempt) = (issue.job.0, issue.attempt);
            if let Some(member) = member {
                let bound = LeaseBound::Open;
                member.outbox.send(FromCoordinator::Lease { job, attempt, task, bar_ms: None, bound, parcel: None });
            }
        }
    }

    /// Keeps what a worker compiled. Its evaluation may be measured now.
    pub(super) fn compiled(&mut self, connection: Connection, job: JobId, result: Result<Made, String>) {
        let Some(member) = self.members.get(&connection) else { return };
        let Some(id) = member.compiler else {
            return self.turn_away(connection, "it answered before it was ready".to_string());
        };
        let instructions = member.instructions.clone();
        match self.compilers.leases.answer(id, job, self.door.now()) {
            Answered::First { work, .. } => {
                // Whoever measures finds out by itself why a configuration does not compile.
                if let Ok(made) = result {
                    self.compilers.keep(work.config, made, instructions);
                }
                self.leases.add(work, Whom::Any);
            }
            // Its lease had ended, and the evaluation goes on without it.
            Answered::Second => {}
            Answered::Unasked => self.turn_away(connection, format!("it answered lease {} of another", job.0)),
        }
        self.issue();
    }

    /// Tells that a worker did not compile in time.
    pub(super) fn missed_compiling(&mut self, lost: Lost<Work>) {
        let name = self.compiler_name(lost.worker);
        self.note(format!("{name} did not compile lease {} in time; whoever measures it compiles it", lost.job.0));
        if self.compilers.leases.is_set_aside(lost.worker) {
            let most = self.options.terms.most_failures;
            self.note(format!("{name} is set aside: it has not answered {most} leases"));
        }
        self.uncompiled(lost);
    }

    /// Lets an evaluation be measured that nobody compiled.
    pub(super) fn uncompiled(&mut self, lost: Lost<Work>) {
        if let Some(work) = lost.failed {
            self.leases.add(work, Whom::Any);
        }
    }

    fn compiler_name(&self, worker: WorkerId) -> String {
        let member = self.compiling.get(&worker).and_then(|connection| self.members.get(connection));
        member.map_or_else(|| "a worker".to_string(), |member| member.name.clone())
    }
}
