//! Computes the operations and bytes per second of a configuration.

use crate::Problem;
use crate::outcome::Candidate;
use serde_json::Value as Json;
use tunesmith_space::{Expr, Value, lookup};

/// The rates of a configuration, if the problem declares its work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// 10^9 floating-point operations per second.
    pub gflops: Option<f64>,
    /// 10^9 bytes per second.
    pub gbytes: Option<f64>,
}

impl Rates {
    /// Returns the rates of `candidate` at its median time, by the work that `problem` declares.
    pub fn new(problem: &Problem, candidate: &Candidate) -> Self {
        let named = |name: &str| lookup(&problem.sizes, name).or_else(|| parameter_value(candidate.config.get(name)?));
        let rate = |work: &Option<Expr>| {
            let value = work.as_ref()?.evaluate(&named).ok()?;
            // Per millisecond to 10^9 per second.
            Some(value.as_float()? / candidate.time_ms? / 1e6)
        };
        Self { gflops: rate(&problem.flops), gbytes: rate(&problem.bytes) }
    }
}

/// Returns a parameter's value from its form in configurations in JSON.
pub(crate) fn parameter_value(json: &Json) -> Option<Value> {
    match json {
        Json::Bool(truth) => Some(Value::Bool(*truth)),
        Json::String(text) => Some(Value::Str(text.as_str().into())),
        number => number.as_i64().map(Value::Int).or_else(|| number.as_f64().map(Value::Float)),
    }
}
