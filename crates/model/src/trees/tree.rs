//! A regression tree: reading its nodes and walking it.

/// Maximum depth. Deeper trees are not better, and the recursion must end.
pub(super) const DEEPEST: usize = 64;

/// A question about one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// Asks if an ordinal number is at most this finite number.
    AtMost(f64),
    /// Asks if a level is one of these, given in ascending order.
    OneOf(Vec<usize>),
}

/// A node of a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// An inner node.
    Split {
        /// The column, by its position in the table.
        column: usize,
        /// The question.
        test: Test,
        /// True if a missing value goes with the yes.
        missing: bool,
        /// The node for a yes. The next one is for a no.
        yes: usize,
        /// The decrease of the sum of squares of the fitted rows by this split.
        gain: f64,
        /// The number of fitted rows.
        rows: usize,
    },
    /// A leaf.
    Leaf {
        /// The prediction.
        value: f64,
        /// The number of fitted rows.
        rows: usize,
    },
}

/// A binary tree. The first node is the root, and every child comes after its parent.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    pub(crate) nodes: Vec<Node>,
}

impl Test {
    /// Returns the answer for a value of the column, or `None` if it is missing.
    pub(super) fn answer(&self, value: f64) -> Option<bool> {
        if value.is_nan() {
            return None;
        }
        Some(match self {
            Self::AtMost(threshold) => value <= *threshold,
            Self::OneOf(levels) => levels.binary_search(&(value as usize)).is_ok(),
        })
    }
}

impl Tree {
    /// Returns the nodes, the root first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the number of splits on the longest way from the root to a leaf.
    pub fn depth(&self) -> usize {
        // Children come after their parents. Backwards, both are known before their parent.
        let mut depths = vec![0; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate().rev() {
            if let Node::Split { yes, .. } = node {
                depths[index] = 1 + depths[*yes].max(depths[yes + 1]);
            }
        }
        depths[0]
    }

    /// Returns the value of the leaf that a row reaches. `cell(c)` is its number in column `c`.
    pub(crate) fn value(&self, cell: impl Fn(usize) -> f64) -> f64 {
        let mut at = 0;
        loop {
            match &self.nodes[at] {
                Node::Leaf { value, .. } => return *value,
                Node::Split { column, test, missing, yes, .. } => {
                    let answer = test.answer(cell(*column)).unwrap_or(*missing);
                    at = yes + usize::from(!answer);
                }
            }
        }
    }

    /// Replaces the value of every leaf.
    #[cfg(feature = "fit")]
    pub(crate) fn map_values(&mut self, map: impl Fn(f64) -> f64) {
        for node in &mut self.nodes {
            if let Node::Leaf { value, .. } = node {
                *value = map(*value);
            }
        }
    }
}
