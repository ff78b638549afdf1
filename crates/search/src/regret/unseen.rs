//! The configurations that are not evaluated, or a sample that represents them.

use super::surrogate::RegretSurrogate;
use crate::candidates::{is_listed, neighbours};
use crate::gaussian_process::features::Features;
use rand::seq::SliceRandom as _;
use std::collections::HashSet;
use tunesmith_core::Rng;
use tunesmith_model::JoinedRows;
use tunesmith_space::{ConfigId, Space};

/// Number of configurations with the lowest predicted means. All are examined, because most of the
/// risk lies there.
const LOWEST: usize = 2048;
/// Number of other configurations drawn to represent the rest. In a space that is not listed, the
/// number of all configurations drawn.
const DRAWS: usize = 2048;
/// Maximum number of neighbours of one of the best in a space that is not listed.
const NEIGHBOURS: usize = 512;

/// The source of unseen configurations, made once for a space.
#[derive(Debug)]
pub(super) struct Unevaluated {
    listing: Option<(Vec<ConfigId>, JoinedRows)>,
}

/// Unseen configurations. Each represents as many as its weight.
#[derive(Debug)]
pub(super) struct Weighted {
    pub(super) rows: JoinedRows,
    pub(super) weights: Vec<f64>,
}

impl Unevaluated {
    pub(super) fn new(space: &Space, features: &Features) -> Self {
        let list = || {
            let configs: Vec<ConfigId> = space.iter().collect();
            let rows = features.rows(space, &configs).into();
            (configs, rows)
        };
        Self { listing: is_listed(space).then(list) }
    }

    /// Returns unseen configurations of `space`. In a listed space, these are all with low means
    /// and some that represent the rest. Otherwise, they are the neighbours of the `leaders`, the
    /// best seen, and some that represent the space.
    pub(super) fn unseen(
        &self,
        space: &Space,
        features: &Features,
        seen: &HashSet<ConfigId>,
        leaders: &[ConfigId],
        model: &RegretSurrogate,
        rng: &mut Rng,
    ) -> Weighted {
        match &self.listing {
            Some((configs, rows)) => {
                let unseen: Vec<usize> = (0..configs.len()).filter(|&at| !seen.contains(&configs[at])).collect();
                listed(rows.select(&unseen), model, rng)
            }
            None => unlisted(space, features, seen, leaders, rng),
        }
    }
}

/// Returns all of `rows` with low means, and some of the others to represent the rest.
fn listed(rows: JoinedRows, model: &RegretSurrogate, rng: &mut Rng) -> Weighted {
    if rows.len() <= LOWEST + DRAWS {
        let weights = vec![1.0; rows.len()];
        return Weighted { rows, weights };
    }
    let means = model.process.means(&model.posterior, &rows);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.select_nth_unstable_by(LOWEST, |&a, &b| means[a].total_cmp(&means[b]).then(a.cmp(&b)));
    let (lowest, rest) = order.split_at_mut(LOWEST);
    let weight = rest.len() as f64 / DRAWS as f64;
    let (drawn, _) = rest.partial_shuffle(rng, DRAWS);
    let chosen: Vec<usize> = lowest.iter().chain(&*drawn).copied().collect();
    let weights = std::iter::repeat_n(1.0, LOWEST).chain(std::iter::repeat_n(weight, DRAWS)).collect();
    Weighted { rows: rows.select(&chosen), weights }
}

fn unlisted(
    space: &Space,
    features: &Features,
    seen: &HashSet<ConfigId>,
    leaders: &[ConfigId],
    rng: &mut Rng,
) -> Weighted {
    let near = leaders.iter().flat_map(|&leader| neighbours(space, leader, NEIGHBOURS, rng));
    let mut configs: Vec<ConfigId> = near.filter(|config| !seen.contains(config)).collect();
    configs.sort_unstable();
    configs.dedup();
    let near = configs.len();
    configs.extend((0..DRAWS).map(|_| space.sample(rng)).filter(|config| !seen.contains(config)));
    let weight = space.len().map_or(f64::INFINITY, |size| size as f64) / DRAWS as f64;
    let weights = (0..configs.len()).map(|at| if at < near { 1.0 } else { weight }).collect();
    Weighted { rows: features.rows(space, &configs).into(), weights }
}
