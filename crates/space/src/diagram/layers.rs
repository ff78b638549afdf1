//! The layers that construction passes to reduction.

/// Consecutive values, by index, that lead to the same child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Run {
    /// The index of the first value.
    pub(crate) first: u32,
    /// The index of the last value.
    pub(crate) last: u32,
    /// The number of the child: within the next layer before reduction, within the diagram after
    /// it.
    pub(crate) child: u32,
}

/// The nodes of one level before reduction.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    /// The end of the runs of each finished node.
    ends: Vec<u32>,
    runs: Vec<Run>,
}

impl Layer {
    /// Adds the value `value` with the child `child` to the node under construction. Values must
    /// ascend.
    pub(crate) fn push(&mut self, value: u32, child: u32) {
        let start = self.ends.last().copied().unwrap_or(0) as usize;
        match self.runs[start..].last_mut() {
            Some(run) if run.child == child && run.last + 1 == value => run.last = value,
            _ => self.runs.push(Run { first: value, last: value, child }),
        }
    }

    /// Adds the values that are `alive`, all with the child `child`, to the node under
    /// construction.
    pub(crate) fn push_all(&mut self, values: &[u32], alive: &[bool], child: u32) {
        let mut at = 0;
        for part in alive.chunk_by(|a, b| a == b) {
            let values = &values[at..at + part.len()];
            at += part.len();
            let (first, last) = (values[0], values[values.len() - 1]);
            if !part[0] {
                continue;
            }
            if (last - first) as usize == values.len() - 1 {
                self.push(first, child);
                self.runs.last_mut().into_iter().for_each(|run| run.last = last);
            } else {
                values.iter().for_each(|&value| self.push(value, child));
            }
        }
    }

    /// Finishes the node under construction, which may have no values.
    pub(crate) fn finish_node(&mut self) {
        self.ends.push(self.runs.len() as u32);
    }

    /// Returns the number of finished nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.ends.len()
    }

    /// Returns the runs of all nodes.
    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns the runs of the node with index `node`.
    pub(crate) fn runs_of(&self, node: usize) -> &[Run] {
        let start = node.checked_sub(1).map_or(0, |before| self.ends[before]) as usize;
        &self.runs[start..self.ends[node] as usize]
    }
}
