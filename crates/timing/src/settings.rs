//! Settings for fitting a timing model.

use crate::Error;
use tunesmith_model::BoostedSettings;

/// Settings for fitting a timing model.
#[derive(Clone, Debug, PartialEq)]
pub struct TimingSettings {
    /// The speed relative to the reference that failed configurations count as, above 0. The
    /// default 0.5 is the paper's best: its logarithm is zeta (section 6).
    pub zeta_speedup: f64,
    /// The share of the inputs held out of the fit to judge the model, from 0 and below 1. By
    /// default 0.2.
    pub hold_out: f64,
    /// The seed of random draws.
    pub seed: u64,
    /// The number of trees. Without it, the best number in cross-validation, or that of `trees` if
    /// nothing can be left out.
    pub rounds: Option<usize>,
    /// The trees.
    pub trees: BoostedSettings,
}

impl Default for TimingSettings {
    fn default() -> Self {
        Self { zeta_speedup: 0.5, hold_out: 0.2, seed: 0, rounds: None, trees: BoostedSettings::default() }
    }
}

impl TimingSettings {
    /// Checks that all numbers are in range.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let refuse = |text: String| Err(Error::request(text, None));
        if !(self.zeta_speedup > 0.0 && self.zeta_speedup.is_finite()) {
            return refuse(format!("zeta cannot be {}: it is a speed-up above 0, such as 0.5", self.zeta_speedup));
        }
        let rate = self.trees.learning_rate;
        if !(rate > 0.0 && rate <= 1.0) {
            return refuse(format!("the learning rate cannot be {rate}: it is above 0 and at most 1"));
        }
        if !(0.0..1.0).contains(&self.hold_out) {
            return refuse(format!("the share held out cannot be {}: it is from 0 and below 1", self.hold_out));
        }
        Ok(())
    }
}
