//! Leases against a slow oracle: every list of joins, losses, partitions and answers in any order.

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tunesmith_fleet::lease::{Answered, Issue, JobId, Leases, Lost, Terms, Whom, WorkerId};

#[derive(Clone, Debug)]
enum Step {
    Add {
        steady: bool,
    },
    /// Adds a job for one of the workers alone.
    AddOwn(usize),
    Join {
        room: usize,
    },
    Leave(usize),
    Issue,
    /// Answers one of the leases ever issued, again or late too.
    Answer(usize),
    GiveBack(usize),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => any::<bool>().prop_map(|steady| Step::Add { steady }),
        2 => any::<usize>().prop_map(Step::AddOwn),
        2 => (1..4_usize).prop_map(|room| Step::Join { room }),
        1 => any::<usize>().prop_map(Step::Leave),
        6 => Just(Step::Issue),
        6 => any::<usize>().prop_map(Step::Answer),
        1 => any::<usize>().prop_map(Step::GiveBack),
        2 => (1..40_u64).prop_map(Step::Wait),
    ]
}

const TERMS: Terms = Terms {
    first: Duration::from_secs(30),
    least: Duration::from_secs(10),
    factor: 3,
    grace: Duration::ZERO,
    most_attempts: 3,
    most_failures: 2,
};

/// The oracle's knowledge of a lease: nothing is ever removed from its list.
#[derive(Clone, Debug)]
struct Written {
    worker: WorkerId,
    job: JobId,
    issued: Duration,
    deadline: Duration,
    is_over: bool,
    was_answered: bool,
    was_given_back: bool,
}

/// Keeps lists of everything that ever happened, and looks through them for every question.
#[derive(Default)]
struct Oracle {
    rooms: BTreeMap<WorkerId, usize>,
    leases: Vec<Written>,
    jobs: BTreeSet<JobId>,
    /// The jobs that were answered or have failed. A job may be here once.
    closed: Vec<JobId>,
    steady: BTreeSet<JobId>,
    own: BTreeMap<JobId, WorkerId>,
}

impl Oracle {
    fn holds(&self, worker: WorkerId) -> usize {
        self.leases.iter().filter(|lease| lease.worker == worker && !lease.is_over).count()
    }

    fn issued(&mut self, issue: &Issue<u64>, now: Duration, limit: Duration) {
        let Issue { worker, job, attempt, work } = issue.clone();
        assert_eq!(work, job.0, "the work is the job's");
        assert!(!self.closed.contains(&job), "{job:?} is closed");
        assert_eq!(attempt as usize, 1 + self.leases.iter().filter(|lease| lease.job == job).count());
        assert!(!self.leases.iter().any(|lease| lease.job == job && !lease.is_over), "two hold {job:?}");
        assert!(!self.is_silent(worker), "{worker:?} has not answered yet");
        assert!(self.own.get(&job).is_none_or(|own| *own == worker), "{job:?} is for another worker");
        let ahead = self.holds(worker) as u32 + 1;
        assert!(ahead as usize <= self.rooms[&worker], "{worker:?} has no room");
        let deadline = now + limit * ahead;
        let (issued, is_over) = (now, false);
        self.leases.push(Written {
            worker,
            job,
            issued,
            deadline,
            is_over,
            was_answered: false,
            was_given_back: false,
        });
    }

    /// Returns the workers that get leases.
    fn usable(&self, leases: &Leases<u64>) -> Vec<WorkerId> {
        let is_usable = |id: &WorkerId| !leases.is_set_aside(*id) && !self.is_silent(*id);
        self.rooms.keys().copied().filter(is_usable).collect()
    }

    fn is_silent(&self, worker: WorkerId) -> bool {
        let is_owed = |lease: &&Written| lease.is_over && !lease.was_answered && !lease.was_given_back;
        self.leases.iter().filter(is_owed).any(|lease| lease.worker == worker)
    }

