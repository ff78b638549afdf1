//! The direction of improvement.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The direction of improvement of a metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Less is better.
    #[default]
    #[serde(alias = "minimize")]
    Minimise,
    /// More is better.
    #[serde(alias = "maximize")]
    Maximise,
}

impl Direction {
    /// Returns the score of a value: a number of which less is better. Twice, it returns the value.
    pub fn score(self, value: f64) -> f64 {
        match self {
            Self::Minimise => value,
            // Not the negative, so that a zero is no negative zero.
            Self::Maximise => 0.0 - value,
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Minimise { "minimise" } else { "maximise" })
    }
}
