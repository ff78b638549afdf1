//! Recordings with the numbers that rank them.

use std::path::Path;
use tunesmith_core::recording::Row;
use tunesmith_core::{Objective, Recording, RecordingError, Refusal};
use tunesmith_problem::Metric;
use tunesmith_store::{ImportError, Outline};

/// Reads the recording at `path`, in any format. The rows of a journal have the values of its objective, also
/// where that is a metric, which journals hold as a definition.
///
/// # Errors
/// The file is no recording, or has a fault.
pub fn read_recording(path: &Path) -> Result<Recording, ImportError> {
    Ok(read_recording_with_outline(path)?.0)
}

/// Reads the recording at `path` like [`read_recording`]. Of a journal it also returns the outline, so that
/// nobody reads the file twice.
///
/// # Errors
/// As of [`read_recording`].
pub fn read_recording_with_outline(path: &Path) -> Result<(Recording, Option<Outline>), ImportError> {
    let (mut recording, outline) = tunesmith_store::import_with_outline(path)?;
    if let Some(outline) = &outline {
        rank(&mut recording, &Metric::recorded(outline.header.objective.as_ref()));
    }
    Ok((recording, outline))
}

/// Returns the metric that ranks the rows of the recording at `path`.
///
/// # Errors
/// The file does not state the direction of its objective, or states several.
pub fn metric_of(recording: &Recording, path: &Path) -> Result<Metric, Refusal> {
    let undirected = |error: RecordingError| {
        let remedy = format!("convert it first, and {}", error.remedy());
        Refusal::new(format!("`{}`: {error}", path.display()), Some(remedy))
    };
    Metric::over_recording(recording.objective().map_err(undirected)?.clone(), &[])
}

/// Ranks the rows by `metric`.
fn rank(recording: &mut Recording, metric: &Metric) {
    let names: Vec<String> = recording.parameters().iter().map(|parameter| parameter.name().to_string()).collect();
    let parts = metric.objectives();
    let samples = |objective: &Objective, row: &Row| {
        let metric = parts.iter().find(|part| part.objective() == objective).unwrap_or(metric);
        let parameter =
            |name: &str| names.iter().position(|known| known == name).and_then(|at| row.values.get(at)).cloned();
        metric.samples(&parameter, &row.measurement).ok()
    };
    recording.rank_by_computed(metric.objective(), samples);
}
