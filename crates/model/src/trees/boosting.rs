//! Boosted regression trees: fitting.

use super::bins::{Bins, MOST_BINS};
use super::boosted::BoostedTrees;
use super::direction::Direction;
use super::fit_error::{FitError, check, check_data};
use super::forest::Forest;
use super::grow::{Grown, grow};
use super::single::ROUNDING;
use super::split::Limits;
use super::tree::{DEEPEST, Node, Tree};
use crate::table::{Kind, Table};
use rand::seq::SliceRandom as _;

/// The settings for fitting [`BoostedTrees`]. Write `BoostedSettings { rounds: 50,
/// ..BoostedSettings::default() }`.
#[derive(Clone, Debug, PartialEq)]
pub struct BoostedSettings {
    /// The number of trees, at least 1. Default: 100, as Bergstra.
    pub rounds: usize,
    /// Maximum number of questions on the way to a leaf, 1 to 64. Default: 4, as Bergstra, for weak
    /// learners.
    pub depth: usize,
    /// Minimum number of rows of a leaf, at least 1. Default: 10, as Bergstra, against overfitting.
    pub min_leaf: usize,
    /// The part of each tree that is added, above 0 to 1. Default: 0.1. Friedman finds 0.1 and less
    /// best.
    pub learning_rate: f64,
    /// The part of the rows to which a tree is fitted, drawn without replacement, above 0 to 1.
    /// Default: 1, all rows.
    pub subsample: f64,
    /// Number of additional rows with residual 0 that every leaf is assumed to have, from 0. A leaf
    /// predicts `sum / (rows + shrinkage)`. Default: 0.
    pub shrinkage: f64,
    /// Maximum number of bins of a column, 2 to 255. Default: 255.
    pub bins: usize,
    /// The loss that the best prediction minimises. Default: the squared error.
    pub loss: Loss,
    /// The ordinal columns, by name, with which predictions may only rise or only fall. Consider
    /// two rows that differ only in such a column, with a value in both. Their predictions are then
    /// in that order. Default: none. Requires squared loss.
    pub monotone: Vec<(String, Direction)>,
}

/// The loss that the best prediction minimises.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// The mean squared error. The model predicts the mean.
    Squared,
    /// The pinball loss. The model predicts the quantile with this share of targets below, between
    /// 0 and 1. A leaf predicts that quantile of the residuals of its rows (Friedman, 2001,
    /// algorithm 3, for the median). Nothing is shrunk.
    Quantile(f64),
}

impl Default for BoostedSettings {
    fn default() -> Self {
        Self {
            rounds: 100,
            depth: 4,
            min_leaf: 10,
            learning_rate: 0.1,
            subsample: 1.0,
            shrinkage: 0.0,
            bins: MOST_BINS,
            loss: Loss::Squared,
            monotone: Vec::new(),
        }
    }
}

impl Loss {
    /// Returns the best constant prediction for all targets.
    fn base(self, targets: &[f64]) -> f64 {
        match self {
            Self::Squared => targets.iter().sum::<f64>() / targets.len() as f64,
            Self::Quantile(share) => quantile(&mut targets.to_vec(), share),
        }
    }
}

/// Returns the smallest of `values` that at least `share` of them do not exceed. Reorders the
/// values. There must be at least one.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    let below = (share * values.len() as f64).ceil() as usize;
    let at = below.clamp(1, values.len()) - 1;
    *values.select_nth_unstable_by(at, f64::total_cmp).1
}

impl BoostedTrees {
    /// Fits trees to the rows of `table` with one target each. Costs, for each round, a look at
    /// each row and column for the root, and at half of them for each further level.
    ///
    /// # Errors
    ///
    /// Fails if there are no rows or not one target for each, a target is not finite, a setting is
    /// out of range, or a monotone column is not an ordinal column of the table.
    pub fn fit(
        table: &Table,
        targets: &[f64],
        settings: &BoostedSettings,
        rng: &mut impl rand::Rng,
    ) -> Result<Self, FitError> {
        settings.check()?;
        check_data(table.len(), targets)?;
        let base = settings.loss.base(targets);
        let left = targets.iter().map(|target| target - base).collect();
        let mut boosting = Boosting::new(table, left, settings)?;
        let trees = (0..settings.rounds).map(|_| boosting.round(rng)).collect();
        Ok(Self { base, forest: Forest::new(table.columns().to_vec(), trees) })
    }
}