    /// Closes the jobs for one worker that nobody holds and that it will not get.
    fn part(&mut self, leases: &Leases<u64>) {
        let is_held = |job: &JobId| self.leases.iter().any(|lease| lease.job == *job && !lease.is_over);
        let is_there = |worker: &WorkerId| {
            self.rooms.contains_key(worker) && !leases.is_set_aside(*worker) && !self.is_silent(*worker)
        };
        let gone = self.own.iter().filter(|(job, worker)| !is_held(job) && !is_there(worker));
        let gone: Vec<JobId> = gone.map(|(job, _)| *job).filter(|job| !self.closed.contains(job)).collect();
        self.closed.extend(gone);
    }

    fn answered(&mut self, worker: WorkerId, job: JobId, now: Duration) -> Answered<u64> {
        if !self.rooms.contains_key(&worker) {
            return Answered::Unasked;
        }
        let is_open = !self.closed.contains(&job);
        let owed = self
            .leases
            .iter_mut()
            .filter(|lease| (lease.worker, lease.job) == (worker, job) && !lease.was_answered && !lease.was_given_back);
        let mut issued = None;
        for lease in owed {
            (lease.was_answered, lease.is_over, issued) = (true, true, Some(lease.issued));
        }
        match (is_open, issued) {
            (true, None) => Answered::Unasked,
            (false, _) => Answered::Second,
            (true, Some(issued)) => {
                self.close(job);
                Answered::First { work: job.0, took: now - issued }
            }
        }
    }

    fn close(&mut self, job: JobId) {
        assert!(!self.closed.contains(&job), "{job:?} counts twice");
        self.closed.push(job);
    }

    fn lost(&mut self, lost: &[Lost<u64>]) {
        for Lost { job, failed, .. } in lost {
            assert!(failed.is_none_or(|work| work == job.0));
            if failed.is_some() || self.own.contains_key(job) {
                self.close(*job);
            }
        }
    }

    fn check(&self, leases: &Leases<u64>) {
        let held = self.leases.iter().filter(|lease| !lease.is_over).count();
        assert_eq!(leases.held(), held);
        let usable = self.usable(leases);
        assert_eq!((leases.usable(), leases.room()), (usable.len(), usable.iter().map(|id| self.rooms[id]).sum()));
        assert_eq!(leases.has_idle(), usable.iter().any(|id| self.holds(*id) == 0));
        assert_eq!(leases.open(), self.jobs.len() - self.closed.len(), "no job is lost");
        let deadline = self.leases.iter().filter(|lease| !lease.is_over).map(|lease| lease.deadline).min();
        // Without a grace, a job that waits again is due at once.
        assert!(leases.next_deadline() == deadline || leases.waiting() > 0);
    }
}

