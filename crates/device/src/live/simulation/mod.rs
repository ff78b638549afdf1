//! Deterministic simulation: a whole tuning run under one seed, with every fault that a machine
//! has.
//!
//! The loop, the strategies, the judge and the journal are the real ones. The clock, the disk and
//! the kernels are simulated, so a run takes no real time and the same seed gives the same run. A
//! seed chooses the problem, the settings and the faults. After every step, the simulation holds
//! what the tuner has acknowledged against the disk and the truth:
//!
//! - The searcher is told nothing that the journal does not keep.
//! - A journal gives back what was told, and nothing is measured twice.
//! - Every configuration gets the status that it deserves.
//! - Nothing wrong wins, and nothing right that is faster is passed over.
//! - The run ends within a limit of steps.
//! - Faults that cost no information do not change the result, except between configurations that
//!   nothing tells apart.
//!
//! docs/simulation.md says more, and how to run a seed.

mod bench;
mod comparison;
mod dice;
mod disk;
mod house;
mod kernel;
mod ledger;
mod line;
mod night;
mod plan;
mod truth;
mod workers;
mod world;

use house::Ground;
use night::{Outcome, night};
use std::fmt;
use std::panic::resume_unwind;

/// The depth of a simulation.
#[derive(Clone, Copy)]
enum Depth<'a> {
    /// The loop, the journal and the judge, above an oracle.
    Loop,
    /// All of that above the station and the worker's loop, which speak the real protocol. The
    /// processes, their connections and the kernels are simulated.
    Workers(&'a Ground),
}

impl fmt::Display for Depth<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Loop => "loop",
            Self::Workers(_) => "workers",
        })
    }
}

/// A bug that is planted to prove that the simulation finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plant {
    /// The searcher is told before the journal is written.
    TellFirst,
    /// Nothing tells the reply of a process about a job from replies of other processes and about
    /// other jobs.
    NoNumbers,
    /// A submitted request that its worker does not answer is forgotten.
    LostLease,
}

/// The number of seeds that the usual tests run.
const SEEDS: u64 = 500;

/// Runs seeds. Returns the outcomes of those that break nothing, and the reports of the others.
fn run(depth: Depth<'_>, seeds: std::ops::Range<u64>) -> (Vec<Outcome>, Vec<String>) {
    let (mut outcomes, mut reports) = (Vec::new(), Vec::new());
    for seed in seeds {
        match night(seed, depth, None) {
            Ok(outcome) => outcomes.push(outcome),
            Err(broken) => {
                reports.push(format!("seed {seed}: {broken}\nrepeat it with its story: {}", command(depth, seed)));
            }
        }
    }
    (outcomes, reports)
}

/// Runs the seeds of the usual tests, and checks that they are worth it.
fn run_some(depth: Depth<'_>) {
    let (outcomes, reports) = run(depth, 0..SEEDS);
    assert!(reports.is_empty(), "{}", reports.join("\n"));
    let better = outcomes.iter().filter(|outcome| outcome.is_better).count();
    assert!(better as u64 > SEEDS / 5, "runs without a winner would prove nothing");
    let other = outcomes.iter().filter(|outcome| outcome.has_other_winner).count();
    assert!(other as u64 <= SEEDS / 50, "{other} faults change the winner, which two in a hundred may");
}

/// Returns the command that repeats a seed.
fn command(depth: Depth<'_>, seed: u64) -> String {
    format!(
        "TUNESMITH_SEED={seed} cargo test -p tunesmith-device --lib one_seed_of_the_{depth} -- --ignored --nocapture"
    )
}

/// Returns the first seed that finds a planted bug.
fn first_that_finds(depth: Depth<'_>, plant: Plant) -> (u64, String) {
    let found = (0..1000).find_map(|seed| Some((seed, night(seed, depth, Some(plant)).err()?)));
    found.unwrap_or_else(|| panic!("no seed below 1,000 finds {plant:?}"))
}