impl BoostedSettings {
    fn check(&self) -> Result<(), FitError> {
        let part = |name, value: f64| check(name, value, value > 0.0 && value <= 1.0, "a number above 0, at most 1");
        check("rounds", self.rounds as f64, self.rounds >= 1, "a whole number from 1")?;
        check("depth", self.depth as f64, (1..=DEEPEST).contains(&self.depth), "a whole number from 1 to 64")?;
        check("min_leaf", self.min_leaf as f64, self.min_leaf >= 1, "a whole number from 1")?;
        part("learning_rate", self.learning_rate)?;
        part("subsample", self.subsample)?;
        let shrinks = self.shrinkage >= 0.0 && self.shrinkage.is_finite();
        check("shrinkage", self.shrinkage, shrinks, "a finite number from 0")?;
        check("bins", self.bins as f64, (2..=MOST_BINS).contains(&self.bins), "a whole number from 2 to 255")?;
        let Loss::Quantile(share) = self.loss else { return Ok(()) };
        check("quantile", share, share > 0.0 && share < 1.0, "a number above 0 and below 1")?;
        let count = self.monotone.len();
        check("monotone", count as f64, count == 0, "for the squared loss only: leave it out for quantiles")
    }
}

/// A fit in progress.
struct Boosting<'a> {
    table: &'a Table,
    settings: &'a BoostedSettings,
    bins: Bins,
    limits: Limits,
    /// The residual of the trees so far, for each row.
    left: Vec<f64>,
    /// All rows. Those of a subsample come first.
    rows: Vec<u32>,
}

impl<'a> Boosting<'a> {
    fn new(table: &'a Table, left: Vec<f64>, settings: &'a BoostedSettings) -> Result<Self, FitError> {
        let squares: f64 = match settings.loss {
            Loss::Squared => left.iter().map(|left| left * left).sum(),
            // The targets of the trees are about 1.
            Loss::Quantile(_) => left.len() as f64,
        };
        let mut bins = Bins::new(table, settings.bins);
        for (name, direction) in &settings.monotone {
            bins.constrain(ordinal(table, name)?, *direction);
        }
        let limits = Limits {
            depth: settings.depth,
            min_leaf: settings.min_leaf,
            min_parent: 2,
            shrinkage: settings.shrinkage,
            least_gain: squares * ROUNDING,
        };
        let rows = (0..table.len() as u32).collect();
        Ok(Self { table, settings, bins, limits, left, rows })
    }

    fn round(&mut self, rng: &mut impl rand::Rng) -> Tree {
        let count = ((self.rows.len() as f64 * self.settings.subsample).ceil() as usize).min(self.rows.len());
        if count < self.rows.len() {
            let (_sample, _others) = self.rows.partial_shuffle(rng, count);
            // The shuffle leaves its sample at the end. In sorted order, rows are read like memory.
            self.rows.reverse();
            self.rows[..count].sort_unstable();
        }
        let Grown { mut tree, rows, leaves } = self.grown(self.rows[..count].to_vec());
        let rate = self.settings.learning_rate;
        for (node, range) in leaves {
            let Node::Leaf { value, .. } = &mut tree.nodes[node] else { continue };
            if let Loss::Quantile(share) = self.settings.loss {
                let mut left: Vec<f64> = rows[range.clone()].iter().map(|&row| self.left[row as usize]).collect();
                *value = quantile(&mut left, share);
            }
            *value *= rate;
            rows[range].iter().for_each(|&row| self.left[row as usize] -= *value);
        }
        for &row in &self.rows[count..] {
            self.left[row as usize] -= tree.value(|column| self.table.column(column)[row as usize]);
        }
        tree
    }

    /// Returns a tree for the direction in which the loss falls fastest.
    fn grown(&self, rows: Vec<u32>) -> Grown {
        match self.settings.loss {
            Loss::Squared => grow(&self.bins, &self.left, rows, self.limits),
            Loss::Quantile(share) => {
                let slope = |left: &f64| if *left > 0.0 { share } else { share - 1.0 };
                let slopes: Vec<f64> = self.left.iter().map(slope).collect();
                grow(&self.bins, &slopes, rows, self.limits)
            }
        }
    }
}

/// Returns the ordinal column called `name`.
fn ordinal(table: &Table, name: &str) -> Result<usize, FitError> {
    let found = table.columns().iter().position(|column| column.name == name && column.kind == Kind::Ordinal);
    found.ok_or_else(|| FitError::Column { name: name.to_string() })
}
