//! A measured configuration of a nest beside its model: the work that it does, the resource that
//! bounds it, and its distance from the modelled limit.

use super::{EstimatedInterval, EstimatedTerm, terms};
use crate::device_file::foreign;
use crate::nests::{Guess, NestEstimates, in_words, least_work};
use crate::{DeviceFile, Error, Form, Interval, LeastWork, LowerBound, Provenance, Resource};
use serde::Serialize;
use std::path::Path;
use tunesmith_kernel::Language;
use tunesmith_problem::{NestKernel, Problem};
use tunesmith_space::{ConfigId, Space};

/// A measured configuration of a problem whose kernel is a nest.
#[derive(Clone, Copy, Debug)]
pub struct RoofSubject<'a> {
    /// The problem, at the sizes of the run.
    pub problem: &'a Problem,
    /// Its space.
    pub space: &'a Space,
    /// The configuration.
    pub config: ConfigId,
    /// Its time in milliseconds.
    pub time_ms: f64,
    /// The language of the run's kernels and the name of its device, or `None` if the times were not
    /// those of a kernel.
    pub here: Option<(Language, &'a str)>,
}

/// The work of a measured configuration and its distance from the model. Its JSON form is `roof` of
/// `explain --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Roof {
    /// The work that every variant of the nest does. `None` if the nest cannot be counted.
    pub work: Option<Work>,
    /// The resources that the configuration uses, by a device file. `None` without one, and if the
    /// cost of an operation is not known.
    pub modelled: Option<ModelledUse>,
    /// The modelled limit. `None` without a file of the run's device, if the work has no measured
    /// rate, and if the configuration is faster.
    pub limit: Option<RoofLimit>,
    /// Reasons for what is missing or doubtful.
    pub notes: Vec<String>,
}

/// The work that every variant of a nest does, and the speed of a configuration at it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Work {
    /// Number of floating-point operations: sums, products, quotients and functions. Comparisons and
    /// signs are left out.
    pub operations: f64,
    /// Bytes that are touched at least once. Arrays that cannot be counted are left out.
    pub bytes: f64,
    /// Billions of these operations per second.
    pub gflops: f64,
    /// Billions of these bytes per second.
    pub gbytes: f64,
}

/// The resources that a configuration uses, by a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelledUse {
    /// The device of the model.
    pub device: String,
    /// The language of its kernels.
    pub backend: String,
    /// The form of the model.
    pub form: &'static str,
    /// The modelled time of the configuration.
    pub time_ms: f64,
    /// Its interval. `None` if the calibration measured too few kernels to give one.
    pub interval: Option<EstimatedInterval>,
    /// The resource that takes the largest share of the modelled time.
    pub bound: Option<Resource>,
    /// The shares of the resources, the largest first. They add up to 1.
    pub resources: Vec<ResourceShare>,
    /// The parts of the modelled time, the largest first.
    pub terms: Vec<EstimatedTerm>,
}

/// The share of a resource in a modelled time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ResourceShare {
    /// The resource.
    pub resource: Resource,
    /// Its share, from 0 to 1.
    pub share: f64,
}

/// The modelled limit and the distance from it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RoofLimit {
    /// The time that no variant of the nest can beat at the highest measured rates.
    pub time_ms: f64,
    /// The work that takes this time, and its rate.
    pub bound: LowerBound,
    /// This time over that of the configuration: 1 at the limit.
    pub share: f64,
}

/// Returns what the nest's counts say about a measured configuration, and, with a device file and its
/// path, what the costs of that device say.
///
/// # Errors
///
/// Fails if the kernel is not a nest, the file has no model, or it is of kernels in another language.
pub fn roof(subject: &RoofSubject<'_>, device: Option<(&DeviceFile, &Path)>) -> Result<Roof, Error> {
    let mut roof = Roof { work: None, modelled: None, limit: None, notes: Vec::new() };
    let Some(nest) = &subject.problem.spec().nest() else { return Err(no_nest(subject.problem)) };
    match work(nest, subject.time_ms) {
        Ok(work) => roof.work = Some(work),
        Err(reason) => roof.notes.push(format!("the nest cannot be counted: {reason}")),
    }
    let Some((file, path)) = device else { return Ok(roof) };
    let estimates = NestEstimates::new(subject.problem, file, Form::Overlap, path)?;
    let foreign = subject.here.map_or(Ok(None), |here| foreign(&file.provenance, here, path))?;
    roof.add_use(subject, &estimates, &file.provenance);
    match foreign {
        Some(note) => roof.notes.push(note),
        None => roof.add_limit(subject, &estimates),
    }
    Ok(roof)
}

