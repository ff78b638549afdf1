//! A model of the scores of a run.

use crate::axis::Axis;
use crate::trials::Trials;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use tunesmith_core::Scale as Sign;
use tunesmith_model::{Column, Cuts, RandomisedSettings, RandomisedTrees, Regressor as _, Table, Tree};

/// Minimum number of scored configurations for a model.
pub const FEWEST: usize = 10;
/// Maximum number of scored configurations that a model is fitted to. Of more, every n-th counts.
const MOST: usize = 20_000;
/// Number of trees.
const TREES: usize = 64;
/// Maximum number of scored configurations that the model is judged by.
const JUDGED: usize = 4000;
/// Number of trees of the models that are judged.
const JUDGED_TREES: usize = 16;
/// Number of parts that the judged configurations are divided into.
const PARTS: usize = 5;

/// Minimum number of configurations per value of a parameter whose order does not count.
const DENSE: usize = 100;
/// Each node of a tree looks at seven parameters of ten, as Hutter et al. do.
const CANDIDATES: (usize, usize) = (7, 10);

/// The scale on which scores are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Logarithms: halving a time counts as much wherever it happens, and so does doubling a rate.
    Logarithm,
    /// The scores themselves, because they have both signs or some are 0.
    Plain,
}

impl Scale {
    fn of(sign: Sign) -> Self {
        match sign {
            Sign::Positive | Sign::Negative => Self::Logarithm,
            Sign::Mixed { .. } => Self::Plain,
        }
    }
}

/// Returns the number that the model predicts for a score.
fn target(sign: Sign, score: f64) -> f64 {
    match Scale::of(sign) {
        Scale::Logarithm => sign.positive(score).ln(),
        Scale::Plain => score,
    }
}

/// Randomised trees that were fitted to the scores of a run.
#[derive(Clone, Debug)]
pub struct Surrogate {
    model: RandomisedTrees,
    sign: Sign,
    unexplained: f64,
}

/// Configurations as numbers, with their targets.
struct Data {
    rows: Vec<Vec<f64>>,
    targets: Vec<f64>,
}

impl Surrogate {
    /// Fits a model to the scored configurations of `trials`. Returns `None` if they are fewer than
    /// [`FEWEST`], or if all have the same score.
    ///
    /// Costs, for each tree and level, a look at every configuration and parameter.
    pub fn fit(trials: &Trials) -> Option<Self> {
        let (places, scores): (Vec<&[u32]>, Vec<f64>) = trials.scored().unzip();
        if scores.len() < FEWEST || scores.iter().all(|score| *score == scores[0]) {
            return None;
        }
        let sign = Sign::of(scores.iter().copied());
        let data = Data {
            rows: places.iter().map(|places| trials.cells(places)).collect(),
            targets: scores.iter().map(|score| target(sign, *score)).collect(),
        };
        let unexplained = data.thinned(JUDGED).unexplained(&trials.free())?;
        Some(Self { model: data.thinned(MOST).fit(&trials.free(), TREES)?, sign, unexplained })
    }

    /// Returns the predicted score of a configuration of `trials`.
    pub fn score(&self, trials: &Trials, places: &[u32]) -> f64 {
        let predicted = self.model.predict(&trials.cells(places));
        match self.scale() {
            Scale::Logarithm => self.sign.score(predicted.exp()),
            Scale::Plain => predicted,
        }
    }

    /// Returns the scale on which it was fitted.
    pub fn scale(&self) -> Scale {
        Scale::of(self.sign)
    }

    /// Returns the share, from 0 to 1, of the variance of held-out scores that such a model does not
    /// predict: noise, and what too few evaluations do not show.
    pub fn unexplained(&self) -> f64 {
        self.unexplained
    }

    pub(crate) fn trees(&self) -> &[Tree] {
        self.model.trees()
    }
}

impl Data {
    /// Returns at most `most` of the rows, evenly spread.
    fn thinned(&self, most: usize) -> Self {
        let (count, kept) = (self.rows.len(), self.rows.len().min(most));
        self.chosen((0..kept).map(|at| at * count / kept))
    }

    fn chosen(&self, places: impl Iterator<Item = usize>) -> Self {
        let (rows, targets) = places.map(|at| (self.rows[at].clone(), self.targets[at])).unzip();
        Self { rows, targets }
    }

    fn fit(&self, axes: &[&Axis], trees: usize) -> Option<RandomisedTrees> {
        let table = Table::from_rows(axes.iter().map(|axis| column(axis, self.rows.len())).collect(), &self.rows);
        let candidates = Some((axes.len() * CANDIDATES.0 / CANDIDATES.1).max(1));
        let settings = RandomisedSettings {
            trees,
            candidates,
            min_split: 2,
            cuts: Cuts::Best,
            bootstrap: true,
            ..RandomisedSettings::default()
        };
        // A seed of its own, so that the same run always has the same explanation.
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
        RandomisedTrees::fit(&table, &self.targets, &settings, &mut rng).ok()
    }

    /// Predicts each part of the rows from the others. Returns the squared errors as a share of the
    /// squares about the mean.
    fn unexplained(&self, axes: &[&Axis]) -> Option<f64> {
        let mean = self.targets.iter().sum::<f64>() / self.targets.len() as f64;
        let squares: f64 = self.targets.iter().map(|target| (target - mean).powi(2)).sum();
        let mut errors = 0.0;
        for part in 0..PARTS {
            let is_held_out = |at: &usize| at % PARTS == part;
            let model = self.chosen((0..self.rows.len()).filter(|at| !is_held_out(at))).fit(axes, JUDGED_TREES)?;
            let error = |at: usize| (model.predict(&self.rows[at]) - self.targets[at]).powi(2);
            errors += (0..self.rows.len()).filter(is_held_out).map(error).sum::<f64>();
        }
        Some((errors / squares).clamp(0.0, 1.0))
    }
}

/// Returns the column of an axis for a model of `rows` configurations. With few rows, neighbouring
/// numbers are taken to resemble each other. With many, each value speaks for itself: neighbours need
/// not resemble each other, as with powers of two among other numbers.
fn column(axis: &Axis, rows: usize) -> Column {
    let is_dense = rows >= DENSE * axis.cells();
    if axis.is_ordered() && !is_dense {
        return Column::ordinal(axis.name());
    }
    Column::categorical(axis.name(), (0..axis.cells()).map(|cell| cell.to_string()))
}
