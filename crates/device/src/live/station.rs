//! Measures programs: starts workers, enforces their time limits, and interprets their ends.

use crate::energy::READING_LIMIT;
use crate::live::budget::Budget;
use crate::live::examination::{Examination, Findings};
use crate::live::excuses::{Excuses, Place};
use crate::live::handover::{Handover, Prepared};
use crate::live::quiet::Quiet;
use crate::worker::forged;
use crate::worker::process::{Waited, Worker};
use crate::worker::protocol::{Ending, Job, JobReport, Message, Phase, Purpose, Request, Setup};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tunesmith_backend::energy::Trouble;
use tunesmith_backend::host::{KeptProcessors, Processes, Suspension, WorkerCommand};
use tunesmith_backend::{Program, Resources};
use tunesmith_core::counters::REGISTERS;
use tunesmith_core::{Clock, ERROR, Failure, FailureKind, Interrupt, Measurement};
use tunesmith_kernel::DeviceError;
use tunesmith_kernel::measure::Policy;
use tunesmith_kernel::measure::limits::{Limit, Reason, data_limit, sampling_limit};

/// The number of times that a worker is started before the run ends, each time with four times the
/// patience. A machine that is too busy for one at night must not end the run.
const STARTS: usize = 3;

/// One worker at a time. It is started on demand, and replaced when it can no longer be trusted.
pub(super) struct Station {
    pub(super) processes: Arc<dyn Processes>,
    pub(super) command: WorkerCommand,
    pub(super) setup: Setup,
    /// The name of the device.
    pub(super) device: String,
    /// The total size of all buffers in bytes.
    pub(super) bytes: u64,
    pub(super) policy: Policy,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) worker: Option<Worker>,
    /// True if a worker was ready before. What keeps the next one from it may then pass.
    pub(super) had_worker: bool,
    /// The changes that the last worker's first job left in its process. Stations with the same setup
    /// share them.
    pub(super) usual_changes: Arc<Mutex<Option<Vec<String>>>>,
    /// The folder for the files of results.
    pub(super) folder: PathBuf,
    /// The files of the worker.
    pub(super) results: Option<Handover>,
    /// Stops the compilers that share the processors of the device. `None` if none do.
    pub(super) suspension: Option<Arc<Suspension>>,
}

/// The result of running a program.
#[derive(Debug, Default)]
pub(super) struct MeasuredJob {
    pub(super) failure: Option<Failure>,
    /// True if a kernel began to run. From then on, no compiler is at fault.
    pub(super) began: bool,
    pub(super) measurement: Measurement,
    /// The kernels' use of the device's resources.
    pub(super) resources: Resources,
    /// The digest of the machine code of each kernel, as far as only the driver knows it.
    pub(super) codes: Vec<Option<String>>,
    /// The reason why requested counters were not read.
    pub(super) unprofiled: Option<String>,
    /// The troubles of the device.
    pub(super) troubles: Vec<Trouble>,
    /// The reason why local memory was not filled.
    pub(super) unfilled: Option<String>,
    /// The number of launches that the job announced.
    pub(super) launches: u64,
    /// Time spent in loading, which is the work of compiler and driver.
    pub(super) load: Duration,
    /// Time spent in loading before, beside other programs.
    pub(super) loaded_ahead: Duration,
    pub(super) run: Duration,
    pub(super) verify: Duration,
}

/// The end of following a job.
enum Followed {
    Finished(Box<JobReport>),
    /// The worker ended in this phase. The text describes the end.
    Crashed(Phase, String),
    /// The job sent a message that no job sends, and was ended. The text names the message.
    Forged(String),
    /// The worker was ended by force in this phase, at this limit.
    TimedOut(Phase, Limit),
    Interrupted,
}

