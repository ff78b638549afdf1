//! Converts recordings from one format to another.

use crate::{Error, JudgedRun, Measurements, read_recording};
use serde::Serialize;
use std::path::{Path, PathBuf};
use tunesmith_core::{Objective, Recording, RecordingError, Target, statistics};
use tunesmith_files::is_wrong_path;
use tunesmith_store::{ExportError, Format};

/// The settings of a conversion.
#[derive(Clone, Debug, Default)]
pub struct ConvertOptions {
    /// The format by name: `csv`, `t4` or `kernel-tuner`. Without it, the suffix of the output tells.
    pub to: Option<String>,
    /// The recorded number that ranks configurations, in place of what the inputs state.
    pub objective: Option<Target>,
}

/// The result of a conversion.
#[derive(Clone, Debug, Serialize)]
pub struct Converted {
    /// The recording's name.
    pub recording: String,
    /// Number of its configurations.
    pub configurations: usize,
    /// Number of correct ones among them.
    pub correct: usize,
    /// The objective that ranks them, if the inputs state one.
    pub objective: Option<Objective>,
    /// The best value of the objective: of one journal, by its verdict, else the best recorded one.
    pub value: Option<f64>,
    /// The best value, if it is a time in milliseconds.
    pub optimum_ms: Option<f64>,
    /// The assumptions about the inputs, which do not state everything.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// The format written.
    pub format: &'static str,
    /// The files written.
    pub out: Vec<PathBuf>,
}

/// Reads `inputs`, in any format, as one recording and writes it to `out`. Several inputs must have the same
/// subject: parameters, kernel, device, sizes and objective. Their rows are joined.
///
/// # Errors
/// The format does not exist or cannot be determined, an input cannot be read, the inputs are of
/// different subjects, or the disk is full.
pub fn convert(inputs: &[PathBuf], out: &Path, options: &ConvertOptions) -> Result<Converted, Error> {
    let format = Format::chosen(out, options.to.as_deref())?;
    let nothing = || Error::request("there is nothing to convert", Some("name a recording".to_string()));
    let (first, others) = inputs.split_first().ok_or_else(nothing)?;
    tunesmith_store::refuse_overwriting(format, out, inputs)?;
    let mut recording = read(first, options)?;
    for other in others {
        recording.join(read(other, options)?).map_err(|error| refused(&error))?;
    }
    let is_whole = others.is_empty() && options.objective.is_none();
    write(&recording, out, format, is_whole.then(|| judged(first)).flatten())
}

/// Converts each of `inputs` on its own. The outputs have the name of `out` with the name of the input before its
/// suffix: `all-gemm.csv` for `gemm.json` and `all.csv`.
///
/// # Errors
/// As of [`convert`], or two inputs would have the same output.
pub fn convert_apart(inputs: &[PathBuf], out: &Path, options: &ConvertOptions) -> Result<Vec<Converted>, Error> {
    let format = Format::chosen(out, options.to.as_deref())?;
    let recordings = inputs.iter().map(|input| read(input, options)).collect::<Result<Vec<Recording>, Error>>()?;
    let outs: Vec<PathBuf> = recordings.iter().map(|recording| beside(out, &recording.name)).collect();
    if let Some(twice) = (1..outs.len()).find(|at| outs[..*at].contains(&outs[*at])) {
        let text = format!("two inputs would be written to `{}`", outs[twice].display());
        return Err(Error::request(text, Some("rename one of them, or convert it to another folder".to_string())));
    }
    outs.iter().try_for_each(|out| tunesmith_store::refuse_overwriting(format, out, inputs))?;
    let all = recordings.iter().zip(&outs).zip(inputs);
    let judged = |input: &Path| options.objective.is_none().then(|| judged(input)).flatten();
    all.map(|((recording, out), input)| write(recording, out, format, judged(input))).collect()
}

/// Returns the path of the output of the recording called `name`.
fn beside(out: &Path, name: &str) -> PathBuf {
    let file = out.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (stem, suffix) = file.split_once('.').map_or((file.as_str(), String::new()), |(a, b)| (a, format!(".{b}")));
    out.with_file_name(format!("{stem}-{name}{suffix}"))
}

/// Reads an input, ranked by the objective that the user names.
fn read(input: &Path, options: &ConvertOptions) -> Result<Recording, Error> {
    let mut recording = read_recording(input)?;
    for aim in options.objective.iter().flat_map(Target::parts) {
        recording
            .rank_by(aim)
            .map_err(|error| Error::request(format!("`{}`: {error}", input.display()), Some(error.remedy())))?;
    }
    Ok(recording)
}

/// Returns the error of a conversion without an output, which a wrong name makes a wrong request.
fn unwritten(error: ExportError) -> Error {
    if is_wrong_path(&error.source) { Error::request(error.to_string(), None) } else { error.into() }
}

fn refused(error: &RecordingError) -> Error {
    Error::request(error.to_string(), Some(error.remedy()))
}

/// The value of the objective and the time of the best configuration.
type Best = (Option<f64>, Option<f64>);

/// Returns the best of the journal at `path` by its verdict, or `None` if it is no journal.
fn judged(path: &Path) -> Option<Best> {
    let recorded = tunesmith_store::read_brief(path).ok()?;
    let judged = JudgedRun::new(&recorded);
    let Some(best) = judged.verdict.order.first() else { return Some((None, None)) };
    let measured = Measurements::new(&judged, |key| key == *best);
    let median = |samples: Option<Vec<f64>>| statistics::median(&samples?);
    Some((median(measured.values(&judged.metric, *best)), median(measured.counted(*best))))
}

/// Writes the recording. `judged` is the best of a journal by its verdict.
fn write(recording: &Recording, out: &Path, format: Format, judged: Option<Best>) -> Result<Converted, Error> {
    let objective = recording.objective().ok().cloned();
    let recorded = || (recording.best().map(|(_, value)| value), recording.optimum_ms());
    let (value, time_ms) = judged.unwrap_or_else(recorded);
    let written = tunesmith_store::export(recording, format, out).map_err(unwritten)?;
    Ok(Converted {
        configurations: recording.rows().len(),
        correct: recording.correct(),
        value,
        optimum_ms: time_ms,
        objective,
        assumptions: recording.assumptions.clone(),
        recording: recording.name.clone(),
        format: format.word(),
        out: written,
    })
}
