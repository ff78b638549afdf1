//! Further samples of a configuration after its evaluation.

use crate::{Failure, Measurement};
use std::time::Duration;
use tunesmith_space::ConfigId;

/// The reason why a configuration is measured again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The reference: shows whether the device drifts.
    Reference,
    /// The final re-measurement, first stage: chooses the winner.
    Selection,
    /// The final re-measurement, second stage: estimates the winner by samples that did not choose
    /// it.
    Confirmation,
    /// Beside the confirmation: a configuration to compare the winner with. It is not a finalist.
    Baseline,
    /// After the final: verifies the winner and its ties on other data. It has no samples.
    Verification,
}

impl Role {
    /// Returns the word used in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Selection => "selection",
            Self::Confirmation => "confirmation",
            Self::Baseline => "baseline",
            Self::Verification => "verification",
        }
    }

    /// Returns true if the measurement holds for the whole run. The others belong to a final, which
    /// decides nothing once more evaluations follow.
    pub fn outlives_evaluations(self) -> bool {
        matches!(self, Self::Reference | Self::Verification)
    }

    /// Returns the role for a word. Inverse of [`word`](Self::word).
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Reference, Self::Selection, Self::Confirmation, Self::Baseline, Self::Verification];
        all.into_iter().find(|role| role.word() == word)
    }
}

/// Further samples of a configuration that was evaluated before. They are not an evaluation, and no
/// budget counts them.
#[derive(Clone, Debug, PartialEq)]
pub struct Resample {
    /// The purpose of the samples.
    pub role: Role,
    /// The configuration.
    pub config: ConfigId,
    /// The reason why the configuration is not correct this time, or `None` if it is.
    pub failure: Option<Failure>,
    /// The measurement.
    pub measurement: Measurement,
    /// Their end: time since the start of the run, over all its resumed parts.
    pub clock: Duration,
}

/// Marks the verification of a tie among its values.
pub(crate) const VERIFIED_AS_TIE: &str = "verified_as_tie";

impl Resample {
    /// Returns true for the verification of a tie, which has fewer launches than that of a winner.
    pub(crate) fn is_of_tie(&self) -> bool {
        self.measurement.values.contains_key(VERIFIED_AS_TIE)
    }
}
