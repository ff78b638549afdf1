//! Timing models as JSON that people can read.

use super::columns::{Feature, Frame, Source};
use super::held_out::HeldOut;
use super::model::{KnownDevice, TimingModel};
use super::reference_time::ReferenceTime;
use super::unseen::Unseen;
use crate::rates::parameter_value;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use tunesmith_model::{BoostedTrees, Column, Kind, ModelError, Regressor as _, Shortlist, saved};
use tunesmith_space::{Constraint, Expr, Parameter, Value};
use tunesmith_store::Journal;

/// What `kind` is in every file.
pub(crate) const KIND: &str = "timing";
/// The version written, and the latest that is read.
const VERSION: u64 = 1;

/// Everything but the trees.
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
    /// Files written before devices were left out in training have neither this nor `best_single`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unseen_device: Option<Unseen>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    best_single: Option<Map<String, Json>>,
}

#[derive(Serialize, Deserialize)]
struct ColumnEntry {
    of: Source,
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
    /// The model as JSON: a line for each node of the trees.
    pub fn to_json(&self) -> String {
        // Keys are texts and numbers finite, so that nothing can fail.
        let head = serde_json::to_string_pretty(&self.head()).unwrap_or_default();
        let head = head.strip_suffix("\n}").unwrap_or(&head);
        let (mean, low, high) = (self.mean.to_json(), self.low.to_json(), self.high.to_json());
        format!(
            "{head},\n  \"mean\": {},\n  \"low\": {},\n  \"high\": {}\n}}\n",
            mean.trim_end(),
            low.trim_end(),
            high.trim_end()
        )
    }

    /// The model that [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    /// The text is damaged, of something else, or of a later version.
    pub fn from_json(text: &str) -> Result<Self, ModelError> {
        let json = saved(text, KIND, VERSION)?;
        let head: Head = Head::deserialize(&json).map_err(|error| damaged(error.to_string()))?;
        let trees: Trees = serde_json::from_value(json).map_err(|error| damaged(error.to_string()))?;
        assemble(head, trees).map_err(damaged)
    }

    fn head(&self) -> Head {
        let frame = &self.frame;
        let texts = |pairs: &[(String, String)]| -> Map<String, Json> {
            pairs.iter().map(|(name, text)| (name.clone(), Json::from(text.as_str()))).collect()
        };
        let values = |parameter: &Parameter| parameter.values().iter().map(Journal::value).collect::<Json>();
        let configuration = |values: &[Value]| -> Map<String, Json> {
            let pairs = frame.parameters.iter().zip(values);
            pairs.map(|(own, value)| (own.name().to_string(), Journal::value(value))).collect()
        };
        let column = |feature: &Feature| ColumnEntry {
            of: feature.source,
            name: feature.name.clone(),
            levels: match &feature.column.kind {
                Kind::Ordinal => None,
                Kind::Categorical(levels) => Some(levels.clone()),
            },
        };
        Head {
            kind: KIND.to_string(),
            version: VERSION,
            problem: self.problem.clone(),
            parameters: frame.parameters.iter().map(|own| (own.name().to_string(), values(own))).collect(),
            constraints: texts(&self.constraints),
            reference: configuration(&self.reference),
            candidates: self.candidates.iter().map(|values| configuration(values)).collect(),
            sizes: frame.sizes.iter().map(|(name, value)| (name.clone(), Journal::value(value))).collect(),
            features: frame.derived.iter().map(|(name, expr)| (name.clone(), Json::from(expr.text()))).collect(),
            devices: self.devices.clone(),
            columns: frame.features.iter().map(column).collect(),
            ranges: self.ranges.clone(),
            zeta: self.zeta,
            reference_time: self.reference_time.clone(),
            held_out: self.held_out.clone(),
            unseen_device: self.unseen.clone(),
            best_single: self.best_single.as_deref().map(configuration),
        }
    }
}

fn damaged(what: impl Into<String>) -> ModelError {
    ModelError::Damaged { what: what.into() }
}

/// The model of the parts of a file, or what does not belong together.
fn assemble(head: Head, trees: Trees) -> Result<TimingModel, String> {
    let parameter = |(name, json): (&String, &Json)| {
        let values: Option<Vec<Value>> = json.as_array().and_then(|list| list.iter().map(parameter_value).collect());
        let values = values.ok_or_else(|| format!("`{name}` has no list of values"))?;
        Parameter::new(name.clone(), values).map_err(|error| error.to_string())
    };
    let parameters: Vec<Parameter> = head.parameters.iter().map(parameter).collect::<Result<_, _>>()?;
    let reference = values(&parameters, &head.reference, "the reference")?;
    let candidate = |config: &Map<String, Json>| values(&parameters, config, "a candidate");
    let candidates: Vec<Vec<Value>> = head.candidates.iter().map(candidate).collect::<Result<_, _>>()?;
    if candidates.len() > Shortlist::MOST_ROWS {
        return Err(format!(
            "it has {} candidates, and at most {} are supported",
            candidates.len(),
            Shortlist::MOST_ROWS
        ));
    }
    let best_single = head.best_single.map(|config| values(&parameters, &config, "`best_single`")).transpose()?;
    let size = |(name, json): (&String, &Json)| {
        Ok((name.clone(), parameter_value(json).ok_or_else(|| format!("the size `{name}` has no value"))?))
    };
    let features: Vec<Feature> = head.columns.into_iter().map(feature).collect();
    let columns: Vec<Column> = features.iter().map(|feature| feature.column.clone()).collect();
    if [&trees.mean, &trees.low, &trees.high].iter().any(|trees| trees.columns() != columns) {
        return Err("its trees have other columns than it says".to_string());
    }
    if head.reference_time.as_ref().is_some_and(|time| !time.fits(columns.len())) {
        return Err("`reference_time` has a power of a column that is not there".to_string());
    }
    Ok(TimingModel {
        problem: head.problem,
        frame: Frame {
            parameters,
            sizes: head.sizes.iter().map(size).collect::<Result<_, String>>()?,
            derived: expressions(&head.features, Expr::parse)?,
            features,
        },
        constraints: {
            expressions(&head.constraints, Constraint::parse)?;
            expressions(&head.constraints, |text| Ok::<_, String>(text.to_string()))?
        },
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
        unseen: head.unseen_device,
    })
}

/// The values of a configuration, called `what`, for all `parameters`.
fn values(parameters: &[Parameter], config: &Map<String, Json>, what: &str) -> Result<Vec<Value>, String> {
    let value = |parameter: &Parameter| {
        let value = config.get(parameter.name()).and_then(parameter_value);
        let known = value.filter(|value| parameter.index_of(value).is_some());
        known.ok_or_else(|| format!("{what} has no value of `{}`", parameter.name()))
    };
    parameters.iter().map(value).collect()
}

fn feature(ColumnEntry { of, name, levels }: ColumnEntry) -> Feature {
    Feature::new(of, &name, levels)
}

/// The texts of a map, each parsed.
fn expressions<T, E: std::fmt::Display>(
    map: &Map<String, Json>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Vec<(String, T)>, String> {
    let entry = |(name, json): (&String, &Json)| {
        let text = json.as_str().ok_or_else(|| format!("`{name}` is no text"))?;
        Ok((name.clone(), parse(text).map_err(|error| format!("`{name}`: {error}"))?))
    };
    map.iter().map(entry).collect()
}
