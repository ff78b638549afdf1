//! Measures how many evaluations per second the bookkeeping of leases sustains, with simulated
//! workers and a virtual clock: `cargo bench -p tunesmith-fleet --bench saturation`.

#![allow(clippy::print_stdout)] // a table for people

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;
use tunesmith_core::{Clock, SystemClock};
use tunesmith_fleet::lease::{Answered, Issue, Leases, Terms, Whom};

/// Number of evaluations of each row.
const EVALUATIONS: u64 = 200_000;

fn main() {
    println!("| workers | virtual seconds | evaluations per virtual second | bookkeeping per real second |");
    println!("|---|---|---|---|");
    for workers in [1, 10, 100, 1000, 4000] {
        let clock = SystemClock::new();
        let virtual_time = simulate(workers);
        let (seconds, simulated) = (clock.now().as_secs_f64(), virtual_time.as_secs_f64());
        let rates = (EVALUATIONS as f64 / simulated, EVALUATIONS as f64 / seconds);
        println!("| {workers} | {simulated:.0} | {:.0} | {:.0} |", rates.0, rates.1);
    }
}

/// Runs a fleet of devices of 200 ms, a tenth of which are twice as slow. One request more than there
/// are workers is in flight. Returns the virtual time.
fn simulate(workers: usize) -> Duration {
    let mut leases = Leases::new(Terms::default());
    for _ in 0..workers {
        leases.join(1);
    }
    let (mut now, mut added, mut answered) = (Duration::ZERO, 0_u64, 0_u64);
    let mut ends = BinaryHeap::new();
    while answered < EVALUATIONS {
        while added < EVALUATIONS && leases.open() <= workers {
            leases.add(added, Whom::Any);
            added += 1;
        }
        for Issue { worker, job, .. } in leases.issue(now) {
            let slow = 1 + u64::from(job.0.is_multiple_of(10));
            ends.push(Reverse((now + Duration::from_micros(200_000 * slow + job.0 % 977), worker, job)));
        }
        let Some(Reverse((end, worker, job))) = ends.pop() else { break };
        now = end;
        assert!(leases.expire(now).is_empty());
        assert!(matches!(leases.answer(worker, job, now), Answered::First { .. }));
        answered += 1;
    }
    now
}
