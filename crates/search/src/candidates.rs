//! The configurations that a model predicts: all of a small space, else a part of it.

use rand::RngExt as _;
use tunesmith_core::Rng;
use tunesmith_space::{ConfigId, Neighbourhood, Space};

/// Maximum size of a listed space.
const LISTED: u128 = 20_000;

/// Returns true if the models of a search in `space` predict every configuration.
pub(crate) fn is_listed(space: &Space) -> bool {
    space.len().is_some_and(|len| len <= LISTED)
}

/// Returns the configurations that differ from `leader` in one parameter. If there are more than `most`, it returns a
/// random part of them, in which some may occur twice.
pub(crate) fn neighbours(space: &Space, leader: ConfigId, most: usize, rng: &mut Rng) -> Vec<ConfigId> {
    let all = space.neighbours(leader, Neighbourhood::Hamming);
    if all.len() <= most as u64 {
        return all.iter().map(|neighbour| neighbour.id).collect();
    }
    let draw = |_| all.get(rng.random_range(0..all.len())).map(|neighbour| neighbour.id);
    (0..most).filter_map(draw).collect()
}
