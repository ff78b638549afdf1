//! Judges a device's models by the paper's test kernels. No model is fitted to them.

use super::measure::KernelTime;
use super::subjects::{subjects, wrong};
use super::{CalibrationStep, LONGEST, bench};
use crate::Error;
use crate::nests::NestCounts;
use crate::protocol::{Bounds, next};
use crate::{Bounded, DeviceFile, Domain, PropertyCounts, error_mean};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use tunesmith_core::{Clock, Interrupt, statistics};
use tunesmith_device::Machine;
use tunesmith_loopnest::kernels::Role;

/// The measured time of a test kernel and the predictions of the models (the paper's Table 1).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// The kernel with its work-group.
    pub kernel: String,
    /// Its main size.
    pub size: i64,
    /// The measured time.
    pub measured_ms: f64,
    /// The prediction of each form of model, by name.
    pub predicted_ms: BTreeMap<&'static str, f64>,
    /// True if the time lies in the stated interval, by form. Forms without one are left out.
    pub is_within: BTreeMap<&'static str, bool>,
}

/// The errors of each form of model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// The test kernels in all sizes.
    pub kernels: Vec<Judged>,
    /// The geometric mean of the relative errors, each at least 1 %, by form.
    pub mean: BTreeMap<&'static str, f64>,
    /// The median of the relative errors, by form.
    pub median: BTreeMap<&'static str, f64>,
    /// The largest relative error, by form.
    pub largest: BTreeMap<&'static str, f64>,
    /// The share of the times that lie in their stated interval, by form. Forms without an interval
    /// are left out.
    pub within: BTreeMap<&'static str, f64>,
}

impl Judgement {
    /// Measures the test kernels on the device of `file`. Returns `None` if interrupted.
    ///
    /// # Errors
    ///
    /// Fails if the device cannot be used.
    pub fn of(
        file: &DeviceFile,
        machine: &Machine,
        clock: Arc<dyn Clock>,
        interrupt: &Interrupt,
        progress: &mut dyn FnMut(&CalibrationStep<'_>),
    ) -> Result<Option<Self>, Error> {
        let bench = bench(machine, clock)?;
        let subjects = subjects(&[Role::Judge])?;
        let ladders: Vec<_> = subjects.iter().map(|subject| subject.ladder.clone()).collect();
        let domains: Vec<Domain> = file.models.iter().map(|model| file.domain(model)).collect();
        let bounds = Bounds { launch: file.provenance.launch_seconds, longest: LONGEST };
        let (mut done, mut kernels) = (vec![Vec::new(); subjects.len()], Vec::new());
        while let Some((at, size)) = next(&ladders, &bounds, &done) {
            let subject = &subjects[at];
            let seconds = match bench.measure(subject, size, interrupt)? {
                KernelTime::Interrupted => return Ok(None),
                KernelTime::Failed(_) => None,
                KernelTime::Time(timing) => Some(timing.seconds),
            };
            done[at].push((size, seconds));
            progress(&CalibrationStep { measured: kernels.len() + 1, kernel: &subject.name, size, seconds });
            let Some(seconds) = seconds.filter(|seconds| bounds.is_telling(*seconds)) else { continue };
            let counts = NestCounts::new(&subject.nest, file.provenance.lanes)
                .and_then(|counts| counts.at(&subject.sizes(size)));
            let counts = counts.map_err(|error| wrong(subject, &error))?;
            kernels.push(judged(&domains, &counts, (subject.name.clone(), size, seconds)));
        }
        Ok(Some(Self::new(kernels)))
    }

    fn new(mut kernels: Vec<Judged>) -> Self {
        kernels.sort_by(|a, b| (&a.kernel, a.size).cmp(&(&b.kernel, b.size)));
        let forms: Vec<&'static str> =
            kernels.first().map(|judged| judged.predicted_ms.keys().copied().collect()).unwrap_or_default();
        let errors = |form: &'static str| -> Vec<f64> {
            kernels.iter().map(|own| (own.predicted_ms[form] - own.measured_ms).abs() / own.measured_ms).collect()
        };
        let by_form =
            |summary: &dyn Fn(&[f64]) -> f64| forms.iter().map(|form| (*form, summary(&errors(form)))).collect();
        let mean = by_form(&error_mean);
        let median = by_form(&|errors| statistics::median(errors).unwrap_or(0.0));
        let largest = by_form(&|errors| errors.iter().copied().fold(0.0, f64::max));
        let within = forms.iter().filter_map(|form| {
            let known: Vec<bool> = kernels.iter().filter_map(|own| own.is_within.get(form).copied()).collect();
            let inside = known.iter().filter(|is_within| **is_within).count();
            (!known.is_empty()).then(|| (*form, inside as f64 / known.len() as f64))
        });
        let within = within.collect();
        Self { kernels, mean, median, largest, within }
    }
}

/// Returns the predictions for a test kernel of this name and size that took `seconds`.
fn judged(domains: &[Domain], counts: &PropertyCounts, (kernel, size, seconds): (String, i64, f64)) -> Judged {
    let predictions = domains.iter().map(|domain| (domain.model().form.name(), domain.estimate(counts)));
    let predictions: Vec<(&'static str, Bounded)> = predictions.collect();
    let within = predictions.iter().filter_map(|(form, bounded)| {
        let interval = bounded.interval?;
        Some((*form, interval.low <= seconds && interval.high.is_none_or(|high| seconds <= high)))
    });
    let is_within = within.collect();
    let predicted_ms = predictions.into_iter().map(|(form, bounded)| (form, bounded.estimate.seconds * 1e3)).collect();
    Judged { kernel, size, measured_ms: seconds * 1e3, predicted_ms, is_within }
}
