//! Measures how many evaluations per second a coordinator sustains, with simulated workers and a virtual
//! clock: `cargo bench -p tunesmith-fleet --bench saturation`. Coordinator, tuning loop and journal are the
//! real ones. The journal lies in the folder for temporary files.

#![allow(clippy::print_stdout)] // a table for people

use tunesmith_core::{Clock, SystemClock};
use tunesmith_fleet::simulated::simulate;

/// Number of evaluations of each row.
const EVALUATIONS: u64 = 20_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("| workers | virtual seconds | evaluations per virtual second | bookkeeping per real second |");
    println!("|---|---|---|---|");
    for workers in [1, 10, 100, 1000, 4000] {
        let (folder, clock) = (tempfile::tempdir()?, SystemClock::new());
        let run = simulate(workers, EVALUATIONS, folder.path())?;
        let (seconds, simulated) = (clock.now().as_secs_f64(), run.took.as_secs_f64());
        let rates = (run.evaluations as f64 / simulated, run.evaluations as f64 / seconds);
        println!("| {workers} | {simulated:.0} | {:.0} | {:.0} |", rates.0, rates.1);
    }
    Ok(())
}
