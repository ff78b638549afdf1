//! The regression tree.

use super::bins::{Bins, MOST_BINS};
use super::document::TreesDocument;
use super::error::ModelError;
use super::fit_error::{FitError, check, check_data};
use super::forest::Forest;
use super::grow::grow;
use super::regressor::Regressor;
use super::split::Limits;
use super::tree::{DEEPEST, Tree};
use crate::table::{Column, Table};
use serde::{Deserialize, Serialize};

/// A regression tree (Breiman, Friedman, Olshen and Stone, Classification and regression trees,
/// 1984, chapter 8). Each node splits its rows by the question about one column that lowers the sum
/// of squares most. A leaf predicts the mean of its rows.
///
/// - A threshold lies midway between two values that occur in the node. A column with more than 255
///   distinct values is first cut into 255 bins of about equally many rows. Thresholds then lie
///   between bins.
/// - The best subset of levels is found for a categorical column. Levels that do not occur in a
///   node go with missing values.
/// - Missing values go where they lower the squares most. If none was missing in the fit, they go
///   to the larger side.
///
/// ```
/// use tunesmith_model::{Column, Regressor, RegressionTree, Table, TreeSettings};
///
/// let block = Table::from_rows(vec![Column::ordinal("BLOCK")], (1..=20).map(|block| [f64::from(block)]));
/// let times: Vec<f64> = (1..=20).map(|block| if block <= 12 { 3.0 } else { 1.0 }).collect();
/// let tree = RegressionTree::fit(&block, &times, &TreeSettings::default())?;
/// assert_eq!((tree.predict(&[12.4]), tree.predict(&[12.6])), (3.0, 1.0));
/// let same = RegressionTree::from_json(&tree.to_json())?;
/// assert_eq!(same, tree);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "TreesDocument", try_from = "TreesDocument")]
pub struct RegressionTree {
    forest: Forest,
}

/// The settings for growing a [`RegressionTree`]. Write `TreeSettings { depth: 4,
/// ..TreeSettings::default() }`.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeSettings {
    /// Maximum number of questions on the way to a leaf, 0 to 64. Default: 30, as in rpart.
    pub depth: usize,
    /// Minimum number of rows of a leaf, at least 1. Default: 5, as Breiman et al. for regression.
    pub min_leaf: usize,
    /// Minimum number of rows of a node that is split, at least 2. Default: 2, so that only the
    /// leaves decide.
    pub min_parent: usize,
    /// Minimum gain of a split, as a share of the squares about the mean, from 0 to 1. Default: 0,
    /// any gain.
    pub least_gain: f64,
}

impl Default for TreeSettings {
    fn default() -> Self {
        Self { depth: 30, min_leaf: 5, min_parent: 2, least_gain: 0.0 }
    }
}

/// The share of all squares below which a gain is rounding.
pub(super) const ROUNDING: f64 = 1e-12;

const KIND: &str = "regression_tree";

impl RegressionTree {
    /// Fits a tree to the rows of `table` with one target each. Costs a look at each row and column
    /// for every level of the tree.
    ///
    /// # Errors
    ///
    /// Fails if there are no rows or not one target for each, a target is not finite, or a setting
    /// is out of range.
    pub fn fit(table: &Table, targets: &[f64], settings: &TreeSettings) -> Result<Self, FitError> {
        settings.check()?;
        check_data(table.len(), targets)?;
        let mean = targets.iter().sum::<f64>() / targets.len() as f64;
        // About the mean, so that sums of squares lose no digits to it.
        let centred: Vec<f64> = targets.iter().map(|target| target - mean).collect();
        let squares: f64 = centred.iter().map(|target| target * target).sum();
        let limits = Limits {
            depth: settings.depth,
            min_leaf: settings.min_leaf,
            min_parent: settings.min_parent,
            shrinkage: 0.0,
            least_gain: squares * settings.least_gain.max(ROUNDING),
        };
        let rows = (0..table.len() as u32).collect();
        let mut tree = grow(&Bins::new(table, MOST_BINS), &centred, rows, limits).tree;
        tree.map_values(|value| mean + value);
        Ok(Self { forest: Forest::new(table.columns().to_vec(), vec![tree]) })
    }

    /// Returns the tree: its nodes with their questions, values and numbers of rows.
    pub fn tree(&self) -> &Tree {
        &self.forest.trees()[0]
    }

    /// Returns the tree as JSON with a line for each node.
    pub fn to_json(&self) -> String {
        TreesDocument::from(self.clone()).text()
    }

    /// Reads the tree that [`to_json`](Self::to_json) wrote, bit for bit.
    ///
    /// # Errors
    ///
    /// Fails if the text is damaged, is something else, or has a later version.
    pub fn from_json(text: &str) -> Result<Self, ModelError> {
        TreesDocument::parse(KIND, text)?.try_into()
    }
}

impl TreeSettings {
    fn check(&self) -> Result<(), FitError> {
        check("depth", self.depth as f64, self.depth <= DEEPEST, "a whole number from 0 to 64")?;
        check("min_leaf", self.min_leaf as f64, self.min_leaf >= 1, "a whole number from 1")?;
        check("min_parent", self.min_parent as f64, self.min_parent >= 2, "a whole number from 2")?;
        check("least_gain", self.least_gain, (0.0..=1.0).contains(&self.least_gain), "a number from 0 to 1")
    }
}

impl From<RegressionTree> for TreesDocument {
    fn from(model: RegressionTree) -> Self {
        Self::new(KIND, 0.0, &model.forest)
    }
}

impl TryFrom<TreesDocument> for RegressionTree {
    type Error = ModelError;

    fn try_from(document: TreesDocument) -> Result<Self, ModelError> {
        let (_, forest) = document.into_forest(KIND)?;
        if forest.trees().len() > 1 {
            return Err(ModelError::Damaged { what: "a regression tree has one tree".to_string() });
        }
        Ok(Self { forest })
    }
}

impl Regressor for RegressionTree {
    fn columns(&self) -> &[Column] {
        self.forest.columns()
    }

    fn predict(&self, row: &[f64]) -> f64 {
        self.forest.each(row).sum()
    }

    fn predict_all(&self, table: &Table) -> Vec<f64> {
        self.forest.flat(table).sums(table)
    }

    fn importance(&self) -> Vec<f64> {
        self.forest.importance()
    }
}
