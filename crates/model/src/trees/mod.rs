//! Regression trees: single, boosted and averaged.

#[cfg(feature = "fit")]
mod best_cut;
#[cfg(feature = "fit")]
mod bins;
mod boosted;
#[cfg(feature = "fit")]
mod boosting;
mod coded;
#[cfg(feature = "fit")]
mod direction;
mod document;
#[cfg(feature = "fit")]
mod effects;
mod error;
#[cfg(feature = "fit")]
mod fit_error;
mod flat;
mod forest;
#[cfg(feature = "fit")]
mod grow;
#[cfg(feature = "fit")]
mod random_growth;
#[cfg(feature = "fit")]
mod randomised;
mod regressor;
mod shortlist;
#[cfg(feature = "fit")]
mod single;
#[cfg(feature = "fit")]
mod split;
mod tree;

pub use boosted::BoostedTrees;
#[cfg(feature = "fit")]
pub use boosting::{BoostedSettings, Loss};
#[cfg(feature = "fit")]
pub use direction::Direction;
#[cfg(feature = "fit")]
pub use effects::{partial_dependence, permutation_importance};
pub use error::ModelError;
#[cfg(feature = "fit")]
pub use fit_error::FitError;
#[cfg(feature = "fit")]
pub use random_growth::Cuts;
#[cfg(feature = "fit")]
pub use randomised::{RandomisedSettings, RandomisedTrees};
pub use regressor::Regressor;
pub use shortlist::Shortlist;
#[cfg(feature = "fit")]
pub use single::{RegressionTree, TreeSettings};
pub use tree::{Node, Test, Tree};
