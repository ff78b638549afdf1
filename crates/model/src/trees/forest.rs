//! The common part of every model of trees.

use super::flat::Flat;
use super::tree::{Node, Tree};
use crate::table::{Column, Table};

/// Trees over the same columns, ready to predict.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Forest {
    columns: Vec<Column>,
    trees: Vec<Tree>,
    flat: Flat,
}

impl Forest {
    /// Creates the forest. `trees` may only ask about columns of `columns`.
    pub(crate) fn new(columns: Vec<Column>, trees: Vec<Tree>) -> Self {
        let flat = Flat::new(&trees, &columns);
        Self { columns, trees, flat }
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub(crate) fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// Returns the prediction of each tree for one row.
    pub(crate) fn each(&self, row: &[f64]) -> impl Iterator<Item = f64> {
        assert_eq!(row.len(), self.columns.len(), "one number for every column");
        self.trees.iter().map(move |tree| tree.value(|column| self.columns[column].cleaned(row[column])))
    }

    /// Returns the trees laid out for `table`.
    pub(crate) fn flat(&self, table: &Table) -> &Flat {
        assert!(self.columns == table.columns(), "a model predicts rows of the columns it was fitted to");
        &self.flat
    }

    /// Returns, for each column, its share of the total gain of the splits, from 0 to 1. All shares
    /// are 0 if nothing was split.
    pub(crate) fn importance(&self) -> Vec<f64> {
        let mut gains = vec![0.0; self.columns.len()];
        for node in self.trees.iter().flat_map(|tree| tree.nodes()) {
            if let Node::Split { column, gain, .. } = node {
                gains[*column] += gain;
            }
        }
        let total: f64 = gains.iter().sum();
        if total > 0.0 {
            gains.iter_mut().for_each(|gain| *gain /= total);
        }
        gains
    }
}
