//! Fits the cost models of a device: counts and times the measurement kernels and relates both.

mod journal;
mod judge;
mod measure;
mod recount;
mod stated;
mod subjects;

pub use judge::{Judged, Judgement};
pub use recount::{kernel_counts, recounted};

use crate::Error;
use crate::fitted::with_own;
use crate::nests::{NestCounts, array_bytes};
use crate::protocol::{Bounds, LEFT_OUT, RUNS, Rung, next};
use crate::{Case, DeviceFile, Form, Lanes, OwnProperty, Provenance};
use journal::{Entry, Journal};
use measure::{Bench, KernelTime};
use recount::fitted;
use stated::Stated;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use subjects::{Sizes, Subject, counts_at, subjects, wrong};
use tunesmith_backend::DeviceChoice;
use tunesmith_core::output::{is_marked, refuse_overwriting};
use tunesmith_core::{Clock, Interrupt, statistics};
use tunesmith_device::{Device, Machine};
use tunesmith_loopnest::kernels::Role;

/// Maximum expected time of a kernel in seconds. Thirty runs of a longer one would take seconds.
const LONGEST: f64 = 0.03;
/// Maximum memory of the arrays of a kernel, in bytes.
const MOST_BYTES: f64 = 2.5e8;
/// Minimum number of kernels, the empty one among them, whose times say something. Fewer give no interval.
const LEAST_KERNELS: usize = 10;
/// Maximum noise of a quiet machine.
const NOISY: f64 = 0.1;

/// Options of a calibration.
#[derive(Clone, Debug, Default)]
pub struct CalibrateOptions {
    /// The device, the compilers and the worker.
    pub machine: Machine,
    /// The device file to write.
    pub out: PathBuf,
    /// The time after which no more kernels are measured. The models are fitted to the kernels
    /// measured until then.
    pub limit: Duration,
    /// A file with a section `[calibrate]`: kernels and properties of the user.
    pub own: Option<PathBuf>,
}

/// The result of a calibration.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// The device file as written.
    pub file: DeviceFile,
    /// Notes for users: kernels that failed, a machine that was not quiet, time that ran out.
    pub notes: Vec<String>,
}

/// A progress report of a calibration, for displays.
#[derive(Clone, Debug)]
pub struct CalibrationStep<'a> {
    /// Measurements so far.
    pub measured: usize,
    /// The kernel measured last, with its work-group.
    pub kernel: &'a str,
    /// Its main size.
    pub size: i64,
    /// Its time in seconds, or `None` if it failed.
    pub seconds: Option<f64>,
}