fn act(leases: &mut Leases<u64>, oracle: &mut Oracle, step: &Step, now: &mut Duration) {
    match step {
        Step::Add { steady } => {
            let next = JobId(oracle.jobs.len() as u64 + 1);
            assert_eq!(leases.add(next.0, if *steady { Whom::Steady } else { Whom::Any }), next);
            oracle.jobs.insert(next);
            if *steady {
                oracle.steady.insert(next);
            }
        }
        Step::AddOwn(which) => {
            let Some(id) = oracle.rooms.keys().nth(which % oracle.rooms.len().max(1)).copied() else { return };
            let next = JobId(oracle.jobs.len() as u64 + 1);
            assert_eq!(leases.add(next.0, Whom::Only(id)), next);
            oracle.jobs.insert(next);
            oracle.own.insert(next, id);
        }
        Step::Join { room } => {
            let id = leases.join(*room);
            assert_eq!(oracle.rooms.insert(id, *room), None);
        }
        Step::Leave(which) => {
            let Some(id) = oracle.rooms.keys().nth(which % oracle.rooms.len().max(1)).copied() else { return };
            oracle.rooms.remove(&id);
            let lost = leases.leave(id, *now);
            oracle.leases.iter_mut().filter(|lease| lease.worker == id).for_each(|lease| lease.is_over = true);
            oracle.lost(&lost);
        }
        Step::Issue => {
            let limit = leases.limit();
            for issue in leases.issue(*now) {
                assert!(!leases.is_set_aside(issue.worker));
                if oracle.steady.contains(&issue.job) {
                    assert_eq!(leases.anchor(), Some(issue.worker), "steady jobs stay with one worker");
                }
                if !oracle.steady.contains(&issue.job) && !oracle.own.contains_key(&issue.job) {
                    let usable = oracle.usable(leases);
                    let with_room = usable.iter().filter(|id| oracle.holds(**id) < oracle.rooms[id]);
                    let freest = with_room.min_by_key(|id| (oracle.holds(**id), **id));
                    assert_eq!(freest, Some(&issue.worker), "the worker that holds least takes the job");
                }
                oracle.issued(&issue, *now, limit);
            }
        }
        Step::Answer(which) => {
            let Some(lease) = oracle.leases.get(which % oracle.leases.len().max(1)).cloned() else { return };
            let expected = oracle.answered(lease.worker, lease.job, *now);
            assert_eq!(leases.answer(lease.worker, lease.job, *now), expected);
        }
        Step::GiveBack(which) => {
            let held: Vec<usize> = (0..oracle.leases.len()).filter(|at| !oracle.leases[*at].is_over).collect();
            let Some(at) = held.get(which % held.len().max(1)).copied() else { return };
            let Written { worker, job, .. } = oracle.leases[at].clone();
            (oracle.leases[at].is_over, oracle.leases[at].was_given_back) = (true, true);
            let lost = leases.give_back(worker, job, *now);
            oracle.lost(&Vec::from_iter(lost));
        }
        Step::Wait(seconds) => {
            *now += Duration::from_secs(*seconds);
            let lost = leases.expire(*now);
            oracle.leases.iter_mut().filter(|lease| lease.deadline <= *now).for_each(|lease| lease.is_over = true);
            oracle.lost(&lost);
        }
    }
    oracle.part(leases);
    oracle.check(leases);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 3 / 2))]

    #[test]
    fn nothing_is_lost_or_counted_twice_and_every_run_ends(steps in prop::collection::vec(step(), 1..80)) {
        let (mut leases, mut oracle) = (Leases::new(TERMS), Oracle::default());
        let mut now = Duration::ZERO;
        for step in &steps {
            act(&mut leases, &mut oracle, step, &mut now);
        }
        // A worker that answers ends the run, whatever the others do.
        act(&mut leases, &mut oracle, &Step::Join { room: 2 }, &mut now);
        for _ in 0..=oracle.jobs.len() * 4 {
            act(&mut leases, &mut oracle, &Step::Issue, &mut now);
            let newest = *oracle.rooms.keys().last().unwrap();
            let owed = |lease: &Written| lease.worker == newest && !lease.is_over;
            let owed: Vec<usize> = (0..oracle.leases.len()).filter(|at| owed(&oracle.leases[*at])).collect();
            owed.iter().for_each(|at| act(&mut leases, &mut oracle, &Step::Answer(*at), &mut now));
            act(&mut leases, &mut oracle, &Step::Wait(40), &mut now);
        }
        prop_assert_eq!(leases.open(), 0);
        prop_assert_eq!(oracle.closed.len(), oracle.jobs.len());
    }
}

fn one_lease() -> (Leases<u64>, Issue<u64>) {
    let mut leases = Leases::new(TERMS);
    leases.join(1);
    leases.add(1, Whom::Any);
    let issue = leases.issue(Duration::ZERO).remove(0);
    (leases, issue)
}

#[test]
fn a_worker_cut_off_for_shorter_than_its_lease_is_not_noticed() {
    let (mut leases, issue) = one_lease();
    assert!(leases.expire(TERMS.first - Duration::from_millis(1)).is_empty());
    let first = Answered::First { work: 1, took: TERMS.first };
    assert_eq!(leases.answer(issue.worker, issue.job, TERMS.first), first);
}

#[test]
fn the_late_answer_of_a_worker_cut_off_for_longer_counts_unless_another_was_first() {
    let (mut leases, issue) = one_lease();
    assert_eq!(leases.expire(TERMS.first), [Lost { worker: issue.worker, job: issue.job, failed: None }]);
    assert_eq!(leases.usable(), 0);
    let mut second = leases.clone();
    let first = Answered::First { work: 1, took: TERMS.first };
    assert_eq!(leases.answer(issue.worker, issue.job, TERMS.first), first);
    assert_eq!(leases.usable(), 1, "it is back");
    let other = second.join(1);
    assert_eq!(second.issue(TERMS.first)[0].attempt, 2);
    assert_eq!(second.answer(other, issue.job, TERMS.first), Answered::First { work: 1, took: Duration::ZERO });
    assert_eq!(second.answer(issue.worker, issue.job, TERMS.first), Answered::Second);
    assert_eq!(second.answer(issue.worker, issue.job, TERMS.first), Answered::Second, "twice is twice");
}

