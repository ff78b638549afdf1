//! How sure it is that little is left to find.

use crate::History;
use tunesmith_space::Space;

/// Says how sure it is that the best configuration found is near the optimum of the space, from the
/// evaluations alone: whatever strategy asked for them.
///
/// The tuner asks it when a stop condition contains `regret`, and then only when the evaluations
/// have grown by a share.
/// ```
/// # use tunesmith_core::*;
/// # use tunesmith_space::Space;
/// /// Believes nothing that was not measured.
/// struct Doubtful;
/// impl RegretEstimator for Doubtful {
///     fn within(&mut self, space: &Space, history: &History, shares: &[f64]) -> Vec<f64> {
///         let measured = space.len() == Some(history.len() as u128) && history.best().is_some();
///         vec![if measured { 1.0 } else { 0.0 }; shares.len()]
///     }
/// }
/// ```
pub trait RegretEstimator {
    /// Returns for each of `shares` (0.02 is 2 %) the probability that the best score of `history`
    /// is at most `1 + share` times the lowest score in `space`. 0 while nothing was correct, 1
    /// when every configuration was evaluated.
    fn within(&mut self, space: &Space, history: &History, shares: &[f64]) -> Vec<f64>;
}

/// An estimate of a [`RegretEstimator`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegretBound {
    /// The allowed distance of the best score from the optimum: 0.02 is 2 %.
    pub share: f64,
    /// The probability that it is no farther.
    pub probability: f64,
    /// After how many evaluations it was said.
    pub evaluations: u64,
}
