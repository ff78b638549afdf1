//! The lines of what was measured again.

use crate::Entry;
use serde::{Deserialize, Serialize};
use tunesmith_core::{Evaluation, Request, Resample, Role};
use tunesmith_space::Space;

/// More samples of a configuration that an earlier line holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Again {
    /// `reference`, `selection` or `confirmation`.
    pub again: String,
    /// Which evaluation it belongs to: its position among the journal's evaluations, counted from 1.
    pub evaluation: usize,
    /// What was measured, as of an evaluation.
    #[serde(flatten)]
    pub entry: Entry,
}

impl Again {
    /// The line of `resample`, which belongs to the journal's evaluation with the number `evaluation`.
    pub fn new(space: &Space, resample: &Resample, evaluation: usize) -> Self {
        let Resample { role, config, failure, measurement, clock } = resample.clone();
        let as_evaluation = Evaluation { request: Request::timed(config), failure, measurement, clock };
        Self { again: role.word().to_string(), evaluation, entry: Entry::new(space, &as_evaluation) }
    }

    /// What this line keeps, its configuration found in `space` by its values.
    ///
    /// Fails with the reason where the space has no such configuration or a word is unknown.
    pub fn resample(&self, space: &Space) -> Result<Resample, String> {
        let role = self.role().ok_or_else(|| format!("`{}` is no reason to measure again", self.again))?;
        let Evaluation { request, failure, measurement, clock } = self.entry.evaluation(space)?;
        Ok(Resample { role, config: request.config, failure, measurement, clock })
    }

    /// What the samples are for; `None` of an unknown word.
    pub fn role(&self) -> Option<Role> {
        Role::from_word(&self.again)
    }
}
