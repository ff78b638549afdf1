//! Common parts of strategies that move from one configuration to others near it.
//!
//! - [`resample`], [`cross`]: valid configurations drawn near one configuration, or between two.
//! - [`Order`]: neighbours in random order, drawn when they are needed.
//! - [`Descent`]: from a configuration down to a local minimum.
//! - [`Hops`]: from local minimum to local minimum, for iterated local search, basin hopping and
//!   restarts.

mod descent;
pub(crate) mod hops;
mod moves;
mod order;

pub(crate) use descent::{Descent, DescentStep, Improvement};
pub(crate) use hops::{Acceptance, Hops, Kick};
pub(crate) use moves::{cross, resample};
pub(crate) use order::Order;

use tunesmith_space::ConfigId;

/// A correct configuration and its score.
pub(crate) type Scored = (ConfigId, f64);

/// Maximum number of steps over known configurations before a strategy jumps to a new random one,
/// as in [`Annealing`](crate::Annealing).
pub(crate) const MAX_KNOWN_STEPS: usize = 50;

/// Replaces `best` by a better one. Of equal scores, the first stays. Returns true if it was
/// replaced.
pub(crate) fn keep_better(best: &mut Option<Scored>, config: ConfigId, score: f64) -> bool {
    let is_better = best.is_none_or(|(_, known)| score < known);
    if is_better {
        *best = Some((config, score));
    }
    is_better
}
