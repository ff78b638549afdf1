//! Boosted trees prepared for few rows, of which all but some columns are known beforehand.

use super::boosted::BoostedTrees;
use super::regressor::Regressor as _;
use super::tree::{DEEPEST, Node, Test, Tree};
use crate::table::Column;

/// [`BoostedTrees`] prepared for at most 32 rows that are known except for some `open` columns. The
/// numbers of the open columns come later and are the same in all rows. A use is to compare
/// configurations of a kernel for one input after the other.
///
/// All rows go down a tree together, as the bits of a word. A question about a known column has the
/// same answers for every input. It splits the rows, or is left out if all of them answer alike. A
/// question about an open column sends all rows the same way. The rows of each leaf are therefore
/// known beforehand, and the trees become one list of steps. A step adds the value of a leaf to its
/// rows, or asks about an open column and skips the steps of the other answer.
///
/// ```
/// use rand::SeedableRng;
/// use tunesmith_model::{BoostedSettings, BoostedTrees, Column, Regressor, Shortlist, Table};
///
/// let rows: Vec<[f64; 2]> = (0..400).map(|i| [f64::from(i % 20), f64::from(i / 20)]).collect();
/// let targets: Vec<f64> = rows.iter().map(|[tile, size]| -(tile - size).abs()).collect();
/// let table = Table::from_rows(vec![Column::ordinal("TILE"), Column::ordinal("SIZE")], rows);
/// let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
/// let model = BoostedTrees::fit(&table, &targets, &BoostedSettings::default(), &mut rng)?;
///
/// // Two tiles; the size is asked later.
/// let tiles = Shortlist::new(&model, &[vec![4.0, f64::NAN], vec![16.0, f64::NAN]], &[1]).expect("two rows");
/// let [small, large, ..] = tiles.predict(&[17.0]);
/// assert!(large > small);
/// assert_eq!((small, large), (model.predict(&[4.0, 17.0]), model.predict(&[16.0, 17.0])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shortlist {
    base: f64,
    open: Vec<Column>,
    steps: Vec<WalkStep>,
}

/// A step of the trees. Steps are taken from the first on.
#[derive(Clone, Debug)]
enum WalkStep {
    /// Adds a leaf's value to the rows whose bits are set.
    Add { rows: u32, value: f64 },
    /// Continues for a yes. Goes to the step `no` for a no.
    Ask { slot: u16, missing: bool, no: u32, test: Test },
    /// Goes to a later step.
    Skip { to: u32 },
}

impl Shortlist {
    /// Maximum number of rows. A word has a bit for each.
    pub const MOST_ROWS: usize = 32;

    /// Prepares the trees of `model` for `rows`. Each row has a number for every column, as for
    /// [`Regressor::predict`](crate::Regressor). The numbers in the columns `open`, given by their
    /// positions, do not matter.
    ///
    /// Returns `None` for more than [`MOST_ROWS`](Self::MOST_ROWS) rows, and for trees deeper than
    /// any fit makes them. Costs a look at each node and row.
    ///
    /// # Panics
    ///
    /// Panics if a row does not have one number for every column, or if `open` names a column that
    /// does not exist.
    pub fn new(model: &BoostedTrees, rows: &[Vec<f64>], open: &[usize]) -> Option<Self> {
        let columns = model.columns();
        assert!(rows.iter().all(|row| row.len() == columns.len()), "one number for every column");
        let is_deep = |tree: &Tree| tree.depth() > DEEPEST;
        if rows.len() > Self::MOST_ROWS || u16::try_from(open.len()).is_err() || model.trees().iter().any(is_deep) {
            return None;
        }
        let cells =
            rows.iter().map(|row| row.iter().zip(columns).map(|(cell, column)| column.cleaned(*cell)).collect());
        let mut compiler = Compiler { rows: cells.collect(), open, steps: Vec::new() };
        let all = (0..rows.len()).fold(0, |all, row| all | 1 << row);
        model.trees().iter().for_each(|tree| compiler.add(tree, 0, all));
        u32::try_from(compiler.steps.len()).ok()?;
        let open = open.iter().map(|column| columns[*column].clone()).collect();
        Some(Self { base: model.base(), open, steps: compiler.steps })
    }

