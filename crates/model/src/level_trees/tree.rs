//! A tree over levels, and the levels as it sees them.

use crate::gaussian_process::Rows;

/// Maximum number of levels that a tree tells apart in a feature. Neighbouring ones are joined beyond.
const MOST_LEVELS: usize = 64;

/// Maximum number of questions on the way to a leaf. Trees of distinct rows end far above it.
pub(super) const DEEPEST: usize = 64;

/// A tree. The root is the first node.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LevelTree(pub(super) Vec<LevelNode>);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LevelNode {
    Leaf(f64),
    /// Rows of at most this level of the feature go to the node `yes`, the others to the next one.
    Split {
        feature: usize,
        level: u8,
        yes: usize,
    },
}

/// The levels of features as trees see them: at most [`MOST_LEVELS`] each.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LevelScale(pub(super) Vec<usize>);

impl LevelScale {
    /// Returns the column of one feature.
    fn column(&self, rows: &Rows, feature: usize) -> Vec<u8> {
        let levels = self.0[feature];
        let joined = |level: &u16| {
            let level = usize::from(*level);
            if levels > MOST_LEVELS { (level * MOST_LEVELS / levels) as u8 } else { level as u8 }
        };
        rows.column(feature).iter().map(joined).collect()
    }

    /// Returns the columns of all features.
    pub(super) fn columns(&self, rows: &Rows) -> Vec<Vec<u8>> {
        (0..self.0.len()).map(|feature| self.column(rows, feature)).collect()
    }
}
