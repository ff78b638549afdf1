//! The variance of a tree over all combinations of values, divided among its parameters.

use tunesmith_model::{Node, Test, Tree};

/// The variance of a function of several parameters, divided into the parts that one parameter
/// alone and that pairs of parameters cause. The parts are at least 0. Together they are at most the
/// total; the rest is due to three parameters and more at once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variances {
    /// The variance of the function.
    pub(crate) total: f64,
    /// The part of each parameter alone.
    pub(crate) main: Vec<f64>,
    /// The part of each pair beyond those of its members alone: that of `a < b` is at
    /// [`pair`]`(a, b)`.
    pub(crate) pairs: Vec<f64>,
}

/// Returns the position of the pair `a < b` in a list of all pairs.
pub(crate) fn pair(a: usize, b: usize) -> usize {
    b * (b - 1) / 2 + a
}

/// Divides the variance of `tree` (Hutter, Hoos and Leyton-Brown, An efficient approach for
/// assessing hyperparameter importance, ICML 2014, algorithm 2). `weights` has the share of every
/// cell of every column, which add up to 1 in each column. The variance is that over the product
/// of these distributions.
///
/// The leaves divide the space into boxes. The mean over all other columns at a cell, or at a pair
/// of cells, is a sum over the boxes that contain it (equation 4). It is exact.
///
/// Costs, for each leaf, the cells of its box in every pair of columns that bound it.
pub(crate) fn variances(tree: &Tree, weights: &[Vec<f64>]) -> Variances {
    let mut sums = Sums::new(weights);
    let whole = weights.iter().map(|cells| (0..cells.len()).collect()).collect();
    let mut walk = Walk { nodes: tree.nodes(), sides: whole };
    walk.descend(0, &mut |sides, value| sums.add(sides, value));
    sums.variances()
}

/// A walk over the boxes of the leaves.
struct Walk<'a> {
    nodes: &'a [Node],
    /// The cells of the present box in each column.
    sides: Vec<Vec<usize>>,
}

impl Walk<'_> {
    fn descend(&mut self, at: usize, visit: &mut impl FnMut(&[Vec<usize>], f64)) {
        let nodes = self.nodes;
        let (column, test, yes) = match &nodes[at] {
            Node::Leaf { value, .. } => return visit(&self.sides, *value),
            Node::Split { column, test, yes, .. } => (*column, test, *yes),
        };
        let answers = |cell: &usize| match test {
            Test::AtMost(threshold) => *cell as f64 <= *threshold,
            Test::OneOf(levels) => levels.contains(cell),
        };
        let whole = std::mem::take(&mut self.sides[column]);
        let (inside, outside) = whole.iter().copied().partition(answers);
        for (child, side) in [(yes, inside), (yes + 1, outside)] {
            self.sides[column] = side;
            if !self.sides[column].is_empty() {
                self.descend(child, visit);
            }
        }
        self.sides[column] = whole;
    }
}

/// Sums over the leaves.
struct Sums<'a> {
    weights: &'a [Vec<f64>],
    mean: f64,
    squares: f64,
    /// For each column: the sums over the leaves that it bounds.
    bounded: Vec<Line>,
    /// For each pair: the sums over the leaves that both columns bound.
    tables: Vec<Square>,
}

/// Sums over leaves that a column bounds.
#[derive(Clone)]
struct Line {
    /// By cell: the mean of these leaves over the other columns.
    cells: Vec<f64>,
    /// Their mean over all columns.
    mean: f64,
}

/// Sums over leaves that two columns bound.
#[derive(Clone)]
struct Square {
    /// By a cell of each column, row by row: the mean of these leaves over the other columns.
    cells: Vec<f64>,
    /// By cell of the first and of the second column, as in [`Line`].
    sides: [Vec<f64>; 2],
    /// Their mean over all columns.
    mean: f64,
}

