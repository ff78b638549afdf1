//! Leases: which worker does what until when. A state machine without input, output or a clock.
//!
//! Every job has an id, and is issued to a worker as a lease with the number of the attempt and a
//! deadline. A lease ends by an answer, by its deadline, or when its worker leaves or gives it back.
//! The job of an ended lease is issued anew, unless it was answered. The first answer to a job
//! counts. Any further answer is recognised as a second one.
//!
//! Ids ascend and every job is open or closed, so that a second answer is recognised without a list
//! of all jobs that were ever closed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The id of a job. Ids ascend in the order in which jobs were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u64);

/// The id of a worker. A worker that leaves and comes back is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub u64);

/// The rules of leases.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The time that a lease lasts until three jobs were answered.
    pub first: Duration,
    /// The least time that a lease lasts.
    pub least: Duration,
    /// The time that a lease lasts as a multiple of the longest time to an answer.
    pub factor: u32,
    /// Number of leases of one job that may end without an answer. The job then has failed.
    pub most_attempts: u32,
    /// Number of leases in a row that a worker may not answer. It is then set aside.
    pub most_failures: u32,
}

impl Default for Terms {
    /// Returns the default rules. The first evaluation compiles the reference and may wait for a
    /// license, so that it has ten minutes. Ten times the longest answer is beyond any noise.
    fn default() -> Self {
        let (first, least) = (Duration::from_secs(600), Duration::from_secs(60));
        Self { first, least, factor: 10, most_attempts: 3, most_failures: 3 }
    }
}

/// Number of answers after which the longest of them says how long a lease lasts.
const KNOWN: u64 = 3;

/// A job that a worker is to do now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue<T> {
    /// The worker.
    pub worker: WorkerId,
    /// The job.
    pub job: JobId,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The work.
    pub work: T,
}

/// The meaning of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answered<T> {
    /// The first answer to the job: it counts.
    First(T),
    /// A further answer: the job was answered or has failed before.
    Second,
    /// The worker was never asked for this job.
    Unasked,
}

/// The end of a lease without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost<T> {
    /// The worker.
    pub worker: WorkerId,
    /// The job.
    pub job: JobId,
    /// The work, if this was its last attempt: the job has failed.
    pub failed: Option<T>,
}

/// The counts of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of its answers that count.
    pub answered: u64,
    /// Number of its further answers.
    pub second: u64,
    /// Number of its leases that ended without an answer.
    pub lost: u64,
    /// The time in which it held a lease.
    pub busy: Duration,
}

#[derive(Clone, Debug)]
struct Job<T> {
    work: T,
    /// True if the job must stay with the worker of the others like it.
    is_steady: bool,
    /// Number of leases issued.
    attempts: u32,
    /// Number of leases that ended without an answer.
    lost: u32,
    /// Number of leases that last.
    holders: usize,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    issued: Duration,
    deadline: Duration,
}

#[derive(Clone, Debug)]
struct Worker {
    /// Number of leases that it may hold at once.
    room: usize,
    held: BTreeMap<JobId, Held>,
    /// Jobs of leases past their deadlines that it has not answered.
    overdue: BTreeSet<JobId>,
    /// Number of leases in a row that ended without an answer.
    failures: u32,
    is_set_aside: bool,
    busy_since: Option<Duration>,
    counts: Counts,
}

/// The jobs and the workers of a run. `T` is the work of a job.
#[derive(Clone, Debug)]
pub struct Leases<T> {
    terms: Terms,
    jobs: BTreeMap<JobId, Job<T>>,
    /// The open jobs that nobody holds.
    waiting: BTreeSet<JobId>,
    workers: BTreeMap<WorkerId, Worker>,
    /// The worker that steady jobs stay with.
    anchor: Option<WorkerId>,
    next_job: u64,
    next_worker: u64,
    answers: u64,
    longest: Duration,
}

impl<T: Clone> Leases<T> {
    /// Creates the state without jobs and workers.
    pub fn new(terms: Terms) -> Self {
        Self {
            terms,
            jobs: BTreeMap::new(),
            waiting: BTreeSet::new(),
            workers: BTreeMap::new(),
            anchor: None,
            next_job: 1,
            next_worker: 1,
            answers: 0,
            longest: Duration::ZERO,
        }
    }

    /// Adds a job. A steady job is done by the worker that does the other steady ones, as long as it
    /// is there: its times are compared with theirs.
    pub fn add(&mut self, work: T, is_steady: bool) -> JobId {
        let id = JobId(self.next_job);
        self.next_job += 1;
        self.jobs.insert(id, Job { work, is_steady, attempts: 0, lost: 0, holders: 0 });
        self.waiting.insert(id);
        id
    }

