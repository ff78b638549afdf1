//! The energy of one run of a configuration, from a counter that is updated about ten times a
//! second. Pure functions: looks at the counter in, decision out.

use super::READING_LIMIT;
use std::time::Duration;

/// The least duration of the launches between two looks at the counter. It is the time error at each
/// end of the stretch, which begins and ends when the counter moves.
const BATCH: Duration = Duration::from_millis(2);

/// The least duration of the launches between two looks, in times of a look. A driver may take
/// milliseconds for a look (3.4 ms on an H200), and a device that has nothing to do meanwhile uses
/// energy that is not the kernel's.
const LOOKS: u32 = 8;

/// The least duration of the stretch. With an error of [`BATCH`] at both ends, the energy is known
/// to 2 %, if the counter is exact when it moves.
const STRETCH: Duration = Duration::from_millis(200);

/// The least duration of the stretch in times of a batch.
const BATCHES: u32 = 8;

/// A look at the counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    /// The counter in millijoules since an arbitrary time.
    pub(crate) energy_mj: f64,
    /// The time of the look.
    pub(crate) at: Duration,
    /// The runs of the batch under way that had ended by then, with the share of the one under way.
    pub(crate) runs: f64,
}

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
    /// The least duration of the stretch.
    stretch: Duration,
    began: Option<Duration>,
    /// The last value of the counter.
    last: Option<f64>,
    /// The number of runs that were requested.
    requested: u64,
    /// The first move of the counter: its value, the time, and the number of runs until then.
    start: Option<(f64, Duration, f64)>,
}

impl EnergyReading {
    /// Creates a reading of a configuration that runs for about `time`, with a counter that takes
    /// `look` to be read.
    pub(crate) fn new(time: Duration, look: Duration) -> Self {
        let duration = BATCH.max(look * LOOKS);
        let batch = (duration.as_secs_f64() / time.as_secs_f64().max(1e-7)).ceil();
        Self {
            batch: (batch as u64).max(1),
            stretch: STRETCH.max(duration * BATCHES),
            began: None,
            last: None,
            requested: 0,
            start: None,
        }
    }

    /// Returns the next step after a look, which falls into the last requested batch of runs.
    ///
    /// The energy of a run is the change of the counter, divided by the number of runs. The stretch
    /// begins at one move of the counter and ends at the first move after [`STRETCH`]. Between its
    /// moves, the counter says nothing.
    pub(crate) fn next(&mut self, look: Look) -> Next {
        let Look { energy_mj, at, .. } = look;
        let runs = self.requested.saturating_sub(self.batch) as f64 + look.runs;
        let began = *self.began.get_or_insert(at);
        let moved = self.last.is_some_and(|last| last != energy_mj);
        self.last = Some(energy_mj);
        match self.start {
            None if moved => self.start = Some((energy_mj, at, runs)),
            Some((energy, since, before)) if moved && at.saturating_sub(since) >= self.stretch && runs > before => {
                return Next::Done((energy_mj - energy) / (runs - before));
            }
            // A kernel that outlasts the limit has moved the counter in its first run.
            _ if at.saturating_sub(began) > READING_LIMIT && self.requested > self.batch => return Next::Stuck,
            _ => {}
        }
        self.requested += self.batch;
        Next::Run(self.batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A device that uses `watts` while it runs kernels and a third of that otherwise. Its counter is
    /// updated every `period` seconds, and a look takes `look` seconds.
    #[derive(Clone, Copy)]
    struct EnergyMeter {
        watts: f64,
        period: f64,
        look: f64,
        /// True if a look falls into the batch under way; false if the batch ends first.
        is_overlapped: bool,
    }

    /// Reads runs of `time` seconds from `phase` on. Returns the millijoules of a run and the seconds
    /// that the reading takes.
    fn read(device: EnergyMeter, time: f64, phase: f64) -> (Option<f64>, f64) {
        let seconds = Duration::from_secs_f64;
        let mut reading = EnergyReading::new(seconds(time), seconds(device.look));
        // The ends of the updates of the counter, with the joules until then.
        let (mut now, mut joules, mut counter) = (phase, 0.0, 0.0);
        let mut pass = |now: &mut f64, length: f64, watts: f64, counter: &mut f64| {
            let updated = ((*now + length) / device.period).floor() * device.period;
            if updated > *now {
                *counter = joules + (updated - *now) * watts;
            }
            joules += length * watts;
            *now += length;
        };
        let mut look = Look { energy_mj: 0.0, at: seconds(now), runs: 0.0 };
        loop {
            match reading.next(look) {
                Next::Run(runs) => {
                    let batch = runs as f64 * time;
                    let (before, after) = if device.is_overlapped { (0.0, batch) } else { (batch, 0.0) };
                    pass(&mut now, before, device.watts, &mut counter);
                    let began = now;
                    let busy = (device.look / 2.0).min(after);
                    pass(&mut now, busy, device.watts, &mut counter);
                    pass(&mut now, device.look / 2.0 - busy, device.watts / 3.0, &mut counter);
                    let done = (before + busy) / time;
                    look = Look { energy_mj: (counter * 1e3).round(), at: seconds(now), runs: done };
                    pass(&mut now, (after - busy).max(0.0), device.watts, &mut counter);
                    let idle = (began + device.look - now).max(0.0);
                    pass(&mut now, idle, device.watts / 3.0, &mut counter);
                }
                Next::Done(energy) => return (Some(energy), now - phase),
                Next::Stuck => return (None, now - phase),
            }
        }
    }

    const QUICK: EnergyMeter = EnergyMeter { watts: 300.0, period: 0.1, look: 1e-5, is_overlapped: false };

    #[test]
    fn a_counter_that_stands_still_is_given_up() {
        let (energy, seconds) = read(EnergyMeter { watts: 0.0, ..QUICK }, 1e-3, 0.0);
        assert!(energy.is_none() && seconds < 3.1, "{seconds}");
    }

    #[test]
    fn a_run_longer_than_the_stretch_is_read_by_itself() {
        let (energy, _) = read(QUICK, 0.5, 0.02);
        assert!((energy.unwrap() / 150e3 - 1.0).abs() < 0.21, "{energy:?}");
    }

    proptest! {
        #[test]
        fn the_energy_of_a_run_is_found_to_a_few_per_cent(
            watts in 50.0..700.0f64, period in 0.01..0.1f64, time in 1e-6..2e-3f64, phase in 0.0..1.0f64,
        ) {
            let (energy, seconds) = read(EnergyMeter { watts, period, ..QUICK }, time, phase);
            let error = energy.unwrap() / (watts * time * 1e3) - 1.0;
            prop_assert!(error.abs() < 0.04, "{}", error);
            prop_assert!(seconds < 0.2 + 3.0 * period + 0.01, "{}", seconds);
        }

        #[test]
        fn a_counter_that_is_slow_to_read_gives_the_same_energy(
            watts in 50.0..700.0f64, period in 0.01..0.1f64, look in 1e-5..5e-3f64, time in 1e-6..2e-3f64,
            phase in 0.0..1.0f64,
        ) {
            let (energy, seconds) = read(EnergyMeter { watts, period, look, is_overlapped: true }, time, phase);
            let error = energy.unwrap() / (watts * time * 1e3) - 1.0;
            prop_assert!(error.abs() < 0.04 + 2.0 * 8.0 * look / 0.2f64.max(64.0 * look), "{}", error);
            prop_assert!(seconds < 0.2f64.max(64.0 * look) + 3.0 * period + 20.0 * look + 0.01, "{}", seconds);
        }
    }
}
