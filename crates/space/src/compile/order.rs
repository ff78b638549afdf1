//! Chooses the order in which a group's parameters become levels.
//!
//! A level has fewer nodes if its nodes carry fewer cells and the cells have fewer values. The
//! order is chosen greedily by an estimate of the number of nodes: the next parameter is always the
//! one after which nodes carry the least. The estimate depends only on the constraints and the
//! lengths of the lists, and ties go by name. So the order in which parameters and constraints are
//! declared makes no difference.

use super::estimate::{Estimate, Load, UNIT};
use super::graph::{Graph, Id};

/// Maximum number of terms that all greedy runs together look at. Orders are compared as long as
/// that is cheap.
const EFFORT: usize = 30_000;

/// Returns the places in the order of levels. `by_name` holds the places sorted by the names of
/// their parameters. `columns` holds the values of each place.
pub(crate) fn order(graph: &Graph, roots: &[Id], columns: &[Vec<i64>], by_name: &[usize]) -> Vec<usize> {
    let estimate = Estimate::new(graph, roots, columns);
    let mut starts: Vec<usize> = by_name.to_vec();
    let none = vec![0_i64; columns.len().div_ceil(64)];
    let after = |place: usize| {
        let mut assigned = none.clone();
        assigned[place / 64] |= 1 << (place % 64);
        estimate.carried(&assigned)
    };
    // Sorting is stable: equal places stay in the order of their names.
    starts.sort_by_cached_key(|&place| (after(place), estimate.sizes[place]));
    let per_run = by_name.len() * by_name.len() * estimate.terms.len() / 2 + 1;
    starts.truncate((EFFORT / per_run).max(1));
    let runs = starts.into_iter().map(|start| greedy(&estimate, by_name, start));
    let best = runs.min_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or_else(Vec::new, |(_, order)| order)
}

/// Returns the greedy order that begins with `start`, and the estimated number of its arcs.
fn greedy(estimate: &Estimate<'_>, by_name: &[usize], start: usize) -> (f64, Vec<usize>) {
    let mut assigned = vec![0_i64; estimate.sizes.len().div_ceil(64)];
    let mut left = by_name.to_vec();
    let mut order = Vec::with_capacity(by_name.len());
    let mut carried = Load::default();
    let mut cost = 0.0;
    while !left.is_empty() {
        let key = |&at: &usize| {
            let place: usize = left[at];
            assigned[place / 64] ^= 1 << (place % 64);
            let load = estimate.carried(&assigned);
            assigned[place / 64] ^= 1 << (place % 64);
            (load, estimate.sizes[place])
        };
        let choice = match order.is_empty() {
            true => left.iter().position(|&place| place == start),
            false => (0..left.len()).min_by_key(key),
        };
        let choice = left.remove(choice.unwrap_or(0));
        cost += (f64::from(carried.width + estimate.sizes[choice]) / UNIT).exp2();
        assigned[choice / 64] |= 1 << (choice % 64);
        order.push(choice);
        carried = estimate.carried(&assigned);
    }
    (cost, order)
}