    /// Adds a worker that may hold `room` leases at once, at least 1.
    pub fn join(&mut self, room: usize) -> WorkerId {
        let id = WorkerId(self.next_worker);
        self.next_worker += 1;
        let worker = Worker {
            room: room.max(1),
            held: BTreeMap::new(),
            overdue: BTreeSet::new(),
            failures: 0,
            is_set_aside: false,
            busy_since: None,
            counts: Counts::default(),
        };
        self.workers.insert(id, worker);
        id
    }

    /// Removes a worker. Its leases end.
    pub fn leave(&mut self, id: WorkerId) -> Vec<Lost<T>> {
        let Some(mut worker) = self.workers.remove(&id) else { return Vec::new() };
        if self.anchor == Some(id) {
            self.anchor = None;
        }
        let held = std::mem::take(&mut worker.held);
        held.into_keys().filter_map(|job| self.end(id, job)).collect()
    }

    /// Takes a lease back that its worker cannot answer. The worker goes on.
    pub fn give_back(&mut self, id: WorkerId, job: JobId, now: Duration) -> Option<Lost<T>> {
        let worker = self.workers.get_mut(&id)?;
        worker.held.remove(&job)?;
        worker.blame(self.terms.most_failures);
        worker.settle(now);
        self.forget_anchor_aside(id);
        self.end(id, job)
    }

    /// Ends the leases whose deadline has passed. Their workers get no further lease before they
    /// answer.
    pub fn expire(&mut self, now: Duration) -> Vec<Lost<T>> {
        let mut ended = Vec::new();
        for (id, worker) in &mut self.workers {
            let due: Vec<JobId> =
                worker.held.iter().filter(|(_, held)| held.deadline <= now).map(|(job, _)| *job).collect();
            for job in due {
                worker.held.remove(&job);
                worker.overdue.insert(job);
                worker.blame(self.terms.most_failures);
                ended.push((*id, job));
            }
            worker.settle(now);
        }
        ended.iter().for_each(|(id, _)| self.forget_anchor_aside(*id));
        ended.into_iter().filter_map(|(id, job)| self.end(id, job)).collect()
    }

    /// Records an answer of a worker.
    pub fn answer(&mut self, id: WorkerId, job: JobId, now: Duration) -> Answered<T> {
        let is_known = (1..self.next_job).contains(&job.0);
        let Some(worker) = self.workers.get_mut(&id).filter(|_| is_known) else { return Answered::Unasked };
        let held = worker.held.remove(&job);
        let was_asked = held.is_some() || worker.overdue.remove(&job);
        let is_open = self.jobs.contains_key(&job);
        if is_open && !was_asked {
            return Answered::Unasked;
        }
        if was_asked {
            worker.failures = 0;
        }
        worker.settle(now);
        let Some(closed) = self.jobs.remove(&job) else {
            worker.counts.second += 1;
            return Answered::Second;
        };
        worker.counts.answered += 1;
        self.waiting.remove(&job);
        self.answers += 1;
        if let Some(held) = held {
            self.longest = self.longest.max(now.saturating_sub(held.issued));
        }
        Answered::First(closed.work)
    }

    /// Issues the jobs that wait to the workers that have room: the oldest first, to the worker that
    /// holds least.
    pub fn issue(&mut self, now: Duration) -> Vec<Issue<T>> {
        let mut issued = Vec::new();
        let mut is_full = false;
        for job in self.waiting.clone() {
            let is_steady = self.jobs.get(&job).is_some_and(|job| job.is_steady);
            if is_full && !is_steady {
                continue;
            }
            match self.taker(job) {
                Some(worker) => issued.extend(self.lease(worker, job, now)),
                // A job that any worker may take finds none: all are busy.
                None => is_full |= !is_steady,
            }
        }
        issued
    }

    /// Closes a job that nobody needs any more. A later answer to it is a second one.
    pub fn withdraw(&mut self, job: JobId) {
        self.jobs.remove(&job);
        self.waiting.remove(&job);
    }

    /// Sets a worker aside: it gets no further lease.
    pub fn set_aside(&mut self, id: WorkerId) {
        if let Some(worker) = self.workers.get_mut(&id) {
            worker.is_set_aside = true;
        }
        self.forget_anchor_aside(id);
    }