/// Calibrates a device: times the measurement kernels and fits the cost models in every form.
/// Returns `None` if interrupted. The next calibration into the same file then continues.
///
/// # Errors
///
/// Fails if the device runs no kernels or cannot be used, or if a file cannot be written.
pub fn calibrate(
    options: &CalibrateOptions,
    clock: Arc<dyn Clock>,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(&CalibrationStep<'_>),
) -> Result<Option<Calibration>, Error> {
    refuse_overwriting(&options.out, [], |file| is_marked(file, &["\"kind\": \"device\""]))?;
    let bench = bench(&options.machine, Arc::clone(&clock))?;
    let lanes = bench.lanes();
    let Measured { empty, kernels, own, text } = Measured::new(options, lanes)?;
    let head = format!("{:?} {} {text}", bench.language(), bench.device());
    let (journal, known) = Journal::open(&options.out, head.trim_end())?;
    let deadline = clock.now() + options.limit;
    let mut run = Run { bench: &bench, journal, entries: known, notes: Vec::new(), interrupt, progress, deadline };
    // Every time of an empty kernel counts, because it is the time of a launch.
    if !run.measure(&empty, &Bounds { launch: 0.0, longest: LONGEST })? {
        return Ok(None);
    }
    let launch = run.entries.iter().filter_map(|entry| entry.seconds).fold(f64::INFINITY, f64::min);
    let launch = if launch.is_finite() { launch } else { 0.0 };
    let bounds = Bounds { launch, longest: LONGEST };
    if !run.measure(&kernels, &bounds)? {
        return Ok(None);
    }
    let Run { journal, entries, mut notes, .. } = run;
    check_measured(&kernels, &entries, options)?;
    check_told(&entries, &bounds)?;
    let mut cases = cases(&empty, &entries, &Bounds { launch: 0.0, ..bounds }, lanes)?;
    cases.extend(self::cases(&kernels, &entries, &bounds, lanes)?);
    cases.iter_mut().try_for_each(|case| add_own(&own, case))?;
    let noises: Vec<f64> = entries.iter().filter(|entry| entry.seconds.is_some()).map(|entry| entry.noise).collect();
    let noise = statistics::median(&noises).unwrap_or(0.0);
    notes.extend(noisy(noise));
    let provenance = provenance(&bench, launch, noise);
    let file = fitted(provenance, (cases, own), bench.compute_units(), &Form::ALL.map(|(_, form)| form))?;
    tunesmith_files::replace(&options.out, file.text()).map_err(Error::write(&options.out))?;
    journal.finish();
    Ok(Some(Calibration { file, notes }))
}

/// The kernels that a calibration measures.
struct Measured {
    empty: Vec<Subject>,
    kernels: Vec<Subject>,
    /// The user's properties.
    own: Vec<OwnProperty>,
    /// The text of the user's file. With another text, a calibration begins anew.
    text: String,
}

impl Measured {
    fn new(options: &CalibrateOptions, lanes: Lanes) -> Result<Self, Error> {
        let stated = options.own.as_deref().map(Stated::read).transpose()?.unwrap_or_default();
        let (empty, mut kernels): (Vec<_>, Vec<_>) =
            subjects(&[Role::Measure, Role::Added])?.into_iter().partition(|subject| subject.class == "empty");
        stated.check_properties(&kernels, lanes)?;
        // If the time runs out, the user's kernels have been measured, at least in one size.
        kernels.splice(0..0, stated.subjects);
        Ok(Self { empty, kernels, own: stated.properties, text: stated.text })
    }
}

fn provenance(bench: &Bench<'_>, launch_seconds: f64, noise: f64) -> Provenance {
    Provenance {
        device: bench.device(),
        backend: bench.language().to_string(),
        program: format!("tunesmith {}", env!("CARGO_PKG_VERSION")),
        measured: bench.clock.unix().as_secs(),
        lanes: bench.lanes(),
        launch_seconds,
        runs: (RUNS, LEFT_OUT),
        noise,
    }
}

/// Adds the counts of the user's properties to those of a measured kernel.
fn add_own(own: &[OwnProperty], case: &mut Case) -> Result<(), Error> {
    let (counts, undefined) = with_own(own, &case.counts);
    case.counts = counts;
    match undefined.first() {
        None => Ok(()),
        Some((property, reason)) => {
            let text = format!("`{property}` has no count for the kernel `{}`: {reason}", case.kernel);
            Err(Error::request(text, Some("write a formula that gives a number from 0 for every kernel".to_string())))
        }
    }
}

/// Prepares the device that the user chose. The default is the processor.
fn bench(machine: &Machine, clock: Arc<dyn Clock>) -> Result<Bench<'_>, Error> {
    match machine.device_or(DeviceChoice::processor())? {
        Device::Kernels(target) => Ok(Bench { target, machine, clock }),
        _ => {
            let remedy = "choose `--device c`, `--device opencl` or `--device cuda`".to_string();
            Err(Error::request("this device runs no kernels that measure it", Some(remedy)))
        }
    }
}

fn noisy(noise: f64) -> Option<String> {
    (noise > NOISY).then(|| {
        let percent = noise * 100.0;
        format!("the machine was not quiet: half of the runs spread over {percent:.0} % of their median; calibrate again when nothing else runs")
    })
}

/// Refuses to fit a model while one of the paper's kernels was not tried in any size. What was measured
/// stays in the journal.
fn check_measured(kernels: &[Subject], entries: &[Entry], options: &CalibrateOptions) -> Result<(), Error> {
    let is_tried = |subject: &&Subject| entries.iter().any(|entry| entry.kernel == subject.name);
    let (tried, missing): (Vec<&Subject>, Vec<&Subject>) =
        kernels.iter().filter(|subject| subject.is_required).partition(is_tried);
    let Some(first) = missing.first() else { return Ok(()) };
    let (minutes, all) = (options.limit.as_secs_f64() / 60.0, tried.len() + missing.len());
    let text = format!(
        "{minutes} minutes were too short: {} of the {all} kernels that a model needs were measured, and `{}` is the first \
         of the others",
        tried.len(),
        first.name
    );
    let out = options.out.display();
    let remedy = format!("run the same command again, or give it more --minutes: `{out}.part` keeps what was measured");
    Err(Error::request(text, Some(remedy)))
}

/// Refuses to fit a model if hardly a kernel took longer than a launch: it would be one of launches.
fn check_told(entries: &[Entry], bounds: &Bounds) -> Result<(), Error> {
    let telling = entries.iter().filter(|entry| entry.seconds.is_some_and(|seconds| bounds.is_telling(seconds)));
    let kernels = telling.map(|entry| entry.kernel.as_str()).collect::<BTreeSet<_>>().len();
    if kernels >= LEAST_KERNELS {
        return Ok(());
    }
    let failed = entries.iter().filter(|entry| entry.seconds.is_none()).count();
    let text = format!(
        "{kernels} kernels took longer than a launch, and a model needs {LEAST_KERNELS}; {failed} measurements failed"
    );
    Err(Error::request(
        text,
        Some("see the notes above, and give it more --minutes when nothing else runs".to_string()),
    ))
}

