//! Drawing by weights.

use rand::RngExt as _;
use tunesmith_core::Rng;

/// Draws a place with a probability in proportion to its weight. Returns `None` if all weights are
/// 0. Costs a walk over the weights.
pub(super) fn weighted(weights: &[f64], rng: &mut Rng) -> Option<usize> {
    let sum: f64 = weights.iter().sum();
    if sum <= 0.0 {
        return None;
    }
    let mut left = rng.random::<f64>() * sum;
    let mut last = None;
    for (place, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        left -= weight;
        // Rounding may leave a small rest beyond the last.
        last = Some(place);
        if left < 0.0 {
            break;
        }
    }
    last
}
