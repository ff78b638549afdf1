//! Lines of our format, each read and written by the same type.

use super::portfolio::PortfolioLine;
use crate::wisdom::{Attempt, AttemptEnd, Config, Entry, Input, Portfolio, Provenance, Wisdom};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use tunesmith_space::Value;

/// An entry.
#[derive(Serialize, Deserialize)]
struct EntryLine {
    kernel: String,
    device: String,
    input: Map<String, Json>,
    config: Map<String, Json>,
    time_ms: f64,
    #[serde(default)]
    provenance: ProvenanceLine,
}

#[derive(Default, Serialize, Deserialize)]
struct ProvenanceLine {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    date: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    samples: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    guarded_speedup: Option<f64>,
}

/// The default configuration of a kernel.
#[derive(Serialize, Deserialize)]
struct DefaultLine {
    kernel: String,
    default: Map<String, Json>,
}

/// An attempt without a time. An empty end is the word `begun`.
#[derive(Serialize, Deserialize)]
struct AttemptLine {
    kernel: String,
    device: String,
    input: Map<String, Json>,
    config: Map<String, Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    date: Option<f64>,
    attempt: AttemptWord,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AttemptWord {
    Begun,
    Failed,
}

/// Adds the content of a line to `wisdom`. On an error nothing is added, and the reason is
/// returned.
pub(super) fn read(text: &[u8], wisdom: &mut Wisdom) -> Result<(), String> {
    let json = tunesmith_files::json::parse(text).map_err(|error| format!("no JSON: {error}"))?;
    let fields = json.as_object().ok_or("no JSON object")?;
    if let Some(portfolio) = fields.get("portfolio") {
        let line: PortfolioLine = serde_json::from_value(portfolio.clone()).map_err(|error| error.to_string())?;
        let portfolios = vec![line.portfolio()?];
        wisdom.merge(Wisdom { portfolios, ..Wisdom::default() });
    } else if fields.contains_key("default") {
        let line: DefaultLine = serde_json::from_value(json).map_err(|error| error.to_string())?;
        wisdom.defaults.insert(line.kernel, config(&line.default)?);
    } else if fields.contains_key("attempt") {
        let line: AttemptLine = serde_json::from_value(json).map_err(|error| error.to_string())?;
        wisdom.attempts.push(line.attempt()?);
    } else {
        let line: EntryLine = serde_json::from_value(json).map_err(|error| error.to_string())?;
        wisdom.entries.push(line.entry()?);
    }
    Ok(())
}

impl EntryLine {
    fn entry(self) -> Result<Entry, String> {
        if !(self.time_ms > 0.0 && self.time_ms.is_finite()) {
            return Err(format!("`time_ms` is {}, but a time is above 0", self.time_ms));
        }
        let ProvenanceLine { tool, date, samples, guarded_speedup } = self.provenance;
        Ok(Entry {
            kernel: self.kernel,
            device: self.device,
            input: input(&self.input)?,
            config: config(&self.config)?,
            time_ms: self.time_ms,
            provenance: Provenance { tool, date, samples, guarded_speedup },
        })
    }
}

impl AttemptLine {
    fn attempt(self) -> Result<Attempt, String> {
        let end = match self.attempt {
            AttemptWord::Begun => AttemptEnd::None,
            AttemptWord::Failed => AttemptEnd::Failed,
        };
        let (input, config) = (input(&self.input)?, config(&self.config)?);
        Ok(Attempt { kernel: self.kernel, device: self.device, input, config, date: self.date, end })
    }
}

/// Reads an input, whose sizes must be numbers.
pub(super) fn input(json: &Map<String, Json>) -> Result<Input, String> {
    let size = |(name, value): (&String, &Json)| {
        let number = value.as_f64().filter(|number| number.is_finite());
        number.map(|number| (name.clone(), number)).ok_or_else(|| format!("size `{name}` is not a number"))
    };
    json.iter().map(size).collect()
}

pub(super) fn config(json: &Map<String, Json>) -> Result<Config, String> {
    json.iter().map(|(name, value)| parameter(name, value)).collect()
}

/// Returns a parameter with its value in a configuration.
pub(super) fn parameter(name: &str, value: &Json) -> Result<(String, Value), String> {
    let value = Value::of_document(value);
    let value = value.ok_or_else(|| format!("the value of parameter `{name}` is not a number, truth value or string"));
    Ok((name.to_string(), value?))
}

pub(super) fn entry(entry: &Entry) -> Json {
    let Provenance { tool, date, samples, guarded_speedup } = entry.provenance.clone();
    let line = EntryLine {
        kernel: entry.kernel.clone(),
        device: entry.device.clone(),
        input: input_json(&entry.input),
        config: config_json(&entry.config),
        time_ms: entry.time_ms,
        provenance: ProvenanceLine { tool, date, samples, guarded_speedup },
    };
    json!(line)
}

pub(super) fn attempt(attempt: &Attempt) -> Json {
    json!(AttemptLine {
        kernel: attempt.kernel.clone(),
        device: attempt.device.clone(),
        input: input_json(&attempt.input),
        config: config_json(&attempt.config),
        date: attempt.date,
        attempt: match attempt.end {
            AttemptEnd::None => AttemptWord::Begun,
            AttemptEnd::Failed => AttemptWord::Failed,
        },
    })
}

pub(super) fn default(kernel: &str, config: &Config) -> Json {
    json!(DefaultLine { kernel: kernel.to_string(), default: config_json(config) })
}

pub(super) fn portfolio(portfolio: &Portfolio) -> Json {
    json!({ "portfolio": PortfolioLine::new(portfolio) })
}

pub(super) fn input_json(input: &Input) -> Map<String, Json> {
    input.iter().map(|(name, value)| (name.clone(), json!(Value::of_number(*value)))).collect()
}

pub(super) fn config_json(config: &Config) -> Map<String, Json> {
    config.iter().map(|(name, value)| (name.clone(), json!(value))).collect()
}
