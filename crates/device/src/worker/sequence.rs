//! What happens to one program in the worker, the same for every backend.

use crate::backend::{LaunchArgument, Session};
use crate::measure::Sampling;
use crate::measure::sampling::{Decision, decide};
use crate::worker::buffers::Buffers;
use crate::worker::protocol::{Ending, Job, Phase, Purpose, Report};
use std::path::PathBuf;
use std::time::Duration;
use tunesmith_core::Clock;

/// A device with filled buffers, ready for jobs.
pub(crate) struct Bench<'a> {
    pub(crate) session: &'a mut dyn Session,
    pub(crate) buffers: &'a mut Buffers,
    pub(crate) clock: &'a dyn Clock,
    /// Tells the tuner what comes next.
    pub(crate) announce: &'a mut dyn FnMut(Phase),
}

impl Bench<'_> {
    /// Does a job to its end and reports it.
    pub(crate) fn run(&mut self, job: &Job) -> Report {
        let mut report = Report {
            ending: Ending::Correct,
            warmup_ms: None,
            times_ms: Vec::new(),
            run: Duration::ZERO,
            verify: Duration::ZERO,
        };
        let result = match &job.purpose {
            Purpose::Measure(sampling) => self.measure(job, sampling, &mut report),
            Purpose::Record(outputs) => self.record(job, outputs, &mut report),
        };
        self.session.unload();
        if let Err(ending) = result {
            report.ending = ending;
        }
        report
    }

    /// One launch that does not count, its result checked; then samples until they suffice, the last one's result
    /// checked as well: a kernel may be right once only.
    fn measure(&mut self, job: &Job, sampling: &Sampling, report: &mut Report) -> Result<(), Ending> {
        let arguments = self.first_launch(job, report)?;
        self.check(report)?;
        (self.announce)(Phase::Sampling { warmup_ms: report.warmup_ms.unwrap_or_default() });
        let start = self.clock.now();
        while decide(&report.times_ms, self.clock.now() - start, sampling) == Decision::More {
            let time = self.launch(&arguments, report)?;
            report.times_ms.push(time);
        }
        self.check(report).map_err(|ending| match ending {
            Ending::Wrong(message) => Ending::Wrong(changed_later(&message, report.times_ms.len() + 1)),
            other => other,
        })
    }

    /// One launch, whose outputs are kept.
    fn record(&mut self, job: &Job, outputs: &[(usize, PathBuf)], report: &mut Report) -> Result<(), Ending> {
        self.first_launch(job, report)?;
        self.check(report)?;
        outputs.iter().try_for_each(|(position, path)| self.buffers.save(self.session, *position, path))
    }

    fn first_launch(&mut self, job: &Job, report: &mut Report) -> Result<Vec<LaunchArgument>, Ending> {
        (self.announce)(Phase::Preparing);
        self.session.load(&job.program)?;
        let start = self.clock.now();
        self.buffers.renew(self.session)?;
        self.buffers.restore(self.session)?;
        report.run += self.clock.now() - start;
        let arguments = self.buffers.launch_arguments(&job.scalars);
        (self.announce)(Phase::Launching);
        let time = self.session.launch(&arguments)?;
        report.run += time;
        report.warmup_ms = Some(milliseconds(time));
        Ok(arguments)
    }

    /// Restores what the last launch changed and launches again; the time is of the launch alone.
    fn launch(&mut self, arguments: &[LaunchArgument], report: &mut Report) -> Result<f64, Ending> {
        let start = self.clock.now();
        self.buffers.restore(self.session)?;
        let time = self.session.launch(arguments)?;
        report.run += self.clock.now() - start;
        Ok(milliseconds(time))
    }

    fn check(&mut self, report: &mut Report) -> Result<(), Ending> {
        (self.announce)(Phase::Checking);
        let start = self.clock.now();
        let result = self.buffers.check(self.session);
        report.verify += self.clock.now() - start;
        result
    }
}

fn changed_later(message: &str, launches: usize) -> String {
    format!("{message}; right after the first launch, wrong after {launches}: it keeps something from launch to launch")
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
