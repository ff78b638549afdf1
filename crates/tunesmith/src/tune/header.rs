//! The first line of a run's journal.

use super::ground::Ground;
use super::learned::Learned;
use super::settings::Settings;
use crate::{Problem, problem::Metric};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use tunesmith_store::{DATA, Header, Journal};
use tunesmith_study::ModelChoice;

/// The part of a header about the run's device.
pub(super) struct OfDevice {
    /// The properties, by name, that a resumed run must share.
    pub(super) identity: Map<String, Json>,
    /// The known properties as numbers.
    pub(super) features: BTreeMap<String, f64>,
}

/// Makes the header of a run that starts at `started`, in seconds since the Unix epoch.
pub(super) fn header(
    ground: &Ground<'_>,
    settings: &Settings,
    learned: &Learned<'_>,
    device: &OfDevice,
    started: f64,
) -> Header {
    let Ground { problem, space, .. } = ground;
    let blank = Journal::header(space);
    let metric = settings.metric();
    Header {
        identity: identity(blank.identity, problem, metric, device),
        objective: serde_json::to_value(metric).ok(),
        problem: problem.spec().name().to_string(),
        sizes: problem.spec().sizes().iter().map(|(name, value)| (name.clone(), Journal::value(value))).collect(),
        features: problem.input_features(),
        constraints: problem.named_constraints(),
        verified: ground.verified(),
        default: ground.default.as_ref().map(|configuration| Journal::config(space, configuration)),
        device_features: device.features.clone(),
        history: learned.history.named(),
        strategy: settings.strategy.to_string(),
        stop: Some(settings.stop.to_string()),
        device_class: learned.device_class,
        launch: learned.launch.as_ref().map(ToString::to_string),
        model: settings.model.as_ref().map(ModelChoice::text),
        seed: settings.seed,
        room: settings.room,
        started,
        ..blank
    }
}

/// Adds the properties that a resumed run must share to those of the space.
pub(super) fn identity(
    mut identity: Map<String, Json>,
    problem: &Problem,
    metric: &Metric,
    device: &OfDevice,
) -> Map<String, Json> {
    identity.insert("problem".to_string(), Json::from(problem.digest()));
    identity.insert(
        "measurement policy".to_string(),
        Json::from(problem.spec().policy().identity() + &align_text(problem)),
    );
    // Named only if it is not the default. Journals without it mean time.
    if *metric != Metric::default() {
        let objective = metric.objective();
        let text = metric.definition().map_or_else(|| objective.to_string(), |text| format!("{objective} = {text}"));
        identity.insert("objective".to_string(), Json::from(text));
    }
    identity.extend(problem.data_digest().map(|digest| (DATA.to_string(), Json::from(digest))));
    identity.extend(device.identity.clone());
    identity
}

/// Returns the alignment of the buffers of kernels in C and C++. On other devices, it is the driver's.
fn align_text(problem: &Problem) -> String {
    let is_placed = problem.spec().kernels().iter().any(|kernel| !kernel.language.has_work_items());
    let buffers = problem.spec().arguments().iter().filter(|argument| !argument.is_value());
    let mut aligns: Vec<String> = buffers.map(|argument| argument.align.to_string()).collect();
    if !is_placed || aligns.is_empty() {
        return String::new();
    }
    if aligns.iter().all(|align| *align == aligns[0]) {
        aligns.truncate(1);
    }
    format!(", buffers aligned to {}", aligns.join(", "))
}
