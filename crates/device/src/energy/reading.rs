//! The energy of one run of a configuration, from a counter that is updated about ten times a
//! second. Pure functions: readings in, decision out.

use super::READING_LIMIT;
use std::time::Duration;

/// The duration of launches between two looks at the counter. It is the time error at each end of
/// the stretch, which begins and ends when the counter moves.
const BATCH: Duration = Duration::from_millis(2);

/// The least duration of the stretch. With an error of [`BATCH`] at both ends, the energy is known
/// to 2 %, if the counter is exact when it moves.
const STRETCH: Duration = Duration::from_millis(200);

/// The decision after a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Next {
    /// Run the configuration this many times, then look at the counter again.
    Run(u64),
    /// The energy of one run in millijoules.
    Done(f64),
    /// The counter did not move within the time limit.
    Stuck,
}

/// A reading in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EnergyReading {
    /// The number of runs between two looks.
    batch: u64,
    began: Option<Duration>,
    /// The last value of the counter.
    last: Option<f64>,
    /// The number of runs so far.
    runs: u64,
    /// The first move of the counter: its value, the time, and the number of runs until then.
    start: Option<(f64, Duration, u64)>,
}

impl EnergyReading {
    /// Creates a reading of a configuration that runs for about `time`.
    pub(crate) fn new(time: Duration) -> Self {
        let batch = (BATCH.as_secs_f64() / time.as_secs_f64().max(1e-7)).ceil();
        Self { batch: (batch as u64).max(1), began: None, last: None, runs: 0, start: None }
    }

    /// Returns the next step, if the counter holds `energy_mj` at the time `now`, after all
    /// requested runs.
    ///
    /// The energy of a run is the change of the counter, divided by the number of runs. The stretch
    /// begins at one move of the counter and ends at the first move after [`STRETCH`]. Between its
    /// moves, the counter says nothing.
    pub(crate) fn next(&mut self, energy_mj: f64, now: Duration) -> Next {
        let began = *self.began.get_or_insert(now);
        let moved = self.last.is_some_and(|last| last != energy_mj);
        self.last = Some(energy_mj);
        match self.start {
            None if moved => self.start = Some((energy_mj, now, self.runs)),
            Some((energy, since, runs)) if moved && now.saturating_sub(since) >= STRETCH => {
                return Next::Done((energy_mj - energy) / (self.runs - runs).max(1) as f64);
            }
            // A kernel that outlasts the limit has moved the counter in its first run.
            _ if now.saturating_sub(began) > READING_LIMIT && self.runs > self.batch => return Next::Stuck,
            _ => {}
        }
        self.runs += self.batch;
        Next::Run(self.batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads a device of `watts` whose counter is updated every `period` seconds. A run takes
    /// `time` seconds. Returns the millijoules that the reading gives, and the seconds that it
    /// takes.
    fn read(watts: f64, period: f64, time: f64, phase: f64) -> (Option<f64>, f64) {
        let mut reading = EnergyReading::new(Duration::from_secs_f64(time));
        let mut now = phase;
        loop {
            let counter = ((now / period).floor() * period * watts * 1e3).round();
            match reading.next(counter, Duration::from_secs_f64(now)) {
                Next::Run(runs) => now += runs as f64 * time,
                Next::Done(energy) => return (Some(energy), now - phase),
                Next::Stuck => return (None, now - phase),
            }
        }
    }

    #[test]
    fn a_counter_that_stands_still_is_given_up() {
        let (energy, seconds) = read(0.0, 0.1, 1e-3, 0.0);
        assert!(energy.is_none() && seconds < 3.1, "{seconds}");
    }

    #[test]
    fn a_run_longer_than_the_stretch_is_read_by_itself() {
        let (energy, _) = read(300.0, 0.1, 0.5, 0.02);
        assert!((energy.unwrap() / 150e3 - 1.0).abs() < 0.21, "{energy:?}");
    }

    proptest! {
        #[test]
        fn the_energy_of_a_run_is_found_to_a_few_per_cent(
            watts in 50.0..700.0f64, period in 0.01..0.1f64, time in 1e-6..2e-3f64, phase in 0.0..1.0f64,
        ) {
            let (energy, seconds) = read(watts, period, time, phase);
            let error = energy.unwrap() / (watts * time * 1e3) - 1.0;
            prop_assert!(error.abs() < 0.04, "{}", error);
            prop_assert!(seconds < 0.2 + 3.0 * period + 0.01, "{}", seconds);
        }
    }
}