    /// Returns the time of the next deadline.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.workers.values().flat_map(|worker| worker.held.values()).map(|held| held.deadline).min()
    }

    /// Returns the worker that steady jobs stay with.
    pub fn anchor(&self) -> Option<WorkerId> {
        self.anchor
    }

    /// Returns true if a worker is set aside.
    pub fn is_set_aside(&self, id: WorkerId) -> bool {
        self.workers.get(&id).is_some_and(|worker| worker.is_set_aside)
    }

    /// Returns the number of workers that get leases or work on one.
    pub fn usable(&self) -> usize {
        self.workers.values().filter(|worker| worker.is_usable()).count()
    }

    /// Returns the work of an open job.
    pub fn work(&self, job: JobId) -> Option<&T> {
        self.jobs.get(&job).map(|job| &job.work)
    }

    /// Returns the number of open jobs.
    pub fn open(&self) -> usize {
        self.jobs.len()
    }

    /// Returns the number of leases that last.
    pub fn held(&self) -> usize {
        self.workers.values().map(|worker| worker.held.len()).sum()
    }

    /// Returns the counts of a worker.
    pub fn counts(&self, id: WorkerId) -> Counts {
        self.workers.get(&id).map(|worker| worker.counts).unwrap_or_default()
    }

    /// Returns the time that a new lease lasts.
    pub fn limit(&self) -> Duration {
        if self.answers < KNOWN {
            return self.terms.first;
        }
        self.terms.least.max(self.longest * self.terms.factor)
    }

    /// Returns the worker that takes a job, if one has room for it.
    fn taker(&mut self, job: JobId) -> Option<WorkerId> {
        if self.jobs.get(&job)?.is_steady {
            let anchor = self.anchor.or_else(|| self.best_anchor())?;
            self.anchor = Some(anchor);
            return self.workers.get(&anchor).filter(|worker| worker.has_room(job)).map(|_| anchor);
        }
        let free = self.workers.iter().filter(|(_, worker)| worker.has_room(job));
        free.min_by_key(|(id, worker)| (worker.held.len(), **id)).map(|(id, _)| *id)
    }

    /// Returns the worker with the most answers.
    fn best_anchor(&self) -> Option<WorkerId> {
        let usable = self.workers.iter().filter(|(_, worker)| worker.is_usable());
        usable.max_by_key(|(id, worker)| (worker.counts.answered, std::cmp::Reverse(**id))).map(|(id, _)| *id)
    }

    fn lease(&mut self, id: WorkerId, job: JobId, now: Duration) -> Option<Issue<T>> {
        let limit = self.limit();
        let (worker, open) = (self.workers.get_mut(&id)?, self.jobs.get_mut(&job)?);
        // The jobs before it come first.
        let ahead = u32::try_from(worker.held.len()).unwrap_or(u32::MAX).saturating_add(1);
        worker.held.insert(job, Held { issued: now, deadline: now.saturating_add(limit.saturating_mul(ahead)) });
        worker.busy_since.get_or_insert(now);
        open.attempts += 1;
        open.holders += 1;
        self.waiting.remove(&job);
        Some(Issue { worker: id, job, attempt: open.attempts, work: open.work.clone() })
    }

    /// Ends a lease without an answer. Returns `None` if another worker has answered the job.
    fn end(&mut self, worker: WorkerId, job: JobId) -> Option<Lost<T>> {
        if let Some(counts) = self.workers.get_mut(&worker).map(|worker| &mut worker.counts) {
            counts.lost += 1;
        }
        let open = self.jobs.get_mut(&job)?;
        open.holders -= 1;
        open.lost += 1;
        if open.lost >= self.terms.most_attempts {
            self.waiting.remove(&job);
            let failed = self.jobs.remove(&job).map(|job| job.work);
            return Some(Lost { worker, job, failed });
        }
        if open.holders == 0 {
            self.waiting.insert(job);
        }
        Some(Lost { worker, job, failed: None })
    }

    fn forget_anchor_aside(&mut self, id: WorkerId) {
        if self.anchor == Some(id) && !self.workers.get(&id).is_some_and(Worker::is_usable) {
            self.anchor = None;
        }
    }
}

impl Worker {
    /// Returns true if the worker gets leases or works on one.
    fn is_usable(&self) -> bool {
        !self.is_set_aside && self.overdue.is_empty()
    }

    fn has_room(&self, job: JobId) -> bool {
        self.is_usable() && self.held.len() < self.room && !self.held.contains_key(&job)
    }

    /// Counts a lease that the worker did not answer.
    fn blame(&mut self, most: u32) {
        self.failures += 1;
        self.is_set_aside |= self.failures >= most;
    }

    /// Counts the time in which the worker held a lease, once it holds none.
    fn settle(&mut self, now: Duration) {
        if let Some(since) = self.busy_since.filter(|_| self.held.is_empty()) {
            self.counts.busy += now.saturating_sub(since);
            self.busy_since = None;
        }
    }
}
