//! Watches the device during sampling: the energy of the samples, and the device's state after each
//! of them.

use crate::energy::{EnergyReading, Look, Next};
use crate::worker::bench::JobBench;
use crate::worker::protocol::{Ending, Job, JobReport};
use std::time::Duration;
use tunesmith_backend::energy::Trouble;
use tunesmith_backend::{Launch, LaunchArgument};
use tunesmith_kernel::measure::ENERGY_MJ;

impl JobBench<'_> {
    /// Measures the energy of one run of the configuration, if that is wanted. The configuration
    /// runs repeatedly, on the current contents of its buffers, until the device's counter shows a
    /// difference.
    pub(super) fn read_energy(
        &mut self,
        job: &Job,
        arguments: &[LaunchArgument],
        report: &mut JobReport,
    ) -> Result<(), Ending> {
        let Some(watcher) = self.watcher.as_mut().filter(|watcher| watcher.energy) else { return Ok(()) };
        let start = self.clock.now();
        let energy_mj = watcher.meter.energy_mj().map_err(Ending::Broken)?;
        let at = self.clock.now();
        let run = Duration::from_secs_f64(report.warmup_ms.unwrap_or_default() / 1e3);
        let mut reading = EnergyReading::new(run, at - start);
        let mut look = Look { energy_mj, at, runs: 0.0 };
        loop {
            match reading.next(look) {
                Next::Run(runs) => look = self.run_and_look(job, arguments, runs)?,
                Next::Done(energy) => {
                    report.values.entry(ENERGY_MJ.to_owned()).or_default().push(energy);
                    report.run += self.clock.now() - start;
                    return Ok(());
                }
                Next::Stuck => {
                    return Err(Ending::Broken("the device's energy counter does not move".to_owned()));
                }
            }
        }
    }

    /// Runs the configuration `runs` times, and looks at the counter when the first launch has started.
    /// The launches of a single kernel start together, so that the device works during the look.
    fn run_and_look(&mut self, job: &Job, arguments: &[LaunchArgument], runs: u64) -> Result<Look, Ending> {
        let Self { session, clock, watcher: Some(watcher), .. } = self else {
            return Err(Ending::Broken("there is no meter".to_owned()));
        };
        let (began, mut seen) = (clock.now(), None);
        let mut started = || {
            if seen.is_none() {
                let asked = clock.now();
                let energy = watcher.meter.energy_mj();
                seen = Some((energy, asked + (clock.now() - asked) / 2));
            }
        };
        let together = if job.steps.len() == 1 { usize::try_from(runs).unwrap_or(usize::MAX) } else { 1 };
        for _ in 0..runs / together as u64 {
            for (position, step) in job.steps.iter().enumerate() {
                let launch = step.launch(arguments);
                let times = launch.times.saturating_mul(together);
                session.launch(position, &Launch { times, ..launch }, &mut started)?;
            }
        }
        // Where a device does not tell that the launches have started, they have ended by now.
        started();
        let lasted = (clock.now() - began).as_secs_f64().max(f64::MIN_POSITIVE);
        let Some((energy, at)) = seen else { return Err(Ending::Broken("there was no look".to_owned())) };
        let energy_mj = energy.map_err(Ending::Broken)?;
        let share = (at.saturating_sub(began).as_secs_f64() / lasted).min(1.0);
        Ok(Look { energy_mj, at, runs: runs as f64 * share })
    }

    /// Returns true if the last sample must be retaken because of the state of the device at its
    /// end. Otherwise adds that state to the report.
    pub(super) fn is_suspicious(&mut self, report: &mut JobReport) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        let conditions = watcher.meter.conditions();
        let slow = conditions.slowdown.map(Trouble::Slow).filter(|slow| !report.troubles.contains(slow));
        report.troubles.extend(slow);
        if watcher.watch.is_suspicious(&conditions) {
            if let Some(energies) = report.values.get_mut(ENERGY_MJ) {
                energies.pop();
            }
            report.values.insert(RETAKEN.to_owned(), vec![watcher.watch.retakes() as f64]);
            return true;
        }
        let throttled = conditions.throttled.map(|throttled| f64::from(u8::from(throttled)));
        let told = [("clock_mhz", conditions.clock_mhz), ("power_w", conditions.power_w), ("throttled", throttled)];
        for (name, value) in told.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            report.values.entry(name.to_owned()).or_default().push(value);
        }
        false
    }
}

