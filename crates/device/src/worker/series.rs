//! The last verification of a winner, as the worker makes it.

use crate::measure::series::{PlannedLaunch, Series, local_word};
use crate::worker::bench::JobBench;
use crate::worker::protocol::{Ending, Job, JobReport, Phase};
use crate::worker::sequence::later;
use std::collections::HashMap;
use std::time::Duration;
use tunesmith_backend::{LaunchArgument, Placement};

/// The digests of the outputs that were found right, by set of data.
type Right = HashMap<usize, Vec<u64>>;

impl JobBench<'_> {
    /// Launches as `series` says, and looks at the outputs of every launch.
    pub(super) fn verify(&mut self, job: &Job, series: &Series, report: &mut JobReport) -> Result<(), Ending> {
        let (mut right, mut arguments) = (Right::new(), Vec::new());
        let mut start = Duration::ZERO;
        for (made, launch) in (1..).zip(&series.launches) {
            self.fill_local(Some(local_word(made)));
            if made == 1 {
                self.buffers.choose(launch.set);
                arguments = self.first_launch(job, report)?;
                start = self.clock.now();
            } else {
                self.launch_on(launch.set, job, &arguments, report)?;
            }
            self.tuner.announce(Phase::Checking);
            // The outputs of the last launch are compared in full, so that it must be known before.
            let is_last = series.is_over(made, self.clock.now() - start);
            let launch = PlannedLaunch { is_compared: launch.is_compared || is_last, ..*launch };
            self.examine(made, launch, &mut right, report)?;
            if is_last {
                break;
            }
        }
        self.buffers.choose(0);
        report.unfilled = self.session.unfilled().map(str::to_owned);
        Ok(())
    }

    /// Launches all kernels on a set of data. Scratch keeps what the last launch left in it, because a kernel may
    /// keep its results there, too.
    fn launch_on(
        &mut self,
        set: usize,
        job: &Job,
        arguments: &[LaunchArgument],
        report: &mut JobReport,
    ) -> Result<(), Ending> {
        self.session.place(Placement::Aligned);
        let start = self.clock.now();
        if self.buffers.choose(set) {
            self.buffers.renew(self.session)?;
            self.buffers.refill(self.session)?;
        } else {
            self.buffers.restore_again(self.session)?;
        }
        report.run += self.clock.now() - start;
        self.tuner.announce(Phase::Launching);
        self.launch_steps(job, arguments, 1, report).map(drop)
    }

    /// Looks at the outputs of a launch, counted from 1. If their digest is none that was found right on the same
    /// data, or if `launch` says so, checks the memory and has them judged.
    fn examine(
        &mut self,
        made: usize,
        launch: PlannedLaunch,
        right: &mut Right,
        report: &mut JobReport,
    ) -> Result<(), Ending> {
        let digest = self.fingerprint(report)?;
        let known = right.entry(launch.set).or_default();
        let is_new = !known.contains(&digest);
        if is_new || launch.is_compared {
            self.check_memory(report).map_err(|ending| later(ending, made))?;
            self.judge(made, report)?;
        }
        if is_new {
            known.push(digest);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::series::Sets;
    use crate::worker::buffers::Buffers;
    use crate::worker::profile::fake::{AlwaysRight, Fake, Log, step};
    use crate::worker::protocol::Purpose;
    use rand::SeedableRng;
    use std::rc::Rc;
    use tunesmith_core::{ManualClock, Rng};
    use tunesmith_kernel::measure::Repetition;

    /// Verifies a kernel that takes `time` on a device that fills local memory unless it `cannot`. Returns the report,
    /// the number of launches and the device.
    fn verify(time: Duration, cannot: Option<&str>) -> (JobReport, usize, Fake) {
        let (clock, log) = (Rc::new(ManualClock::default()), Log::default());
        let mut device = Fake::new(Rc::clone(&log));
        device.time = Some((Rc::clone(&clock), time));
        device.words = cannot.map_or_else(|| Ok(Vec::new()), |reason| Err(reason.to_owned()));
        let mut buffers = Buffers::allocate(&mut device, Vec::new(), None).unwrap();
        let series = Series::long(Sets::Similar, Repetition::default(), &mut Rng::seed_from_u64(1));
        let job = Job { steps: vec![step(8)], passed: Vec::new(), purpose: Purpose::Verify(series) };
        let (session, buffers) = (&mut device, &mut buffers);
        let report =
            JobBench { session, buffers, clock: clock.as_ref(), watcher: None, tuner: &mut AlwaysRight }.run(&job);
        assert_eq!(report.ending, Ending::Correct);
        let launches = log.borrow().len();
        (report, launches, device)
    }

    #[test]
    fn a_series_ends_after_a_second_but_not_before_its_sixth_launch() {
        // The first launch takes nothing of the second: its driver may compile.
        let counts = [1, 5, 20, 250, 2000].map(|milliseconds| verify(Duration::from_millis(milliseconds), None).1);
        assert_eq!(counts, [200, 200, 51, 6, 6]);
    }

    #[test]
    fn local_memory_holds_something_else_at_each_launch_and_is_left_alone_afterwards() {
        let (report, launches, device) = verify(Duration::from_millis(1), None);
        let expected: Vec<Option<u32>> = (1..=launches).map(|made| Some(local_word(made))).chain([None]).collect();
        assert_eq!((device.words, report.unfilled), (Ok(expected), None));
    }

    #[test]
    fn a_device_that_cannot_fill_local_memory_tells_the_reason() {
        let (report, launches, _) = verify(Duration::from_millis(1), Some("no compiler"));
        assert_eq!((report.unfilled.as_deref(), launches), (Some("no compiler"), 200));
    }
}
