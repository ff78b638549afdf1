//! Estimates the times of a tuned nest's configurations on a calibrated device without running one.

use super::{Counted, NestCounts, NestGenerator, in_words, least_work};
use crate::Error;
use crate::device_file::model;
use crate::fitted::Peaks;
use crate::{Bounded, DeviceFile, Domain, Form, Lanes, LowerBound};
use rand::SeedableRng as _;
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use tunesmith_core::recording::{Column, Row};
use tunesmith_core::{Failure, FailureKind, Measurement, Recording, RecordingError, Rng};
use tunesmith_kernel::{Language, Scope};
use tunesmith_problem::{NestKernel, Problem};
use tunesmith_space::{ConfigId, Space};

/// Maximum size of a space that is estimated whole. Each configuration costs some milliseconds.
const WHOLE: u128 = 4000;
/// Number of configurations of a larger space that are estimated before the neighbours of the best.
const DRAWN: usize = 2000;
/// Number of rounds that estimate the neighbours of the best, and number of configurations that
/// count as the best.
const ROUNDS: usize = 4;
const BEST: usize = 20;

/// Estimates the configurations of a problem whose kernel is a nest.
pub struct NestEstimates<'a> {
    problem: &'a Problem,
    nest: &'a NestKernel,
    generator: NestGenerator,
    domain: Domain,
    peaks: Peaks,
    lanes: Lanes,
}

/// The estimate of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum Guess {
    /// Its time with its parts and interval, and its counts.
    Time(Box<(Bounded, Counted)>),
    /// It has operations whose cost is not known: the reason. It has no time.
    Unmeasured(String),
    /// It has no kernel: a transformation refuses it.
    Refused(String),
    /// Its kernel cannot be counted.
    Unknown(String),
}

/// The modelled limit: the time of a kernel that does only what every variant of a nest must, at the
/// highest measured rates. No fit is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The time in milliseconds.
    pub ms: f64,
    /// The work that takes this time.
    pub bound: LowerBound,
}

impl Limit {
    /// Returns the reason why the limit does not hold if a configuration took `time_ms`, or `None` if that
    /// is not below it.
    pub fn withdrawal(&self, time_ms: f64) -> Option<String> {
        let Self { ms, bound } = self;
        (time_ms < *ms).then(|| {
            format!(
                "the modelled limit of {ms:.4} ms is withdrawn, because {time_ms:.4} ms was measured: the calibration saw \
                 no more than {bound}; calibrate again when nothing else runs"
            )
        })
    }
}

impl<'a> NestEstimates<'a> {
    /// Creates the estimates by the model of `device` in this form. `file` is the path of the
    /// device file.
    ///
    /// # Errors
    ///
    /// Fails if the problem's kernel is not a loop nest, or if the file has no model of that form.
    pub fn new(problem: &'a Problem, device: &DeviceFile, form: Form, file: &Path) -> Result<Self, Error> {
        let Some(nest) = &problem.spec().nest() else {
            let text = format!(
                "`{}` is a device file. It estimates loop nests only, but the kernel in `{}` is not a loop nest",
                file.display(),
                problem.spec().name()
            );
            let remedy = "leave it out, or describe the kernel as a loop nest (`.nest`)".to_string();
            return Err(Error::request(text, Some(remedy)));
        };
        let generator = NestGenerator::new(Arc::clone(&nest.recipe), nest.sizes.clone(), Language::C);
        let domain = device.domain(model(device, form, file)?);
        let (peaks, lanes) = (Peaks::of(&device.cases), device.provenance.lanes);
        Ok(Self { problem, nest, generator, domain, peaks, lanes })
    }