/// The name of the number of retaken samples of a configuration. Missing if no sample was retaken.
const RETAKEN: &str = "retaken";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::{EnergySource, Watch};
    use crate::worker::buffers::Buffers;
    use crate::worker::profile::fake::{AlwaysRight, Fake, Log, step};
    use crate::worker::protocol::Purpose;
    use crate::worker::watcher::Watcher;
    use std::cell::Cell;
    use std::rc::Rc;
    use tunesmith_backend::energy::{Conditions, Meter};
    use tunesmith_core::ManualClock;
    use tunesmith_kernel::measure::{Cache, Launches, Sampling};
    use tunesmith_power::Setting;

    /// A device of 100 W. Its energy counter moves every 50 ms, and its clock falls during some
    /// samples.
    struct Device {
        clock: Rc<ManualClock>,
        clocks_mhz: Vec<f64>,
        asked: Cell<usize>,
    }

    impl Meter for Device {
        fn energy_mj(&mut self) -> Result<f64, String> {
            use tunesmith_core::Clock;
            Ok((self.clock.now().as_secs_f64() / 0.05).floor() * 0.05 * 100e3)
        }

        fn conditions(&mut self) -> Conditions {
            let at = self.asked.replace(self.asked.get() + 1);
            let clock_mhz = self.clocks_mhz.get(at).or(self.clocks_mhz.last()).copied();
            Conditions { clock_mhz, power_w: Some(100.0), throttled: Some(false), slowdown: None }
        }
    }

    fn measured(clocks_mhz: Vec<f64>, energy: bool) -> JobReport {
        let clock = Rc::new(ManualClock::default());
        let launch = Duration::from_millis(1);
        let mut session = Fake { passes: None, ..Fake::new(Log::default()) };
        session.time = Some((Rc::clone(&clock), launch));
        let mut buffers = Buffers::allocate(&mut session, Vec::new(), None).unwrap();
        let meter = Box::new(Device { clock: Rc::clone(&clock), clocks_mhz, asked: Cell::new(0) });
        let mut watcher = Watcher { meter, watch: Watch::default(), energy, memory_errors: None, untold: Vec::new() };
        let (sampling, launches, setting) = (Sampling::default(), Launches::default(), Setting::default());
        let purpose = Purpose::Measure { sampling, cache: Cache::Warm, launches, profile: false, seed: 1, setting };
        let job = Job { steps: vec![step(8), step(8)], passed: Vec::new(), purpose };
        let (session, buffers) = (&mut session, &mut buffers);
        JobBench { session, buffers, clock: clock.as_ref(), watcher: Some(&mut watcher), tuner: &mut AlwaysRight }
            .run(&job)
    }

    #[test]
    fn every_sample_has_the_energy_of_one_run() {
        let report = measured(vec![1980.0], true);
        assert_eq!(report.ending, Ending::Correct);
        let energies = &report.values[ENERGY_MJ];
        assert_eq!(energies.len(), report.times_ms.len());
        // Two launches of 1 ms at 100 W.
        assert!(energies.iter().all(|energy| (energy / 200.0 - 1.0).abs() < 0.02), "{energies:?}");
        assert_eq!(report.values["power_w"], vec![100.0; report.times_ms.len()]);
    }

    #[test]
    fn a_sample_whose_clock_dropped_is_taken_again() {
        let report = measured(vec![1980.0, 900.0, 1980.0], false);
        assert_eq!(report.values["clock_mhz"], [1980.0; 7]);
        assert_eq!((report.times_ms.len(), &report.values[RETAKEN]), (7, &vec![1.0]));
        assert!(!report.values.contains_key(ENERGY_MJ));
    }

    #[test]
    fn energy_that_a_device_does_not_count_is_an_error_before_anything_runs() {
        let mut session = Fake::new(Log::default());
        assert!(Watcher::new(&mut session, None).unwrap().is_none());
        let reason = Watcher::new(&mut session, Some(&EnergySource::Device)).err().unwrap();
        assert!(reason.starts_with("cannot measure energy: "), "{reason}");
    }
}
