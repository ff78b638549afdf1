//! Leases: which worker does what until when. A state machine without input, output or a clock.
//!
//! Every job has an id, and is issued to a worker as a lease with the number of the attempt and a
//! deadline. A lease ends by an answer, by its deadline, or when its worker leaves or gives it back.
//! The job of an ended lease is issued anew, unless it was answered. The first answer to a job
//! counts. Any further answer is recognised as a second one.
//!
//! Ids ascend and every job is open or closed, so that a second answer is recognised without a list
//! of all jobs that were ever closed.

mod index;
mod outcome;
mod terms;
mod views;
mod worker;

pub use outcome::{Answered, Counts, Issue, Lost};
pub use terms::{JobId, Terms, Whom, WorkerId};

use index::Index;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use worker::{Held, Worker};

/// Number of answers after which the longest of them says how long a lease lasts.
const KNOWN: u64 = 3;

#[derive(Clone, Debug)]
struct Job<T> {
    work: T,
    whom: Whom,
    /// Number of leases issued.
    attempts: u32,
    /// Number of leases that ended without an answer.
    lost: u32,
    /// Number of leases that last.
    holders: usize,
}

/// The jobs and the workers of a run. `T` is the work of a job.
#[derive(Clone, Debug)]
pub struct Leases<T> {
    terms: Terms,
    jobs: BTreeMap<JobId, Job<T>>,
    /// The open jobs that nobody holds and several workers may take.
    waiting: BTreeSet<JobId>,
    /// The open jobs that nobody holds and one worker may take.
    bound: BTreeSet<JobId>,
    /// The open jobs of workers that left, with the times from which they wait again.
    resting: BTreeMap<JobId, Duration>,
    workers: BTreeMap<WorkerId, Worker>,
    index: Index,
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
            bound: BTreeSet::new(),
            resting: BTreeMap::new(),
            workers: BTreeMap::new(),
            index: Index::default(),
            anchor: None,
            next_job: 1,
            next_worker: 1,
            answers: 0,
            longest: Duration::ZERO,
        }
    }

    /// Adds a job. One for a worker that gets no lease now is closed at once.
    pub fn add(&mut self, work: T, whom: Whom) -> JobId {
        let id = JobId(self.next_job);
        self.next_job += 1;
        let is_taken = match whom {
            Whom::Any | Whom::Steady => self.waiting.insert(id),
            Whom::Only(worker) => self.is_usable(worker) && self.bound.insert(id),
        };
        if is_taken {
            self.jobs.insert(id, Job { work, whom, attempts: 0, lost: 0, holders: 0 });
        }
        id
    }

    /// Adds a worker that may hold `room` leases at once, at least 1.
    pub fn join(&mut self, room: usize) -> WorkerId {
        let id = WorkerId(self.next_worker);
        self.next_worker += 1;
        let worker = self.workers.entry(id).or_insert_with(|| Worker::new(room));
        self.index.update(id, worker);
        id
    }

    /// Removes a worker. Its leases end, and their jobs rest for a while.
    pub fn leave(&mut self, id: WorkerId, now: Duration) -> Vec<Lost<T>> {
        let Some(mut worker) = self.workers.remove(&id) else { return Vec::new() };
        if self.anchor == Some(id) {
            self.anchor = None;
        }
        self.index.remove(id, &worker);
        let held = std::mem::take(&mut worker.held);
        held.iter().for_each(|(job, held)| self.index.end_lease(held.deadline, id, *job));
        let ended: Vec<Lost<T>> = held.into_keys().filter_map(|job| self.end(id, job)).collect();
        self.drop_bound(id);
        for lost in &ended {
            if self.waiting.remove(&lost.job) {
                self.resting.insert(lost.job, now.saturating_add(self.terms.grace));
            }
        }
        ended
    }

    /// Takes a lease back that its worker cannot answer. The worker goes on.
    pub fn give_back(&mut self, id: WorkerId, job: JobId, now: Duration) -> Option<Lost<T>> {
        let worker = self.workers.get_mut(&id)?;
        let held = worker.held.remove(&job)?;
        worker.blame(self.terms.most_failures);
        worker.settle(now);
        self.index.end_lease(held.deadline, id, job);
        self.index.update(id, worker);
        self.part_from(id);
        self.end(id, job)
    }

    /// Ends the leases whose deadline has passed. Their workers get no further lease before they
    /// answer.
    pub fn expire(&mut self, now: Duration) -> Vec<Lost<T>> {
        let ended = self.index.take_due(now);
        for (id, job) in &ended {
            let Some(worker) = self.workers.get_mut(id) else { continue };
            if let Some(held) = worker.held.remove(job) {
                worker.overdue.insert(*job, held.issued);
            }
            worker.blame(self.terms.most_failures);
            worker.settle(now);
            self.index.update(*id, worker);
        }
        let lost = ended.iter().filter_map(|(id, job)| self.end(*id, *job)).collect();
        ended.iter().for_each(|(id, _)| self.part_from(*id));
        lost
    }

    /// Records an answer of a worker.
    pub fn answer(&mut self, id: WorkerId, job: JobId, now: Duration) -> Answered<T> {
        let is_known = (1..self.next_job).contains(&job.0);
        let Some(worker) = self.workers.get_mut(&id).filter(|_| is_known) else { return Answered::Unasked };
        let held = worker.held.remove(&job);
        held.iter().for_each(|held| self.index.end_lease(held.deadline, id, job));
        let in_time = held.map(|held| held.issued);
        let overdue = worker.overdue.remove(&job);
        let (is_in_time, issued) = (in_time.is_some(), in_time.or(overdue));
        let was_asked = issued.is_some();
        let is_open = self.jobs.contains_key(&job);
        if is_open && !was_asked {
            return Answered::Unasked;
        }
        if was_asked {
            worker.failures = 0;
        }
        worker.settle(now);
        self.index.update(id, worker);
        let Some(closed) = self.jobs.remove(&job) else {
            worker.counts.second += 1;
            return Answered::Second;
        };
        let is_own = matches!(closed.whom, Whom::Only(_));
        (worker.counts.own, worker.counts.answered) =
            (worker.counts.own + u64::from(is_own), worker.counts.answered + u64::from(!is_own));
        self.forget_waiting(job);
        self.answers += 1;
        let took = now.saturating_sub(issued.unwrap_or(now));
        if is_in_time {
            self.longest = self.longest.max(took);
        }
        Answered::First { work: closed.work, took }
    }

    /// Issues the jobs that wait to the workers that have room: those for one worker before the others,
    /// the oldest first, to the worker that holds least.
    pub fn issue(&mut self, now: Duration) -> Vec<Issue<T>> {
        let rested: Vec<JobId> = self.resting.iter().filter(|(_, until)| **until <= now).map(|(job, _)| *job).collect();
        for job in rested {
            self.resting.remove(&job);
            self.waiting.insert(job);
        }
        let mut issued = Vec::new();
        let mut is_full = false;
        let waiting: Vec<JobId> = self.bound.iter().chain(&self.waiting).copied().collect();
        for job in waiting {
            let is_any = self.jobs.get(&job).is_some_and(|job| job.whom == Whom::Any);
            if is_full && is_any {
                continue;
            }
            match self.taker(job) {
                Some(worker) => issued.extend(self.lease(worker, job, now)),
                // A job that any worker may take finds none: all are busy.
                None => is_full |= is_any,
            }
        }
        issued
    }

    /// Closes the oldest job that any worker may take and none holds, and returns its work.
    pub fn take_waiting(&mut self) -> Option<T> {
        let is_free = |job: &&JobId| self.jobs.get(job).is_some_and(|job| job.whom == Whom::Any);
        let job = self.waiting.iter().find(is_free).copied()?;
        self.forget_waiting(job);
        self.jobs.remove(&job).map(|job| job.work)
    }

    /// Closes a job that nobody needs any more. A later answer to it is a second one.
    pub fn withdraw(&mut self, job: JobId) {
        self.jobs.remove(&job);
        self.forget_waiting(job);
    }

    fn forget_waiting(&mut self, job: JobId) {
        self.waiting.remove(&job);
        self.bound.remove(&job);
        self.resting.remove(&job);
    }

    /// Returns the time of the next deadline, or at which a job has rested.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.index.next_deadline().into_iter().chain(self.resting.values().copied()).min()
    }

    /// Returns the worker that takes a job, if one has room for it.
    fn taker(&mut self, job: JobId) -> Option<WorkerId> {
        let only = match self.jobs.get(&job)?.whom {
            Whom::Any => return self.index.freest().map(|(_, id)| id),
            Whom::Only(id) => id,
            Whom::Steady => {
                let anchor = self.anchor.or_else(|| self.best_anchor())?;
                *self.anchor.insert(anchor)
            }
        };
        self.workers.get(&only).filter(|worker| worker.has_room()).map(|_| only)
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
        let deadline = now.saturating_add(limit.saturating_mul(ahead));
        worker.held.insert(job, Held { issued: now, deadline });
        worker.busy_since.get_or_insert(now);
        self.index.add_lease(deadline, id, job);
        self.index.update(id, worker);
        open.attempts += 1;
        open.holders += 1;
        let issue = Issue { worker: id, job, attempt: open.attempts, work: open.work.clone() };
        self.forget_waiting(job);
        Some(issue)
    }

    /// Ends a lease without an answer. Returns `None` if another worker has answered the job.
    fn end(&mut self, worker: WorkerId, job: JobId) -> Option<Lost<T>> {
        if let Some(counts) = self.workers.get_mut(&worker).map(|worker| &mut worker.counts) {
            counts.lost += 1;
        }
        let open = self.jobs.get_mut(&job)?;
        open.holders -= 1;
        open.lost += 1;
        if matches!(open.whom, Whom::Only(_)) {
            self.jobs.remove(&job);
            return Some(Lost { worker, job, failed: None });
        }
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

    /// Closes the jobs that wait for one worker.
    fn drop_bound(&mut self, id: WorkerId) {
        let jobs = &mut self.jobs;
        self.bound.retain(|job| {
            let is_its = jobs.get(job).is_some_and(|job| job.whom == Whom::Only(id));
            if is_its {
                jobs.remove(job);
            }
            !is_its
        });
    }

    /// Forgets the jobs for one worker and the steady ones, if that worker is silent or set aside.
    fn part_from(&mut self, id: WorkerId) {
        if self.is_usable(id) {
            return;
        }
        self.drop_bound(id);
        self.anchor = self.anchor.filter(|anchor| *anchor != id);
    }
}