/// A calibration in progress.
struct Run<'a> {
    bench: &'a Bench<'a>,
    journal: Journal,
    entries: Vec<Entry>,
    notes: Vec<String>,
    interrupt: &'a Interrupt,
    progress: &'a mut dyn FnMut(&CalibrationStep<'_>),
    deadline: Duration,
}

/// Returns one of the user's kernels that was not measured at all, with its first size.
fn owed(subjects: &[Subject], done: &[Vec<Rung>]) -> Option<(usize, i64)> {
    let is_owed =
        |(subject, done): (&Subject, &Vec<Rung>)| matches!(subject.sizes, Sizes::Listed(_)) && done.is_empty();
    let at = subjects.iter().zip(done).position(is_owed)?;
    Some((at, *subjects[at].ladder.sizes.first()?))
}

impl Run<'_> {
    /// Measures these kernels until all are finished or the time is up. Of the user's kernels, the first size is measured
    /// even then. Returns `false` if interrupted.
    fn measure(&mut self, subjects: &[Subject], bounds: &Bounds) -> Result<bool, Error> {
        let ladders: Vec<_> = subjects.iter().map(|subject| subject.ladder.clone()).collect();
        let done = |subject: &Subject| -> Vec<Rung> {
            let own = self.entries.iter().filter(|entry| entry.kernel == subject.name);
            own.map(|entry| (entry.size, entry.seconds)).collect()
        };
        let mut done: Vec<Vec<Rung>> = subjects.iter().map(done).collect();
        while let Some((at, size)) = next(&ladders, bounds, &done) {
            if self.interrupt.is_raised() {
                return Ok(false);
            }
            let mut chosen = Some((at, size));
            if self.bench.clock.now() >= self.deadline {
                chosen = owed(subjects, &done);
            }
            let Some((at, size)) = chosen else {
                self.notes.push("the time was used up before all kernels were measured in all sizes".to_string());
                break;
            };
            let subject = &subjects[at];
            let Some(entry) = self.entry(subject, size)? else { return Ok(false) };
            done[at].push((size, entry.seconds));
            self.journal.add(&entry)?;
            let step = CalibrationStep {
                measured: self.entries.len() + 1,
                kernel: &subject.name,
                size,
                seconds: entry.seconds,
            };
            (self.progress)(&step);
            self.entries.push(entry);
        }
        Ok(true)
    }

    /// Returns one measurement, or `None` if interrupted.
    fn entry(&mut self, subject: &Subject, size: i64) -> Result<Option<Entry>, Error> {
        let kernel = subject.name.clone();
        let failed = Entry { kernel: kernel.clone(), size, seconds: None, noise: 0.0 };
        if array_bytes(&subject.nest, &subject.sizes(size)) > MOST_BYTES {
            if matches!(subject.sizes, Sizes::Listed(_)) {
                let most = MOST_BYTES / 1e6;
                self.notes.push(format!("`{kernel}` is left out in size {size}: its arrays take more than {most} MB"));
            }
            return Ok(Some(failed));
        }
        match self.bench.measure(subject, size, self.interrupt)? {
            KernelTime::Interrupted => Ok(None),
            KernelTime::Time(timing) => {
                Ok(Some(Entry { seconds: Some(timing.seconds), noise: timing.noise, ..failed }))
            }
            KernelTime::Failed(reason) => {
                self.notes.push(format!("`{kernel}` of size {size} cannot be measured: {reason}"));
                Ok(Some(failed))
            }
        }
    }
}

/// Returns the counts and times of the measurements that take longer than a launch.
fn cases(subjects: &[Subject], entries: &[Entry], bounds: &Bounds, lanes: Lanes) -> Result<Vec<Case>, Error> {
    let mut cases = Vec::new();
    for subject in subjects {
        let counts = NestCounts::new(&subject.nest, lanes).map_err(|error| wrong(subject, &error))?;
        for entry in entries.iter().filter(|entry| entry.kernel == subject.name) {
            let Some(seconds) = entry.seconds.filter(|seconds| bounds.is_telling(*seconds)) else { continue };
            let values = subject.sizes(entry.size);
            let sizes: BTreeMap<String, i64> = subject.nest.sizes.iter().cloned().zip(values.iter().copied()).collect();
            let counts = counts_at(&counts, subject, &values)?;
            let (kernel, class) = (subject.name.clone(), subject.class.clone());
            cases.push(Case { kernel, class, sizes, counts, seconds });
        }
    }
    Ok(cases)
}
