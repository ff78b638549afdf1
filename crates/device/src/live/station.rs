//! Measures programs: starts workers, enforces their time limits, and interprets their ends.

use crate::backends::Resources;
use crate::energy::READING_LIMIT;
use crate::error::DeviceError;
use crate::host::WorkerCommand;
use crate::measure::Policy;
use crate::measure::limits::{Limit, Reason, data_limit, sampling_limit};
use crate::worker::process::{Waited, Worker};
use crate::worker::protocol::{Ending, Job, JobReport, Message, Phase, Request, Setup};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::counters::REGISTERS;
use tunesmith_core::{Clock, Failure, FailureKind, Interrupt, Measurement};

/// One worker at a time. It is started on demand, and replaced when it can no longer be trusted.
pub(super) struct Station {
    pub(super) command: WorkerCommand,
    pub(super) setup: Setup,
    /// The total size of all buffers in bytes.
    pub(super) bytes: u64,
    pub(super) policy: Policy,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) worker: Option<Worker>,
}

/// The result of running a program.
#[derive(Debug, Default)]
pub(super) struct MeasuredJob {
    pub(super) failure: Option<Failure>,
    pub(super) measurement: Measurement,
    /// The kernels' use of the device's resources.
    pub(super) resources: Resources,
    /// The reason why requested counters were not read.
    pub(super) unprofiled: Option<String>,
    /// Time spent in loading, which is the work of compiler and driver.
    pub(super) load: Duration,
    pub(super) run: Duration,
    pub(super) verify: Duration,
}

/// The end of following a job.
enum Followed {
    Finished(Box<JobReport>),
    /// The worker ended in this phase. The text describes the end.
    Crashed(Phase, String),
    /// The worker was ended by force in this phase, at this limit.
    TimedOut(Phase, Limit),
    Interrupted,
}

impl Station {
    /// Runs a job. A single launch may take as long as `launch`. Returns `None` if interrupted.
    pub(super) fn run(
        &mut self,
        job: &Job,
        launch: &Limit,
        interrupt: &Interrupt,
    ) -> Result<Option<MeasuredJob>, DeviceError> {
        loop {
            let Some(mut worker) = self.take_worker(interrupt)? else { return Ok(None) };
            let was_used = worker.used;
            let mut measured = MeasuredJob::default();
            match self.follow(&mut worker, job, launch, interrupt, &mut measured)? {
                // This configuration may be innocent: an earlier one may have damaged the memory,
                // or someone may have ended the idle worker. A run in a fresh worker decides.
                Followed::Crashed(..) if was_used => continue,
                Followed::Crashed(phase, how) => {
                    measured.failure = Some(Failure::new(FailureKind::Runtime, crash(phase, &how)));
                }
                Followed::TimedOut(phase, limit) => {
                    measured.failure = Some(Failure::new(FailureKind::Timeout, timeout(phase, &limit)));
                }
                Followed::Interrupted => return Ok(None),
                Followed::Finished(report) => {
                    let broken = matches!(report.ending, Ending::Broken(_));
                    self.worker = Some(worker).filter(|_| !broken);
                    measured = finished(*report);
                }
            }
            return Ok(Some(measured));
        }
    }

    fn take_worker(&mut self, interrupt: &Interrupt) -> Result<Option<Worker>, DeviceError> {
        if let Some(worker) = self.worker.take() {
            return Ok(Some(worker));
        }
        let limit = data_limit(&self.policy.limits, self.bytes).duration;
        Worker::start(&self.command, self.setup.clone(), limit, Arc::clone(&self.clock), interrupt)
    }

    /// Sends the job and waits for its end, phase by phase. If the worker does not report, adds the
    /// observed durations to `measured`.
    fn follow(
        &self,
        worker: &mut Worker,
        job: &Job,
        launch: &Limit,
        interrupt: &Interrupt,
        measured: &mut MeasuredJob,
    ) -> Result<Followed, DeviceError> {
        worker.forget_printed();
        // If the job cannot be written, the worker has ended. Waiting reports its end.
        let _ = worker.send(&Request::Run(job.clone()));
        let mut phase = Phase::Preparing;
        loop {
            let limit = self.limit(phase, launch);
            let start = self.clock.now();
            let waited = worker.wait(limit.duration, interrupt);
            let spent = self.clock.now() - start;
            match phase {
                Phase::Checking => measured.verify += spent,
                _ => measured.run += spent,
            }
            match waited {
                Waited::Message(Message::Phase(next)) => phase = next,
                Waited::Message(Message::Finished(report)) => return Ok(Followed::Finished(report)),
                Waited::Message(other) => {
                    return Err(DeviceError::Worker { problem: format!("speaks another protocol: {other:?}") });
                }
                Waited::Ended(how) => return Ok(Followed::Crashed(phase, how)),
                Waited::TimedOut => return Ok(Followed::TimedOut(phase, limit)),
                Waited::Interrupted => return Ok(Followed::Interrupted),
            }
            if let Phase::Sampling { warmup_ms } = phase {
                measured.measurement.warmup_ms = Some(warmup_ms);
            }
        }
    }