impl Station {
    /// Runs a job. A single launch may take as long as `launch`. Returns `None` if interrupted.
    pub(super) fn run(
        &mut self,
        job: &Job,
        examination: &mut Examination<'_>,
        launch: &Limit,
        interrupt: &Interrupt,
    ) -> Result<Option<MeasuredJob>, DeviceError> {
        let mut excuses = Excuses::default();
        let processors = KeptProcessors::current();
        loop {
            processors.restore();
            let Some(mut worker) = self.take_worker(interrupt)? else { return Ok(None) };
            let mut measured = MeasuredJob::default();
            let mut following = Following { job, examination: &mut *examination, findings: Findings::default() };
            let followed = self.follow(&mut worker, &mut following, launch, interrupt, &mut measured)?;
            let is_tainted = worker.is_tainted();
            worker.finish_job();
            let is_trusted = self.keep(worker, &followed);
            let followed = match followed {
                Followed::Interrupted => return Ok(None),
                Followed::Finished(report) => {
                    if matches!(report.ending, Ending::Unfit(_)) {
                        // The tuner's own attempt finds the room that the file for results takes.
                        (self.worker, self.results) = (None, None);
                    }
                    let Some(report) = excuses.examine(*report, job, self.place())? else {
                        self.worker = None;
                        continue;
                    };
                    Followed::Finished(Box::new(report))
                }
                other => other,
            };
            // This configuration may be innocent: an earlier one may have damaged the memory or
            // left threads behind, or someone may have ended the idle worker. A run in a fresh
            // worker decides.
            if is_tainted && !is_trusted {
                continue;
            }
            let Following { findings, examination, .. } = following;
            let conclude = |report: &JobReport| examination.conclude(job, &findings, report);
            let Some(mut measured) = concluded(followed, measured, conclude) else { return Ok(None) };
            measured.troubles.splice(0..0, excuses.into_troubles());
            // An output that was wrong before a crash says more than the crash.
            measured.failure = findings.failure.or(measured.failure);
            if let Some(error) = findings.error.filter(|_| measured.failure.is_none()) {
                measured.measurement.values.insert(ERROR.to_owned(), vec![error]);
            }
            return Ok(Some(measured));
        }
    }

    /// Keeps the worker of a job for the next one, unless the job broke or changed it. Returns true
    /// if the process that ran the job can be trusted.
    fn keep(&mut self, mut worker: Worker, followed: &Followed) -> bool {
        let is_broken = matches!(followed, Followed::Finished(report) if breaks(report));
        let is_trusted = worker.is_usable() && !(is_broken && self.shares_worker());
        let is_changed = self.is_changed(&worker) || (self.shares_worker() && worker.is_worn(self.bytes));
        self.worker = Some(worker).filter(|_| is_trusted && !is_changed);
        is_trusted
    }

