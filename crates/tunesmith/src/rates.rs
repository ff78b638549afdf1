//! Operations and bytes per second of a configuration.

use crate::Problem;
use crate::outcome::Candidate;
use crate::problem::lookup;
use serde_json::Value as Json;
use tunesmith_space::{Expr, Value};

/// What a configuration achieves, where the problem declares its work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// 10^9 floating-point operations per second.
    pub gflops: Option<f64>,
    /// 10^9 bytes per second.
    pub gbytes: Option<f64>,
}

impl Problem {
    /// What `candidate` achieves at its median time.
    pub fn rates(&self, candidate: &Candidate) -> Rates {
        let rate = |work: &Option<Expr>| {
            let value = work.as_ref()?.evaluate(&|name| self.named(candidate, name)).ok()?;
            // Per millisecond to 10^9 per second.
            Some(value.as_float()? / candidate.time_ms? / 1e6)
        };
        Rates { gflops: rate(&self.flops), gbytes: rate(&self.bytes) }
    }

    fn named(&self, candidate: &Candidate, name: &str) -> Option<Value> {
        lookup(&self.sizes, name).or_else(|| parameter_value(candidate.config.get(name)?))
    }
}

/// A parameter's value as configurations in JSON have it.
pub(crate) fn parameter_value(json: &Json) -> Option<Value> {
    match json {
        Json::Bool(truth) => Some(Value::Bool(*truth)),
        Json::String(text) => Some(Value::Str(text.as_str().into())),
        number => number.as_i64().map(Value::Int).or_else(|| number.as_f64().map(Value::Float)),
    }
}
