//! Recordings, prepared for searches.

use super::CompareOptions;
use super::baseline::Baseline;
use super::cost::Costs;
use super::guides::{self, Guidance};
use super::in_seconds;
use crate::past::{LeftOut, Past};
use crate::{Error, read_recording};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use tunesmith_core::recording::Recorded;
use tunesmith_core::{
    Aim, DeviceClass, Launch, Objective, ObjectiveFunction, Recording, RecordingError, Refusal, Source,
};
use tunesmith_device::{ReplayEvaluator, compiling_room};
use tunesmith_problem::{Limits, Metric, SearchObjective};
use tunesmith_search::{PastTimes, StrategySpec};
use tunesmith_space::{ConfigId, Space};

/// A recording prepared for searches.
pub(super) struct Subject {
    pub(super) name: String,
    pub(super) space: Space,
    pub(super) device: ReplayEvaluator,
    /// The function that scores configurations.
    pub(super) objective: SearchObjective,
    /// The costs of the correct configurations of the space, ascending.
    pub(super) costs: Vec<f64>,
    /// The costs by configuration.
    cost_of: HashMap<ConfigId, f64>,
    pub(super) baseline: Baseline,
    /// The median duration of an evaluation in seconds, if searches are judged by seconds.
    pub(super) median_seconds: Option<f64>,
    pub(super) device_class: Option<DeviceClass>,
    /// The work-items of its launches, if the recording states them.
    pub(super) launch: Option<Launch>,
    /// The times of other recordings for its configurations.
    pub(super) past: Option<PastTimes>,
    /// The recordings of its history.
    pub(super) history: Vec<PathBuf>,
    /// The recordings that do not fit.
    pub(super) left_out: Vec<LeftOut>,
    /// The counter models for its space.
    pub(super) guidance: Guidance,
    /// The assumptions about the recording.
    pub(super) assumptions: Vec<String>,
}

impl Subject {
    pub(super) fn load(path: &Path, options: &CompareOptions, past: &Past) -> Result<Self, Error> {
        let mut recording = read_recording(path)?;
        if options.without_failures {
            recording.leave_out_failures();
        }
        let mut subject = Self::new(&recording, path, options)?;
        if let Some(choice) = &options.model {
            subject.guidance = guides::guidance(choice, &recording, &subject.space, path)?;
        }
        let fitting = past.fitting(&subject.space, &subject.objective, Some((path, &recording)));
        Ok(Self { past: fitting.times, history: fitting.files, left_out: fitting.left_out, ..subject })
    }

    pub(super) fn new(recording: &Recording, path: &Path, options: &CompareOptions) -> Result<Self, Error> {
        let refuse = |text: String, remedy: &str| Error::request(text, Some(remedy.to_string()));
        let too_large = |error| refuse(format!("`{}`: {error}", path.display()), "leave that recording out");
        let space = recording.space().map_err(too_large)?;
        let recorded = recording.recorded(&space);
        let objective = function(recording, path, options, &space)?;
        let mut scores: Vec<(ConfigId, f64)> = recorded.iter().filter_map(|one| score(&objective, one)).collect();
        scores.sort_by(|(_, one), (_, another)| one.total_cmp(another));
        if scores.is_empty() {
            return Err(nothing(path, &objective, &recorded));
        }
        let ascending: Vec<f64> = scores.iter().map(|(_, score)| *score).collect();
        let scale = Costs::of(&ascending);
        let costs: Vec<f64> = ascending.iter().map(|score| scale.cost(*score)).collect();
        let median_seconds = options.cores.map(|_| in_seconds::median_seconds(&recorded, path)).transpose()?;
        let device = ReplayEvaluator::new(recorded);
        let size = space.len().unwrap_or(u128::MAX) as f64;
        let baseline = Baseline::new(&recording.name, &costs, size, device.mean_cost_ms() / 1e3);
        let launch = recording.launch();
        let of_objective = recording.assumptions.iter().filter(|_| options.objective.is_none()).cloned();
        let of_launch = launch.iter().filter(|launch| launch.is_by_names).map(ToString::to_string);
        let assumptions = of_objective.chain(of_launch).collect();
        Ok(Self {
            name: recording.name.clone(),
            baseline: baseline.in_units(&objective.objective(), &ascending),
            cost_of: scores.into_iter().map(|(config, score)| (config, scale.cost(score))).collect(),
            space,
            device,
            objective,
            costs,
            median_seconds,
            device_class: recording.device_class(),
            launch,
            guidance: Guidance::default(),
            assumptions,
            past: None,
            history: Vec::new(),
            left_out: Vec::new(),
        })
    }

