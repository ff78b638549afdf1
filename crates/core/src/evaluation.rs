//! A request of a searcher and the evaluation that answers it.

use crate::{Failure, Measurement};
use std::time::Duration;
use tunesmith_space::ConfigId;

/// The depth of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Depth {
    /// Timed only.
    Timed,
    /// Timed, with counters.
    Profiled,
}

impl Depth {
    /// Returns the word used in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Timed => "timed",
            Self::Profiled => "profiled",
        }
    }

    /// Returns the depth for a word. Inverse of [`word`](Self::word).
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Timed, Self::Profiled].into_iter().find(|depth| depth.word() == word)
    }
}

/// A configuration that a searcher wants evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// The configuration.
    pub config: ConfigId,
    /// The depth of the evaluation.
    pub depth: Depth,
}

impl Request {
    /// Asks for the time of `config`.
    pub fn timed(config: ConfigId) -> Self {
        Self { config, depth: Depth::Timed }
    }

    /// Asks for the time and the counters of `config`.
    pub fn profiled(config: ConfigId) -> Self {
        Self { config, depth: Depth::Profiled }
    }
}

/// The outcome of an evaluation: the kind of failure, or `None` if it is correct.
pub type Status = Option<crate::FailureKind>;

/// The answer to a [`Request`]: the measurement, and the reason if it does not count.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The request.
    pub request: Request,
    /// The reason why the configuration is not correct, or `None` if it is.
    pub failure: Option<Failure>,
    /// The measurement.
    pub measurement: Measurement,
    /// The end of the evaluation: time since the start of the run, over all its resumed parts.
    pub clock: Duration,
    /// The turn of the search at which a program of the user proposed the configuration. `None` if
    /// the strategy asked for it.
    pub proposed: Option<u64>,
}

impl Evaluation {
    /// Returns true if the configuration compiled, ran and gave the right answer.
    pub fn is_correct(&self) -> bool {
        self.failure.is_none()
    }

    /// Returns true if a limit that followed from the best time ended the configuration.
    pub fn is_cut(&self) -> bool {
        self.cut().is_some()
    }

    /// Returns the limit from the best time that ended the configuration, if one did.
    pub fn cut(&self) -> Option<crate::Cut> {
        self.failure.as_ref()?.cut
    }

    /// Returns the limit from the usual compile time that ended its compilation, if one did.
    pub fn aside(&self) -> Option<crate::CompileLimit> {
        self.failure.as_ref()?.aside
    }

    /// Returns true if a limit that followed from other configurations ended this one. A later evaluation without that
    /// limit may replace it.
    pub fn is_unfinished(&self) -> bool {
        self.is_cut() || self.aside().is_some()
    }

    /// Returns the time in milliseconds that the compiler and the launches took, as far as it is known, or `None` if
    /// nothing is. A compilation that was put aside took as long as its limit.
    pub fn known_ms(&self) -> Option<f64> {
        let Measurement { compile, warmup_ms, times_ms, .. } = &self.measurement;
        let compile_ms = self.aside().map(|limit| limit.limit_ms).or(compile.as_ref().map(|compile| compile.time_ms));
        let ms = compile_ms.unwrap_or(0.0) + warmup_ms.unwrap_or(0.0) + times_ms.iter().sum::<f64>();
        (ms > 0.0).then_some(ms)
    }

    /// Returns the kind of failure, or `None` if the configuration is correct.
    pub fn status(&self) -> Status {
        self.failure.as_ref().map(|failure| failure.kind)
    }

    /// Returns the word for the status in files: `correct` or the failure's word.
    pub fn status_word(&self) -> &'static str {
        self.status().map_or("correct", crate::FailureKind::word)
    }
}
