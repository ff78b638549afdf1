//! The JSON file beside a CSV: parameters, constraints, device.

use super::document;
use super::error::Flaw;
use super::number::column;
use super::stated::{self, Statement};
use serde::Deserialize as _;
use serde_json::{Map, Value as Json};
use std::collections::HashSet;
use tunesmith_core::counters::Hardware;
use tunesmith_core::recording::Column;
use tunesmith_core::{DeviceClass, Launch};
use tunesmith_space::{Expr, Value, of_one_kind};

/// The content of the sidecar of a CSV; empty if there is none.
#[derive(Debug, Default)]
pub(super) struct Sidecar {
    /// The parameters, if they are listed.
    pub(super) columns: Vec<Column>,
    pub(super) constraints: Vec<String>,
    pub(super) counters: HashSet<String>,
    pub(super) kernel: Option<String>,
    pub(super) device: Option<String>,
    pub(super) hardware: Hardware,
    pub(super) device_class: Option<DeviceClass>,
    pub(super) launch: Option<Launch>,
    /// The objective.
    pub(super) stated: Statement,
    /// Its further statements about the subject of the measurements.
    pub(super) subject: Vec<(String, Json)>,
}

impl Sidecar {
    /// Parses the text of a sidecar. Two forms are known: `params` lists values, `parameters`
    /// counts the rows of each.
    pub(super) fn parse(text: &str) -> Result<Self, Flaw> {
        let json = document::parse(text).map_err(|error| document::flaw(&error).in_sidecar())?;
        let object = || Flaw::new("its sidecar", "no JSON object", "remove it, or write the parameters as `params`");
        let json: &Map<String, Json> = json.as_object().ok_or_else(object)?;
        let object = |key: &str| json.get(key).and_then(Json::as_object);
        let texts = |key: &str| -> Vec<String> {
            let list = json.get(key).and_then(Json::as_array).into_iter().flatten();
            list.filter_map(|json| json.as_str().map(str::to_string)).collect()
        };
        let listed = |(name, json): (&String, &Json)| {
            let values: Option<Vec<Value>> =
                json.as_array().and_then(|list| list.iter().map(Value::of_document).collect());
            let values = values.map(of_one_kind);
            Column { name: name.clone(), values }
        };
        let counted = |(name, json): (&String, &Json)| {
            let texts = json.as_object().map(|counts| counts.keys().map(String::as_str).collect::<Vec<_>>());
            Column { name: name.clone(), values: texts.map(|texts| column(&texts)) }
        };
        let columns = match (object("params"), object("parameters")) {
            (Some(params), _) => params.iter().map(listed).collect(),
            (None, Some(parameters)) => parameters.iter().map(counted).collect(),
            (None, None) => Vec::new(),
        };
        let text = |key: &str| json.get(key).and_then(Json::as_str).map(str::to_string);
        let in_metadata = || Some(object("metadata")?.get("Device")?.as_str()?.to_string());
        let size = |key: &str| object("hardware").or_else(|| object("device"))?.get(key)?.as_f64();
        let hardware = Hardware { compute_capability: size("cc"), multiprocessors: size("sm"), cores: size("cores") };
        Ok(Self {
            columns,
            constraints: texts("constraints"),
            counters: texts("counters").into_iter().collect(),
            kernel: text("kernel"),
            device: text("device").or_else(in_metadata),
            hardware,
            device_class: json.get("device_class").map_or(Ok(None), device_class)?,
            launch: object("launch").map(launch).transpose()?,
            stated: Statement {
                name: text("objective"),
                direction: json.get("objective_direction").and_then(stated::direction),
                unit: text("objective_unit"),
                front: json.get("front").and_then(stated::front),
            },
            subject: subject(json),
        })
    }
}

/// Returns what tells recordings of one kernel and device apart: `problem_size` and `precision`, and
/// all of `subject`.
fn subject(json: &Map<String, Json>) -> Vec<(String, Json)> {
    let known = [("problem_size", "problem size"), ("precision", "precision")];
    let own = known.into_iter().filter_map(|(key, name)| Some((name.to_string(), json.get(key)?.clone())));
    let listed = json.get("subject").and_then(Json::as_object).into_iter().flatten();
    own.chain(listed.map(|(name, json)| (name.clone(), json.clone()))).collect()
}

/// Returns the class of the device: `processor`, `gpu` or, unknown, `null`.
fn device_class(json: &Json) -> Result<Option<DeviceClass>, Flaw> {
    let remedy = "state `processor` or `gpu` as `device_class`, or remove it";
    Option::<DeviceClass>::deserialize(json)
        .map_err(|_| Flaw::new("its sidecar", format!("device_class: {json} is no class of a device"), remedy))
}

/// Returns the launch: the expressions in `local` and `groups`. Other keys say what strategies do
/// not use.
fn launch(json: &Map<String, Json>) -> Result<Launch, Flaw> {
    let remedy = "state `local` and `groups` as lists of expressions over the parameters, or remove `launch`";
    let flaw = |reason: String| Flaw::new("its sidecar", format!("launch: {reason}"), remedy);
    let factors = |key: &str| -> Result<Vec<Expr>, Flaw> {
        let list = json.get(key).and_then(Json::as_array).ok_or_else(|| flaw(format!("no list `{key}`")))?;
        let factor = |json: &Json| {
            let text = json.as_str().ok_or_else(|| flaw(format!("`{json}` in `{key}` is not a text")))?;
            Expr::parse(text).map_err(|error| flaw(format!("`{text}` in `{key}`: {error}")))
        };
        list.iter().map(factor).collect()
    };
    Ok(Launch { local: factors("local")?, groups: factors("groups")?, ..Launch::default() })
}
