//! Paths restricted to some of the values.

use super::{Diagram, Run};
use rand::{Rng, RngExt as _};

impl Diagram {
    /// Writes the value indices of a path drawn uniformly among the paths with allowed values only.
    /// Returns false if there is no such path. The lists in `allowed` ascend; an empty list allows
    /// every value of its parameter.
    ///
    /// A pass from the root finds the reachable nodes. A pass back counts the allowed paths below
    /// them. Counts are floats, so chances are equal up to their rounding.
    pub(crate) fn sample_within<R: Rng + ?Sized>(&self, allowed: &[&[u32]], rng: &mut R, indices: &mut [u32]) -> bool {
        let below = self.allowed_below(allowed);
        if below[0] == 0.0 {
            return false;
        }
        let mut node = 0;
        for &parameter in &self.order {
            let mut rest = rng.random::<f64>() * below[node as usize];
            let mut chosen = None;
            for run in self.runs_of(node) {
                let (first, count) = allowed_in(run, allowed[parameter]);
                let each = below[run.child as usize];
                if count == 0 || each == 0.0 {
                    continue;
                }
                // Keep the last run: rounding may leave a rest behind it.
                chosen = Some((run, first + ((rest / each) as usize).min(count - 1)));
                rest -= each * count as f64;
                if rest < 0.0 {
                    break;
                }
            }
            let Some((run, nth)) = chosen else { return false };
            indices[parameter] = allowed[parameter].get(nth).copied().unwrap_or(nth as u32);
            node = run.child;
        }
        true
    }

    /// Returns the number of allowed paths below each node that can be reached from the root.
    fn allowed_below(&self, allowed: &[&[u32]]) -> Vec<f64> {
        let end = self.nodes();
        let mut level_of = vec![usize::MAX; end + 1];
        level_of[0] = 0;
        for node in 0..end {
            let level = level_of[node];
            if level == usize::MAX {
                continue;
            }
            let allowed = allowed[self.order[level]];
            for run in self.runs_of(node as u32).iter().filter(|run| allowed_in(run, allowed).1 > 0) {
                level_of[run.child as usize] = level + 1;
            }
        }
        let mut below = vec![0.0; end + 1];
        below[end] = 1.0;
        for node in (0..end).rev().filter(|&node| level_of[node] != usize::MAX) {
            let allowed = allowed[self.order[level_of[node]]];
            let runs = self.runs_of(node as u32).iter();
            below[node] = runs.map(|run| allowed_in(run, allowed).1 as f64 * below[run.child as usize]).sum();
        }
        below
    }
}

/// Returns the position in `allowed` of the first value that `run` holds, and the number of such
/// values. If `allowed` is empty, positions are the values.
fn allowed_in(run: &Run, allowed: &[u32]) -> (usize, usize) {
    if allowed.is_empty() {
        return (run.first as usize, (run.last - run.first) as usize + 1);
    }
    let first = allowed.partition_point(|&value| value < run.first);
    (first, allowed[first..].partition_point(|&value| value <= run.last))
}
