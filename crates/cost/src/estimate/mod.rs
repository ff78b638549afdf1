//! Estimates the time of a loop nest without running it.

mod measured;
mod roof;
mod space;

pub use measured::EstimateBasis;
pub use roof::{ModelledUse, ResourceShare, Roof, RoofLimit, RoofSubject, Work, roof};
pub use space::{EstimateSpaceOptions, EstimatedConfig, EstimatedSpace, estimate_space};

use crate::Error;
use crate::device_file::{form, model, read_device};
use crate::nests::{NestCounts, PlacedNest, in_words, read_nest};
use crate::{CostProperty, Estimate, Form, Interval, Outside, Provenance, Share};
use serde::Serialize;
use std::path::PathBuf;
use tunesmith_loopnest::Recipe;

/// Options of an estimate.
#[derive(Clone, Debug, Default)]
pub struct EstimateOptions {
    /// The nest.
    pub kernel: PathBuf,
    /// The device file.
    pub on: PathBuf,
    /// Values of the nest's sizes and of the parameters of its transformations.
    pub sizes: Vec<(String, String)>,
    /// `paper`, `nnls` or `overlap`. The default is `overlap`.
    pub form: Option<String>,
    /// Recordings of the same kernel, whose measurements correct the estimate.
    pub measured: Vec<PathBuf>,
}

/// An estimated time. Its JSON form is a contract: see `estimate --json` in the interface
/// documentation.
#[derive(Clone, Debug, Serialize)]
pub struct EstimatedNest {
    /// The device of the estimate.
    pub device: String,
    /// The language of its kernels.
    pub backend: String,
    /// The time. With an unmeasured operation it is a lower bound.
    pub time_ms: f64,
    /// Its interval. `None` if the calibration measured too few kernels to give one.
    pub interval: Option<EstimatedInterval>,
    /// The measurements that corrected it. `None` if there are none.
    pub measured: Option<EstimateBasis>,
    /// Its parts, largest first.
    pub terms: Vec<EstimatedTerm>,
    /// The ways in which the kernel lies outside of what the calibration measured.
    pub outside: Vec<Outside>,
    /// The form of the model.
    pub form: &'static str,
    /// Reasons why the estimate may be wrong.
    pub warnings: Vec<String>,
}

/// An interval that contains the time of a kernel with a stated probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EstimatedInterval {
    /// The stated probability.
    pub coverage: f64,
    /// The lower end.
    pub low_ms: f64,
    /// The upper end, or `None` if an unmeasured operation may cost any time.
    pub high_ms: Option<f64>,
}

impl From<Interval> for EstimatedInterval {
    fn from(interval: Interval) -> Self {
        let Interval { coverage, low, high } = interval;
        Self { coverage, low_ms: low * 1e3, high_ms: high.map(|high| high * 1e3) }
    }
}

/// The part of an estimated time that one property takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EstimatedTerm {
    /// The property.
    pub property: CostProperty,
    /// The count of the property in the kernel.
    pub count: f64,
    /// Seconds per count.
    pub weight: f64,
    /// Its part of the time.
    pub time_ms: f64,
}

/// Estimates the time of a nest on a calibrated device.
///
/// # Errors
///
/// Fails if a file cannot be read, a size is missing or unknown, or the nest cannot be counted.
pub fn estimate(options: &EstimateOptions) -> Result<EstimatedNest, Error> {
    let file = read_device(&options.on)?;
    let form = form(options.form.as_deref())?;
    let model = model(&file, form, &options.on)?;
    let wrong = |error: &tunesmith_loopnest::NestError| {
        Error::request(format!("`{}`: {}", options.kernel.display(), in_words(error)), error.remedy.clone())
    };
    let recipe = read_nest(&options.kernel)?;
    check_names(&recipe, &options.sizes)?;
    let is_parameter = |name: &str| recipe.parameters.iter().any(|parameter| parameter.name == name);
    let (config, sizes): (Vec<_>, Vec<_>) = options.sizes.iter().cloned().partition(|(name, _)| is_parameter(name));
    let placed = PlacedNest::new(&recipe, &options.kernel, &sizes, &config)?;
    let lanes = file.provenance.lanes;
    let counted = NestCounts::new(&placed.nest, lanes).map_err(|error| wrong(&error))?;
    let counts = counted.at(&placed.sizes).map_err(|error| wrong(&error))?;
    let domain = file.domain(model);
    let mut bounded = domain.estimate(&counts);
    let kernel = (&recipe, options.kernel.as_path());
    let correction = measured::correction(kernel, (&placed, &counts), (&domain, lanes), &options.measured)?;
    let measured = correction.map(|own| {
        own.apply(&mut bounded, &counts);
        EstimateBasis::of(&options.measured, &own, Some(own.factor(&counts)))
    });
    // The paper's form uses neither lanes nor chains.
    let notes = if form == Form::Paper { Vec::new() } else { counted.notes };
    let warnings = notes.into_iter().chain(bounded.outside.iter().map(ToString::to_string)).collect();
    let Provenance { device, backend, .. } = file.provenance;
    Ok(EstimatedNest {
        device,
        backend,
        time_ms: bounded.estimate.seconds * 1e3,
        interval: bounded.interval.map(EstimatedInterval::from),
        measured,
        terms: terms(bounded.estimate),
        outside: bounded.outside,
        form: form.name(),
        warnings,
    })
}

/// Returns the parts of a time, largest first.
fn terms(estimate: Estimate) -> Vec<EstimatedTerm> {
    let term = |share: Share| EstimatedTerm {
        property: share.property,
        count: share.count,
        weight: share.weight,
        time_ms: share.seconds * 1e3,
    };
    estimate.shares.into_iter().map(term).collect()
}

/// Refuses a name that is neither a size nor a parameter, and a size without a value. The messages
/// speak of both, because `--size` takes both.
fn check_names(recipe: &Recipe, given: &[(String, String)]) -> Result<(), Error> {
    let parameters = recipe.parameters.iter().map(|parameter| parameter.name.as_str());
    let known: Vec<&str> = recipe.nest.sizes.iter().map(String::as_str).chain(parameters).collect();
    if let Some((name, _)) = given.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        let remedy = format!("it has {}", known.join(", "));
        return Err(Error::request(format!("the nest has no size or parameter `{name}`"), Some(remedy)));
    }
    match recipe.nest.sizes.iter().find(|size| !given.iter().any(|(name, _)| name == *size)) {
        None => Ok(()),
        Some(name) => {
            let remedy = format!("give it: --size {name}=1024");
            Err(Error::request(format!("the size `{name}` of the nest is missing"), Some(remedy)))
        }
    }
}
