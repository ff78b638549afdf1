//! The path nearest to a point.

use super::{Diagram, Run};

impl Diagram {
    /// Writes the value indices of the configuration nearest to `point`. The distance is the sum
    /// over parameters of `weights` times the difference between value index and `point`. Among
    /// equally near configurations, the smallest rank wins. A parameter whose coordinate is not a
    /// number costs nothing.
    ///
    /// Children come after their parents, so one pass from the end gives every node's least cost.
    /// Costs O(arcs).
    pub(crate) fn nearest(&self, point: &[f64], weights: &[f64], indices: &mut [u32]) {
        let mut least = vec![0.0; self.nodes() + 1];
        let parameters = self.parameters_of_nodes();
        for node in (0..self.nodes()).rev() {
            let parameter = parameters[node];
            let cost = |run: &Run| closest(run, point[parameter], weights[parameter]).1 + least[run.child as usize];
            least[node] = self.runs_of(node as u32).iter().map(cost).fold(f64::INFINITY, f64::min);
        }
        let mut node = 0;
        for &parameter in &self.order {
            let target = least[node as usize];
            let step = |run: &Run| {
                let (value, cost) = closest(run, point[parameter], weights[parameter]);
                (cost + least[run.child as usize] == target).then_some((value, run.child))
            };
            let (value, child) =
                self.runs_of(node).iter().find_map(step).expect("the least cost is that of one of the runs");
            indices[parameter] = value;
            node = child;
        }
    }
}

/// Returns the value of `run` closest to `at`, the smaller one of two, and its cost.
fn closest(run: &Run, at: f64, weight: f64) -> (u32, f64) {
    if at.is_nan() {
        return (run.first, 0.0);
    }
    let below = (at - 0.5).ceil();
    let value = (below.max(0.0) as u32).clamp(run.first, run.last);
    (value, weight * (f64::from(value) - at).abs())
}