/// Returns the number in an environment variable, by which `one_seed` and `many_seeds` are told.
#[allow(clippy::disallowed_methods)] // the options of tests, not of the product
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Runs a seed and prints its story.
fn one_seed(depth: Depth<'_>) {
    let seed = number("TUNESMITH_SEED").unwrap_or_default();
    let (story, result) = night::told(seed, depth);
    println!("{story}\nseed {seed}: {}", result.err().unwrap_or_else(|| "nothing is broken".to_owned()));
}

/// Runs many seeds on all processors, and prints how many. Reports all that break an invariant.
fn many_seeds(depth: Depth<'_>) {
    let (first, seeds) = (number("TUNESMITH_SEED").unwrap_or_default(), number("TUNESMITH_SEEDS").unwrap_or(100_000));
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let ended: Vec<_> = std::thread::scope(|scope| {
        let share = |part: u64| first + seeds * part / threads;
        let running: Vec<_> =
            (0..threads).map(|part| scope.spawn(move || run(depth, share(part)..share(part + 1)))).collect();
        running.into_iter().map(|thread| thread.join().unwrap_or_else(|fault| resume_unwind(fault))).collect()
    });
    let (outcomes, reports): (Vec<_>, Vec<_>) = ended.into_iter().unzip();
    let (outcomes, reports) = (outcomes.concat(), reports.concat());
    assert!(reports.is_empty(), "{} seeds break an invariant\n{}", reports.len(), reports.join("\n"));
    let other = outcomes.iter().filter(|outcome| outcome.has_other_winner).count();
    println!("{seeds} seeds of the {depth} from {first} on break nothing. {other} have another winner after faults.");
}

#[test]
fn five_hundred_seeds_of_the_loop_break_nothing() {
    run_some(Depth::Loop);
}

#[test]
fn five_hundred_seeds_of_the_workers_break_nothing() {
    run_some(Depth::Workers(&Ground::new()));
}

#[test]
#[ignore = "prints the story of the seed in TUNESMITH_SEED"]
fn one_seed_of_the_workers() {
    one_seed(Depth::Workers(&Ground::new()));
}

#[test]
#[ignore = "runs as many seeds as TUNESMITH_SEEDS says, from TUNESMITH_SEED on"]
fn many_seeds_of_the_workers() {
    many_seeds(Depth::Workers(&Ground::new()));
}

#[test]
#[ignore = "prints the story of the seed in TUNESMITH_SEED"]
fn one_seed_of_the_loop() {
    one_seed(Depth::Loop);
}

#[test]
#[ignore = "runs as many seeds as TUNESMITH_SEEDS says, from TUNESMITH_SEED on"]
fn many_seeds_of_the_loop() {
    many_seeds(Depth::Loop);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in 0..20 {
        assert_eq!(night::told(seed, Depth::Loop), night::told(seed, Depth::Loop));
        let ground = Ground::new();
        let (one, other) = (Depth::Workers(&ground), Depth::Workers(&ground));
        assert_eq!(night::told(seed, one), night::told(seed, other));
    }
}

#[test]
fn a_fault_of_every_access_to_the_disk_loses_nothing() {
    (0..4).for_each(|seed| night::every_access(seed, Depth::Loop));
}

#[test]
fn a_kill_at_every_step_loses_nothing() {
    (0..4).for_each(|seed| night::every_step(seed, Depth::Loop));
}

#[test]
fn a_searcher_that_is_told_before_the_journal_is_written_is_found() {
    let (seed, broken) = first_that_finds(Depth::Loop, Plant::TellFirst);
    println!("seed {seed} finds it: {broken}");
}

#[test]
fn a_request_that_is_forgotten_is_found() {
    let (seed, broken) = first_that_finds(Depth::Loop, Plant::LostLease);
    println!("seed {seed} finds it: {broken}");
}

#[test]
fn a_reply_that_nothing_tells_from_others_is_found() {
    let (seed, broken) = first_that_finds(Depth::Workers(&Ground::new()), Plant::NoNumbers);
    println!("seed {seed} finds it: {broken}");
}