    /// Returns the predictions for the rows in order, if the open columns have `values`, in the
    /// order of `open`. They equal those of [`Regressor::predict`](crate::Regressor), bit for bit.
    /// Entries behind the last row have no meaning.
    ///
    /// Missing values are NaN, or left out at the end. Allocates nothing. Costs the steps on the
    /// way. At most one of them for each tree and row adds a value.
    pub fn predict(&self, values: &[f64]) -> [f64; Self::MOST_ROWS] {
        // The start of a sum of floats: -0 is the only number whose addition changes no bit, even
        // of 0.
        let mut sums = [-0.0; Self::MOST_ROWS];
        let mut at = 0;
        while let Some(step) = self.steps.get(at) {
            at += 1;
            match step {
                WalkStep::Add { rows, value } => add(&mut sums, *rows, *value),
                WalkStep::Ask { slot, missing, no, test } => {
                    if !self.answer(usize::from(*slot), test, values).unwrap_or(*missing) {
                        at = *no as usize;
                    }
                }
                WalkStep::Skip { to } => at = *to as usize,
            }
        }
        sums.map(|sum| self.base + sum)
    }

    fn answer(&self, slot: usize, test: &Test, values: &[f64]) -> Option<bool> {
        test.answer(self.open[slot].cleaned(*values.get(slot)?))
    }
}

/// Adds `value` to the sums of the rows whose bits are set.
fn add(sums: &mut [f64; Shortlist::MOST_ROWS], mut rows: u32, value: f64) {
    while rows != 0 {
        sums[rows.trailing_zeros() as usize] += value;
        rows &= rows - 1;
    }
}

/// Writes the steps of the trees.
struct Compiler<'a> {
    rows: Vec<Vec<f64>>,
    open: &'a [usize],
    steps: Vec<WalkStep>,
}

impl Compiler<'_> {
    /// Adds the steps for the `rows` that reach the node `at` of `tree`.
    fn add(&mut self, tree: &Tree, at: usize, rows: u32) {
        match &tree.nodes[at] {
            _ if rows == 0 => {}
            Node::Leaf { value, .. } => self.steps.push(WalkStep::Add { rows, value: *value }),
            Node::Split { column, test, missing, yes, .. } => match self.open.iter().position(|open| open == column) {
                Some(slot) => self.ask(tree, *yes, rows, (slot, test, *missing)),
                None => {
                    let with_yes = rows & self.answers(*column, test, *missing);
                    self.add(tree, *yes, with_yes);
                    self.add(tree, yes + 1, rows & !with_yes);
                }
            },
        }
    }

    fn ask(&mut self, tree: &Tree, yes: usize, rows: u32, (slot, test, missing): (usize, &Test, bool)) {
        let asked = self.steps.len();
        let ask = |no| WalkStep::Ask { slot: slot as u16, missing, no, test: test.clone() };
        self.steps.push(ask(0));
        self.add(tree, yes, rows);
        let skipping = self.steps.len();
        self.steps.push(WalkStep::Skip { to: 0 });
        self.steps[asked] = ask(self.steps.len() as u32);
        self.add(tree, yes + 1, rows);
        self.steps[skipping] = WalkStep::Skip { to: self.steps.len() as u32 };
    }

    /// Returns a bit for each row that answers with yes.
    fn answers(&self, column: usize, test: &Test, missing: bool) -> u32 {
        let bit = |(at, row): (usize, &Vec<f64>)| u32::from(test.answer(row[column]).unwrap_or(missing)) << at;
        self.rows.iter().enumerate().map(bit).sum()
    }
}
