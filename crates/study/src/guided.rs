//! Prepares the counter model of a tuning run.

use crate::{Error, ModelChoice, lacking, learnable, read_model, read_recording};
use std::path::Path;
use tunesmith_core::counters::Hardware;
use tunesmith_core::{Event, Observer, Recording};
use tunesmith_device::Device;
use tunesmith_model::counters::{CounterModel, Method};
use tunesmith_search::profile_guided::Guide;
use tunesmith_search::{StrategySpec, catalogue};
use tunesmith_space::Space;

/// The guide of a search, with notes for the user.
#[derive(Debug, Default)]
pub struct Guided {
    /// The guide, unless there is none.
    pub guide: Option<Guide>,
    /// The notes.
    pub notes: Vec<String>,
}

impl Guided {
    /// Creates what is without a guide, with the reason.
    pub fn without(note: impl Into<String>) -> Self {
        Self { guide: None, notes: vec![note.into()] }
    }
}

/// Makes the guide by `choice` for searching `space` on `device` with `strategy`. If a model cannot
/// be used here, a note says so, and the search goes on without it.
///
/// # Errors
/// The file is not a counter model, or `exact` and `trees` lack recorded counters.
pub fn guided(
    choice: Option<&ModelChoice>,
    space: &Space,
    device: &Device,
    strategy: &StrategySpec,
) -> Result<Guided, Error> {
    let Some(choice) = choice else { return Ok(without_choice(strategy)) };
    let recording = match device {
        Device::Replay(replay) => Some((replay.recording(read_recording)?, replay.file.as_path())),
        _ => None,
    };
    let counting = recording.filter(|(recording, _)| has_counters(recording));
    let model = chosen(choice, counting)?;
    let counted = counting.map(|(recording, _)| recording.hardware).or_else(|| device.counted_hardware());
    let Some(hardware) = counted else { return Ok(without_counters(device)) };
    if !strategy.strategy().takes_guide() {
        return Ok(without_use(strategy));
    }
    Ok(of_model(&model, &hardware, space))
}

/// Reads the model of a file, or trains one from the recording that is searched, if that has
/// counters.
fn chosen(choice: &ModelChoice, counting: Option<(&Recording, &Path)>) -> Result<CounterModel, Error> {
    let method = match choice {
        ModelChoice::File(file) => return read_model(file),
        ModelChoice::Exact => Method::Exact,
        ModelChoice::Trees => Method::Trees { share: 0.5 },
    };
    let (recording, file) = counting.ok_or_else(nothing_recorded)?;
    let (data, provenance) = learnable(recording, file)?;
    CounterModel::train(&data, method, provenance, 0).map_err(|error| Error::request(error.to_string(), None))
}

/// Notes that a strategy made for a model has none.
fn without_choice(strategy: &StrategySpec) -> Guided {
    let entry = strategy.strategy();
    match entry.without_guide() {
        Some(other) => {
            Guided::without(format!("{} searches as {other}, since it has no counter model (--model FILE)", entry.name))
        }
        None => Guided::default(),
    }
}

/// Notes that the device has no counters.
fn without_counters(device: &Device) -> Guided {
    let missing = match device {
        Device::Kernels(target) => target.missing_counters(),
        _ => None,
    };
    let why = missing.map(|missing| format!(" ({}; {})", missing.reason, missing.remedy)).unwrap_or_default();
    Guided::without(format!(
        "the device gives no counters{why}: the search goes on without the counter model, as gaussian_process"
    ))
}

/// Notes that the strategy does not use a model.
fn without_use(strategy: &StrategySpec) -> Guided {
    let users = catalogue().iter().filter(|entry| entry.takes_guide()).map(|entry| format!("`{}`", entry.name));
    let users = users.collect::<Vec<_>>().join(" and ");
    Guided::without(format!("strategy `{}` uses no counter model; {users} do", strategy.strategy().name))
}

/// Makes the guide by a model for searching `space`, or a note if there can be none.
pub fn of_model(model: &CounterModel, hardware: &Hardware, space: &Space) -> Guided {
    match Guide::new(model, hardware, space) {
        Ok(guide) => Guided { notes: guide.notes().to_vec(), guide: Some(guide) },
        Err(error) => Guided::without(format!("the search goes on without the counter model: {error}")),
    }
}

fn nothing_recorded() -> Error {
    let text = "--model exact and --model trees take the counters of a replayed recording, and this device has none";
    let remedy = "train a model from a recording with counters (`tunesmith train counters`) and name its file";
    Error::request(text, Some(remedy.to_string()))
}

/// Returns true if some configuration of the recording was profiled.
fn has_counters(recording: &Recording) -> bool {
    recording.rows().iter().any(|row| !row.measurement.counters.is_empty())
}

/// Passes events on. After the first profiled run, notes once which counters are missing.
pub struct CounterWatch<'a, 'b> {
    observers: &'a mut [&'b mut dyn Observer],
    /// True until the first profiled run.
    waits: bool,
    /// All notes so far.
    pub notes: Vec<String>,
}

impl<'a, 'b> CounterWatch<'a, 'b> {
    /// Creates a watch and passes on the notes of `guided` at once.
    pub fn new(observers: &'a mut [&'b mut dyn Observer], guided: &Guided) -> Self {
        let mut watch = Self { observers, waits: guided.guide.is_some(), notes: Vec::new() };
        guided.notes.iter().for_each(|note| watch.say(note.clone()));
        watch
    }

    fn say(&mut self, text: String) {
        self.observers.iter_mut().for_each(|observer| observer.notice(&Event::Noted { text: &text }));
        self.notes.push(text);
    }
}

impl Observer for CounterWatch<'_, '_> {
    fn notice(&mut self, event: &Event<'_>) {
        self.observers.iter_mut().for_each(|observer| observer.notice(event));
        match event {
            Event::Evaluated { scored, .. } if self.waits && !scored.evaluation.measurement.counters.is_empty() => {
                self.waits = false;
                lacking(&scored.evaluation.measurement).into_iter().for_each(|note| self.say(note));
            }
            Event::Noted { text } => self.notes.push((*text).to_string()),
            Event::Finished { .. } if self.waits => {
                self.waits = false;
                self.say("no run had counters: the search went by times alone".to_string());
            }
            _ => {}
        }
    }
}
