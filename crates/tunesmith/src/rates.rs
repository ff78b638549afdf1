//! Computes the operations and bytes per second of a configuration.

use crate::Problem;
use crate::outcome::Candidate;
use tunesmith_space::{Expr, lookup};
use tunesmith_store::Journal;

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
        let named =
            |name: &str| lookup(&problem.sizes, name).or_else(|| Journal::value_of(candidate.config.get(name)?));
        let rate = |work: &Option<Expr>| {
            let value = work.as_ref()?.evaluate(&named).ok()?;
            // Per millisecond to 10^9 per second.
            Some(value.as_float()? / candidate.time_ms? / 1e6)
        };
        Self { gflops: rate(&problem.flops), gbytes: rate(&problem.bytes) }
    }
}
