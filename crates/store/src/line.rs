//! The lines of evaluations.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tunesmith_core::{
    CompileData, CompileLimit, Cut, Depth, Evaluation, Failure, FailureKind, MadeBy, Measurement, Request,
};
use tunesmith_space::{ConfigId, Configuration, Space, Value};

/// One evaluation as a journal keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The rank of the configuration in the space of the header's digest, in decimal.
    pub index: String,
    /// The configuration: parameters and values in the user's order.
    pub config: Map<String, Json>,
    /// `correct`, or the word of a failure.
    pub status: String,
    /// `timed` or `profiled`.
    pub depth: String,
    /// All samples in milliseconds.
    #[serde(default)]
    pub times_ms: Vec<f64>,
    /// The untimed first launch in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup_ms: Option<f64>,
    /// The samples of each kernel of a composite problem in milliseconds, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts_ms: BTreeMap<String, Vec<f64>>,
    /// Other numbers of every sample, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Vec<f64>>,
    /// Counters by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, f64>,
    /// The compiler's messages and costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compile: Option<CompileLine>,
    /// The limit that ended a configuration whose status is `timeout`, if it followed from the best
    /// time. A later line may hold the same configuration, measured to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutLine>,
    /// The limit that ended the compilation of a configuration whose status is `timeout`, if it followed from the usual
    /// compile time. A later line may hold the same configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aside: Option<CompileLimitLine>,
    /// The reason why the configuration failed, or a remark on how it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The turn of the search at which a program of the user proposed the configuration. Journals
    /// without proposals do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<u64>,
    /// The worker of a fleet that measured it. Journals of one device do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Seconds from the request to the worker's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took: Option<f64>,
    /// The changes of the number of requests in flight since the evaluation before. Only fleets have
    /// them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rooms: Vec<usize>,
    /// Seconds since the start of the run.
    pub clock: f64,
    /// The line of the file it was read from, counted from 1. It is not written.
    #[serde(skip)]
    pub line: usize,
}

/// A [`CompileData`] on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompileLine {
    /// Wall time in milliseconds.
    pub time_ms: f64,
    /// Size of the binary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary_bytes: Option<u64>,
    /// The resources of the device that the kernels use.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, f64>,
    /// True if the samples are those of an earlier configuration with the same machine code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_binary: bool,
    /// The digest of the machine code, its launches and its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// A [`Cut`] on disk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CutLine {
    /// The limit in milliseconds.
    pub limit_ms: f64,
    /// The best time in milliseconds.
    pub best_ms: f64,
}

/// A [`CompileLimit`] on disk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompileLimitLine {
    /// The limit in milliseconds.
    pub limit_ms: f64,
    /// The usual compile time in milliseconds.
    pub usual_ms: f64,
}

/// The kind of a limit that followed from other configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// A limit of a launch, from the best time.
    Cut,
    /// A limit of a compilation, from the usual compile time.
    Aside,
}

impl From<CompileLimit> for CompileLimitLine {
    fn from(limit: CompileLimit) -> Self {
        let CompileLimit { limit_ms, usual_ms } = limit;
        Self { limit_ms, usual_ms }
    }
}

impl From<CompileLimitLine> for CompileLimit {
    fn from(line: CompileLimitLine) -> Self {
        let CompileLimitLine { limit_ms, usual_ms } = line;
        Self { limit_ms, usual_ms }
    }
}

impl From<Cut> for CutLine {
    fn from(cut: Cut) -> Self {
        let Cut { limit_ms, best_ms } = cut;
        Self { limit_ms, best_ms }
    }
}

impl From<CutLine> for Cut {
    fn from(line: CutLine) -> Self {
        let CutLine { limit_ms, best_ms } = line;
        Self { limit_ms, best_ms }
    }
}

impl From<&CompileData> for CompileLine {
    fn from(data: &CompileData) -> Self {
        let CompileData { time_ms, binary_bytes, resources, same_binary, code } = data.clone();
        Self { time_ms, binary_bytes, resources, same_binary, code }
    }
}

impl From<CompileLine> for CompileData {
    fn from(line: CompileLine) -> Self {
        let CompileLine { time_ms, binary_bytes, resources, same_binary, code } = line;
        Self { time_ms, binary_bytes, resources, same_binary, code }
    }
}

impl Entry {
    /// Creates the entry of `evaluation`, whose configuration is one of `space`.
    pub fn new(space: &Space, evaluation: &Evaluation) -> Self {
        let measurement = &evaluation.measurement;
        Self {
            index: evaluation.request.config.to_string(),
            config: config_json(space, &space.unrank(evaluation.request.config)),
            status: evaluation.status_word().to_string(),
            depth: evaluation.request.depth.word().to_string(),
            times_ms: measurement.times_ms.clone(),
            warmup_ms: measurement.warmup_ms,
            parts_ms: measurement.parts_ms.clone(),
            values: measurement.values.clone(),
            counters: measurement.counters.clone(),
            compile: measurement.compile.as_ref().map(CompileLine::from),
            cut: evaluation.cut().map(CutLine::from),
            aside: evaluation.aside().map(CompileLimitLine::from),
            message: match &evaluation.failure {
                Some(failure) => Some(failure.message.clone()),
                None => measurement.note.clone(),
            },
            proposed: evaluation.proposed,
            worker: measurement.by.as_ref().map(|by| by.name.clone()),
            took: measurement.by.as_ref().map(|by| by.took.as_secs_f64()),
            rooms: measurement.rooms.clone(),
            clock: evaluation.clock.as_secs_f64(),
            line: 0,
        }
    }

