//! Prepares counter models for the recordings that are compared.

use super::time_transfer::TimeTransfer;
use crate::{Error, ModelChoice};
use std::path::Path;
use tunesmith_core::Recording;
use tunesmith_model::counters::{CounterModel, Method};
use tunesmith_search::profile_guided::{Guide, counter_data};
use tunesmith_space::Space;

/// Number of random halves of a recording that trees are fitted to, so that no single one decides.
const HALVES: u64 = 20;

/// The counter models that a choice gives for one recording.
#[derive(Default)]
pub(super) struct Guidance {
    /// The prepared models, which searches use in turn. Empty if the model cannot serve.
    pub(super) guides: Vec<Guide>,
    /// Notes for the reader.
    pub(super) notes: Vec<String>,
    /// The result of using the times of the model's recording alone, if it is another recording.
    pub(super) time_transfer: Option<TimeTransfer>,
}

/// Returns the guidance for `recording`, whose space is `space`. A model that does not fit is left
/// out with a note.
///
/// # Errors
/// The recording has no counters to learn from, or the file is neither a counter model nor a
/// recording with counters.
pub(super) fn guidance(
    choice: &ModelChoice,
    recording: &Recording,
    space: &Space,
    path: &Path,
) -> Result<Guidance, Error> {
    let mut guidance = Guidance::default();
    // Trees take far more memory than what they predict, so each model is dropped before the next
    // one is fitted.
    let mut add = |model: CounterModel| match Guide::new(&model, &recording.hardware, space) {
        Ok(guide) => guidance.guides.push(guide),
        Err(error) => guidance.notes.push(format!("`{}`: searched without counters: {error}", path.display())),
    };
    match choice {
        ModelChoice::Exact => add(trained(recording, path, Method::Exact, 0)?),
        ModelChoice::Trees => halves(recording, path, &mut add)?,
        ModelChoice::File(file) => guidance.time_transfer = read(file, recording, &mut add)?,
    }
    let of_guides = guidance.guides.iter().take(1).flat_map(Guide::notes);
    let of_guides: Vec<String> = of_guides.map(|note| format!("`{}`: {note}", path.display())).collect();
    guidance.notes.extend(of_guides);
    guidance.notes.dedup();
    Ok(guidance)
}

/// Fits trees to halves of `recording` and gives each model to `add`.
fn halves(recording: &Recording, path: &Path, add: &mut dyn FnMut(CounterModel)) -> Result<(), Error> {
    (0..HALVES).try_for_each(|seed| {
        add(trained(recording, path, Method::Trees { share: 0.5 }, seed)?);
        Ok(())
    })
}

fn trained(recording: &Recording, path: &Path, method: Method, seed: u64) -> Result<CounterModel, Error> {
    let nothing = || {
        let text = format!("`{}` has no counters to learn from", path.display());
        Error::request(text, Some("record counters, or name a counter model as --model FILE".to_string()))
    };
    let (data, provenance) = counter_data(recording).ok_or_else(nothing)?;
    CounterModel::train(&data, method, provenance, seed)
        .map_err(|error| Error::request(format!("`{}`: {error}", path.display()), None))
}

/// Gives `add` the model in `file`, or models fitted to the recording in it. For a recording, also
/// returns the result of using its times alone.
fn read(file: &Path, recording: &Recording, add: &mut dyn FnMut(CounterModel)) -> Result<Option<TimeTransfer>, Error> {
    let model = tunesmith_files::read_text(file, tunesmith_files::DATA).ok().map(|text| CounterModel::from_json(&text));
    if let Some(Ok(model)) = model {
        add(model);
        return Ok(None);
    }
    match (tunesmith_store::import(file), model) {
        (Ok(other), _) => {
            halves(&other, file, add)?;
            Ok(TimeTransfer::new(&other, recording))
        }
        // A JSON document that is not a recording was meant as a model: the model's error says
        // more.
        (Err(_), Some(Err(error))) if file.extension().is_some_and(|extension| extension == "json") => {
            let remedy = "name a counter model, a recording with counters, or `exact` or `trees`";
            Err(Error::request(format!("`{}`: {error}", file.display()), Some(remedy.to_string())))
        }
        (Err(error), _) => Err(error.into()),
    }
}
