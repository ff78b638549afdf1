//! Rows of features for trees.

use std::collections::HashSet;

/// The meaning of the numbers of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers with a meaningful order.
    Ordinal,
    /// Indices of these levels, without a meaningful order.
    Categorical(Vec<String>),
}

/// A feature: its name and the meaning of its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name, unique in its table.
    pub name: String,
    /// The meaning of its numbers.
    pub kind: Kind,
}

impl Column {
    /// Creates a feature of ordered numbers.
    pub fn ordinal(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: Kind::Ordinal }
    }

    /// Creates a feature of levels. A row holds the index of its level.
    pub fn categorical<L: Into<String>>(name: impl Into<String>, levels: impl IntoIterator<Item = L>) -> Self {
        Self { name: name.into(), kind: Kind::Categorical(levels.into_iter().map(Into::into).collect()) }
    }

    /// Returns `value`, or NaN if it is not the index of a level of this categorical column.
    pub(crate) fn cleaned(&self, value: f64) -> f64 {
        match &self.kind {
            Kind::Ordinal => value,
            // The cast saturates, and turns NaN into 0.
            Kind::Categorical(levels) => {
                let index = value as usize;
                if index < levels.len() && index as f64 == value { value } else { f64::NAN }
            }
        }
    }
}

/// Rows of numbers under named columns: the input of trees.
///
/// A missing value is NaN. In a categorical column, a number that is not the index of a level also
/// counts as missing.
///
/// ```
/// use tunesmith_model::{Column, Table};
///
/// let columns = vec![Column::ordinal("BLOCK"), Column::categorical("CACHE", ["none", "local"])];
/// let table = Table::from_rows(columns, [[16.0, 0.0], [32.0, 1.0], [f64::NAN, 1.0]]);
/// assert_eq!((table.len(), table.column(1)), (3, [0.0, 1.0, 1.0].as_slice()));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<Column>,
    /// By column, because a tree looks at one feature of many rows.
    cells: Vec<Vec<f64>>,
    len: usize,
}

impl Table {
    /// Creates a table without rows under these columns.
    ///
    /// # Panics
    ///
    /// Panics if two columns, or two levels of one column, have the same name.
    pub fn new(columns: Vec<Column>) -> Self {
        if let Some(name) = repeated(&columns) {
            panic!("two columns, or two levels of one, have the name `{name}`");
        }
        let cells = vec![Vec::new(); columns.len()];
        Self { columns, cells, len: 0 }
    }

    /// Creates a table from rows, each with one number for every column.
    ///
    /// # Panics
    ///
    /// Panics like [`new`](Self::new) and [`push`](Self::push).
    pub fn from_rows<R: AsRef<[f64]>>(columns: Vec<Column>, rows: impl IntoIterator<Item = R>) -> Self {
        let mut table = Self::new(columns);
        rows.into_iter().for_each(|row| table.push(row.as_ref()));
        table
    }

    /// Adds a row at the end.
    ///
    /// # Panics
    ///
    /// Panics if `row` does not have one number for every column.
    pub fn push(&mut self, row: &[f64]) {
        assert_eq!(row.len(), self.columns.len(), "one number for every column");
        for ((cells, column), &value) in self.cells.iter_mut().zip(&self.columns).zip(row) {
            cells.push(column.cleaned(value));
        }
        self.len += 1;
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the numbers of one column, row by row.
    pub fn column(&self, index: usize) -> &[f64] {
        &self.cells[index]
    }

    /// Returns the numbers of one column for changing. New values must be valid in the column.
    #[cfg(feature = "fit")]
    pub(crate) fn column_mut(&mut self, index: usize) -> &mut [f64] {
        &mut self.cells[index]
    }

    /// Returns the numbers of one row, column by column.
    pub fn row(&self, index: usize) -> Vec<f64> {
        self.cells.iter().map(|cells| cells[index]).collect()
    }

    /// Returns the rows at `indices`, in that order.
    pub fn select(&self, indices: &[usize]) -> Self {
        let pick = |cells: &Vec<f64>| indices.iter().map(|&index| cells[index]).collect();
        Self { columns: self.columns.clone(), cells: self.cells.iter().map(pick).collect(), len: indices.len() }
    }
}

/// Returns a name that two columns, or two levels of one column, share.
pub(crate) fn repeated(columns: &[Column]) -> Option<&str> {
    let names = first_repeated(columns.iter().map(|column| column.name.as_str()));
    names.or_else(|| columns.iter().find_map(repeated_level))
}

fn repeated_level(column: &Column) -> Option<&str> {
    match &column.kind {
        Kind::Ordinal => None,
        Kind::Categorical(levels) => first_repeated(levels.iter().map(String::as_str)),
    }
}

fn first_repeated<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = HashSet::new();
    names.find(|name| !seen.insert(*name))
}
