//! Kernel Tuner's T1 format (schema 1.0.0), as published problems and KTT use it.
//!
//! The search space, the default configuration, the budget and the kernel's name are read. Its kernels are OpenCL and
//! CUDA, which this version does not compile: such a problem can be checked, counted and tuned on a synthetic device.

use super::diagnostic::Messages;
use super::{Level, Places, Problem, ProblemError, SourceFile, Tuning};
use serde_json::Value as Json;
use std::ops::Range;
use tunesmith_device::{Policy, Verify};
use tunesmith_space::{Constraint, Expr, ExprError, Parameter, Value, parse_values};

pub(super) fn read(source_file: SourceFile, overrides: &[(String, Value)]) -> Result<Problem, ProblemError> {
    let json: Json = serde_json::from_str(&source_file.text).map_err(|error| {
        let start = line_start(&source_file.text, error.line()) + error.column().saturating_sub(1);
        let message = source_file.diagnostic(Level::Error, start..start, format!("not JSON: {error}"), None);
        ProblemError { messages: vec![message], source_file: source_file.clone() }
    })?;
    let messages = Messages::new(source_file.clone());
    if let Some((name, _)) = overrides.first() {
        messages.error(0..0, format!("a T1 problem has no sizes to override, `{name}` neither"), None);
    }
    let reader = Reader { json: &json, messages: &messages };
    let problem = reader.problem();
    let warnings = messages.finish()?;
    Ok(Problem { warnings, ..problem })
}

struct Reader<'a> {
    json: &'a Json,
    messages: &'a Messages,
}

impl Reader<'_> {
    fn problem(&self) -> Problem {
        let (parameters, parameter_places): (Vec<Parameter>, Vec<_>) = self.parameters().into_iter().unzip();
        let (constraints, constraint_places) = self.constraints().into_iter().unzip();
        Problem {
            name: self.name(),
            sizes: Vec::new(),
            flops: None,
            bytes: None,
            parameters,
            constraints,
            kernels: Vec::new(),
            command: None,
            arguments: Vec::new(),
            verify: Verify::default(),
            tuning: self.tuning(),
            metrics: Vec::new(),
            judging: tunesmith_core::Judging::default(),
            policy: Policy::default(),
            warnings: Vec::new(),
            source_file: self.messages.source.clone(),
            places: Places {
                constraints: constraint_places,
                parameters: parameter_places,
                default: self.place("Default"),
                ..Places::default()
            },
        }
    }

    fn name(&self) -> String {
        let stem = self.messages.source.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let named = self.json.pointer("/General/BenchmarkName").and_then(Json::as_str).map(str::to_string);
        named.or(stem).unwrap_or_default()
    }

    fn parameters(&self) -> Vec<(Parameter, Range<usize>)> {
        let list = self.json.pointer("/ConfigurationSpace/TuningParameters").and_then(Json::as_array);
        let Some(list) = list else {
            let remedy = "a T1 file has ConfigurationSpace with TuningParameters".to_string();
            self.messages.error(0..0, "there are no tuning parameters", Some(remedy));
            return Vec::new();
        };
        list.iter().filter_map(|entry| self.parameter(entry)).collect()
    }

    fn parameter(&self, entry: &Json) -> Option<(Parameter, Range<usize>)> {
        let Some(name) = entry.get("Name").and_then(Json::as_str) else {
            self.messages.error(0..0, "a tuning parameter has no Name", None);
            return None;
        };
        let place = self.place(name);
        let fail = |text: String, remedy| {
            self.messages.error(place.clone(), format!("parameter `{name}`: {text}"), remedy);
        };
        let values = match entry.get("Values") {
            Some(Json::String(text)) => parse_values(text, &|_| None)
                .map_err(|error| fail(format!("in `{text}`: {error}"), error.remedy))
                .ok()?,
            Some(Json::Array(list)) => list.iter().filter_map(scalar).collect(),
            _ => {
                fail("it has no Values".to_string(), Some("write \"Values\": \"[1, 2, 4]\"".to_string()));
                return None;
            }
        };
        let parameter = Parameter::new(name, values).map_err(|error| fail(error.to_string(), None)).ok()?;
        Some((parameter, place))
    }

    fn constraints(&self) -> Vec<(Constraint, Range<usize>)> {
        let list = self.json.pointer("/ConfigurationSpace/Conditions").and_then(Json::as_array);
        let texts = list.into_iter().flatten().filter_map(|entry| entry.get("Expression").and_then(Json::as_str));
        let constraint = |text: &str| {
            let place = self.place(text);
            let expr = Expr::parse(text).map_err(|error| self.report(text, &place, &error)).ok()?;
            Some((Constraint::new(text, expr), place))
        };
        texts.filter_map(constraint).collect()
    }

    fn report(&self, text: &str, place: &Range<usize>, error: &ExprError) {
        super::tree::report_expression(self.messages, place, text, error);
    }

    fn tuning(&self) -> Tuning {
        let list = self.json.pointer("/ConfigurationSpace/TuningParameters").and_then(Json::as_array);
        let default = |entry: &Json| {
            let value = match entry.get("Default")? {
                Json::Array(list) => scalar(list.first()?)?,
                other => scalar(other)?,
            };
            Some((entry.get("Name")?.as_str()?.to_string(), value))
        };
        let pairs: Vec<(String, Value)> = list.into_iter().flatten().filter_map(default).collect();
        let default = (!pairs.is_empty()).then_some(pairs);
        Tuning { default, stop: self.stop(), ..Tuning::default() }
    }

    /// The budget as a stop condition: several entries end the run together, whichever comes first.
    fn stop(&self) -> Option<String> {
        let entries = self.json.get("Budget").and_then(Json::as_array)?;
        let condition = |entry: &Json| {
            let (kind, value) = (entry.get("Type")?.as_str()?, entry.get("BudgetValue")?.as_f64()?);
            match kind {
                "ConfigurationCount" => Some(format!("evaluations {value}")),
                "ConfigurationFraction" => Some(format!("fraction {}", value / 100.0)),
                "TuningDuration" => Some(format!("time {value}s")),
                other => {
                    let place = self.place(other);
                    self.messages.warning(place, format!("the budget `{other}` is not known and ignored"), None);
                    None
                }
            }
        };
        let conditions: Vec<String> = entries.iter().filter_map(condition).collect();
        (!conditions.is_empty()).then(|| conditions.join(" or "))
    }

    /// Where `text` stands, as JSON writes it, in the file; its start where it cannot be found.
    fn place(&self, text: &str) -> Range<usize> {
        let quoted = Json::from(text).to_string();
        let source = &self.messages.source.text;
        source.find(&quoted).map_or(0..0, |start| start..start + quoted.len())
    }
}

fn scalar(json: &Json) -> Option<Value> {
    match json {
        Json::Bool(truth) => Some(Value::Bool(*truth)),
        Json::Number(number) => number.as_i64().map(Value::Int).or_else(|| number.as_f64().map(Value::Float)),
        Json::String(text) => Some(Value::Str(text.as_str().into())),
        _ => None,
    }
}

fn line_start(text: &str, line: usize) -> usize {
    text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum()
}
