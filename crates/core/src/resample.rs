//! What was measured of a configuration after its evaluation.

use crate::{Failure, Measurement};
use std::time::Duration;
use tunesmith_space::ConfigId;

/// The reason why a configuration is measured again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// As the reference, to see whether the device drifts.
    Reference,
    /// In the final, to choose the winner.
    Selection,
    /// In the final, to estimate the winner by samples that did not choose it.
    Confirmation,
    /// Beside the confirmation: what the winner is compared with, which is no finalist.
    Baseline,
}

impl Role {
    /// Returns the word used in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Selection => "selection",
            Self::Confirmation => "confirmation",
            Self::Baseline => "baseline",
        }
    }

    /// Returns the role a word stands for; the inverse of [`word`](Self::word).
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Reference, Self::Selection, Self::Confirmation, Self::Baseline];
        all.into_iter().find(|role| role.word() == word)
    }
}

/// More samples of a configuration that was evaluated before. It is no evaluation: no budget counts
/// it.
#[derive(Clone, Debug, PartialEq)]
pub struct Resample {
    /// The purpose of the samples.
    pub role: Role,
    /// The configuration.
    pub config: ConfigId,
    /// The reason why the configuration is not correct this time; `None` when it is.
    pub failure: Option<Failure>,
    /// The measurement.
    pub measurement: Measurement,
    /// Time since the start of the run, over all its resumed parts, at which this ended.
    pub clock: Duration,
}
