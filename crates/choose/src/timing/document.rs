//! Reads and writes timing models as JSON that people can read.

use super::columns::{Feature, Frame, Origin};
use super::device::KnownDevice;
use super::judged::{HeldOut, Unseen};
use super::model::{TimingModel, TimingParts};
use super::reference_time::ReferenceTime;
use crate::Judgement;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use tunesmith_model::{BoostedTrees, Kind, ModelError, saved};
use tunesmith_space::{Constraint, Expr, Parameter, Value};

/// The `kind` of every file of a timing model.
pub const KIND: &str = "timing";
/// The version written, and the latest that is read.
const VERSION: u64 = 1;

/// A file without its trees.
#[derive(Serialize, Deserialize)]
struct Head {
    kind: String,
    version: u64,
    problem: String,
    parameters: Map<String, Json>,
    constraints: Map<String, Json>,
    reference: Map<String, Json>,
    #[serde(default)]
    candidates: Vec<Map<String, Json>>,
    sizes: Map<String, Json>,
    features: Map<String, Json>,
    devices: Vec<KnownDevice>,
    columns: Vec<ColumnEntry>,
    ranges: BTreeMap<String, (f64, f64)>,
    zeta: f64,
    reference_time: Option<ReferenceTime>,
    held_out: HeldOut,
    /// Absent, as is `best_single`, in files written before training left out devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unseen_device: Option<Unseen>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    best_single: Option<Map<String, Json>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    robust: Vec<Map<String, Json>>,
    /// `null` if nobody judged the choices at fresh sizes. Absent in files of earlier versions.
    #[serde(default)]
    judgement: Option<Judgement>,
}

#[derive(Serialize, Deserialize)]
struct ColumnEntry {
    of: Origin,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    levels: Option<Vec<String>>,
}

/// The trees of a file.
#[derive(Deserialize)]
struct Trees {
    mean: BoostedTrees,
    low: BoostedTrees,
    high: BoostedTrees,
}

impl TimingModel {
    /// Returns the model as JSON, with a line for each node of the trees.
    pub fn to_json(&self) -> String {
        // Cannot fail: keys are texts and numbers are finite.
        let head = serde_json::to_string_pretty(&self.head()).unwrap_or_default();
        let head = head.strip_suffix("\n}").unwrap_or(&head);
        let TimingParts { mean, low, high, .. } = self.parts();
        let (mean, low, high) = (mean.to_json(), low.to_json(), high.to_json());
        format!(
            "{head},\n  \"mean\": {},\n  \"low\": {},\n  \"high\": {}\n}}\n",
            mean.trim_end(),
            low.trim_end(),
            high.trim_end()
        )
    }

    /// Reads a model that [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    /// The text is damaged, is no timing model, or is of a later version.
    pub fn from_json(text: &str) -> Result<Self, ModelError> {
        let json = saved(text, KIND, VERSION)?;
        let head: Head = Head::deserialize(&json).map_err(|error| damaged(error.to_string()))?;
        let trees: Trees = serde_json::from_value(json).map_err(|error| damaged(error.to_string()))?;
        Self::new(parts(head, trees).map_err(damaged)?)
    }

    fn head(&self) -> Head {
        let parts = self.parts().clone();
        let frame = &parts.frame;
        let texts = |pairs: &[(String, String)]| -> Map<String, Json> {
            pairs.iter().map(|(name, text)| (name.clone(), Json::from(text.as_str()))).collect()
        };
        let values = |parameter: &Parameter| json!(parameter.values());
        let configuration = |values: &[Value]| -> Map<String, Json> {
            let pairs = frame.parameters.iter().zip(values);
            pairs.map(|(own, value)| (own.name().to_string(), json!(value))).collect()
        };
        Head {
            kind: KIND.to_string(),
            version: VERSION,
            problem: parts.problem,
            parameters: frame.parameters.iter().map(|own| (own.name().to_string(), values(own))).collect(),
            constraints: texts(&parts.constraints),
            reference: configuration(&parts.reference),
            candidates: parts.candidates.iter().map(|values| configuration(values)).collect(),
            sizes: frame.sizes.iter().map(|(name, value)| (name.clone(), json!(value))).collect(),
            features: frame.derived.iter().map(|(name, expr)| (name.clone(), Json::from(expr.text()))).collect(),
            devices: parts.devices,
            columns: frame.features.iter().map(ColumnEntry::new).collect(),
            ranges: parts.ranges,
            zeta: parts.zeta,
            reference_time: parts.reference_time,
            held_out: parts.held_out,
            unseen_device: parts.unseen,
            best_single: parts.best_single.as_deref().map(configuration),
            robust: parts.robust.iter().map(|values| configuration(values)).collect(),
            judgement: parts.judgement,
        }
    }
}

