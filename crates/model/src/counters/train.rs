//! Fits counter models.

use super::data::CounterData;
use super::errors::misses;
use super::exact::Exact;
use super::{CounterModel, Predictor, Provenance, least_squares};
use crate::trees::{FitError, RandomisedSettings, RandomisedTrees, RegressionTree, Regressor, TreeSettings};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;

/// The kind of a counter model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// A table of measured configurations. Other configurations are unknown.
    Exact,
    /// A regression tree for every counter, chosen among candidates (section 3.4.2). The candidates
    /// are fitted to one half of the rows and judged by their errors on the other half. The least
    /// mean absolute error decides, then the least root mean square error.
    Tree,
    /// A polynomial for every counter and every combination of binary parameters, by least squares
    /// (section 3.4.1). It is chosen like the trees.
    LeastSquares,
    /// Ten randomised trees for every counter, fitted to this share of the rows. The authors use
    /// them, with half of the rows.
    Trees {
        /// The share of the rows to fit to, above 0 to 1. The rest measures the error.
        share: f64,
    },
}

/// Number of trees of an ensemble, as in the authors' work.
const TREES: usize = 10;
/// The candidates of [`Method::Tree`]: their depths, and their minimum numbers of rows in a leaf
/// and in the parent of leaves.
const DEPTHS: [usize; 4] = [3, 5, 8, 30];
const LEAVES: [usize; 3] = [1, 2, 5];
const PARENTS: [usize; 2] = [2, 10];

impl CounterModel {
    /// Trains a model on `data` by `method`. The same `seed` gives the same model. `provenance`
    /// receives its rows and errors.
    ///
    /// Cost: for trees, the cost of one model times the number of counters.
    ///
    /// # Errors
    ///
    /// Fails if a counter is too large to be summed and squared.
    pub fn train(data: &CounterData, method: Method, provenance: Provenance, seed: u64) -> Result<Self, FitError> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (fitted, rest) = match method {
            Method::Exact => (data.clone(), data.select(&[])),
            Method::Tree | Method::LeastSquares => data.split(0.5, &mut rng),
            Method::Trees { share } => data.split(share, &mut rng),
        };
        let predictor = match method {
            Method::Exact => Predictor::Exact(Exact::new(&fitted.table, &fitted.values)),
            Method::Tree => Predictor::Tree(best_trees(&fitted, &rest)?),
            Method::LeastSquares => Predictor::LeastSquares(least_squares::best(&fitted, &rest)),
            Method::Trees { .. } => {
                let settings = RandomisedSettings { trees: TREES, min_split: 2, ..RandomisedSettings::default() };
                let fit = |values: &Vec<f64>| RandomisedTrees::fit(&fitted.table, values, &settings, &mut rng);
                Predictor::Trees(fitted.values.iter().map(fit).collect::<Result<_, _>>()?)
            }
        };
        let (columns, counters) = (data.table.columns().to_vec(), data.counters.clone());
        let mut model = Self { provenance, columns, counters, predictor };
        model.provenance.rows = fitted.table.len();
        model.provenance.held_out = model.errors(&rest);
        Ok(model)
    }

    /// Returns the mean absolute error on `data` as a share of the mean, by counter. Empty without
    /// rows.
    fn errors(&self, data: &CounterData) -> BTreeMap<String, f64> {
        if data.table.is_empty() {
            return BTreeMap::new();
        }
        let predicted = self.predict(&data.table);
        let error = |(counter, values): (&String, &Vec<f64>)| {
            let found = predicted.column(counter)?;
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            // A counter that is always 0 is predicted as 0.
            let error = if mean == 0.0 { 0.0 } else { misses(found, values).0 / mean };
            Some((counter.clone(), error))
        };
        data.counters.iter().zip(&data.values).filter_map(error).collect()
    }
}

/// Returns, for every counter, the candidate with the least errors on `rest`.
fn best_trees(fitted: &CounterData, rest: &CounterData) -> Result<Vec<RegressionTree>, FitError> {
    // With a single row there is nothing left for judging.
    let judges = if rest.table.is_empty() { fitted } else { rest };
    let best = |(values, expected): (&Vec<f64>, &Vec<f64>)| {
        let mut best: Option<((f64, f64), RegressionTree)> = None;
        let leaves = || LEAVES.into_iter().flat_map(|leaf| PARENTS.map(|parent| (leaf, parent)));
        for (depth, (min_leaf, min_parent)) in DEPTHS.into_iter().flat_map(|depth| leaves().map(move |l| (depth, l))) {
            let settings = TreeSettings { depth, min_leaf, min_parent, ..TreeSettings::default() };
            let tree = RegressionTree::fit(&fitted.table, values, &settings)?;
            let errors = misses(&tree.predict_all(&judges.table), expected);
            if best.as_ref().is_none_or(|(least, _)| errors < *least) {
                best = Some((errors, tree));
            }
        }
        best.map(|(_, tree)| tree).ok_or(FitError::Empty)
    };
    fitted.values.iter().zip(&judges.values).map(best).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Table};

    /// Two parameters. One counter halves with the first, one jumps with the second, one is 0.
    fn data() -> CounterData {
        let rows: Vec<[f64; 2]> = (0..60).map(|at| [f64::from(1 << (at / 12)), f64::from(at % 12)]).collect();
        let columns = vec![Column::ordinal("TILE"), Column::ordinal("X")];
        let of = |value: fn(&[f64; 2]) -> f64| rows.iter().map(value).collect::<Vec<f64>>();
        let counters = [
            ("loads", of(|[tile, _]| 1600.0 / tile)),
            ("spills", of(|[_, x]| if *x > 8.0 { 500.0 } else { 0.0 })),
            ("zero", of(|_| 0.0)),
        ];
        let counters = counters.map(|(name, values)| (name.to_string(), values)).into();
        CounterData::new(Table::from_rows(columns, rows), counters).unwrap()
    }

    #[test]
    fn every_method_learns_what_it_was_shown_and_survives_being_saved() {
        let data = data();
        for method in [Method::Exact, Method::Tree, Method::LeastSquares, Method::Trees { share: 0.5 }] {
            let provenance = Provenance { kernel: Some("k".into()), counter_set: "s".into(), ..Provenance::default() };
            let model = CounterModel::train(&data, method, provenance, 3).unwrap();
            let predicted = model.predict(&data.table);
            assert!(predicted.known.iter().all(|known| *known));
            for (counter, values) in data.counters.iter().zip(&data.values) {
                let (absolute, _) = misses(predicted.column(counter).unwrap(), values);
                // A jump is not a polynomial.
                let share = if method == Method::LeastSquares { 1.0 } else { 0.1 };
                assert!(absolute <= share * values.iter().sum::<f64>() / 60.0, "{method:?} {counter}: {absolute}");
            }
            assert_eq!(model.provenance.held_out.len(), if method == Method::Exact { 0 } else { 3 });
            assert_eq!(CounterModel::from_json(&model.to_json()).unwrap(), model);
            assert_eq!(CounterModel::train(&data, method, model.provenance.clone(), 3).unwrap(), model);
        }
    }

    #[test]
    fn a_table_says_what_it_does_not_know() {
        let model = CounterModel::train(&data(), Method::Exact, Provenance::default(), 0).unwrap();
        let other = Table::from_rows(model.columns().to_vec(), [[3.0, 1.0], [4.0, 11.0]]);
        let predicted = model.predict(&other);
        assert_eq!(predicted.known, [false, true]);
        assert_eq!(predicted.column("loads").unwrap(), [0.0, 400.0]);
        assert_eq!(predicted.column("absent"), None);
    }
}
