//! Judges a device's models by the paper's test kernels. No model is fitted to them.

use super::measure::KernelTime;
use super::subjects::subjects;
use super::{CalibrationStep, LONGEST, bench, wrong};
use crate::Error;
use crate::nests::NestCounts;
use crate::protocol::{Bounds, next};
use crate::{DeviceFile, error_mean};
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
            let predicted = file.models.iter().map(|model| (model.form.name(), model.seconds(&counts) * 1e3));
            kernels.push(Judged {
                kernel: subject.name.clone(),
                size,
                measured_ms: seconds * 1e3,
                predicted_ms: predicted.collect(),
            });
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
        Self { kernels, mean, median, largest }
    }
}