impl<'a> Sums<'a> {
    fn new(weights: &'a [Vec<f64>]) -> Self {
        let line = |cells: &Vec<f64>| Line { cells: vec![0.0; cells.len()], mean: 0.0 };
        let square = |(a, b): (usize, usize)| Square {
            cells: vec![0.0; weights[a].len() * weights[b].len()],
            sides: [vec![0.0; weights[a].len()], vec![0.0; weights[b].len()]],
            mean: 0.0,
        };
        let tables = pairs(weights.len()).map(square).collect();
        Self { weights, mean: 0.0, squares: 0.0, bounded: weights.iter().map(line).collect(), tables }
    }

    /// Adds a leaf with these cells in each column.
    fn add(&mut self, sides: &[Vec<usize>], value: f64) {
        let weights = self.weights;
        let width = |column: usize| sides[column].iter().map(|cell| weights[column][*cell]).sum::<f64>();
        let bounding: Vec<(usize, f64)> = (0..sides.len())
            .filter(|column| sides[*column].len() < weights[*column].len())
            .map(|column| (column, width(column)))
            .collect();
        let mass = value * bounding.iter().map(|(_, width)| width).product::<f64>();
        self.mean += mass;
        self.squares += value * mass;
        for (at, (b, width_b)) in bounding.iter().copied().enumerate() {
            add(&mut self.bounded[b].cells, &sides[b], mass / width_b);
            self.bounded[b].mean += mass;
            for (a, width_a) in bounding[..at].iter().copied() {
                self.tables[pair(a, b)].add([&sides[a], &sides[b]], mass, [width_a, width_b]);
            }
        }
    }

    fn variances(&self) -> Variances {
        let main: Vec<f64> = (0..self.weights.len()).map(|column| self.alone(column)).collect();
        let beyond = |(a, b): (usize, usize)| (self.together(a, b) - main[a] - main[b]).max(0.0);
        let total = (self.squares - self.mean * self.mean).max(0.0);
        Variances { total, pairs: pairs(self.weights.len()).map(beyond).collect(), main }
    }

    /// Returns the variance of the mean at each cell of a column.
    fn alone(&self, column: usize) -> f64 {
        let Line { cells, mean } = &self.bounded[column];
        // The leaves that the column does not bound add the same to every cell.
        let rest = self.mean - mean;
        let term = |(weight, sum): (&f64, &f64)| weight * (sum + rest - self.mean).powi(2);
        self.weights[column].iter().zip(cells).map(term).sum()
    }

    /// Returns the variance of the mean at each pair of cells of two columns.
    fn together(&self, a: usize, b: usize) -> f64 {
        let (table, [one, other]) = (&self.tables[pair(a, b)], [&self.bounded[a], &self.bounded[b]]);
        let rest = self.mean - one.mean - other.mean + table.mean;
        let mut sum = 0.0;
        for (at, weight) in self.weights[a].iter().enumerate() {
            let only_a = one.cells[at] - table.sides[0][at];
            let row = &table.cells[at * other.cells.len()..][..other.cells.len()];
            for (to, both) in row.iter().enumerate() {
                let only_b = other.cells[to] - table.sides[1][to];
                sum += weight * self.weights[b][to] * (both + only_a + only_b + rest - self.mean).powi(2);
            }
        }
        sum
    }
}

impl Square {
    /// Adds a leaf of this mass, with its cells and its widths in both columns.
    fn add(&mut self, sides: [&[usize]; 2], mass: f64, widths: [f64; 2]) {
        let columns = self.sides[1].len();
        for cell in sides[0] {
            add(&mut self.cells[cell * columns..][..columns], sides[1], mass / (widths[0] * widths[1]));
        }
        for (side, (cells, width)) in self.sides.iter_mut().zip(sides.into_iter().zip(widths)) {
            add(side, cells, mass / width);
        }
        self.mean += mass;
    }
}

/// Adds `amount` at each of `cells`.
fn add(sums: &mut [f64], cells: &[usize], amount: f64) {
    cells.iter().for_each(|cell| sums[*cell] += amount);
}

/// Returns the pairs `a < b` of `count` columns, in the order of [`pair`].
pub(crate) fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(|b| (0..b).map(move |a| (a, b)))
}

#[cfg(test)]
#[path = "variance_tests.rs"]
mod tests;
