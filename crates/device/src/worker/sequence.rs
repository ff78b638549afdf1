//! Runs one configuration in the worker. All backends share this code.

use crate::measure::grouping::{LAUNCHES_PER_SAMPLE, group_of};
use crate::worker::bench::JobBench;
use crate::worker::protocol::{Ending, Job, JobReport, KernelStep, Phase, Purpose};
use rand::{RngExt as _, SeedableRng};
use std::time::Duration;
use tunesmith_backend::{Launch, LaunchArgument, Placement};
use tunesmith_core::Rng;
use tunesmith_kernel::measure::sampling::{Decision, decide};
use tunesmith_kernel::measure::{Cache, Launches, Sampling};

/// One of this many samples, chosen at random, is compared although its outputs are those of a
/// launch that was found right. The digest tells only different contents apart from equal ones; the
/// comparison does not depend on it.
const COMPARED: u32 = 8;

/// The outputs of one configuration that were found right.
struct Seen {
    /// Their digests. A kernel that adds in no fixed order may have several.
    digests: Vec<u64>,
    /// The number of launches so far.
    launches: usize,
    /// The last launch that was judged, counted from 1.
    judged: usize,
    /// True while every launch was far above the bar. Such a configuration cannot win, and only its
    /// first launch is judged.
    is_slow: bool,
    random: Rng,
}

