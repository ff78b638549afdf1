//! An ensemble of extremely randomised trees.

use super::document::TreesDocument;
use super::error::ModelError;
use super::fit_error::{FitError, check, check_data};
use super::forest::Forest;
use super::random_growth::{Cuts, RandomGrowth};
use super::regressor::Regressor;
use super::tree::DEEPEST;
use super::tree::Tree;
use crate::Prediction;
use crate::table::{Column, Table};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// Extremely randomised trees (Geurts, Ernst and Wehenkel, Extremely randomized trees, Machine
/// Learning 63, 2006, table 1). Each node draws a threshold for each of some random columns and
/// takes the best of them. Every tree is fitted to all rows. The prediction is the mean of the
/// trees, and their spread is its uncertainty.
///
/// A categorical column draws a random subset of the levels that occur. Missing values go to a
/// random side.
///
/// With [`Cuts::Best`], `bootstrap` and a part of the columns as `candidates`, the trees are those of
/// a random forest (Breiman, Random forests, Machine Learning 45, 2001).
///
/// ```
/// use rand::SeedableRng;
/// use tunesmith_model::{Column, RandomisedSettings, RandomisedTrees, Regressor, Table};
///
/// let table = Table::from_rows(vec![Column::ordinal("X")], (0..50).map(|x| [f64::from(x)]));
/// let targets: Vec<f64> = (0..50).map(|x| f64::from(x * x)).collect();
/// let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
///
/// let model = RandomisedTrees::fit(&table, &targets, &RandomisedSettings::default(), &mut rng)?;
/// assert!((model.predict(&[30.0]) - 900.0).abs() < 90.0);
/// assert!(model.spread(&table)[30].deviation < 300.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "TreesDocument", try_from = "TreesDocument")]
pub struct RandomisedTrees {
    forest: Forest,
}

/// The settings for growing [`RandomisedTrees`]. Write `RandomisedSettings { trees: 10,
/// ..RandomisedSettings::default() }`.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomisedSettings {
    /// The number of trees, at least 1. Default: 100 (the paper's M).
    pub trees: usize,
    /// Number of columns for which each node draws a split, among those not constant there, at
    /// least 1. Default: `None`, all columns, the paper's K for regression.
    pub candidates: Option<usize>,
    /// Minimum number of rows of a node that is split, at least 2. Default: 5, the paper's `n_min`
    /// for regression.
    pub min_split: usize,
    /// Minimum number of rows of a leaf, at least 1. Default: 1.
    pub min_leaf: usize,
    /// Maximum number of questions on the way to a leaf, 1 to 64. Default: 64.
    pub depth: usize,
    /// The way in which a node cuts a column in two. Default: [`Cuts::Random`], the paper's.
    pub cuts: Cuts,
    /// True to fit each tree to as many rows as there are, drawn with replacement. Default: false,
    /// the paper's.
    pub bootstrap: bool,
}

impl Default for RandomisedSettings {
    fn default() -> Self {
        Self {
            trees: 100,
            candidates: None,
            min_split: 5,
            min_leaf: 1,
            depth: DEEPEST,
            cuts: Cuts::Random,
            bootstrap: false,
        }
    }
}

const KIND: &str = "randomised_trees";

impl RandomisedTrees {
    /// Fits trees to the rows of `table` with one target each. Costs, for each tree, a look at each
    /// row and candidate for every level.
    ///
    /// Each tree has its own generator, seeded from `rng`. `rng` gives as many numbers as there are
    /// trees.
    ///
    /// # Errors
    ///
    /// Fails if there are no rows or not one target for each, a target is not finite, or a setting
    /// is out of range.
    pub fn fit(
        table: &Table,
        targets: &[f64],
        settings: &RandomisedSettings,
        rng: &mut impl rand::Rng,
    ) -> Result<Self, FitError> {
        settings.check()?;
        check_data(table.len(), targets)?;
        let mean = targets.iter().sum::<f64>() / targets.len() as f64;
        let centred: Vec<f64> = targets.iter().map(|target| target - mean).collect();
        let growth = RandomGrowth {
            table,
            targets: &centred,
            candidates: settings.candidates.unwrap_or(usize::MAX),
            min_split: settings.min_split,
            min_leaf: settings.min_leaf,
            depth: settings.depth,
            cuts: settings.cuts,
        };
        let tree = |_| {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(rng.random());
            let all = 0..table.len() as u32;
            let rows = if settings.bootstrap {
                all.clone().map(|_| rng.random_range(all.clone())).collect()
            } else {
                all.collect()
            };
            let mut tree = growth.grow(rows, &mut rng);
            tree.map_values(|value| mean + value);
            tree
        };
        let trees = (0..settings.trees).map(tree).collect();
        Ok(Self { forest: Forest::new(table.columns().to_vec(), trees) })
    }

    /// Returns the trees.
    pub fn trees(&self) -> &[Tree] {
        self.forest.trees()
    }

    /// Returns, for each row, the mean of the trees and the standard deviation among them.
    ///
    /// # Panics
    ///
    /// Panics if `table` has other columns than those of the fit.
    pub fn spread(&self, table: &Table) -> Vec<Prediction> {
        let count = self.forest.trees().len() as f64;
        let prediction = |(sum, squares): (f64, f64)| {
            let mean = sum / count;
            // Rounding may leave a negative variance where all agree.
            Prediction { mean, deviation: (squares / count - mean * mean).max(0.0).sqrt() }
        };
        self.forest.flat(table).squares(table).into_iter().map(prediction).collect()
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

impl RandomisedSettings {
    fn check(&self) -> Result<(), FitError> {
        check("trees", self.trees as f64, self.trees >= 1, "a whole number from 1")?;
        let candidates = self.candidates.unwrap_or(usize::MAX);
        check("candidates", candidates as f64, candidates >= 1, "a whole number from 1")?;
        check("min_split", self.min_split as f64, self.min_split >= 2, "a whole number from 2")?;
        check("min_leaf", self.min_leaf as f64, self.min_leaf >= 1, "a whole number from 1")?;
        check("depth", self.depth as f64, (1..=DEEPEST).contains(&self.depth), "a whole number from 1 to 64")
    }
}

impl From<RandomisedTrees> for TreesDocument {
    fn from(model: RandomisedTrees) -> Self {
        Self::new(KIND, 0.0, &model.forest)
    }
}

impl TryFrom<TreesDocument> for RandomisedTrees {
    type Error = ModelError;

    fn try_from(document: TreesDocument) -> Result<Self, ModelError> {
        let (_, forest) = document.into_forest(KIND)?;
        Ok(Self { forest })
    }
}

impl Regressor for RandomisedTrees {
    fn columns(&self) -> &[Column] {
        self.forest.columns()
    }

    fn predict(&self, row: &[f64]) -> f64 {
        self.forest.each(row).sum::<f64>() / self.forest.trees().len() as f64
    }

    fn predict_all(&self, table: &Table) -> Vec<f64> {
        let mut sums = self.forest.flat(table).sums(table);
        sums.iter_mut().for_each(|sum| *sum /= self.forest.trees().len() as f64);
        sums
    }

    fn importance(&self) -> Vec<f64> {
        self.forest.importance()
    }
}
