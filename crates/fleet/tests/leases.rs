//! Leases against a slow oracle: every list of joins, losses, partitions and answers in any order.

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tunesmith_fleet::lease::{Answered, Issue, JobId, Leases, Lost, Terms, WorkerId};

#[derive(Clone, Debug)]
enum Step {
    Add {
        steady: bool,
    },
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
    most_attempts: 3,
    most_failures: 2,
};

/// The oracle's knowledge of a lease: nothing is ever removed from its list.
#[derive(Clone, Debug)]
struct Written {
    worker: WorkerId,
    job: JobId,
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
        let silent = self
            .leases
            .iter()
            .any(|lease| lease.worker == worker && lease.is_over && !lease.was_answered && !lease.was_given_back);
        assert!(!silent, "{worker:?} has not answered yet");
        let ahead = self.holds(worker) as u32 + 1;
        assert!(ahead as usize <= self.rooms[&worker], "{worker:?} has no room");
        let deadline = now + limit * ahead;
        let new = Written { worker, job, deadline, is_over: false, was_answered: false, was_given_back: false };
        self.leases.push(new);
    }

    fn answered(&mut self, worker: WorkerId, job: JobId) -> Answered<u64> {
        if !self.rooms.contains_key(&worker) {
            return Answered::Unasked;
        }
        let is_open = !self.closed.contains(&job);
        let owed = self
            .leases
            .iter_mut()
            .filter(|lease| (lease.worker, lease.job) == (worker, job) && !lease.was_answered && !lease.was_given_back);
        let mut was_owed = false;
        for lease in owed {
            (lease.was_answered, lease.is_over, was_owed) = (true, true, true);
        }
        match (is_open, was_owed) {
            (true, false) => Answered::Unasked,
            (false, _) => Answered::Second,
            (true, true) => {
                self.close(job);
                Answered::First(job.0)
            }
        }
    }

    fn close(&mut self, job: JobId) {
        assert!(!self.closed.contains(&job), "{job:?} counts twice");
        self.closed.push(job);
    }

    fn lost(&mut self, lost: &[Lost<u64>]) {
        for Lost { job, failed, .. } in lost {
            if let Some(work) = failed {
                assert_eq!(*work, job.0);
                self.close(*job);
            }
        }
    }

    fn check(&self, leases: &Leases<u64>) {
        let held = self.leases.iter().filter(|lease| !lease.is_over).count();
        assert_eq!(leases.held(), held);
        assert_eq!(leases.open(), self.jobs.len() - self.closed.len(), "no job is lost");
        let deadline = self.leases.iter().filter(|lease| !lease.is_over).map(|lease| lease.deadline).min();
        assert_eq!(leases.next_deadline(), deadline);
    }
}

fn act(leases: &mut Leases<u64>, oracle: &mut Oracle, step: &Step, now: &mut Duration) {
    match step {
        Step::Add { steady } => {
            let next = JobId(oracle.jobs.len() as u64 + 1);
            assert_eq!(leases.add(next.0, *steady), next);
            oracle.jobs.insert(next);
            if *steady {
                oracle.steady.insert(next);
            }
        }
        Step::Join { room } => {
            let id = leases.join(*room);
            assert_eq!(oracle.rooms.insert(id, *room), None);
        }
        Step::Leave(which) => {
            let Some(id) = oracle.rooms.keys().nth(which % oracle.rooms.len().max(1)).copied() else { return };
            oracle.rooms.remove(&id);
            let lost = leases.leave(id);
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
                oracle.issued(&issue, *now, limit);
            }
        }
        Step::Answer(which) => {
            let Some(lease) = oracle.leases.get(which % oracle.leases.len().max(1)).cloned() else { return };
            let expected = oracle.answered(lease.worker, lease.job);
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
    oracle.check(leases);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

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
    leases.add(1, false);
    let issue = leases.issue(Duration::ZERO).remove(0);
    (leases, issue)
}

#[test]
fn a_worker_cut_off_for_shorter_than_its_lease_is_not_noticed() {
    let (mut leases, issue) = one_lease();
    assert!(leases.expire(TERMS.first - Duration::from_millis(1)).is_empty());
    assert_eq!(leases.answer(issue.worker, issue.job, TERMS.first), Answered::First(1));
}

#[test]
fn the_late_answer_of_a_worker_cut_off_for_longer_counts_unless_another_was_first() {
    let (mut leases, issue) = one_lease();
    assert_eq!(leases.expire(TERMS.first), [Lost { worker: issue.worker, job: issue.job, failed: None }]);
    assert_eq!(leases.usable(), 0);
    let mut second = leases.clone();
    assert_eq!(leases.answer(issue.worker, issue.job, TERMS.first), Answered::First(1));
    assert_eq!(leases.usable(), 1, "it is back");
    let other = second.join(1);
    assert_eq!(second.issue(TERMS.first)[0].attempt, 2);
    assert_eq!(second.answer(other, issue.job, TERMS.first), Answered::First(1));
    assert_eq!(second.answer(issue.worker, issue.job, TERMS.first), Answered::Second);
    assert_eq!(second.answer(issue.worker, issue.job, TERMS.first), Answered::Second, "twice is twice");
}

#[test]
fn a_job_that_no_worker_survives_has_failed() {
    let mut leases = Leases::new(TERMS);
    let job = leases.add(7, false);
    for attempt in 1..=3 {
        let worker = leases.join(1);
        assert_eq!(leases.issue(Duration::ZERO).len(), 1);
        let failed = (attempt == 3).then_some(7);
        assert_eq!(leases.leave(worker), [Lost { worker, job, failed }]);
    }
    assert_eq!(leases.open(), 0);
}

#[test]
fn a_worker_that_fails_twice_in_a_row_is_set_aside() {
    let mut leases = Leases::new(TERMS);
    let worker = leases.join(1);
    for _ in 0..2 {
        leases.add(0, false);
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
    let job = leases.add(1, false);
    leases.issue(seconds(0));
    leases.answer(first, job, seconds(1));
    for _ in 0..2 {
        let (one, other) = (leases.add(2, false), leases.add(2, false));
        leases.issue(seconds(1));
        leases.answer(second, other, seconds(2));
        leases.withdraw(one);
        leases.answer(first, one, seconds(2));
    }
    for _ in 0..5 {
        let job = leases.add(9, true);
        assert_eq!(leases.issue(seconds(3))[0].worker, second);
        assert_eq!(leases.answer(second, job, seconds(4)), Answered::First(9));
    }
    leases.leave(second);
    leases.add(9, true);
    assert_eq!(leases.issue(seconds(5))[0].worker, first);
}
