//! What strategies share that go from one configuration to others near it.
//!
//! - [`Standing`]: what is known of a configuration. A known one is judged from the history and
//!   costs nothing.
//! - [`resample`], [`cross`]: configurations drawn near one, or between two; always valid ones.
//! - [`Order`]: neighbours in random order, drawn as they are needed.
//! - [`Descent`]: from a configuration down to a local minimum.
//! - [`Hops`]: from local minimum to local minimum; iterated local search, basin hopping and
//!   restarts are kinds of it.

mod descent;
pub(crate) mod hops;
mod moves;
mod order;
mod standing;

pub(crate) use descent::{Descent, DescentStep, Improvement};
pub(crate) use hops::{Acceptance, Hops, Kick};
pub(crate) use moves::{cross, resample};
pub(crate) use order::Order;
pub(crate) use standing::{Standing, standing};

use tunesmith_space::ConfigId;

/// A correct configuration with its score.
pub(crate) type Scored = (ConfigId, f64);

/// Steps over known configurations after which a strategy jumps to a new random one: as in
/// [`Annealing`](crate::Annealing).
pub(crate) const MAX_KNOWN_STEPS: usize = 50;

/// Replaces `best` by a better one; of equal scores the first stays.
pub(crate) fn keep_better(best: &mut Option<Scored>, config: ConfigId, score: f64) -> bool {
    let is_better = best.is_none_or(|(_, known)| score < known);
    if is_better {
        *best = Some((config, score));
    }
    is_better
}
