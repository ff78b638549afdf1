//! Measures a configuration: runs it once untimed, judges the run, then repeats it until its cost
//! is known well enough.

use crate::backends::command::backend::{BuiltCommand, CommandBackend};
use crate::backends::command::judge::{self, Sample, judge};
use crate::backends::command::words::expand;
use crate::host::{CommandTask, Finish, Input, KEPT, Output, Ran, Streams};
use std::cell::RefCell;
use std::time::Duration;
use tunesmith_core::{Clock, Failure, FailureKind, Interrupt, Measurement, statistics};
use tunesmith_kernel::DeviceError;
use tunesmith_kernel::command::OUT;
use tunesmith_kernel::measure::limits::{Limit, human};
use tunesmith_kernel::measure::sampling::{Decision, FEWEST, decide};
use tunesmith_kernel::measure::{ENERGY_MJ, Policy, Sampling};
use tunesmith_power::Powercap;

/// Runs configurations, one at a time.
pub(super) struct CommandBench<'a> {
    pub(super) backend: &'a CommandBackend,
    /// The expected standard output of every run.
    pub(super) expected: Option<&'a str>,
    pub(super) policy: &'a Policy,
    /// The time in milliseconds that the configuration races against.
    pub(super) bar_ms: Option<f64>,
    /// The time limit of a run.
    pub(super) limit: Limit,
    pub(super) clock: &'a dyn Clock,
    /// The meter of the energy of runs, if it is measured.
    pub(super) meter: Option<&'a RefCell<Powercap>>,
    pub(super) interrupt: &'a Interrupt,
}

/// The result of measuring a configuration.
#[derive(Debug, Default)]
pub(super) struct MeasuredCommand {
    pub(super) failure: Option<Failure>,
    pub(super) measurement: Measurement,
    /// The duration of every sample in milliseconds, even if the cost is another number.
    pub(super) walls: Vec<f64>,
    pub(super) run: Duration,
    pub(super) verify: Duration,
    /// The energy of the last run in millijoules, if it is measured.
    last_energy_mj: Option<f64>,
    /// The number of later runs that did not end in time, and the time that they took.
    stalls: (usize, Duration),
}

/// The number of runs after the first that may stall and are taken again.
const RETAKEN: usize = 1;

/// The reason why measuring ended early.
pub(super) enum Stop {
    /// The configuration is not correct.
    Failed(Failure),
    /// The run was interrupted.
    Interrupted,
    /// No command can be run any more.
    Broken(DeviceError),
}

impl MeasuredCommand {
    /// Returns the median duration of a correct configuration.
    pub(super) fn wall(&self) -> Option<Duration> {
        let median = statistics::median(&self.walls).filter(|_| self.failure.is_none())?;
        Some(Duration::from_secs_f64(median))
    }

    fn add(&mut self, backend: &CommandBackend, sample: &Sample) {
        self.measurement.times_ms.push(sample.cost_ms);
        self.walls.push(sample.wall.as_secs_f64());
        for ((name, _), value) in backend.spec.values.iter().zip(&sample.values) {
            self.measurement.values.entry(name.clone()).or_default().push(*value);
        }
        if let Some(energy) = self.last_energy_mj {
            self.measurement.values.entry(ENERGY_MJ.to_owned()).or_default().push(energy);
        }
    }
}