    fn place(&self) -> Place<'_> {
        Place { device: &self.device, arguments: &self.setup.arguments, folder: &self.folder }
    }

    /// Lets the worker load programs ahead of the job that runs them, and does not wait. Returns
    /// `false` if interrupted.
    pub(super) fn begin_loading(
        &mut self,
        programs: impl Iterator<Item = Program>,
        interrupt: &Interrupt,
    ) -> Result<bool, DeviceError> {
        let Some(mut worker) = self.take_worker(interrupt)? else { return Ok(false) };
        // If the request cannot be written, the worker has ended. Waiting finds out.
        let _ = worker.send(&Request::Load(programs.collect()));
        self.worker = Some(worker);
        Ok(true)
    }

    /// Waits until the worker has loaded the programs, and returns the time that it took. Returns
    /// `None` if it did not load them. Their job then finds the reason, in another worker.
    pub(super) fn finish_loading(&mut self, launch: &Limit, interrupt: &Interrupt) -> Option<Duration> {
        let mut worker = self.worker.take()?;
        match worker.wait(self.preparing_limit(launch).duration, interrupt) {
            Waited::Message(Message::Loaded { took }) => {
                self.worker = Some(worker);
                Some(took)
            }
            _ => None,
        }
    }

    /// Returns true if the job left the worker's process changed, so that the next job would not
    /// run as in a fresh one.
    ///
    /// Drivers start threads and open files at their first launch. If the first jobs of two workers
    /// in succession left the same changes, the driver made them.
    fn is_changed(&mut self, worker: &Worker) -> bool {
        let changes = worker.changes().map(<[String]>::to_vec);
        if !worker.is_new() || !worker.is_usable() {
            return changes.is_some();
        }
        let mut usual = self.usual_changes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_usual = *usual == changes;
        *usual = changes;
        !is_usual && usual.is_some()
    }

    /// Returns true if all jobs run in the worker's own process, one after the other.
    fn shares_worker(&self) -> bool {
        !self.setup.session.forks
    }

    fn take_worker(&mut self, interrupt: &Interrupt) -> Result<Option<Worker>, DeviceError> {
        if let Some(worker) = self.worker.take() {
            return Ok(Some(worker));
        }
        let mut limit = data_limit(&self.policy.limits, self.bytes).duration;
        let mut left = if self.had_worker { STARTS } else { 1 };
        loop {
            left -= 1;
            match self.start_worker(limit, interrupt) {
                Err(DeviceError::Worker { .. }) if left > 0 => limit *= 4,
                started => {
                    self.had_worker |= matches!(started, Ok(Some(_)));
                    return started;
                }
            }
        }
    }

    fn start_worker(&mut self, limit: Duration, interrupt: &Interrupt) -> Result<Option<Worker>, DeviceError> {
        // The last worker's files go first. They may fill the disk.
        self.results = None;
        let files = Prepared::new(&self.folder, &self.command, &self.setup);
        let files = files.map_err(|error| DeviceError::Machine { problem: no_file(&error) })?;
        let (command, setup) = (files.command(&self.command), files.setup(&self.setup));
        let clock = Arc::clone(&self.clock);
        let worker = Worker::start(&self.processes, &command, setup, limit, clock, interrupt);
        self.results = Some(files.opened());
        worker
    }

    /// Sends the job and waits for its end, step by step, within its [`Budget`]. If the worker does
    /// not report, adds the observed durations to `measured`.
    fn follow(
        &self,
        worker: &mut Worker,
        following: &mut Following<'_, '_>,
        launch: &Limit,
        interrupt: &Interrupt,
        measured: &mut MeasuredJob,
    ) -> Result<Followed, DeviceError> {
        // Whatever an earlier job handed over must not be there for this one to find.
        if let Some(files) = &self.results {
            files.clear().map_err(|error| DeviceError::Machine { problem: no_file(&error) })?;
        }
        let job = following.job;
        // If the job cannot be written, the worker has ended. Waiting reports its end.
        let _ = worker.send(&Request::Run(job.clone()));
        let mut budget = Budget::new(job, self.limit(Phase::Preparing, launch, job));
        let mut quiet = Quiet::new(self.suspension.as_ref());
        loop {
            let phase = budget.phase();
            if budget.left().is_zero() {
                worker.stop();
                return Ok(Followed::TimedOut(phase, budget.limit()));
            }
            let start = self.clock.now();
            let waited = worker.wait(budget.left(), interrupt);
            let spent = self.clock.now() - start;
            budget.spend(spent);
            match phase {
                Phase::Checking => measured.verify += spent,
                _ => measured.run += spent,
            }
            let fits = match waited {
                Waited::Message(Message::Phase(next)) => {
                    quiet.enter(next);
                    budget.enter(next, self.limit(next, launch, job)).inspect(|()| measured.note(next))
                }
                Waited::Message(Message::Outputs { launch }) => match budget.hand_over(launch) {
                    Ok(()) => {
                        quiet.end();
                        budget.spend(self.judge(worker, following, launch, &mut quiet)?);
                        Ok(())
                    }
                    other => other,
                },
                Waited::Message(Message::Finished(report)) => return Ok(Followed::Finished(report)),
                Waited::Message(Message::Machine(problem)) => return Err(DeviceError::Machine { problem }),
                Waited::Message(other) => Err(format!("`{}`", other.kind())),
                Waited::Forged(how) => return Ok(Followed::Forged(how)),
                Waited::Ended(how) => return Ok(Followed::Crashed(phase, how)),
                Waited::TimedOut => return Ok(Followed::TimedOut(phase, budget.limit())),
                Waited::Interrupted => return Ok(Followed::Interrupted),
            };
            if let Err(what) = fits {
                worker.stop();
                return Ok(Followed::Forged(forged(&what)));
            }
        }
    }

    /// Examines the outputs of a launch and tells the job its verdict. With it, the job may begin to time. Returns the
    /// time that counts for the job.
    fn judge(
        &self,
        worker: &mut Worker,
        following: &mut Following<'_, '_>,
        launch: usize,
        quiet: &mut Quiet<'_>,
    ) -> Result<Duration, DeviceError> {
        let is_right = following.examine(launch, self.results.as_ref().map(Handover::results))?;
        let start = self.clock.now();
        self.results.iter().for_each(Handover::reserve);
        let reserved = self.clock.now() - start;
        quiet.begin();
        Ok(reserved + self.tell_verdict(worker, launch, is_right))
    }

    /// Tells the job its verdict. Returns the time that it took: a process that does not read lets the
    /// tuner wait.
    fn tell_verdict(&self, worker: &mut Worker, launch: usize, is_right: bool) -> Duration {
        let start = self.clock.now();
        // If the verdict cannot be written, the job has ended, or waits for nothing.
        let _ = worker.answer(&Request::Verdict { launch, is_right });
        self.clock.now() - start
    }

    /// Returns the limit of a step of `job`, if a single launch may take as long as `launch`.
    fn limit(&self, phase: Phase, launch: &Limit, job: &Job) -> Limit {
        let data = data_limit(&self.policy.limits, self.bytes);
        match phase {
            Phase::Preparing => self.preparing_limit(launch),
            // Drivers compile again in this phase. On processors this takes longer than the first
            // time.
            Phase::Starting => Limit { duration: launch.duration + self.policy.limits.compile, reason: Reason::Fixed },
            Phase::Launching => *launch,
            Phase::Checking => data,
            Phase::Sampling { .. } => {
                let sampling = match &job.purpose {
                    Purpose::Measure { sampling, .. } => sampling,
                    _ => &self.policy.sampling,
                };
                let limit = sampling_limit(launch, sampling, self.bytes);
                // Reading the energy of a sample takes an unknown number of launches.
                let readings = if self.setup.energy.is_some() { sampling.max_samples } else { 0 };
                let most = (READING_LIMIT + launch.duration) * u32::try_from(readings).unwrap_or(u32::MAX);
                Limit { duration: limit.duration + most, reason: limit.reason }
            }
            // The first pass opens a library. Every pass sets the device up.
            Phase::Profiling => Limit { duration: launch.duration + data.duration, reason: Reason::Fixed },
        }
    }

    /// Returns the limit of loading programs and filling buffers. Loading runs constructors, which
    /// are the user's code.
    fn preparing_limit(&self, launch: &Limit) -> Limit {
        let data = data_limit(&self.policy.limits, self.bytes);
        Limit { duration: launch.duration + data.duration, reason: launch.reason }
    }
}