    /// Returns the estimates of the same problem at other sizes.
    ///
    /// # Errors
    ///
    /// Fails if the problem's kernel is not a loop nest.
    pub(crate) fn of<'b>(&self, problem: &'b Problem) -> Result<NestEstimates<'b>, Error> {
        let Some(nest) = &problem.spec().nest() else {
            return Err(Error::request("the kernel is not a loop nest", None));
        };
        let generator = NestGenerator::new(Arc::clone(&nest.recipe), nest.sizes.clone(), Language::C);
        let (domain, peaks) = (self.domain.clone(), self.peaks.clone());
        Ok(NestEstimates { problem, nest, generator, domain, peaks, lanes: self.lanes })
    }

    /// Returns the estimate of a configuration. Costs the transformations and a count: some
    /// milliseconds.
    pub fn guess(&self, space: &Space, config: ConfigId) -> Guess {
        let scope = Scope::of(self.problem.spec().sizes(), space, config);
        let nest = match self.generator.nest(&scope) {
            Ok(nest) => nest,
            Err(reason) => return Guess::Refused(reason),
        };
        match NestCounts::new(&nest, self.lanes).and_then(|counts| counts.counted(&self.nest.sizes)) {
            Ok(counted) => {
                let bounded = self.domain.estimate(&counted.counts);
                match unmeasured(&bounded) {
                    Some(reason) => Guess::Unmeasured(reason),
                    None => Guess::Time(Box::new((bounded, counted))),
                }
            }
            Err(error) => Guess::Unknown(in_words(&error)),
        }
    }

    /// Returns the estimates of a small space whole. Of a larger space, returns those of 2,000
    /// random configurations and, in four rounds, of the neighbours of the best. Every call returns
    /// the same, in the order of the space.
    pub fn all(&self, space: &Space) -> Vec<(ConfigId, Guess)> {
        let mut known: HashMap<ConfigId, Guess> = HashMap::new();
        if space.len().is_some_and(|len| len <= WHOLE) {
            self.add(space, space.iter().collect(), &mut known);
        } else {
            self.add(space, space.sample_distinct(DRAWN, &mut Rng::seed_from_u64(0)), &mut known);
            for _ in 0..ROUNDS {
                let near = best(&known, BEST).into_iter().flat_map(|config| space.hamming_neighbours(config));
                let near: Vec<ConfigId> = near.filter(|config| !known.contains_key(config)).collect();
                self.add(space, near, &mut known);
            }
        }
        let mut all: Vec<(ConfigId, Guess)> = known.into_iter().collect();
        all.sort_by_key(|(config, _)| *config);
        all
    }

    fn add(&self, space: &Space, mut configs: Vec<ConfigId>, known: &mut HashMap<ConfigId, Guess>) {
        configs.sort_unstable();
        configs.dedup();
        known.par_extend(configs.into_par_iter().map(|config| (config, self.guess(space, config))));
    }

    /// Returns the modelled limit: the time that the nest's least work takes at the highest measured
    /// rates.
    ///
    /// # Errors
    ///
    /// Fails if the nest cannot be counted, or if the calibration has no rate for its work. The text
    /// tells users the reason.
    pub fn limit(&self) -> Result<Limit, String> {
        let none = |reason: &str| format!("the nest has no modelled limit: {reason}");
        let work = least_work(&self.nest.recipe.nest, &self.nest.sizes).map_err(|error| none(&in_words(&error)))?;
        let bound = self.peaks.bound(&work);
        let bound = bound.ok_or_else(|| none("no measured kernel touches memory or does its operations"))?;
        Ok(Limit { ms: bound.seconds() * 1e3, bound })
    }

    /// Returns the estimates as a recording, with times and counters as if they had been measured.
    /// Configurations that cannot be counted or have unmeasured operations are left out.
    ///
    /// # Errors
    ///
    /// Fails if no configuration can be estimated.
    pub fn recording(&self, space: &Space, guesses: &[(ConfigId, Guess)]) -> Result<Recording, RecordingError> {
        let row = |(config, guess): &(ConfigId, Guess)| {
            let values = space.values(&space.unrank(*config)).map(|(_, value)| value.clone()).collect();
            let row = Row { values, ..Row::default() };
            match guess {
                Guess::Time(known) => {
                    let (bounded, counted) = known.as_ref();
                    let ms = bounded.estimate.seconds * 1e3;
                    let mut measurement = Measurement { times_ms: vec![ms], ..Measurement::default() };
                    counted.fill(self.domain.model(), ms, &mut measurement);
                    Some(Row { measurement, ..row })
                }
                Guess::Refused(reason) => {
                    Some(Row { failure: Some(Failure::new(FailureKind::Constraints, reason)), ..row })
                }
                Guess::Unknown(_) | Guess::Unmeasured(_) => None,
            }
        };
        let columns = space
            .parameters()
            .iter()
            .map(|parameter| Column { name: parameter.name().to_string(), values: Some(parameter.values().to_vec()) });
        let name = format!("{}, estimated", self.problem.spec().name());
        Recording::new(name, columns.collect(), guesses.iter().filter_map(row).collect())
    }

    /// Fills in the counters of a measured configuration, as if hardware had read them.
    pub fn fill(&self, space: &Space, config: ConfigId, measurement: &mut Measurement) {
        let ms = tunesmith_core::statistics::median(&measurement.times_ms);
        if let (Some(ms), Guess::Time(known)) = (ms, self.guess(space, config)) {
            known.1.fill(self.domain.model(), ms, measurement);
        }
    }
}