    /// Returns the evaluation that this entry keeps. Finds its configuration in `space` by its
    /// values.
    ///
    /// Fails with the reason if the space has no such configuration, if it has another index, or if
    /// a word is unknown.
    pub fn evaluation(&self, space: &Space) -> Result<Evaluation, String> {
        let config = configuration(space, &self.config, &self.index)?;
        let request = Request { config, depth: self.depth()? };
        Ok(Evaluation {
            request,
            failure: self.failure()?,
            measurement: self.measurement(),
            clock: self.clock()?,
            proposed: self.proposed,
        })
    }

    fn depth(&self) -> Result<Depth, String> {
        Depth::from_word(&self.depth).ok_or_else(|| format!("`{}` is no depth", self.depth))
    }

    fn clock(&self) -> Result<Duration, String> {
        Duration::try_from_secs_f64(self.clock).map_err(|error| format!("clock: {error}"))
    }

    /// Returns the measurement.
    pub fn measurement(&self) -> Measurement {
        Measurement {
            times_ms: self.times_ms.clone(),
            warmup_ms: self.warmup_ms,
            parts_ms: self.parts_ms.clone(),
            values: self.values.clone(),
            counters: self.counters.clone(),
            compile: self.compile.clone().map(CompileData::from),
            note: self.message.clone().filter(|_| self.status == "correct"),
            by: made_by(self.worker.clone(), self.took),
            rooms: self.rooms.clone(),
        }
    }

    /// Returns the limit from the best time that ended the configuration, if one did.
    pub fn cut(&self) -> Option<Cut> {
        self.cut.map(Cut::from).filter(|_| self.status != "correct")
    }

    /// Returns the kind of the limit that followed from others and ended the configuration, if one did.
    pub fn limit(&self) -> Option<LimitKind> {
        let is_failed = self.status != "correct";
        let aside = self.aside.map(|_| LimitKind::Aside);
        self.cut.map(|_| LimitKind::Cut).or(aside).filter(|_| is_failed)
    }

    /// Returns the reason why the configuration failed, or `None` if it is correct.
    pub fn failure(&self) -> Result<Option<Failure>, String> {
        if self.status == "correct" {
            return Ok(None);
        }
        let kind = FailureKind::from_word(&self.status).ok_or_else(|| format!("`{}` is no status", self.status))?;
        let aside = self.aside.map(CompileLimit::from);
        Ok(Some(Failure { cut: self.cut(), aside, ..Failure::new(kind, self.message.clone().unwrap_or_default()) }))
    }
}

/// Returns the device that fields of a line name.
pub(crate) fn made_by(worker: Option<String>, took: Option<f64>) -> Option<Box<MadeBy>> {
    let took = Duration::try_from_secs_f64(took.unwrap_or_default()).unwrap_or_default();
    Some(Box::new(MadeBy { name: worker?, took }))
}

/// Returns the configuration of `space` with these values, whose rank is `index`.
///
/// Fails with the reason if the space has no such configuration, or if it has another index.
pub(crate) fn configuration(space: &Space, config: &Map<String, Json>, index: &str) -> Result<ConfigId, String> {
    let pairs: Vec<(&str, Value)> =
        config.iter().filter_map(|(name, json)| Some((name.as_str(), Value::of_document(json)?))).collect();
    if pairs.len() != space.parameters().len() {
        return Err("the configuration does not name every parameter of the space once".to_string());
    }
    let configuration = space.configuration(&pairs, None).map_err(|error| error.to_string())?;
    let config = space.rank(&configuration).ok_or("the constraints exclude the configuration")?;
    let own = config.rank();
    if own.to_string() != index {
        return Err(format!("its index is {index}, but its configuration is number {own} of the space; correct one"));
    }
    Ok(config)
}

/// Returns a configuration as JSON: parameters and values in the user's order.
pub(crate) fn config_json(space: &Space, configuration: &Configuration) -> Map<String, Json> {
    space.values(configuration).map(|(name, value)| (name.to_string(), json!(value))).collect()
}

/// Writes a configuration as `NAME=VALUE,...`, the form that `--config` and `--start` take.
pub fn arguments(config: &Map<String, Json>) -> String {
    let pair = |(name, value): (&String, &Json)| match value {
        Json::String(text) => format!("{name}={text}"),
        other => format!("{name}={other}"),
    };
    config.iter().map(pair).collect::<Vec<_>>().join(",")
}
