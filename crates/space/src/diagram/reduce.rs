//! Bottom-up reduction: equal nodes become one, dead ends go, the rest is counted.

use std::collections::HashMap;

use super::{Diagram, Layer, Run};

/// A node that no configuration passes.
const DEAD: u32 = u32::MAX;

impl Diagram {
    /// Reduces `layers`, one per parameter of `order`; node 0 of the first is the root, and children of the last all
    /// are the end. `None` when there is no configuration. About linear in the number of runs.
    pub(crate) fn reduce(order: Vec<usize>, layers: &[Layer]) -> Option<Diagram> {
        let mut kept = Kept { ends: vec![0], runs: Vec::new() };
        // Children of the last layer: the end, which is the kept node 0 without runs.
        let mut children = vec![0_u32];
        for layer in layers.iter().rev() {
            children = kept.layer(layer, &children);
        }
        let root = children.first().copied().filter(|&root| root != DEAD)?;
        Some(Diagram::number(order, &kept, root))
    }

    /// Numbers the kept nodes from `root` level by level and counts configurations.
    fn number(order: Vec<usize>, kept: &Kept, root: u32) -> Diagram {
        let mut numbers = vec![u32::MAX; kept.ends.len()];
        let mut queue = vec![root];
        numbers[root as usize] = 0;
        let mut starts = vec![0];
        let mut runs = Vec::with_capacity(kept.runs.len());
        let mut next = 0;
        while let Some(&node) = queue.get(next).filter(|&&node| node != 0) {
            next += 1;
            for run in kept.runs_of(node) {
                let number = &mut numbers[run.child as usize];
                if *number == u32::MAX {
                    *number = queue.len() as u32;
                    queue.push(run.child);
                }
                runs.push(Run { child: *number, ..*run });
            }
            starts.push(runs.len() as u32);
        }
        Diagram::counted(order, starts, runs)
    }
}

/// Nodes kept so far; node 0 is the end.
struct Kept {
    ends: Vec<u32>,
    runs: Vec<Run>,
}

impl Kept {
    fn runs_of(&self, node: u32) -> &[Run] {
        let start = node.checked_sub(1).map_or(0, |before| self.ends[before as usize]) as usize;
        &self.runs[start..self.ends[node as usize] as usize]
    }

    /// Keeps one of each set of equal nodes of `layer`; gives for each node the one kept, or [`DEAD`].
    fn layer(&mut self, layer: &Layer, children: &[u32]) -> Vec<u32> {
        let mut known: HashMap<Vec<Run>, u32> = HashMap::with_capacity(layer.nodes());
        let mut numbers = Vec::with_capacity(layer.nodes());
        let mut runs: Vec<Run> = Vec::new();
        for node in 0..layer.nodes() {
            runs.clear();
            for run in layer.runs_of(node) {
                let child = children[run.child as usize];
                match runs.last_mut() {
                    _ if child == DEAD => {}
                    Some(last) if last.child == child && last.last + 1 == run.first => last.last = run.last,
                    _ => runs.push(Run { child, ..*run }),
                }
            }
            numbers.push(match known.get(&runs) {
                _ if runs.is_empty() => DEAD,
                Some(&number) => number,
                None => {
                    self.runs.extend_from_slice(&runs);
                    self.ends.push(self.runs.len() as u32);
                    let number = self.ends.len() as u32 - 1;
                    known.insert(runs.clone(), number);
                    number
                }
            });
        }
        numbers
    }
}
