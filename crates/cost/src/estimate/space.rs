//! Ranks the configurations of a tuned nest without running one.

use super::measured::{self, EstimateBasis};
use super::{EstimatedInterval, EstimatedTerm, terms};
use crate::device_file::{form, read_device};
use crate::nests::{Guess, NestEstimates, outside_of_measured};
use crate::{Bounded, Error, LowerBound, Outside};
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::path::PathBuf;
use tunesmith_problem::{Problem, ProblemSpace};
use tunesmith_space::{ConfigId, Space};
use tunesmith_store::{Format, Journal};

/// Options for estimating a problem's configurations.
#[derive(Clone, Debug, Default)]
pub struct EstimateSpaceOptions {
    /// The device file.
    pub on: PathBuf,
    /// `paper`, `nnls` or `overlap`. The default is `overlap`.
    pub form: Option<String>,
    /// Number of the fastest configurations to list.
    pub count: usize,
    /// Recordings of the same kernel, whose measurements correct the estimates.
    pub measured: Vec<PathBuf>,
    /// The file for a recording of all estimates. Its suffix gives the format.
    pub out: Option<PathBuf>,
}

/// The estimated times of a problem's configurations. Its JSON form is that of `estimate --json`
/// for a problem.
#[derive(Clone, Debug, Serialize)]
pub struct EstimatedSpace {
    /// The problem's name.
    pub problem: String,
    /// The device of the estimates.
    pub device: String,
    /// The language of its kernels.
    pub backend: String,
    /// The form of the model.
    pub form: &'static str,
    /// The number of configurations, in decimal.
    pub space_size: String,
    /// The number of configurations with an estimate.
    pub estimated: usize,
    /// The number of configurations that a transformation refuses.
    pub refused: usize,
    /// The number of configurations that cannot be counted.
    pub uncounted: usize,
    /// The number of configurations with an operation that the calibration did not measure. They
    /// have no estimate.
    pub unmeasured: usize,
    /// The modelled limit: no configuration is faster at the highest measured rates. `None` if the
    /// nest cannot be counted or its work has no measured rate.
    pub limit_ms: Option<f64>,
    /// The work that takes this time, and its rate.
    pub limit_bound: Option<LowerBound>,
    /// The measurements that corrected the estimates. `None` if there are none.
    pub measured: Option<EstimateBasis>,
    /// The fastest configurations, fastest first.
    pub best: Vec<EstimatedConfig>,
    /// Notes for users.
    pub notes: Vec<String>,
}

/// A configuration with its estimated time.
#[derive(Clone, Debug, Serialize)]
pub struct EstimatedConfig {
    /// Parameters and values, in the user's order.
    pub config: Map<String, Json>,
    /// The time.
    pub time_ms: f64,
    /// Its interval. `None` if the calibration measured too few kernels to give one.
    pub interval: Option<EstimatedInterval>,
    /// The ways in which the kernel lies outside of what the calibration measured.
    pub outside: Vec<Outside>,
    /// Its parts, largest first.
    pub terms: Vec<EstimatedTerm>,
}

impl EstimatedConfig {
    /// Returns the configuration in the form that `--config` and `--start` take.
    pub fn arguments(&self) -> String {
        tunesmith_store::arguments(&self.config)
    }
}

