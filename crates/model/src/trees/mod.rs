//! Regression trees, alone, boosted and averaged.

mod bins;
mod boosted;
mod coded;
mod document;
mod effects;
mod error;
mod flat;
mod forest;
mod grow;
mod random_growth;
mod randomised;
mod regressor;
mod shortlist;
mod single;
mod split;
mod tree;

pub use boosted::{BoostedSettings, BoostedTrees, Direction, Loss};
pub use effects::{partial_dependence, permutation_importance};
pub use error::{FitError, ModelError};
pub use randomised::{RandomisedSettings, RandomisedTrees};
pub use regressor::Regressor;
pub use shortlist::Shortlist;
pub use single::{RegressionTree, TreeSettings};
pub use tree::{Node, Test, Tree};