fn no_nest(problem: &Problem) -> Error {
    let text = format!("the kernel in `{}` is not a loop nest", problem.spec().name());
    Error::request(text, Some("leave --on out, or describe the kernel as a loop nest (`.nest`)".to_string()))
}

/// Returns the least work of a nest, which a configuration did in `time_ms`, or the reason why it
/// cannot be counted.
fn work(nest: &NestKernel, time_ms: f64) -> Result<Work, String> {
    let LeastWork { bytes, operations } =
        least_work(&nest.recipe.nest, &nest.sizes).map_err(|error| in_words(&error))?;
    let operations = operations.values().sum();
    let per_second = |amount: f64| amount / time_ms / 1e6;
    Ok(Work { operations, bytes, gflops: per_second(operations), gbytes: per_second(bytes) })
}

impl Roof {
    /// Adds the resources that the configuration uses, or the reason why they are not known.
    fn add_use(&mut self, subject: &RoofSubject<'_>, estimates: &NestEstimates<'_>, provenance: &Provenance) {
        let known = match estimates.guess(subject.space, subject.config) {
            Guess::Time(known) => known,
            Guess::Unmeasured(reason) | Guess::Refused(reason) | Guess::Unknown(reason) => {
                self.notes.push(format!("the shares of the resources are not known: {reason}"));
                return;
            }
        };
        let (bounded, _) = *known;
        let (time_ms, interval) = (bounded.estimate.seconds * 1e3, bounded.interval);
        self.notes.extend(interval.and_then(|interval| missed(interval, subject.time_ms)));
        self.notes.extend(bounded.outside.iter().map(ToString::to_string));
        let terms = terms(bounded.estimate);
        let resources = resources(&terms, time_ms);
        self.modelled = Some(ModelledUse {
            device: provenance.device.clone(),
            backend: provenance.backend.clone(),
            form: Form::Overlap.name(),
            time_ms,
            interval: interval.map(EstimatedInterval::from),
            bound: resources.first().map(|first| first.resource),
            resources,
            terms,
        });
    }

    /// Adds the modelled limit, or the reason why there is none.
    fn add_limit(&mut self, subject: &RoofSubject<'_>, estimates: &NestEstimates<'_>) {
        match estimates.limit() {
            Ok(limit) => {
                let withdrawal = limit.withdrawal(subject.time_ms);
                if withdrawal.is_none() {
                    let (time_ms, bound) = (limit.ms, limit.bound);
                    self.limit = Some(RoofLimit { time_ms, bound, share: time_ms / subject.time_ms });
                }
                self.notes.extend(withdrawal);
            }
            Err(reason) => self.notes.push(reason),
        }
    }
}

/// Returns the note that a measured time lies outside of the interval of the modelled one, if it does.
fn missed(interval: Interval, time_ms: f64) -> Option<String> {
    let Interval { coverage, low, high } = interval;
    let side = match high {
        Some(high) if time_ms > high * 1e3 => "longer",
        _ if time_ms < low * 1e3 => "shorter",
        _ => return None,
    };
    let percent = coverage * 100.0;
    Some(format!(
        "the measured time is {side} than the interval of the modelled one ({percent:.0} %): \
         do not trust the shares of the resources"
    ))
}

/// Returns the shares of the resources in a time, the largest first.
fn resources(terms: &[EstimatedTerm], time_ms: f64) -> Vec<ResourceShare> {
    let share = |resource: Resource| {
        let own = terms.iter().filter(|term| term.property.resource() == resource);
        ResourceShare { resource, share: own.map(|term| term.time_ms).sum::<f64>() / time_ms }
    };
    let mut shares: Vec<ResourceShare> = Resource::every().map(share).filter(|own| own.share > 0.0).collect();
    shares.sort_by(|a, b| b.share.total_cmp(&a.share));
    shares
}
