//! Boosted regression trees: saving, reading and predicting.

use super::document::TreesDocument;
use super::error::ModelError;
use super::forest::Forest;
use super::regressor::Regressor;
use super::tree::Tree;
use crate::table::{Column, Table};
use serde::{Deserialize, Serialize};

/// Gradient boosting with squared loss: each tree is fitted to the residuals of the trees before it
/// (Friedman, Greedy function approximation: a gradient boosting machine, 2001, algorithm 2;
/// subsampling: Stochastic gradient boosting, 2002).
///
/// Bergstra, Pinto and Cox use it for timing models (Machine learning for predictive auto-tuning
/// with boosted regression trees, 2012, section 2.3). Their depth, leaves and rounds are the
/// defaults.
///
/// Splits are found on histograms of at most 255 bins. Thresholds, levels and missing values are
/// treated as in [`RegressionTree`](crate::RegressionTree). Only the subsamples draw from the
/// generator, and the number of threads changes no digit.
///
/// - [`Loss::Quantile`](crate::Loss::Quantile) predicts a quantile instead of the mean. Two such
///   models bound the predictions of a third.
/// - [`monotone`](crate::BoostedSettings::monotone) makes predictions rise or fall with a column.
///
/// ```
/// use rand::SeedableRng;
/// use tunesmith_model::{BoostedSettings, BoostedTrees, Column, Regressor, Table};
///
/// let rows: Vec<[f64; 2]> = (0..400).map(|i| [f64::from(i % 20), f64::from(i / 20)]).collect();
/// let targets: Vec<f64> = rows.iter().map(|[x, y]| x * y).collect();
/// let table = Table::from_rows(vec![Column::ordinal("X"), Column::ordinal("Y")], rows);
/// let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
///
/// let model = BoostedTrees::fit(&table, &targets, &BoostedSettings::default(), &mut rng)?;
/// assert!((model.predict(&[10.0, 10.0]) - 100.0).abs() < 5.0);
/// assert_eq!(BoostedTrees::from_json(&model.to_json())?, model);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "TreesDocument", try_from = "TreesDocument")]
pub struct BoostedTrees {
    pub(super) base: f64,
    pub(super) forest: Forest,
}

const KIND: &str = "boosted_trees";

impl BoostedTrees {
    /// Returns the trees, in the order of the rounds. Their sum is the deviation from
    /// [`base`](Self::base).
    pub fn trees(&self) -> &[Tree] {
        self.forest.trees()
    }

    /// Returns the model after `rounds` rounds. It equals a fit with `rounds` rounds and the same
    /// seed. Returns the whole model if it has no more rounds. Costs a copy of its trees.
    #[must_use]
    pub fn first(&self, rounds: usize) -> Self {
        let trees = self.trees().iter().take(rounds).cloned().collect();
        Self { base: self.base, forest: Forest::new(self.forest.columns().to_vec(), trees) }
    }

    /// Returns the mean, or the quantile, of the targets. The trees predict the deviation from it.
    pub fn base(&self) -> f64 {
        self.base
    }

    /// Returns the model as JSON with a line for each node.
    pub fn to_json(&self) -> String {
        TreesDocument::from(self.clone()).text()
    }

    /// Reads the model that [`to_json`](Self::to_json) wrote, bit for bit.
    ///
    /// # Errors
    ///
    /// Fails if the text is damaged, is something else, or has a later version.
    pub fn from_json(text: &str) -> Result<Self, ModelError> {
        TreesDocument::parse(KIND, text)?.try_into()
    }
}

impl From<BoostedTrees> for TreesDocument {
    fn from(model: BoostedTrees) -> Self {
        Self::new(KIND, model.base, &model.forest)
    }
}

impl TryFrom<TreesDocument> for BoostedTrees {
    type Error = ModelError;

    fn try_from(document: TreesDocument) -> Result<Self, ModelError> {
        let (base, forest) = document.into_forest(KIND)?;
        Ok(Self { base, forest })
    }
}

impl Regressor for BoostedTrees {
    fn columns(&self) -> &[Column] {
        self.forest.columns()
    }

    fn predict(&self, row: &[f64]) -> f64 {
        self.base + self.forest.each(row).sum::<f64>()
    }

    fn predict_all(&self, table: &Table) -> Vec<f64> {
        let mut sums = self.forest.flat(table).sums(table);
        sums.iter_mut().for_each(|sum| *sum += self.base);
        sums
    }

    fn importance(&self) -> Vec<f64> {
        self.forest.importance()
    }
}
