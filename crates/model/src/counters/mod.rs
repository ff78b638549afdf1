//! Counter models: they predict the counters of configurations from profiled runs.
//!
//! Filipovic et al., Using hardware performance counters to speed up autotuning convergence on
//! GPUs, section 3.4. A model learned on one device serves others, because the number of operations
//! hardly depends on the device. It holds no times: a slow time on one device must not decide on
//! another.

mod data;
mod document;
mod errors;
mod exact;
mod least_squares;
mod train;

pub use data::CounterData;
pub use document::COUNTERS_KIND;
pub use train::Method;

use crate::trees::{RandomisedTrees, RegressionTree, Regressor};
use crate::{Column, ModelError, Table};
use exact::Exact;
use least_squares::LeastSquares;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The origin of a counter model, and its accuracy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The kernel, if known.
    pub kernel: Option<String>,
    /// The device on which the counters were read, if known.
    pub device: Option<String>,
    /// The name of the set of counters.
    pub counter_set: String,
    /// The number of configurations to which the model was fitted.
    pub rows: usize,
    /// The mean absolute error on configurations held out of training, as a share of the mean, by
    /// counter. Empty if none were held out.
    #[serde(default)]
    pub held_out: BTreeMap<String, f64>,
}

/// A model that predicts the counters of configurations.
///
/// ```
/// use tunesmith_model::counters::{CounterData, CounterModel, Method, Provenance};
/// use tunesmith_model::{Column, Table};
///
/// let table = Table::from_rows(vec![Column::ordinal("TILE")], [[1.0], [2.0], [4.0], [8.0]]);
/// let loads = [("inst_fp_32".to_string(), vec![800.0, 400.0, 200.0, 100.0])];
/// let data = CounterData::new(table.clone(), loads.into()).unwrap();
/// let model = CounterModel::train(&data, Method::Exact, Provenance::default(), 1)?;
/// assert_eq!(model.predict(&table).column("inst_fp_32").unwrap()[2], 200.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CounterModel {
    /// The origin of the model.
    pub provenance: Provenance,
    columns: Vec<Column>,
    counters: Vec<String>,
    predictor: Predictor,
}

/// One model for every counter, in the order of their names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Predictor {
    Exact(Exact),
    Tree(Vec<RegressionTree>),
    LeastSquares(Vec<LeastSquares>),
    Trees(Vec<RandomisedTrees>),
}

/// Predicted counters of many configurations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Predicted {
    /// True for each configuration that the model knows. The counters of others are 0.
    pub known: Vec<bool>,
    by_counter: BTreeMap<String, Vec<f64>>,
}

impl Predicted {
    /// Returns the counter's values, one for every configuration, or `None` if the model does not
    /// have the counter.
    pub fn column(&self, counter: &str) -> Option<&[f64]> {
        self.by_counter.get(counter).map(Vec::as_slice)
    }

    /// Appends the configurations of `other`, a prediction of the same model.
    pub fn append(&mut self, other: Self) {
        self.known.extend(other.known);
        for (counter, values) in other.by_counter {
            self.by_counter.entry(counter).or_default().extend(values);
        }
    }

    /// Returns the names of the counters.
    pub fn counters(&self) -> impl Iterator<Item = &str> {
        self.by_counter.keys().map(String::as_str)
    }
}

impl CounterModel {
    /// Returns the tuning parameters that it needs.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the counters that it predicts.
    pub fn counters(&self) -> &[String] {
        &self.counters
    }

    /// Returns true if it is a table of measured configurations.
    pub fn is_exact(&self) -> bool {
        matches!(self.predictor, Predictor::Exact(_))
    }

    /// Returns the counters of all rows of `table`. No value is below 0. Costs a look-up, or a walk
    /// down every tree, per row and counter.
    ///
    /// # Panics
    ///
    /// Panics if `table` does not have the columns of [`columns`](Self::columns).
    pub fn predict(&self, table: &Table) -> Predicted {
        let all = |values: Vec<Vec<f64>>| (vec![true; table.len()], values);
        let (known, values) = match &self.predictor {
            Predictor::Exact(exact) => exact.predict(table, self.counters.len()),
            Predictor::Tree(trees) => all(trees.iter().map(|tree| tree.predict_all(table)).collect()),
            Predictor::LeastSquares(models) => all(models.iter().map(|model| model.predict(table)).collect()),
            Predictor::Trees(trees) => all(trees.iter().map(|trees| trees.predict_all(table)).collect()),
        };
        let positive = |column: Vec<f64>| column.into_iter().map(|value| value.max(0.0)).collect();
        let by_counter = self.counters.iter().cloned().zip(values.into_iter().map(positive)).collect();
        Predicted { known, by_counter }
    }

    /// Returns the model as JSON that people can read.
    pub fn to_json(&self) -> String {
        document::text(self)
    }

    /// Reads the model that [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    ///
    /// Fails if the text is damaged, is something else, or has a later version.
    pub fn from_json(text: &str) -> Result<Self, ModelError> {
        document::parse(text)
    }
}