impl ColumnEntry {
    fn new(feature: &Feature) -> Self {
        let levels = match &feature.column.kind {
            Kind::Ordinal => None,
            Kind::Categorical(levels) => Some(levels.clone()),
        };
        Self { of: feature.origin, name: feature.name.clone(), levels }
    }
}

fn damaged(what: impl Into<String>) -> ModelError {
    ModelError::Damaged { what: what.into() }
}

/// Returns the parts of a model, or the fault of the file.
fn parts(head: Head, trees: Trees) -> Result<TimingParts, String> {
    let parameters: Vec<Parameter> = head.parameters.iter().map(parameter).collect::<Result<_, _>>()?;
    let reference = values(&parameters, &head.reference, "the reference")?;
    let candidate = |config: &Map<String, Json>| values(&parameters, config, "a candidate");
    let candidates: Vec<Vec<Value>> = head.candidates.iter().map(candidate).collect::<Result<_, _>>()?;
    let best_single = head.best_single.map(|config| values(&parameters, &config, "`best_single`")).transpose()?;
    let robust = |config: &Map<String, Json>| values(&parameters, config, "a configuration of `robust`");
    let robust: Vec<Vec<Value>> = head.robust.iter().map(robust).collect::<Result<_, _>>()?;
    let size = |(name, json): (&String, &Json)| {
        Ok((name.clone(), Value::of_document(json).ok_or_else(|| format!("the size `{name}` has no value"))?))
    };
    expressions(&head.constraints, Constraint::parse)?;
    Ok(TimingParts {
        problem: head.problem,
        frame: Frame {
            parameters,
            sizes: head.sizes.iter().map(size).collect::<Result<_, String>>()?,
            derived: expressions(&head.features, Expr::parse)?,
            features: head.columns.into_iter().map(feature).collect(),
        },
        constraints: expressions(&head.constraints, |text| Ok::<_, String>(text.to_string()))?,
        reference,
        candidates,
        devices: head.devices,
        ranges: head.ranges,
        zeta: head.zeta,
        mean: trees.mean,
        low: trees.low,
        high: trees.high,
        reference_time: head.reference_time,
        held_out: head.held_out,
        best_single,
        robust,
        unseen: head.unseen_device,
        judgement: head.judgement,
    })
}

fn parameter((name, json): (&String, &Json)) -> Result<Parameter, String> {
    let values: Option<Vec<Value>> = Vec::deserialize(json).ok();
    let values = values.ok_or_else(|| format!("`{name}` has no list of values"))?;
    Parameter::new(name.clone(), values).map_err(|error| error.to_string())
}

/// Returns the values of a configuration, called `what`, for all `parameters`.
fn values(parameters: &[Parameter], config: &Map<String, Json>, what: &str) -> Result<Vec<Value>, String> {
    let value = |parameter: &Parameter| {
        let value = config.get(parameter.name()).and_then(Value::of_document);
        let known = value.filter(|value| parameter.index_of(value).is_some());
        known.ok_or_else(|| format!("{what} has no value of `{}`", parameter.name()))
    };
    parameters.iter().map(value).collect()
}

fn feature(ColumnEntry { of, name, levels }: ColumnEntry) -> Feature {
    Feature::new(of, &name, levels)
}

/// Parses each text of a map.
fn expressions<T, E: std::fmt::Display>(
    map: &Map<String, Json>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Vec<(String, T)>, String> {
    let entry = |(name, json): (&String, &Json)| {
        let text = json.as_str().ok_or_else(|| format!("`{name}` is not a text"))?;
        Ok((name.clone(), parse(text).map_err(|error| format!("`{name}`: {error}"))?))
    };
    map.iter().map(entry).collect()
}