impl JobBench<'_> {
    /// Runs a job to its end and reports on it.
    pub(crate) fn run(&mut self, job: &Job) -> JobReport {
        let mut report = JobReport::new();
        let result = match &job.purpose {
            Purpose::Measure { sampling, cache, launches, profile, seed, setting } => {
                if let Some(watcher) = &mut self.watcher {
                    watcher.begin(*setting);
                }
                let random = Rng::seed_from_u64(*seed);
                let seen = Seen { digests: Vec::new(), launches: 0, judged: 0, is_slow: true, random };
                self.measure(job, sampling, (*cache, *launches), seen, &mut report).and_then(|arguments| {
                    report.profile = profile.then(|| self.profile(job, &arguments)).transpose()?;
                    Ok(())
                })
            }
            Purpose::Record => self.record(job, &mut report),
            Purpose::Launch => self.first_launch(job, &mut report).and_then(|_| self.check(&mut report)),
            Purpose::Verify(series) => self.verify(job, series, &mut report),
        };
        self.session.unload();
        self.fill_local(None);
        if let Err(ending) = result {
            report.ending = ending;
        }
        if let Some(watcher) = &mut self.watcher {
            watcher.conclude(&mut report);
        }
        report
    }

    /// Has local memory hold repetitions of `word` at the start of every launch from now on. `None` leaves it as it is.
    pub(super) fn fill_local(&mut self, word: Option<u32>) {
        self.session.fill_local(word);
        self.buffers.local_word = word;
    }

    /// Launches once without counting, and has the result judged. Launches again until there were
    /// enough warm-ups. Then takes samples until they suffice. Looks at the outputs of each launch.
    /// Has the result of the last one judged too, because a kernel may be correct only once, unless
    /// the kernel is slow. A first launch that shows a slow kernel to be hopeless is its only sample.
    fn measure(
        &mut self,
        job: &Job,
        sampling: &Sampling,
        (cache, how): (Cache, Launches),
        mut seen: Seen,
        report: &mut JobReport,
    ) -> Result<Vec<LaunchArgument>, Ending> {
        let arguments = self.first_launch(job, report)?;
        self.check(report)?;
        self.judge(1, report)?;
        (seen.launches, seen.judged) = (1, 1);
        seen.is_slow = report.warmup_ms.is_some_and(|first| sampling.is_far(first));
        if !seen.is_slow {
            seen.digests.push(self.fingerprint(report)?);
        }
        if let (Some(first), [_]) = (report.warmup_ms.filter(|first| sampling.is_hopeless(*first)), &job.steps[..]) {
            report.times_ms.push(first);
            return Ok(arguments);
        }
        self.session.place(Placement::Aligned);
        self.tuner.announce(Phase::Sampling { warmup_ms: report.warmup_ms.unwrap_or_default() });
        let group = self.warm_up(job, (sampling, cache, how), &arguments, &mut seen, report)?;
        let start = self.clock.now();
        while decide(&report.times_ms, self.clock.now() - start, sampling) == Decision::More {
            self.read_energy(job, &arguments, report)?;
            let times = self.launch(job, &arguments, cache, group, report)?;
            let (ms, is_suspicious) = (times.iter().sum(), self.is_suspicious(report));
            self.look(sampling.is_far(ms), &mut seen, report)?;
            if is_suspicious {
                continue;
            }
            report.times_ms.push(ms);
            if job.steps.len() > 1 {
                for (step, time) in job.steps.iter().zip(times) {
                    report.parts_ms.entry(step.name.clone()).or_default().push(time);
                }
            }
        }
        self.check(report).map_err(|ending| later(ending, seen.launches))?;
        // The tuner examines a launch once. Outputs handed over again would stay in the file.
        if seen.judged < seen.launches && !seen.is_slow {
            self.judge(seen.launches, report)?;
        }
        Ok(arguments)
    }

    /// Launches again until there were enough warm-ups. Returns the number of launches that make up a
    /// sample.
    fn warm_up(
        &mut self,
        job: &Job,
        (sampling, cache, how): (&Sampling, Cache, Launches),
        arguments: &[LaunchArgument],
        seen: &mut Seen,
        report: &mut JobReport,
    ) -> Result<usize, Ending> {
        let mut launch = |bench: &mut Self, report: &mut JobReport| {
            let ms = bench.launch(job, arguments, cache, 1, report)?.iter().sum();
            bench.look(sampling.is_far(ms), seen, report)?;
            Ok::<f64, Ending>(ms)
        };
        for _ in 1..sampling.warmups {
            launch(self, report)?;
        }
        if how != Launches::Grouped || !self.can_group(job, cache) {
            return Ok(1);
        }
        let group = group_of(Duration::from_secs_f64(launch(self, report)? / 1e3));
        if group > 1 {
            report.values.insert(LAUNCHES_PER_SAMPLE.to_owned(), vec![group as f64]);
        }
        Ok(group)
    }

    /// Returns true if a sample may consist of many launches: one kernel, which finds the same
    /// inputs each time, and caches that may hold them.
    fn can_group(&self, job: &Job, cache: Cache) -> bool {
        cache == Cache::Warm && job.steps.len() == 1 && self.session.can_group() && self.buffers.repeat_alike()
    }

    /// Launches once, and hands the outputs to the tuner.
    fn record(&mut self, job: &Job, report: &mut JobReport) -> Result<(), Ending> {
        self.first_launch(job, report)?;
        self.check(report)?;
        self.judge(1, report)
    }

    /// Looks at the outputs of another launch, whose time `is_far` above the bar or not. If they differ from
    /// all that were found right, checks the memory and has them judged; now and then also if they do
    /// not. Does nothing while the kernel is slow: reading the outputs takes longer than some kernels.
    fn look(&mut self, is_far: bool, seen: &mut Seen, report: &mut JobReport) -> Result<(), Ending> {
        seen.launches += 1;
        seen.is_slow &= is_far;
        if seen.is_slow {
            return Ok(());
        }
        let digest = self.fingerprint(report)?;
        let is_new = !seen.digests.contains(&digest);
        if !is_new && seen.random.random_range(0..COMPARED) != 0 {
            return Ok(());
        }
        self.check_memory(report).map_err(|ending| later(ending, seen.launches))?;
        self.judge(seen.launches, report)?;
        seen.judged = seen.launches;
        if is_new {
            seen.digests.push(digest);
        }
        Ok(())
    }

    pub(super) fn fingerprint(&mut self, report: &mut JobReport) -> Result<u64, Ending> {
        let start = self.clock.now();
        let digest = self.buffers.fingerprint(self.session);
        report.verify += self.clock.now() - start;
        digest
    }

    /// Hands the outputs of a launch to the tuner, which compares them.
    pub(super) fn judge(&mut self, launch: usize, report: &mut JobReport) -> Result<(), Ending> {
        if !self.buffers.are_compared() {
            return Ok(());
        }
        let start = self.clock.now();
        let judged = self.buffers.hand_over(self.session).map(|()| self.tuner.judge(launch));
        report.verify += self.clock.now() - start;
        match judged? {
            Some(true) => Ok(()),
            Some(false) => Err(Ending::Judged),
            // A tuner that hears this is not gone.
            None => Err(Ending::Broken("the kernel damaged the worker's connection to the tuner".to_owned())),
        }
    }

    pub(super) fn first_launch(&mut self, job: &Job, report: &mut JobReport) -> Result<Vec<LaunchArgument>, Ending> {
        self.tuner.announce(Phase::Preparing);
        self.session.place(Placement::AtEnd);
        let programs: Vec<_> = job.steps.iter().map(|step| &step.program).collect();
        let start = self.clock.now();
        let loaded = self.session.load(&programs);
        report.load += self.clock.now() - start;
        loaded?;
        let start = self.clock.now();
        self.buffers.place(self.session, &job.passed)?;
        self.buffers.renew(self.session)?;
        self.buffers.restore(self.session)?;
        report.run += self.clock.now() - start;
        let arguments = self.buffers.launch_arguments(&job.passed);
        self.note_resources(job, &arguments, report)?;
        let start = self.clock.now();
        let (mut warmup, mut waited) = (0.0, Duration::ZERO);
        for (position, step) in job.steps.iter().enumerate() {
            self.tuner.announce(Phase::Starting);
            let enqueued = self.clock.now();
            let mut began = enqueued;
            let (clock, tuner) = (self.clock, &mut *self.tuner);
            let mut started = || {
                began = clock.now();
                tuner.announce(Phase::Launching);
            };
            let time = self.session.launch(position, &step.launch(&arguments), &mut started)?;
            report.load += began - enqueued;
            warmup += milliseconds(time);
            waited += began - enqueued;
        }
        report.run += (self.clock.now() - start).saturating_sub(waited);
        report.codes = (0..job.steps.len()).map(|position| self.session.code(position)).collect();
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

    /// Restores the memory that the last launches changed, and runs all kernels again, `group`
    /// times. Returns one time for each kernel. The times cover the launches alone, and are those
    /// of one repetition.
    fn launch(
        &mut self,
        job: &Job,
        arguments: &[LaunchArgument],
        cache: Cache,
        group: usize,
        report: &mut JobReport,
    ) -> Result<Vec<f64>, Ending> {
        let start = self.clock.now();
        self.buffers.restore_again(self.session)?;
        if cache == Cache::Cold {
            self.session.flush_caches()?;
        }
        report.run += self.clock.now() - start;
        self.launch_steps(job, arguments, group, report)
    }

    pub(super) fn launch_steps(
        &mut self,
        job: &Job,
        arguments: &[LaunchArgument],
        group: usize,
        report: &mut JobReport,
    ) -> Result<Vec<f64>, Ending> {
        let start = self.clock.now();
        let mut times = Vec::with_capacity(job.steps.len());
        for (position, step) in job.steps.iter().enumerate() {
            let launch = Launch { group, ..step.launch(arguments) };
            let time = self.session.launch(position, &launch, &mut || {})?;
            times.push(milliseconds(time) / group as f64);
        }
        report.run += self.clock.now() - start;
        Ok(times)
    }

    fn check(&mut self, report: &mut JobReport) -> Result<(), Ending> {
        self.tuner.announce(Phase::Checking);
        self.check_memory(report)
    }

    pub(super) fn check_memory(&mut self, report: &mut JobReport) -> Result<(), Ending> {
        let start = self.clock.now();
        let result = self.buffers.check(self.session);
        report.verify += self.clock.now() - start;
        result
    }
}

impl KernelStep {
    pub(super) fn launch<'a>(&'a self, all: &'a [LaunchArgument]) -> Launch<'a> {
        let arguments = self.arguments.iter().filter_map(|position| all.get(*position)).collect();
        Launch { arguments, grid: self.grid.as_ref(), times: self.launches, group: 1 }
    }
}

/// Returns the end of a job that was found wrong after `launches` launches, and right before.
pub(super) fn later(ending: Ending, launches: usize) -> Ending {
    match ending {
        Ending::Wrong(message) if launches > 1 => Ending::Wrong(changed_later(&message, launches)),
        other => other,
    }
}

/// Returns the message for a result that is wrong after `launches` launches, and was right before.
pub(crate) fn changed_later(message: &str, launches: usize) -> String {
    format!(
        "{message}; right after the first launch, wrong after {launches}: it keeps something from launch to launch, \
         or its threads race"
    )
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