/// Returns the reason why an estimate is no time: the operations whose cost is not known.
fn unmeasured(bounded: &Bounded) -> Option<String> {
    let mut reasons = bounded.unmeasured().map(ToString::to_string);
    let first = reasons.next()?;
    Some(match reasons.count() {
        0 => first,
        more => format!("{first} (and {more} more such properties)"),
    })
}

/// Returns a note with the number of estimates that lie outside of what the calibration measured, with
/// the first reason, if there are any.
pub(crate) fn outside_of_measured(guesses: &[(ConfigId, Guess)]) -> Option<String> {
    let reason = |guess: &'_ Guess| match guess {
        Guess::Time(known) => known.0.outside.first().map(ToString::to_string),
        Guess::Unmeasured(_) | Guess::Refused(_) | Guess::Unknown(_) => None,
    };
    let mut reasons = guesses.iter().filter_map(|(_, guess)| reason(guess));
    let first = reasons.next()?;
    Some(format!(
        "{} of {} estimates lie outside of what the calibration measured, and their order may be wrong: {first}",
        1 + reasons.count(),
        guesses.iter().filter(|(_, guess)| matches!(guess, Guess::Time(_))).count()
    ))
}

/// Returns notes with the numbers of configurations that could not be counted, of those with unmeasured
/// operations, and of estimates that lie outside of what was measured, each with the first reason.
pub fn notes_on(guesses: &[(ConfigId, Guess)]) -> Vec<String> {
    let note = |why: &str, reasons: Vec<&String>| {
        let first = reasons.first()?;
        Some(format!("{} configurations have no estimate, since {why}: {first}", reasons.len()))
    };
    let uncounted = guesses.iter().filter_map(|(_, guess)| match guess {
        Guess::Unknown(reason) => Some(reason),
        _ => None,
    });
    let unmeasured = guesses.iter().filter_map(|(_, guess)| match guess {
        Guess::Unmeasured(reason) => Some(reason),
        _ => None,
    });
    let notes = [
        note("they cannot be counted", uncounted.collect()),
        note("the device file lacks the cost of their operations", unmeasured.collect()),
    ];
    notes.into_iter().flatten().chain(outside_of_measured(guesses)).collect()
}

/// Returns the configurations with the shortest estimates. Equal ones are in the order of the
/// space.
fn best(known: &HashMap<ConfigId, Guess>, count: usize) -> Vec<ConfigId> {
    let time = |(config, guess): (&ConfigId, &Guess)| match guess {
        Guess::Time(known) => Some((known.0.estimate.seconds, *config)),
        _ => None,
    };
    let mut times: Vec<(f64, ConfigId)> = known.iter().filter_map(time).collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    times.into_iter().take(count).map(|(_, config)| config).collect()
}