impl MeasuredJob {
    /// Keeps what a step tells of the job.
    fn note(&mut self, phase: Phase) {
        self.began |= !matches!(phase, Phase::Preparing | Phase::Starting);
        self.launches += u64::from(phase == Phase::Launching);
        if let Phase::Sampling { warmup_ms } = phase {
            self.measurement.warmup_ms = Some(warmup_ms);
        }
    }
}

/// Returns true if the process that ran the job can no longer be trusted.
fn breaks(report: &JobReport) -> bool {
    matches!(report.ending, Ending::Broken(_) | Ending::Unfit(_) | Ending::Troubled(_))
}

fn no_file(error: &io::Error) -> String {
    format!("there is no file for the outputs of kernels: {error}; see whether the disk is full")
}

/// A job that runs, and the findings about it.
struct Following<'a, 'b> {
    job: &'a Job,
    examination: &'a mut Examination<'b>,
    findings: Findings,
}

impl Following<'_, '_> {
    /// Returns true if nothing was wrong up to this launch.
    fn examine(&mut self, launch: usize, results: Option<&File>) -> Result<bool, DeviceError> {
        results.map_or(Ok(false), |results| self.examination.examine(self.job, launch, results, &mut self.findings))
    }
}

/// Returns the result of a job that was followed to its end, which is interpreted by `conclude` if
/// the job reported on itself. Returns `None` if interrupted.
fn concluded(
    followed: Followed,
    measured: MeasuredJob,
    conclude: impl FnOnce(&JobReport) -> Option<Failure>,
) -> Option<MeasuredJob> {
    let failure = match followed {
        Followed::Crashed(phase, how) => Failure::new(FailureKind::Runtime, crash(phase, &how)),
        Followed::Forged(how) => Failure::new(FailureKind::Runtime, how),
        Followed::TimedOut(phase, limit) => {
            Failure { cut: limit.cut(), ..Failure::new(FailureKind::Timeout, timeout(phase, &limit)) }
        }
        Followed::Interrupted => return None,
        Followed::Finished(report) => {
            let failure = conclude(&report);
            let finished = finished(*report);
            let MeasuredJob { began, launches, .. } = measured;
            return Some(MeasuredJob { began, launches, failure: failure.or(finished.failure), ..finished });
        }
    };
    Some(MeasuredJob { failure: Some(failure), ..measured })
}

/// Returns the result of a job that reported on itself.
fn finished(report: JobReport) -> MeasuredJob {
    let failure = match report.ending {
        // The findings of the examination say what was wrong.
        Ending::Correct | Ending::Judged => None,
        Ending::Refused(message) => Some(Failure::new(FailureKind::Constraints, message)),
        // Only excuses that are not believed come here.
        Ending::Broken(message) | Ending::Unfit(message) => Some(Failure::new(FailureKind::Runtime, message)),
        Ending::Troubled(trouble) => Some(Failure::new(FailureKind::Runtime, trouble.line("the device"))),
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
    let JobReport { resources, codes, load, run, verify, troubles, unfilled, .. } = report;
    let unprofiled = profile.unprofiled;
    let job = MeasuredJob { failure, measurement, resources, codes, troubles, ..MeasuredJob::default() };
    MeasuredJob { unprofiled, unfilled, load, run, verify, ..job }
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