    fn limit(&self, phase: Phase, launch: &Limit) -> Limit {
        let data = data_limit(&self.policy.limits, self.bytes);
        match phase {
            // Loading runs constructors, which are the user's code.
            Phase::Preparing => Limit { duration: launch.duration + data.duration, reason: launch.reason },
            // Drivers compile again in this phase. On processors this takes longer than the first
            // time.
            Phase::Starting => Limit { duration: launch.duration + self.policy.limits.compile, reason: Reason::Fixed },
            Phase::Launching => *launch,
            Phase::Checking => data,
            Phase::Sampling { .. } => {
                let limit = sampling_limit(launch, &self.policy.sampling, self.bytes);
                // Reading the energy of a sample takes an unknown number of launches.
                let readings = if self.setup.energy { self.policy.sampling.max_samples } else { 0 };
                let most = (READING_LIMIT + launch.duration) * u32::try_from(readings).unwrap_or(u32::MAX);
                Limit { duration: limit.duration + most, reason: limit.reason }
            }
            // The first pass opens a library. Every pass sets the device up.
            Phase::Profiling => Limit { duration: launch.duration + data.duration, reason: Reason::Fixed },
        }
    }
}

fn finished(report: JobReport) -> MeasuredJob {
    let failure = match report.ending {
        Ending::Correct => None,
        Ending::Refused(message) => Some(Failure::new(FailureKind::Constraints, message)),
        Ending::Broken(message) => Some(Failure::new(FailureKind::Runtime, message)),
        Ending::Wrong(message) => Some(Failure::new(FailureKind::Correctness, message)),
    };
    let mut profile = report.profile.unwrap_or_default();
    if let Some(registers) = report.resources.get(REGISTERS).filter(|_| !profile.counters.is_empty()) {
        profile.values.push((REGISTERS.to_owned(), *registers));
    }
    let singles = profile.values.into_iter().map(|(name, value)| (name, vec![value]));
    let measurement = Measurement {
        times_ms: report.times_ms,
        counters: profile.counters,
        values: report.values.into_iter().chain(singles).collect(),
        parts_ms: report.parts_ms,
        warmup_ms: report.warmup_ms,
        ..Measurement::default()
    };
    let JobReport { resources, load, run, verify, .. } = report;
    MeasuredJob { failure, measurement, resources, unprofiled: profile.unprofiled, load, run, verify }
}

/// Returns the message for a crash. The phase of the crash belongs into the first line.
fn crash(phase: Phase, how: &str) -> String {
    let when = match phase {
        Phase::Preparing => " while it was loaded",
        Phase::Starting | Phase::Launching => "",
        Phase::Checking => " after it had ended: it damaged memory that is not its own",
        Phase::Sampling { .. } => " in a launch after the first",
        Phase::Profiling => " while its counters were read",
    };
    match how.split_once('\n') {
        Some((end, printed)) => format!("{end}{when}\n{printed}"),
        None => format!("{how}{when}"),
    }
}

fn timeout(phase: Phase, limit: &Limit) -> String {
    match phase {
        Phase::Preparing => format!("the kernel could not be loaded within {limit}"),
        Phase::Starting => format!("the driver did not start the kernel within {limit}"),
        Phase::Launching => format!("the kernel did not end within {limit}"),
        Phase::Profiling => format!("the kernel's counters could not be read within {limit}"),
        Phase::Checking => format!("the kernel's result could not be checked within {limit}"),
        Phase::Sampling { warmup_ms } => {
            format!("the kernel's first launch took {warmup_ms:.1} ms, but its samples did not end within {limit}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_says_when_it_happened_in_its_first_line() {
        assert_eq!(crash(Phase::Launching, "killed"), "killed");
        let message = crash(Phase::Sampling { warmup_ms: 1.0 }, "killed\nIt printed last:\nbye");
        assert_eq!(message, "killed in a launch after the first\nIt printed last:\nbye");
    }
}
