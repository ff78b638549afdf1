//! The lines of the conversation. Each is one JSON value.

use crate::refused::Fault;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use tunesmith_core::Evaluation;
use tunesmith_space::{ConfigId, Space, Value};
use tunesmith_store::{Header, Journal};

/// The version of the conversation.
const PROTOCOL: u32 = 1;

/// Maximum number of configurations of an answer. More would be old before their turn comes.
pub const MOST: usize = 4;

/// The facts of the first line.
#[derive(Clone, Copy, Debug)]
pub struct ProblemLine<'a> {
    /// The header of the run's journal: the problem, its parameters, constraints and sizes.
    pub header: &'a Header,
    /// The device, by name.
    pub device: &'a str,
    /// The objective, as users write it.
    pub objective: &'a str,
}

/// A line to the partner.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Line<'a> {
    Problem {
        protocol: u32,
        problem: &'a str,
        device: &'a str,
        parameters: &'a Map<String, Json>,
        constraints: &'a Map<String, Json>,
        sizes: &'a Map<String, Json>,
        default: &'a Option<Map<String, Json>>,
        objective: &'a str,
        space_size: &'a str,
        budget: Option<u64>,
    },
    Evaluation {
        config: Map<String, Json>,
        status: &'static str,
        time_ms: Option<f64>,
        score: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
        proposed: bool,
        best: bool,
    },
    Request {
        id: u64,
        most: usize,
    },
    Refused {
        request: u64,
        config: &'a Json,
        reason: &'a str,
    },
    End,
}

/// Returns the first line. `budget` is the number of evaluations after which the run certainly ends.
pub(crate) fn problem(facts: &ProblemLine<'_>, budget: Option<u64>) -> String {
    let ProblemLine { header, device, objective } = *facts;
    text(&Line::Problem {
        protocol: PROTOCOL,
        problem: &header.problem,
        device,
        parameters: &header.parameters,
        constraints: &header.constraints,
        sizes: &header.sizes,
        default: &header.default,
        objective,
        space_size: &header.space_size,
        budget,
    })
}

/// Returns the line of an evaluation. `proposed` is true if the partner proposed its configuration,
/// `best` if it is the best so far.
pub(crate) fn evaluation(
    space: &Space,
    evaluation: &Evaluation,
    score: Option<f64>,
    proposed: bool,
    best: bool,
) -> String {
    text(&Line::Evaluation {
        config: Journal::config(space, &space.unrank(evaluation.request.config)),
        status: evaluation.status_word(),
        time_ms: tunesmith_core::statistics::median(&evaluation.measurement.times_ms),
        score,
        message: evaluation.failure.as_ref().map(|failure| failure.headline()),
        proposed,
        best,
    })
}

/// Returns the line that asks for configurations.
pub(crate) fn request(id: u64) -> String {
    text(&Line::Request { id, most: MOST })
}

/// Returns the line that says why a configuration cannot be evaluated.
pub(crate) fn refused(request: u64, config: &Json, reason: &str) -> String {
    text(&Line::Refused { request, config, reason })
}

/// Returns the last line.
pub(crate) fn end() -> String {
    text(&Line::End)
}

fn text(line: &Line<'_>) -> String {
    // Maps with texts as keys always have a JSON form.
    serde_json::to_string(line).unwrap_or_default()
}

/// The answer to a request.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    Configs(Vec<Json>),
    /// There will be no more.
    Done,
}

/// Reads an answer. The error says what is wrong.
pub(crate) fn answer(line: &str) -> Result<Answer, String> {
    let json: Json = tunesmith_files::json::parse(line).map_err(|error| format!("is not JSON: {error}"))?;
    match json {
        Json::Array(configs) => Ok(Answer::Configs(configs)),
        Json::String(word) if word == "done" => Ok(Answer::Done),
        _ => Err("is neither a list of configurations nor \"done\"".to_string()),
    }
}

/// Returns the configuration that `json` names. Unnamed parameters are as in `default`, or else take
/// their first value.
pub(crate) fn configuration(space: &Space, default: Option<ConfigId>, json: &Json) -> Result<ConfigId, Fault> {
    let Json::Object(fields) = json else { return Err(Fault::form(json)) };
    let mut pairs = Vec::with_capacity(fields.len());
    for (name, value) in fields {
        let value = Value::of_document(value).ok_or_else(|| Fault::value(name, value))?;
        pairs.push((name.as_str(), value));
    }
    let base = default.map(|default| space.unrank(default));
    let configuration = space.configuration(&pairs, base.as_ref()).map_err(|error| Fault::of_space(&error))?;
    space.rank(&configuration).ok_or_else(|| {
        let names = space.violated(&configuration);
        Fault::excluded(&names.iter().map(|constraint| format!("`{}`", constraint.name())).collect::<Vec<_>>())
    })
}
