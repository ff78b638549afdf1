//! Lines of later measurements and of the verdict.

use crate::Entry;
use serde::{Deserialize, Serialize};
use tunesmith_core::judge::drift::Drift;
use tunesmith_core::{Evaluation, Request, Resample, Role, Verdict};
use tunesmith_space::{ConfigId, Space};

/// More samples of a configuration that an earlier line holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Again {
    /// The word of a [`Role`].
    pub again: String,
    /// Number of the evaluation that it belongs to: its position among the journal's evaluations,
    /// counted from 1.
    pub evaluation: usize,
    /// The measurement, as of an evaluation.
    #[serde(flatten)]
    pub entry: Entry,
}

impl Again {
    /// Creates the line of `resample`, which belongs to the journal's evaluation with the number
    /// `evaluation`.
    pub fn new(space: &Space, resample: &Resample, evaluation: usize) -> Self {
        let Resample { role, config, failure, measurement, clock } = resample.clone();
        let request = Request::timed(config);
        let as_evaluation = Evaluation { request, failure, measurement, clock, proposed: None };
        Self { again: role.word().to_string(), evaluation, entry: Entry::new(space, &as_evaluation) }
    }

    /// Returns the measurement that this line keeps. Finds its configuration in `space` by its
    /// values.
    ///
    /// Fails with the reason if the space has no such configuration or a word is unknown.
    pub fn resample(&self, space: &Space) -> Result<Resample, String> {
        let role = self.role().ok_or_else(|| format!("`{}` is not a reason to measure again", self.again))?;
        let Evaluation { request, failure, measurement, clock, .. } = self.entry.evaluation(space)?;
        Ok(Resample { role, config: request.config, failure, measurement, clock })
    }

    /// Returns the purpose of the samples, or `None` for an unknown word.
    pub fn role(&self) -> Option<Role> {
        Role::from_word(&self.again)
    }
}

/// A second answer to a request that was answered before: two devices of a fleet measured it, because
/// one seemed to be lost. It does not count. Earlier versions take the line for a contradiction, and
/// ignore it too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// The device that gave it.
    pub second: String,
    /// The measurement, as of an evaluation.
    #[serde(flatten)]
    pub entry: Entry,
}

impl Second {
    /// Creates the line of an answer by the device `by`.
    pub fn new(space: &Space, second: &Evaluation, by: &str) -> Self {
        Self { second: by.to_string(), entry: Entry::new(space, second) }
    }
}

/// The verdict of the final re-measurement of the evaluations before this line. Indices are those
/// of the evaluations' lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VerdictLine {
    /// The winner's index.
    pub winner: String,
    /// The indices of the configurations that are indistinguishable from the winner, the best
    /// first.
    pub ties: Vec<String>,
    /// The indices of the finalists that were measured too seldom to be compared with the winner.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<String>,
    /// The indices of the configurations with the machine code of the winner.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub equal_code: Vec<String>,
    /// The drift of the device, if it was watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<DriftLine>,
}

/// A [`Drift`] on disk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriftLine {
    /// Number of probes of the reference.
    pub probes: usize,
    /// The difference between the thirds of the run, as a share.
    pub change: f64,
    /// True if the device drifted.
    pub drifted: bool,
}

impl From<&Drift> for DriftLine {
    fn from(drift: &Drift) -> Self {
        let Drift { probes, change, drifted } = *drift;
        Self { probes, change, drifted }
    }
}

impl VerdictLine {
    /// Returns the line of a verdict that names a winner.
    pub fn new(verdict: &Verdict, drift: Option<&Drift>) -> Option<Self> {
        let index = |config: &ConfigId| config.to_string();
        let winner = verdict.winner.as_ref().map(index)?;
        let indices = |configs: &[ConfigId]| configs.iter().map(index).collect();
        let (ties, not_compared) = (indices(&verdict.ties), indices(&verdict.not_compared));
        let equal_code = indices(&verdict.equal_code);
        Some(Self { winner, ties, not_compared, equal_code, drift: drift.map(DriftLine::from) })
    }
}
