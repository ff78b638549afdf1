//! Rows of levels.

/// Points, by the levels of their features. Row `i` has the index of a level for each feature.
///
/// Stored by feature, because kernels are computed by feature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    columns: Vec<Vec<u16>>,
    len: usize,
}

impl Rows {
    /// Creates an empty table for rows of `features` levels each.
    pub fn new(features: usize) -> Self {
        Self { columns: vec![Vec::new(); features], len: 0 }
    }

    /// Creates a table from rows of `features` levels each.
    ///
    /// # Panics
    ///
    /// Panics like [`push`](Self::push).
    pub fn from_rows<R: AsRef<[u16]>>(features: usize, rows: impl IntoIterator<Item = R>) -> Self {
        let mut all = Self::new(features);
        rows.into_iter().for_each(|row| all.push(row.as_ref()));
        all
    }

    /// Adds a row at the end.
    ///
    /// # Panics
    ///
    /// Panics if `row` does not have one level for each feature.
    pub fn push(&mut self, row: &[u16]) {
        assert_eq!(row.len(), self.columns.len(), "one level for each feature");
        self.columns.iter_mut().zip(row).for_each(|(column, &level)| column.push(level));
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

    /// Returns the number of features.
    pub fn features(&self) -> usize {
        self.columns.len()
    }

    /// Returns the levels of one row.
    pub fn row(&self, index: usize) -> Vec<u16> {
        self.columns.iter().map(|column| column[index]).collect()
    }

    /// Returns the levels of one feature, one for each row.
    pub fn column(&self, feature: usize) -> &[u16] {
        &self.columns[feature]
    }
}

/// Multiplies each product by the number that `table` has for its level.
pub(super) fn multiply(products: &mut [f64], table: &[f64], levels: &[u16]) {
    products.iter_mut().zip(levels).for_each(|(product, &level)| *product *= table[usize::from(level)]);
}
