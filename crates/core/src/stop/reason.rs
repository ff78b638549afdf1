//! The reason why a run ended.

use super::Condition;
use crate::Failure;
use std::fmt;

/// The reason why a run ended, with its numbers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StopReason {
    /// The stop condition: the single conditions that made it hold.
    Reached(Vec<Condition>),
    /// Every configuration of the space was evaluated.
    Exhausted,
    /// The strategy has nothing more to ask.
    Finished,
    /// The strategy asked this many times in a row only for known evaluations.
    Repeating(u64),
    /// The first evaluations failed in the same way.
    Doomed {
        /// Their number.
        count: usize,
        /// The first failure.
        failure: Failure,
    },
    /// The first correct evaluation lacks what the objective needs, for this reason.
    NoValue(String),
    /// An outside request ended the run.
    Interrupted,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reached(conditions) => {
                let texts: Vec<String> = conditions.iter().map(ToString::to_string).collect();
                f.write_str(&texts.join(" and "))
            }
            Self::Exhausted => f.write_str("space exhausted"),
            Self::Finished => f.write_str("strategy finished"),
            Self::Repeating(times) => write!(f, "strategy repeated itself {times} times"),
            Self::Doomed { count, failure } => {
                write!(
                    f,
                    "the first {count} configurations failed in the same way: {}: {}",
                    failure.kind,
                    failure.headline()
                )
            }
            Self::NoValue(reason) => write!(f, "the objective has no value: {reason}"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}