/// Estimates the configurations of a problem whose kernel is a loop nest. It estimates all of a
/// space of some thousands. Of a larger space, it estimates a sample and the neighbours of the
/// best. Constraints with device limits are left out, because the limits are not known. Costs some
/// milliseconds per configuration.
///
/// # Errors
///
/// Fails if the kernel is not a nest, the device file is wrong, a file cannot be written, or no
/// configuration can be estimated.
pub fn estimate_space(problem: &Problem, options: &EstimateSpaceOptions) -> Result<EstimatedSpace, Error> {
    let file = read_device(&options.on)?;
    let form = form(options.form.as_deref())?;
    let estimates = NestEstimates::new(problem, &file, form, &options.on)?;
    let format = options.out.as_deref().map(|out| Format::chosen(out, None)).transpose()?;
    if let (Some(out), Some(format)) = (&options.out, format) {
        let read: Vec<PathBuf> = options.measured.iter().chain([&options.on]).cloned().collect();
        tunesmith_store::refuse_overwriting(format, out, &read)?;
    }
    let ProblemSpace { space, warnings } = problem.space(&[])?;
    let mut guesses = estimates.all(&space);
    let correction = measured::correct((problem, &space), &estimates, &mut guesses, &options.measured)?;
    let measured = correction.map(|own| EstimateBasis::of(&options.measured, &own, None));
    if let (Some(out), Some(format)) = (&options.out, format) {
        let recording = estimates.recording(&space, &guesses).map_err(|error| {
            let reason = guesses.iter().find_map(|(_, guess)| match guess {
                Guess::Unknown(reason) | Guess::Unmeasured(reason) => Some(reason.clone()),
                Guess::Time(_) | Guess::Refused(_) => None,
            });
            Error::request(error.to_string(), reason)
        })?;
        tunesmith_store::export(&recording, format, out)?;
    }
    let mut notes: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    let LeftOut { refused, uncounted, unmeasured } = LeftOut::of(&guesses, &mut notes);
    let limit = estimates.limit().map_err(|reason| notes.push(reason)).ok();
    notes.extend(outside_of_measured(&guesses));
    Ok(EstimatedSpace {
        problem: problem.spec().name().to_string(),
        device: file.provenance.device,
        backend: file.provenance.backend,
        form: form.name(),
        space_size: space.size().to_string(),
        estimated: guesses.len() - refused - uncounted - unmeasured,
        refused,
        uncounted,
        unmeasured,
        limit_ms: limit.as_ref().map(|limit| limit.ms),
        limit_bound: limit.map(|limit| limit.bound),
        measured,
        best: best(&space, guesses, options.count),
        notes,
    })
}

/// The numbers of configurations without an estimate.
struct LeftOut {
    refused: usize,
    uncounted: usize,
    unmeasured: usize,
}

impl LeftOut {
    /// Counts them, and adds a note with the first reason for each kind.
    fn of(guesses: &[(ConfigId, Guess)], notes: &mut Vec<String>) -> Self {
        let mut left_out = |what: &str, reason: fn(&Guess) -> Option<&String>| {
            let mut reasons = guesses.iter().filter_map(|(_, guess)| reason(guess));
            let Some(first) = reasons.next() else { return 0 };
            let count = 1 + reasons.count();
            notes.push(format!("{count} configurations {what}: {first}"));
            count
        };
        let refused = left_out("make no kernel", |guess| match guess {
            Guess::Refused(reason) => Some(reason),
            _ => None,
        });
        let uncounted = left_out("cannot be counted", |guess| match guess {
            Guess::Unknown(reason) => Some(reason),
            _ => None,
        });
        let unmeasured = left_out("have no estimate", |guess| match guess {
            Guess::Unmeasured(reason) => Some(reason),
            _ => None,
        });
        Self { refused, uncounted, unmeasured }
    }
}

/// Returns the `count` fastest configurations. Equal ones are in the order of the space.
fn best(space: &Space, guesses: Vec<(ConfigId, Guess)>, count: usize) -> Vec<EstimatedConfig> {
    let time = |(config, guess)| match guess {
        Guess::Time(known) => Some((config, known.0)),
        _ => None,
    };
    let mut times: Vec<(ConfigId, Bounded)> = guesses.into_iter().filter_map(time).collect();
    times.sort_by(|a, b| a.1.estimate.seconds.total_cmp(&b.1.estimate.seconds));
    let listed = |(config, bounded): (ConfigId, Bounded)| EstimatedConfig {
        config: Journal::config(space, &space.unrank(config)),
        time_ms: bounded.estimate.seconds * 1e3,
        interval: bounded.interval.map(EstimatedInterval::from),
        outside: bounded.outside,
        terms: terms(bounded.estimate),
    };
    times.into_iter().take(count).map(listed).collect()
}
