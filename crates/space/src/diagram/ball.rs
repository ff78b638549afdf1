//! Paths by the number of values in which they differ from one path.

use super::{Diagram, Run};
use rand::{Rng, RngExt as _};

/// For one path of a diagram and each node near it, the number of paths below the node that differ
/// from that path in exactly 0, 1, ... values.
///
/// Counts are floats, so chances are equal up to their rounding.
#[derive(Clone, Debug)]
pub(crate) struct Differing {
    /// The number of differences that are counted, plus one for none.
    width: usize,
    /// `width` counts for each node, the end included. Nodes that no path with few enough
    /// differences reaches have zeros.
    below: Vec<f64>,
}

impl Differing {
    /// Returns the number of paths that differ in exactly 0, 1, ... values.
    pub(crate) fn counts(&self) -> &[f64] {
        self.of(0)
    }

    fn of(&self, node: usize) -> &[f64] {
        &self.below[node * self.width..][..self.width]
    }
}

impl Diagram {
    /// Counts the paths that differ from the valid path `own` in at most `most` values. Costs time
    /// linear in the number of arcs times `most`.
    pub(crate) fn differing(&self, own: &[u32], most: usize) -> Differing {
        let end = self.nodes();
        let width = most + 1;
        let levels = self.levels_within(own, most);
        let mut below = vec![0.0; (end + 1) * width];
        below[end * width] = 1.0;
        for node in (0..end).rev() {
            let Some(level) = levels[node] else { continue };
            for run in self.runs_of(node as u32) {
                let (same, other) = split(run, own[self.order[level]]);
                let child = run.child as usize * width;
                for differences in 0..width {
                    let changed = if differences == 0 { 0.0 } else { other * below[child + differences - 1] };
                    below[node * width + differences] += same * below[child + differences] + changed;
                }
            }
        }
        Differing { width, below }
    }

    /// Writes the value indices of a path drawn uniformly among those that differ from `own` in
    /// exactly `differences` values. There must be such a path among the counted ones.
    pub(crate) fn sample_differing<R: Rng + ?Sized>(
        &self,
        counted: &Differing,
        own: &[u32],
        mut differences: usize,
        rng: &mut R,
        indices: &mut [u32],
    ) {
        let mut node = 0;
        for &parameter in &self.order {
            let own = own[parameter];
            let mut rest = rng.random::<f64>() * counted.of(node as usize)[differences];
            let mut chosen = None;
            for run in self.runs_of(node) {
                let (same, other) = split(run, own);
                let below = counted.of(run.child as usize);
                let kept = same * below[differences];
                let each = if differences == 0 { 0.0 } else { below[differences - 1] };
                // The last possible choice stays, because rounding may leave a rest behind it.
                if kept > 0.0 {
                    chosen = Some((own, run.child));
                    if rest < kept {
                        break;
                    }
                    rest -= kept;
                }
                if other * each > 0.0 {
                    let nth = (rest / each).min(other - 1.0) as u32;
                    let at = run.first + nth + u32::from(same > 0.0 && run.first + nth >= own);
                    chosen = Some((at, run.child));
                    if rest < other * each {
                        break;
                    }
                    rest -= other * each;
                }
            }
            let Some((value, child)) = chosen else { return };
            differences -= usize::from(value != own);
            indices[parameter] = value;
            node = child;
        }
    }

    /// Returns the level of each node that a path with at most `most` differences from `own`
    /// reaches.
    fn levels_within(&self, own: &[u32], most: usize) -> Vec<Option<usize>> {
        let end = self.nodes();
        let mut levels = vec![None; end + 1];
        let mut least = vec![usize::MAX; end + 1];
        levels[0] = Some(0);
        least[0] = 0;
        for node in 0..end {
            let Some(level) = levels[node] else { continue };
            for run in self.runs_of(node as u32) {
                let (same, _) = split(run, own[self.order[level]]);
                let differences = least[node] + usize::from(same == 0.0);
                if differences <= most {
                    let child = run.child as usize;
                    levels[child] = Some(level + 1);
                    least[child] = least[child].min(differences);
                }
            }
        }
        levels
    }
}

/// Returns the number of values of `run` that are `own` (1 or 0), and of those that are not.
fn split(run: &Run, own: u32) -> (f64, f64) {
    let values = f64::from(run.last - run.first + 1);
    let same = if (run.first..=run.last).contains(&own) { 1.0 } else { 0.0 };
    (same, values - same)
}