#[test]
fn a_job_that_no_worker_survives_has_failed() {
    let mut leases = Leases::new(TERMS);
    let job = leases.add(7, Whom::Any);
    for attempt in 1..=3 {
        let worker = leases.join(1);
        assert_eq!(leases.issue(Duration::ZERO).len(), 1);
        let failed = (attempt == 3).then_some(7);
        assert_eq!(leases.leave(worker, Duration::ZERO), [Lost { worker, job, failed }]);
    }
    assert_eq!(leases.open(), 0);
}

#[test]
fn a_worker_that_fails_twice_in_a_row_is_set_aside() {
    let mut leases = Leases::new(TERMS);
    let worker = leases.join(1);
    for _ in 0..2 {
        leases.add(0, Whom::Any);
        let issue = leases.issue(Duration::ZERO).remove(0);
        leases.give_back(worker, issue.job, Duration::ZERO);
    }
    assert!(leases.is_set_aside(worker) && leases.issue(Duration::ZERO).is_empty());
}

#[test]
fn the_final_moves_only_when_its_worker_is_gone() {
    let mut leases = Leases::new(TERMS);
    let (first, second) = (leases.join(1), leases.join(1));
    let seconds = Duration::from_secs;
    // The second worker has answered more, so that the final is with it.
    let job = leases.add(1, Whom::Any);
    leases.issue(seconds(0));
    leases.answer(first, job, seconds(1));
    for _ in 0..2 {
        let (one, other) = (leases.add(2, Whom::Any), leases.add(2, Whom::Any));
        leases.issue(seconds(1));
        leases.answer(second, other, seconds(2));
        leases.withdraw(one);
        leases.answer(first, one, seconds(2));
    }
    for _ in 0..5 {
        let job = leases.add(9, Whom::Steady);
        assert_eq!(leases.issue(seconds(3))[0].worker, second);
        assert_eq!(leases.answer(second, job, seconds(4)), Answered::First { work: 9, took: seconds(1) });
    }
    leases.leave(second, Duration::ZERO);
    leases.add(9, Whom::Steady);
    assert_eq!(leases.issue(seconds(5))[0].worker, first);
}

#[test]
fn a_job_for_one_worker_comes_before_others_and_ends_with_its_worker() {
    let mut leases = Leases::new(TERMS);
    let (first, second) = (leases.join(1), leases.join(1));
    leases.add(1, Whom::Any);
    leases.add(2, Whom::Only(second));
    let issued: Vec<_> = leases.issue(Duration::ZERO).iter().map(|issue| (issue.worker, issue.work)).collect();
    assert_eq!(issued, [(second, 2), (first, 1)]);
    leases.add(3, Whom::Only(second));
    assert_eq!(leases.open(), 3);
    assert_eq!(leases.leave(second, Duration::ZERO).len(), 1);
    assert_eq!(leases.open(), 1);
    leases.add(4, Whom::Only(second));
    assert_eq!(leases.open(), 1, "a worker that is gone gets no job");
}

#[test]
fn workers_that_leave_together_do_not_hand_a_job_on_until_it_has_failed() {
    let grace = Duration::from_secs(2);
    let mut leases = Leases::new(Terms { grace, ..TERMS });
    let workers = [(); 5].map(|()| leases.join(1));
    let job = leases.add(1, Whom::Any);
    leases.issue(Duration::ZERO);
    for worker in workers {
        for lost in leases.leave(worker, Duration::from_millis(worker.0)) {
            assert_eq!((lost.job, lost.failed), (job, None));
        }
        assert!(leases.issue(Duration::from_millis(worker.0)).is_empty());
    }
    leases.join(1);
    assert_eq!(leases.next_deadline(), Some(Duration::from_millis(1) + grace));
    assert!(leases.issue(grace).is_empty() && leases.waiting() == 1);
    assert_eq!(leases.issue(grace + Duration::from_millis(1))[0].attempt, 2);
}