impl CommandBench<'_> {
    /// Measures a configuration. Returns `None` if interrupted.
    pub(super) fn measure(&self, prepared: &BuiltCommand) -> Result<Option<MeasuredCommand>, DeviceError> {
        self.gather(prepared, |bench, measured| bench.first_run_and_samples(prepared, measured))
    }

    /// Takes `samples` more samples of a configuration that was correct before. Runs it once
    /// untimed first if `warmup` is true. Returns `None` if interrupted.
    pub(super) fn again(
        &self,
        prepared: &BuiltCommand,
        samples: usize,
        warmup: bool,
    ) -> Result<Option<MeasuredCommand>, DeviceError> {
        self.gather(prepared, |bench, measured| {
            if warmup {
                measured.measurement.warmup_ms = Some(bench.run(prepared, measured)?.cost_ms);
                bench.further_warmups(prepared, measured)?;
            }
            for _ in 0..samples {
                if !bench.sample(prepared, measured, 1)? {
                    break;
                }
            }
            Ok(())
        })
    }

    fn gather(
        &self,
        prepared: &BuiltCommand,
        work: impl FnOnce(&Self, &mut MeasuredCommand) -> Result<(), Stop>,
    ) -> Result<Option<MeasuredCommand>, DeviceError> {
        let mut measured = MeasuredCommand::default();
        match work(self, &mut measured) {
            Ok(()) => measured.measurement.note = self.stalled(measured.stalls.0),
            Err(Stop::Interrupted) => return Ok(None),
            Err(Stop::Broken(error)) => return Err(error),
            Err(Stop::Failed(mut failure)) => {
                failure.message = self.backend.without_folders(&failure.message, prepared);
                measured.failure = Some(failure);
            }
        }
        Ok(Some(measured))
    }

    fn first_run_and_samples(&self, prepared: &BuiltCommand, measured: &mut MeasuredCommand) -> Result<(), Stop> {
        let began = self.clock.now();
        let first = self.checked_run(prepared, measured)?;
        let start = if self.backend.spec.warmup {
            measured.measurement.warmup_ms = Some(first.cost_ms);
            self.further_warmups(prepared, measured).map_err(later)?;
            self.clock.now()
        } else {
            measured.add(self.backend, &first);
            // The check between the runs does not count as their time.
            began + measured.verify
        };
        let sampling = Sampling { bar_ms: self.bar_ms, ..self.policy.sampling };
        let elapsed = |measured: &MeasuredCommand| (self.clock.now() - start).saturating_sub(measured.stalls.1);
        while decide(&measured.measurement.times_ms, elapsed(measured), &sampling) == Decision::More {
            if !self.sample(prepared, measured, FEWEST).map_err(later)? {
                break;
            }
        }
        Ok(())
    }

    /// Runs the warm-ups after the first.
    fn further_warmups(&self, prepared: &BuiltCommand, measured: &mut MeasuredCommand) -> Result<(), Stop> {
        for _ in 1..self.policy.sampling.warmups {
            if self.completed(prepared, measured, 0)?.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Takes a sample. Returns false if the configuration keeps the samples that it has.
    fn sample(&self, prepared: &BuiltCommand, measured: &mut MeasuredCommand, fewest: usize) -> Result<bool, Stop> {
        let sample = self.completed(prepared, measured, fewest)?;
        sample.iter().for_each(|sample| measured.add(self.backend, sample));
        Ok(sample.is_some())
    }

    /// Runs the command until it ends in time. A run that does not end in time is dropped and taken again, because a
    /// configuration that ended before most likely waited for the machine. Returns `None` after too
    /// many such runs if there are `fewest` samples.
    ///
    /// A crash or a wrong output is never dropped. A configuration that is wrong now and then is wrong.
    fn completed(
        &self,
        prepared: &BuiltCommand,
        measured: &mut MeasuredCommand,
        fewest: usize,
    ) -> Result<Option<Sample>, Stop> {
        loop {
            let start = self.clock.now();
            let failure = match self.run(prepared, measured) {
                Ok(sample) => return Ok(Some(sample)),
                Err(Stop::Failed(failure)) if failure.kind == FailureKind::Timeout => failure,
                Err(stop) => return Err(stop),
            };
            measured.stalls.0 += 1;
            measured.stalls.1 += self.clock.now() - start;
            if measured.stalls.0 > RETAKEN {
                let suffice = measured.measurement.times_ms.len() >= fewest;
                return if suffice { Ok(None) } else { Err(Stop::Failed(failure)) };
            }
        }
    }

    /// Returns the note on a configuration that was measured in spite of `stalls` runs.
    fn stalled(&self, stalls: usize) -> Option<String> {
        let runs = match stalls {
            0 => return None,
            1 => "a run after the first".to_owned(),
            several => format!("{several} runs after the first"),
        };
        Some(format!("{runs} did not end within {} and gave no sample", self.limit))
    }

    /// Runs the command for the first time, followed by the problem's check.
    fn checked_run(&self, prepared: &BuiltCommand, measured: &mut MeasuredCommand) -> Result<Sample, Stop> {
        let spec = &self.backend.spec;
        let ran = self.metered_run(prepared, measured)?;
        let sample = judge(spec, self.expected, &ran, &self.limit).map_err(Stop::Failed)?;
        if spec.verify.check.is_some() {
            let start = self.clock.now();
            let checked = whole(&ran.stdout).and_then(|printed| self.check(prepared, &printed));
            measured.verify += self.clock.now() - start;
            checked?;
        }
        Ok(sample)
    }

    fn run(&self, prepared: &BuiltCommand, measured: &mut MeasuredCommand) -> Result<Sample, Stop> {
        let ran = self.metered_run(prepared, measured)?;
        judge(&self.backend.spec, self.expected, &ran, &self.limit).map_err(Stop::Failed)
    }

    /// Runs the command, and reads the energy of the run if it is measured.
    fn metered_run(&self, prepared: &BuiltCommand, measured: &mut MeasuredCommand) -> Result<Ran, Stop> {
        let before = self.energy_mj()?;
        let start = self.clock.now();
        let ran = self.backend.run(prepared, self.limit.duration, self.interrupt).map_err(Stop::Broken)?;
        measured.run += self.clock.now() - start;
        measured.last_energy_mj = self.energy_mj()?.zip(before).map(|(after, before)| after - before);
        if matches!(ran.finish, Finish::Cancelled) { Err(Stop::Interrupted) } else { Ok(ran) }
    }

    fn energy_mj(&self) -> Result<Option<f64>, Stop> {
        let read = |meter: &RefCell<Powercap>| meter.borrow_mut().energy_mj();
        self.meter.map(read).transpose().map_err(|error| Stop::Broken(error.into()))
    }

    /// Runs the problem's check, which reads the output of the first run.
    fn check(&self, prepared: &BuiltCommand, printed: &[u8]) -> Result<(), Stop> {
        let Some(words) = &self.backend.spec.verify.check else { return Ok(()) };
        let input = prepared.folder.with_extension("output");
        let broken = |error| DeviceError::Worker { problem: format!("cannot keep the command's output: {error}") };
        tunesmith_files::write(&input, printed).map_err(|error| Stop::Broken(broken(error)))?;
        let task = CommandTask {
            input: Input::File(input.clone()),
            ..self.backend.task(expand(words, &prepared.scope), prepared)
        };
        let limit = self.policy.limits.verify;
        let ran = self.backend.launcher.run(&task, Streams::Apart, limit, self.interrupt);
        let _ = std::fs::remove_file(&input);
        let ran = ran.map_err(Stop::Broken)?;
        let how = match ran.finish {
            Finish::Cancelled => return Err(Stop::Interrupted),
            Finish::TimedOut => Some(format!("did not end within {}", human(limit))),
            ref finish => judge::unsuccessful(finish),
        };
        let Some(how) = how else { return Ok(()) };
        let said = [ran.stdout.last_lines(), ran.stderr.last_lines()];
        // A check says on its output what is wrong, or on its standard error at last.
        let first = said[0].lines().map(judge::plain).find(|line| !line.is_empty());
        let text = match judge::last_line(&ran.stderr).or(first) {
            None => format!("the result is wrong: `{}` {how}", task.words.join(" ")),
            Some(reason) => {
                let said = said.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join("\n");
                format!("the result is wrong: {reason}\n`{}` {how}:\n{said}", task.words.join(" "))
            }
        };
        Err(Stop::Failed(Failure::new(FailureKind::Correctness, text)))
    }
}

/// Returns an output that a check can judge: one that was kept as a whole.
fn whole(output: &Output) -> Result<Vec<u8>, Stop> {
    if output.is_complete() {
        return Ok(output.bytes());
    }
    let text = format!(
        "the result cannot be checked: the command printed more than {} MiB, of which the check would read a part; \
         let the command write its result to a file in {{{OUT}}}",
        (2 * KEPT) >> 20
    );
    Err(Stop::Failed(Failure::new(FailureKind::Correctness, text)))
}

/// Adds to the first line of a failure that the first run was correct.
fn later(stop: Stop) -> Stop {
    let Stop::Failed(failure) = stop else { return stop };
    let (first, rest) =
        failure.message.split_once('\n').map_or((failure.message.as_str(), None), |(a, b)| (a, Some(b)));
    let rest = rest.map(|rest| format!("\n{rest}")).unwrap_or_default();
    let message = format!("{first}, in a run after the first{rest}");
    Stop::Failed(Failure { message, ..failure })
}
