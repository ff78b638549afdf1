//! Bottom-up reduction: merges equal nodes, removes dead ends and counts the rest.

use super::table::{Table, hash};
use super::{Diagram, Layer, Run};

/// The number of a node that no configuration passes.
const DEAD: u32 = u32::MAX;

impl Diagram {
    /// Reduces `layers`, one per parameter of `order`. Node 0 of the first layer is the root; all
    /// children of the last layer are the end. Returns `None` if there is no configuration. Costs
    /// time about linear in the number of runs.
    ///
    /// If a level has a single node, the parameters above and below it are independent. Each part
    /// becomes a diagram of its own.
    pub(crate) fn reduce(order: &[usize], layers: &[Layer]) -> Option<Vec<Diagram>> {
        let mut kept = Kept { ends: vec![0], runs: Vec::new() };
        // Children of the last layer are the end: the kept node 0 without runs.
        let mut children = vec![0_u32];
        for layer in layers.iter().rev() {
            children = kept.layer(layer, &children);
        }
        let root = children.first().copied().filter(|&root| root != DEAD)?;
        Some(number(order, &kept, root))
    }
}

/// Numbers the kept nodes from `root` level by level. Each diagram's numbers start from 0.
fn number(order: &[usize], kept: &Kept, root: u32) -> Vec<Diagram> {
    let mut numbers = vec![u32::MAX; kept.ends.len()];
    let mut queue = vec![root];
    numbers[root as usize] = 0;
    let mut diagrams = Vec::new();
    let (mut starts, mut runs) = (vec![0], Vec::new());
    let (mut first_level, mut first_node, mut begin) = (0, 0, 0);
    for level in 0..order.len() {
        let end = queue.len();
        for at in begin..end {
            for run in kept.runs_of(queue[at]) {
                let number = &mut numbers[run.child as usize];
                if *number == u32::MAX {
                    *number = queue.len() as u32;
                    queue.push(run.child);
                }
                runs.push(Run { child: *number - first_node, ..*run });
            }
            starts.push(runs.len() as u32);
        }
        begin = end;
        if queue.len() - end == 1 {
            let levels = order[first_level..=level].to_vec();
            let starts = std::mem::replace(&mut starts, vec![0]);
            diagrams.push(Diagram::counted(levels, starts, std::mem::take(&mut runs)));
            (first_level, first_node) = (level + 1, end as u32);
        }
    }
    diagrams
}

/// The nodes kept so far. Node 0 is the end.
struct Kept {
    ends: Vec<u32>,
    runs: Vec<Run>,
}

impl Kept {
    fn runs_of(&self, node: u32) -> &[Run] {
        let start = node.checked_sub(1).map_or(0, |before| self.ends[before as usize]) as usize;
        &self.runs[start..self.ends[node as usize] as usize]
    }

    /// Keeps one of each set of equal nodes of `layer`. Returns for each node the number of the
    /// kept one, or [`DEAD`].
    fn layer(&mut self, layer: &Layer, children: &[u32]) -> Vec<u32> {
        let mut table = Table::new();
        let before = self.ends.len() as u32;
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
            if runs.is_empty() {
                numbers.push(DEAD);
                continue;
            }
            let parts =
                runs.iter().flat_map(|run| [u64::from(run.first) << 32 | u64::from(run.last), run.child.into()]);
            let (number, is_new) = table.number(hash(parts), |number| self.runs_of(before + number) == runs);
            if is_new {
                self.runs.extend_from_slice(&runs);
                self.ends.push(self.runs.len() as u32);
            }
            numbers.push(before + number);
        }
        numbers
    }
}
