//! Runs one configuration in the worker. All backends share this code.

use crate::backends::{Launch, LaunchArgument, Session};
use crate::measure::sampling::{Decision, decide};
use crate::measure::{Cache, Sampling};
use crate::worker::buffers::Buffers;
use crate::worker::protocol::{Ending, Job, JobReport, KernelStep, Phase, Purpose};
use crate::worker::watch::Watcher;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use tunesmith_core::Clock;

/// A device with filled buffers, ready for jobs.
pub(crate) struct JobBench<'a> {
    pub(crate) session: &'a mut dyn Session,
    pub(crate) buffers: &'a mut Buffers,
    pub(crate) clock: &'a dyn Clock,
    /// The watcher of the device, if it is watched.
    pub(crate) watcher: Option<&'a mut Watcher>,
    /// Announces the next step to the tuner.
    pub(crate) announce: &'a mut dyn FnMut(Phase),
}

impl JobBench<'_> {
    /// Runs a job to its end and reports on it.
    pub(crate) fn run(&mut self, job: &Job) -> JobReport {
        let mut report = JobReport {
            ending: Ending::Correct,
            warmup_ms: None,
            times_ms: Vec::new(),
            parts_ms: BTreeMap::new(),
            resources: BTreeMap::new(),
            values: BTreeMap::new(),
            profile: None,
            load: Duration::ZERO,
            run: Duration::ZERO,
            verify: Duration::ZERO,
        };
        let result = match &job.purpose {
            Purpose::Measure { sampling, cache, profile } => {
                self.measure(job, sampling, *cache, &mut report).and_then(|arguments| {
                    report.profile = profile.then(|| self.profile(job, &arguments)).transpose()?;
                    Ok(())
                })
            }
            Purpose::Record(outputs) => self.record(job, outputs, &mut report),
        };
        self.session.unload();
        if let Err(ending) = result {
            report.ending = ending;
        }
        report
    }

    /// Launches once without counting, and checks the result. Then takes samples until they
    /// suffice. Checks the result of the last sample too, because a kernel may be correct only
    /// once.
    fn measure(
        &mut self,
        job: &Job,
        sampling: &Sampling,
        cache: Cache,
        report: &mut JobReport,
    ) -> Result<Vec<LaunchArgument>, Ending> {
        let arguments = self.first_launch(job, report)?;
        self.check(report)?;
        (self.announce)(Phase::Sampling { warmup_ms: report.warmup_ms.unwrap_or_default() });
        let start = self.clock.now();
        while decide(&report.times_ms, self.clock.now() - start, sampling) == Decision::More {
            self.read_energy(job, &arguments, report)?;
            let times = self.launch(job, &arguments, cache, report)?;
            if self.is_suspicious(report) {
                continue;
            }
            report.times_ms.push(times.iter().sum());
            if job.steps.len() > 1 {
                for (step, time) in job.steps.iter().zip(times) {
                    report.parts_ms.entry(step.name.clone()).or_default().push(time);
                }
            }
        }
        self.check(report).map_err(|ending| match ending {
            Ending::Wrong(message) => Ending::Wrong(changed_later(&message, report.times_ms.len() + 1)),
            other => other,
        })?;
        Ok(arguments)
    }

    /// Launches once and keeps the outputs.
    fn record(&mut self, job: &Job, outputs: &[(usize, PathBuf)], report: &mut JobReport) -> Result<(), Ending> {
        self.first_launch(job, report)?;
        self.check(report)?;
        outputs.iter().try_for_each(|(position, path)| self.buffers.save(self.session, *position, path))
    }

    fn first_launch(&mut self, job: &Job, report: &mut JobReport) -> Result<Vec<LaunchArgument>, Ending> {
        (self.announce)(Phase::Preparing);
        let programs: Vec<_> = job.steps.iter().map(|step| &step.program).collect();
        let start = self.clock.now();
        let loaded = self.session.load(&programs);
        report.load += self.clock.now() - start;
        loaded?;
        let start = self.clock.now();
        self.buffers.place_locals(self.session, &job.passed)?;
        self.buffers.renew(self.session)?;
        self.buffers.restore(self.session)?;
        report.run += self.clock.now() - start;
        let arguments = self.buffers.launch_arguments(&job.passed);
        self.note_resources(job, &arguments, report)?;
        let start = self.clock.now();
        let (mut warmup, mut waited) = (0.0, Duration::ZERO);
        for (position, step) in job.steps.iter().enumerate() {
            (self.announce)(Phase::Starting);
            let enqueued = self.clock.now();
            let mut began = enqueued;
            let mut started = || {
                began = self.clock.now();
                (self.announce)(Phase::Launching);
            };
            let time = self.session.launch(position, &step.launch(&arguments), &mut started)?;
            report.load += began - enqueued;
            warmup += milliseconds(time);
            waited += began - enqueued;
        }
        report.run += (self.clock.now() - start).saturating_sub(waited);
        report.warmup_ms = Some(warmup);
        Ok(arguments)
    }

    /// Keeps the kernels' resource use, by the kernel's name if there are several.
    fn note_resources(
        &mut self,
        job: &Job,
        arguments: &[LaunchArgument],
        report: &mut JobReport,
    ) -> Result<(), Ending> {
        for (position, step) in job.steps.iter().enumerate() {
            for (name, value) in self.session.resources(position, &step.launch(arguments))? {
                let name = if job.steps.len() > 1 { format!("{}.{name}", step.name) } else { name };
                report.resources.insert(name, value);
            }
        }
        Ok(())
    }

    /// Restores the memory that the last launches changed, and runs all kernels again. Returns one
    /// time for each kernel. The times cover the launches alone.
    fn launch(
        &mut self,
        job: &Job,
        arguments: &[LaunchArgument],
        cache: Cache,
        report: &mut JobReport,
    ) -> Result<Vec<f64>, Ending> {
        let start = self.clock.now();
        self.buffers.restore_again(self.session)?;
        if cache == Cache::Cold {
            self.session.flush_caches()?;
        }
        let mut times = Vec::with_capacity(job.steps.len());
        for (position, step) in job.steps.iter().enumerate() {
            let time = self.session.launch(position, &step.launch(arguments), &mut || {})?;
            times.push(milliseconds(time));
        }
        report.run += self.clock.now() - start;
        Ok(times)
    }

    fn check(&mut self, report: &mut JobReport) -> Result<(), Ending> {
        (self.announce)(Phase::Checking);
        let start = self.clock.now();
        let result = self.buffers.check(self.session);
        report.verify += self.clock.now() - start;
        result
    }
}

impl KernelStep {
    pub(super) fn launch<'a>(&'a self, all: &'a [LaunchArgument]) -> Launch<'a> {
        let arguments = self.arguments.iter().filter_map(|position| all.get(*position)).collect();
        Launch { arguments, grid: self.grid.as_ref(), times: self.launches }
    }
}

fn changed_later(message: &str, launches: usize) -> String {
    format!("{message}; right after the first launch, wrong after {launches}: it keeps something from launch to launch")
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
