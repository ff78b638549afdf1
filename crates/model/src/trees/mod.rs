//! Regression trees, alone, boosted and averaged.

mod bins;
mod boosted;
mod document;
mod error;
mod flat;
mod forest;
mod grow;
mod random_growth;
mod randomised;
mod regressor;
mod single;
mod split;
mod tree;

pub use boosted::{BoostedSettings, BoostedTrees};
pub use error::{FitError, ModelError};
pub use randomised::{RandomisedSettings, RandomisedTrees};
pub use regressor::Regressor;
pub use single::{RegressionTree, TreeSettings};
pub use tree::{Node, Test, Tree};
