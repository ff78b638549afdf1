//! Recorded measurements of the kernel that is estimated.

use crate::Error;
use crate::nests::{Guess, NestCounts, NestEstimates, PlacedNest};
use crate::{Correction, CorrectionKind, Domain, Lanes, MeasuredVariant};
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::path::{Path, PathBuf};
use tunesmith_core::recording::Row;
use tunesmith_loopnest::Recipe;
use tunesmith_problem::Problem;
use tunesmith_space::{ConfigId, Space, Value};

/// The measurements that corrected an estimate. Its JSON form is `measured` of `estimate --json`.
#[derive(Clone, Debug, Serialize)]
pub struct EstimateBasis {
    /// The recordings.
    pub files: Vec<PathBuf>,
    /// The number of measurements.
    pub measurements: usize,
    /// The way in which they correct the estimate.
    pub kind: CorrectionKind,
    /// The factor of the estimate. `None` for a ranking, in which every configuration has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
}

impl EstimateBasis {
    /// Returns the basis of estimates that `correction` corrects by the recordings in `files`.
    pub(super) fn of(files: &[PathBuf], correction: &Correction, factor: Option<f64>) -> Self {
        let Correction { measurements, kind, .. } = correction;
        Self { files: files.to_vec(), measurements: *measurements, kind: *kind, factor }
    }
}

/// A recording of a kernel, with the sizes of its input if it is a journal.
struct RecordedKernel {
    path: PathBuf,
    recording: tunesmith_core::Recording,
    sizes: Map<String, Json>,
}

impl RecordedKernel {
    fn read(path: &Path) -> Result<Self, Error> {
        let (recording, outline) = tunesmith_store::import_with_outline(path)?;
        let sizes = outline.map(|outline| outline.header.sizes).unwrap_or_default();
        Ok(Self { path: path.to_path_buf(), recording, sizes })
    }

    /// Returns the rows of correct configurations, with their seconds.
    fn rows(&self) -> impl Iterator<Item = (&Row, f64)> {
        let rows = self.recording.rows().iter().filter(|row| row.failure.is_none());
        rows.filter_map(|row| Some((row, row.time_ms()? / 1e3)))
    }

    fn nothing(&self, reason: &str) -> Error {
        let text = format!("`{}` has no measurement of this kernel: {reason}", self.path.display());
        Error::request(text, Some("name a run of the same kernel, with the same tuning parameters".to_string()))
    }
}

/// Returns the correction of the estimate of a nest by the runs in `files`.
///
/// # Errors
///
/// Fails if a file is no recording, or has no measurement of the nest.
pub(super) fn correction(
    (recipe, path): (&Recipe, &Path),
    (placed, counts): (&PlacedNest, &crate::PropertyCounts),
    (domain, lanes): (&Domain, Lanes),
    files: &[PathBuf],
) -> Result<Option<Correction>, Error> {
    let mut measured = Vec::new();
    for file in files {
        let recorded = RecordedKernel::read(file)?;
        let before = measured.len();
        for (row, seconds) in recorded.rows() {
            let named = recorded.recording.parameters().iter().zip(&row.values);
            let is_own = |name: &str| recipe.parameters.iter().any(|own| own.name == name);
            let config: Vec<(String, String)> = named
                .filter(|(parameter, _)| is_own(parameter.name()))
                .map(|(parameter, value)| (parameter.name().to_string(), value.to_string()))
                .collect();
            let known = recipe.nest.sizes.iter().zip(&placed.sizes);
            let sizes = known.map(|(name, size)| {
                let own = recorded.sizes.get(name).map_or_else(|| size.to_string(), ToString::to_string);
                (name.clone(), own)
            });
            let sizes: Vec<(String, String)> = sizes.collect();
            let Ok(variant) = PlacedNest::new(recipe, path, &sizes, &config) else { continue };
            let Ok(own) = NestCounts::new(&variant.nest, lanes).and_then(|own| own.at(&variant.sizes)) else {
                continue;
            };
            let estimate = domain.estimate(&own).estimate.seconds;
            let is_same = variant.config == placed.config;
            measured.push(MeasuredVariant { counts: own, seconds, estimate, is_same });
        }
        if measured.len() == before {
            return Err(recorded.nothing("no correct row of it makes a variant of the nest"));
        }
    }
    Ok(Correction::new(&measured, std::iter::once(counts)))
}

/// Corrects the estimates of a problem's configurations by the runs in `files`. Returns the correction of
/// those that were not measured themselves.
///
/// # Errors
///
/// Fails if a file is no recording, or has no measurement of the problem's kernel.
pub(super) fn correct(
    (problem, space): (&Problem, &Space),
    estimates: &NestEstimates<'_>,
    guesses: &mut [(ConfigId, Guess)],
    files: &[PathBuf],
) -> Result<Option<Correction>, Error> {
    let mut measured: Vec<(ConfigId, MeasuredVariant)> = Vec::new();
    for file in files {
        let recorded = RecordedKernel::read(file)?;
        let own = variants(&recorded, (problem, space), estimates)?;
        if own.is_empty() {
            return Err(recorded.nothing("no correct row of it is a configuration of the problem"));
        }
        measured.extend(own);
    }
    let all: Vec<MeasuredVariant> = measured.iter().map(|(_, own)| own.clone()).collect();
    let counts = guesses.iter().filter_map(|(_, guess)| match guess {
        Guess::Time(known) => Some(&known.1.counts),
        Guess::Refused(_) | Guess::Unknown(_) | Guess::Unmeasured(_) => None,
    });
    let Some(general) = Correction::new(&all, counts) else { return Ok(None) };
    for (config, guess) in guesses {
        let Guess::Time(known) = guess else { continue };
        let same = measured.iter().filter(|(other, _)| other == config).map(|(_, own)| own.clone());
        let same: Vec<MeasuredVariant> = same.map(|own| MeasuredVariant { is_same: true, ..own }).collect();
        let own = Correction::new(&same, std::iter::empty());
        let (bounded, counted) = known.as_mut();
        own.as_ref().unwrap_or(&general).apply(bounded, &counted.counts);
    }
    Ok(Some(general))
}

/// Returns the recorded configurations of the problem's space, counted at the sizes of the recording.
fn variants(
    recorded: &RecordedKernel,
    (problem, space): (&Problem, &Space),
    estimates: &NestEstimates<'_>,
) -> Result<Vec<(ConfigId, MeasuredVariant)>, Error> {
    let named = |(name, size): (&String, &Json)| Some((name.clone(), Value::Int(size.as_i64()?)));
    let sizes: Vec<(String, Value)> = recorded.sizes.iter().filter_map(named).collect();
    let there = if sizes.is_empty() { None } else { Some(problem.with_sizes(&sizes)?) };
    let there = there.as_ref().map(|there| estimates.of(there)).transpose()?;
    let estimates = there.as_ref().unwrap_or(estimates);
    let found = recorded.recording.evaluations(space).into_iter().filter(tunesmith_core::Evaluation::is_correct);
    let variant = |own: tunesmith_core::Evaluation| {
        let seconds = tunesmith_core::statistics::median(&own.measurement.times_ms)? / 1e3;
        let Guess::Time(known) = estimates.guess(space, own.request.config) else { return None };
        let (bounded, counted) = *known;
        let estimate = bounded.estimate.seconds;
        let is_same = false;
        Some((own.request.config, MeasuredVariant { counts: counted.counts, seconds, estimate, is_same }))
    };
    Ok(found.filter_map(variant).collect())
}
