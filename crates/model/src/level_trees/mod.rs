//! Extremely randomised trees over rows of levels, for a model that grows by a row at a time.
//!
//! [`RandomisedTrees`](crate::RandomisedTrees) are fitted once to a table of numbers. These here are renewed a few at a
//! time, and predict the same rows again and again: a [`LevelForecast`] keeps what a tree that was not renewed
//! predicts.

mod forecast;
mod growth;
mod tree;

pub use forecast::LevelForecast;

use crate::gaussian_process::Rows;
use growth::Growth;
use tree::{LevelScale, LevelTree};

/// Extremely randomised trees (Geurts, Ernst and Wehenkel, Extremely randomized trees, Machine Learning 63, 2006,
/// table 1) with K of all features and leaves of one row. Every node draws a threshold for each feature and takes the
/// best of them. The prediction is the mean of the trees, and their spread is its uncertainty.
///
/// A feature is known by its levels, as in [`Rows`]: thresholds lie between them.
#[derive(Clone, Debug)]
pub struct LevelTrees {
    scale: LevelScale,
    trees: Vec<LevelTree>,
    /// Number of trees, after which the oldest is replaced.
    count: usize,
    /// Number of trees grown so far. The tree `k` is at `k % count`.
    grown: usize,
}

impl LevelTrees {
    /// Returns `count` trees, at least 1, without any growth, over features with these numbers of levels.
    ///
    /// # Panics
    ///
    /// Panics if `count` is 0.
    pub fn new(levels: Vec<usize>, count: usize) -> Self {
        assert!(count > 0, "there is at least one tree");
        Self { scale: LevelScale(levels), trees: Vec::new(), count, grown: 0 }
    }

    /// Grows `count` of the trees anew, the oldest ones, from `rows` with these targets. Trees that were never grown
    /// are grown in any case. Costs, for each tree, a look at every row and feature on each of its levels.
    ///
    /// # Panics
    ///
    /// Panics if there is no row, not one target for each, or another number of features.
    pub fn renew(&mut self, rows: &Rows, targets: &[f64], count: usize, rng: &mut impl rand::Rng) {
        assert!(!rows.is_empty() && rows.len() == targets.len(), "one target for each row");
        assert_eq!(rows.features(), self.scale.0.len(), "rows have the features of the trees");
        let columns = self.scale.columns(rows);
        let mut growth = Growth::new(&columns, targets);
        for _ in 0..count.max(self.count - self.trees.len()).min(self.count) {
            let tree = LevelTree(growth.grow(rng));
            match self.trees.get_mut(self.grown % self.count) {
                Some(old) => *old = tree,
                None => self.trees.push(tree),
            }
            self.grown += 1;
        }
    }

    /// Returns the places of the trees that were grown after the first `grown` ones.
    fn renewed_since(&self, grown: usize) -> impl Iterator<Item = usize> {
        let (first, count) = (grown.max(self.grown - self.trees.len()), self.count);
        (first..self.grown).map(move |tree| tree % count)
    }
}

#[cfg(test)]
mod tests {
    use super::tree::LevelNode;
    use super::*;
    use crate::Prediction;
    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    const FEATURES: [usize; 3] = [2, 7, 300];

    fn rows(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<[u16; 3]>> {
        let level = |feature: usize| 0..FEATURES[feature] as u16;
        prop::collection::vec((level(0), level(1), level(2)).prop_map(|(a, b, c)| [a, b, c]), count)
    }

    /// Returns the value of the leaf of a row, question by question.
    fn walked(tree: &LevelTree, row: impl Fn(usize) -> u8) -> f64 {
        let mut at = 0;
        loop {
            match tree.0[at] {
                LevelNode::Leaf(value) => return value,
                LevelNode::Split { feature, level, yes } => at = if row(feature) <= level { yes } else { yes + 1 },
            }
        }
    }

    fn obvious(trees: &LevelTrees, columns: &[Vec<u8>], row: usize) -> Prediction {
        let values: Vec<f64> = trees.trees.iter().map(|tree| walked(tree, |feature| columns[feature][row])).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        Prediction { mean, deviation: (squares / values.len() as f64).sqrt() }
    }

    proptest! {
        #[test]
        fn a_forecast_that_follows_renewed_trees_is_the_walk_down_each_of_them(
            told in rows(1..40),
            asked in rows(1..150),
            counts in prop::collection::vec(0_usize..6, 1..6),
            seed: u64,
        ) {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let targets: Vec<f64> = told.iter().map(|row| f64::from(row[1]) + f64::from(row[0] * row[2] % 5)).collect();
            let (told, asked) = (Rows::from_rows(3, told), Rows::from_rows(3, asked));
            let mut trees = LevelTrees::new(FEATURES.to_vec(), 5);
            let columns = trees.scale.columns(&asked);
            let mut forecast = LevelForecast::new(&trees, &asked);
            for count in counts {
                trees.renew(&told, &targets, count, &mut rng);
                forecast.follow(&trees);
                for row in 0..asked.len() {
                    let (own, obvious) = (forecast.prediction(row), obvious(&trees, &columns, row));
                    prop_assert!((own.mean - obvious.mean).abs() < 1e-5, "{own:?} {obvious:?}");
                    // The root enlarges what rounding leaves of a variance.
                    prop_assert!((own.deviation - obvious.deviation).abs() < 5e-3, "{own:?} {obvious:?}");
                }
            }
        }

        #[test]
        fn each_tree_gives_the_mean_of_the_rows_that_no_question_tells_apart(told in rows(1..40), seed: u64) {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let targets: Vec<f64> = (0..told.len()).map(|row| row as f64).collect();
            let told = Rows::from_rows(3, told);
            let mut trees = LevelTrees::new(FEATURES.to_vec(), 3);
            trees.renew(&told, &targets, 3, &mut rng);
            let columns = trees.scale.columns(&told);
            let seen = |row: usize| columns.iter().map(|column| column[row]).collect::<Vec<_>>();
            for (row, _) in targets.iter().enumerate() {
                let equal: Vec<usize> = (0..told.len()).filter(|&other| seen(other) == seen(row)).collect();
                let mean = equal.iter().map(|&row| targets[row]).sum::<f64>() / equal.len() as f64;
                for tree in &trees.trees {
                    prop_assert!((walked(tree, |feature| columns[feature][row]) - mean).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn the_oldest_trees_are_renewed_and_all_that_were_never_grown() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let told = Rows::from_rows(1, (0..20_u16).map(|level| [level]));
        let targets: Vec<f64> = (0..20).map(f64::from).collect();
        let mut trees = LevelTrees::new(vec![20], 4);
        trees.renew(&told, &targets, 1, &mut rng);
        let first = trees.trees.clone();
        trees.renew(&told, &targets, 1, &mut rng);
        let renewed: Vec<bool> = first.iter().zip(&trees.trees).map(|(old, new)| old != new).collect();
        assert_eq!(renewed, [true, false, false, false]);
    }
}