    /// Returns the number of requests in flight of a search by `strategy`. By default, a search that is judged by
    /// seconds has as many as a tuning run on such a machine.
    pub(super) fn room(&self, strategy: &StrategySpec, options: &CompareOptions) -> usize {
        match options.cores {
            Some(cores) if options.in_flight == 0 => {
                let class = self.device_class.unwrap_or(DeviceClass::Processor);
                // Kernels on a GPU have work-items, and so have those for which names tell a launch.
                let has_work_items = class == DeviceClass::Gpu || self.launch.is_some();
                compiling_room(class, has_work_items, cores, strategy.strategy().in_flight())
            }
            _ => options.in_flight.max(1),
        }
    }

    /// Returns the cost of a correct configuration.
    pub(super) fn cost(&self, config: ConfigId) -> Option<f64> {
        self.cost_of.get(&config).copied()
    }
}

/// Returns the score of a recorded configuration, or `None` if it failed or breaks a limit.
fn score(objective: &SearchObjective, recorded: &Recorded) -> Option<(ConfigId, f64)> {
    let evaluation = &recorded.evaluation;
    let config = evaluation.request.config;
    let score = objective.score(evaluation).filter(|score| score.is_finite())?;
    objective.broken(config, &evaluation.measurement).is_none().then_some((config, score))
}

/// Returns the function that scores the configurations of a recording: by the number that the user names, or else
/// by the recording's own objective.
fn function(
    recording: &Recording,
    path: &Path,
    options: &CompareOptions,
    space: &Space,
) -> Result<SearchObjective, Error> {
    let refused = |refusal: Refusal| Error::request(refusal.text, refusal.remedy);
    let objective = named(recording, options)
        .map_err(|error| Error::request(format!("`{}`: {error}", path.display()), Some(error.remedy())))?;
    let metric = Metric::over_recording(objective, &options.metrics).map_err(refused)?;
    let limits = Limits::over_recording(&options.limits, &options.metrics).map_err(refused)?;
    Ok(SearchObjective::new(metric, limits, space))
}

/// Returns the objective: the user's, or else that of the recording.
fn named(recording: &Recording, options: &CompareOptions) -> Result<Objective, RecordingError> {
    match options.objective.as_ref().map(|target| (target, target.parts())) {
        None => recording.objective().cloned(),
        Some((_, [aim])) => chosen(recording, aim, &options.metrics),
        Some((several, _)) => Err(RecordingError::Front { objectives: several.to_string() }),
    }
}

/// Returns the objective that the user names: one of the `metrics`, or a number of the recording.
fn chosen(recording: &Recording, aim: &Aim, metrics: &[(String, String)]) -> Result<Objective, RecordingError> {
    if metrics.iter().any(|(name, _)| *name == aim.name) {
        return Ok(Objective::new(&aim.name, aim.direction, None, Source::Metric));
    }
    let mut recording = recording.clone();
    recording.rank_by(aim)?;
    recording.objective().cloned()
}

/// Returns the error for a recording without a correct configuration that has a score.
fn nothing(path: &Path, objective: &SearchObjective, recorded: &[Recorded]) -> Error {
    let correct = recorded.iter().map(|one| &one.evaluation).filter(|evaluation| evaluation.is_correct());
    let reason = |evaluation: &tunesmith_core::Evaluation| {
        let (config, measurement) = (evaluation.request.config, &evaluation.measurement);
        let lacks = objective.samples(config, measurement).err();
        lacks.or_else(|| objective.broken(config, measurement).map(|failure| failure.message))
    };
    let reason = correct.into_iter().find_map(reason).map(|reason| format!(": {}", reason.replace('\n', "; ")));
    let text = format!(
        "`{}` has no correct configuration with a number for `{}`{}",
        path.display(),
        objective.objective(),
        reason.unwrap_or_default()
    );
    Error::request(text, Some("leave that recording out".to_string()))
}
