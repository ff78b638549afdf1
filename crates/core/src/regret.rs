//! The probability that little is left to find.

use crate::History;
use tunesmith_space::Space;

/// Estimates the probability that the best configuration found is near the optimum of the space. It
/// uses the evaluations alone, whatever strategy asked for them.
///
/// The tuner asks for an estimate if a stop condition contains `regret`, and then only after the
/// evaluations have grown by a share.
///
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
    /// Returns, for each of `shares` (0.02 is 2 %), the probability that the best score of
    /// `history` is at most `1 + share` times the lowest score in `space`. The probability is 0
    /// while nothing was correct, and 1 once every configuration was evaluated.
    fn within(&mut self, space: &Space, history: &History, shares: &[f64]) -> Vec<f64>;
}

/// An estimate of a [`RegretEstimator`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegretBound {
    /// The allowed distance of the best score from the optimum: 0.02 is 2 %.
    pub share: f64,
    /// The probability that the best score is within that distance.
    pub probability: f64,
    /// The number of evaluations at the estimate.
    pub evaluations: u64,
}
