//! Cuts columns into few bins. A split is then found by adding up bins instead of sorting rows.

use super::direction::Direction;
use crate::table::{Kind, Table};

/// Maximum number of bins of a column. A code is then a byte, with one more code for missing
/// values.
pub(crate) const MOST_BINS: usize = 255;

/// A column in bins. The bin after the last one holds missing values.
#[derive(Clone, Debug)]
pub(crate) struct BinColumn {
    /// The index at which the bins of the column begin in a histogram of all columns.
    pub(crate) offset: usize,
    pub(crate) content: Content,
    /// The direction in which predictions may move with the column's numbers, if constrained.
    pub(crate) direction: Option<Direction>,
}

/// The content of the bins of a column.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// The lowest and highest number of each bin, ascending.
    Numbers(Vec<(f64, f64)>),
    /// The level of each bin, ascending, and the number of levels of the column.
    Levels { present: Vec<usize>, all: usize },
}

/// The rows of a table as bins.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    columns: Vec<BinColumn>,
    offsets: Vec<usize>,
    /// By row, because a histogram is filled one row at a time.
    codes: Vec<u8>,
    width: usize,
}

impl BinColumn {
    /// Returns the number of bins, without the bin of missing values.
    pub(crate) fn bins(&self) -> usize {
        match &self.content {
            Content::Numbers(ranges) => ranges.len(),
            Content::Levels { present, .. } => present.len(),
        }
    }

    /// Returns the bin of a value of the table.
    fn code(&self, value: f64) -> u8 {
        let bin = match &self.content {
            Content::Numbers(ranges) if !value.is_nan() => ranges.partition_point(|(_, high)| *high < value),
            Content::Numbers(ranges) => ranges.len(),
            Content::Levels { present, .. } if !value.is_nan() => {
                present.binary_search(&(value as usize)).unwrap_or(present.len())
            }
            Content::Levels { present, .. } => present.len(),
        };
        bin as u8
    }
}

impl Bins {
    /// Creates the rows of `table` with at most `most` bins (at most 255) for each column. A column
    /// with few distinct values has one bin for each value. Otherwise its bins have about equally
    /// many rows. A categorical column with more levels treats the rarer ones as missing. Costs a
    /// sort of each column.
    pub(crate) fn new(table: &Table, most: usize) -> Self {
        let mut width = 0;
        let mut columns = Vec::with_capacity(table.columns().len());
        for (index, column) in table.columns().iter().enumerate() {
            let cells = table.column(index);
            let content = match &column.kind {
                Kind::Ordinal => Content::Numbers(ranges(cells, most)),
                Kind::Categorical(levels) => {
                    Content::Levels { present: frequent(cells, levels.len(), most), all: levels.len() }
                }
            };
            let column = BinColumn { offset: width, content, direction: None };
            width += column.bins() + 1;
            columns.push(column);
        }
        let mut codes = vec![0; table.len() * columns.len()];
        for (index, column) in columns.iter().enumerate() {
            let cells = table.column(index).iter();
            cells.enumerate().for_each(|(row, &value)| codes[row * columns.len() + index] = column.code(value));
        }
        let offsets = columns.iter().map(|column| column.offset).collect();
        Self { columns, offsets, codes, width }
    }

    /// Lets predictions move in only one direction with the numbers of a column.
    pub(crate) fn constrain(&mut self, column: usize, direction: Direction) {
        self.columns[column].direction = Some(direction);
    }

    pub(crate) fn columns(&self) -> &[BinColumn] {
        &self.columns
    }

    /// Returns the index at which the bins of each column begin.
    pub(crate) fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Returns the number of bins of all columns together, including those of missing values.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Returns the bin of each column of a row.
    pub(crate) fn row(&self, row: u32) -> &[u8] {
        let start = row as usize * self.columns.len();
        &self.codes[start..start + self.columns.len()]
    }
}

/// Returns the lowest and highest number of each bin.
fn ranges(cells: &[f64], most: usize) -> Vec<(f64, f64)> {
    // Zeros of either sign are equal and must share a bin.
    let mut sorted: Vec<f64> = cells.iter().filter(|value| !value.is_nan()).map(|value| value + 0.0).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let distinct: Vec<&[f64]> = sorted.chunk_by(|a, b| a == b).collect();
    if distinct.len() <= most {
        return distinct.iter().map(|run| (run[0], run[0])).collect();
    }
    let mut ranges: Vec<(f64, f64)> = Vec::with_capacity(most);
    let (mut rows, mut before) = (0, None);
    for run in distinct {
        // A run belongs to the bin of its first row.
        let bin = rows * most / sorted.len();
        match ranges.last_mut() {
            Some(last) if before == Some(bin) => last.1 = run[0],
            _ => ranges.push((run[0], run[0])),
        }
        before = Some(bin);
        rows += run.len();
    }
    ranges
}

/// Returns the levels that occur, or the `most` frequent ones, in ascending order.
fn frequent(cells: &[f64], levels: usize, most: usize) -> Vec<usize> {
    let mut counts = vec![0_usize; levels];
    cells.iter().filter(|value| !value.is_nan()).for_each(|&value| counts[value as usize] += 1);
    let mut present: Vec<usize> = (0..levels).filter(|&level| counts[level] > 0).collect();
    present.sort_by_key(|&level| std::cmp::Reverse(counts[level]));
    present.truncate(most);
    present.sort_unstable();
    present
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    #[test]
    fn few_distinct_values_have_a_bin_each_and_missing_ones_the_last() {
        let rows = [[4.0], [1.0], [f64::NAN], [4.0], [-0.0], [0.0]];
        let bins = Bins::new(&Table::from_rows(vec![Column::ordinal("X")], rows), MOST_BINS);
        assert_eq!((0..6).map(|row| bins.row(row)[0]).collect::<Vec<_>>(), [2, 1, 3, 2, 0, 0]);
        assert_eq!(bins.width(), 4);
    }

    #[test]
    fn many_distinct_values_share_bins_of_about_equal_size() {
        let rows: Vec<[f64; 1]> = (0..1000).map(|i| [f64::from(i * i)]).collect();
        let bins = Bins::new(&Table::from_rows(vec![Column::ordinal("X")], rows), 10);
        let mut counts = [0; 10];
        (0..1000).for_each(|row| counts[usize::from(bins.row(row)[0])] += 1);
        assert_eq!(counts, [100; 10]);
    }

    #[test]
    fn a_value_that_fills_half_the_rows_leaves_bins_to_the_others() {
        let rows: Vec<[f64; 1]> = (0..1000).map(|i| [f64::from((i - 500).max(0))]).collect();
        let bins = Bins::new(&Table::from_rows(vec![Column::ordinal("X")], rows), 10);
        assert!((5..=10).contains(&bins.columns()[0].bins()));
    }

    #[test]
    fn what_is_no_level_and_what_is_rare_is_missing() {
        let rows = [[0.0], [0.0], [2.0], [2.0], [1.0], [7.0], [0.5], [-1.0]];
        let column = Column::categorical("C", ["a", "b", "c"]);
        let bins = Bins::new(&Table::from_rows(vec![column], rows), 2);
        assert_eq!((0..8).map(|row| bins.row(row)[0]).collect::<Vec<_>>(), [0, 0, 1, 1, 2, 2, 2, 2]);
    }
}
