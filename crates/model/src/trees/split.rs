//! Finds the best split of a node from the sums of its bins.

use super::bins::{BinColumn, Bins, Content};
use super::direction::Direction;
use super::tree::Test;
use std::ops::{AddAssign, Sub, SubAssign};

/// The sum of the targets of the rows of a bin or a node, and the number of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sums {
    pub(crate) sum: f64,
    /// A float, so that one instruction adds both.
    pub(crate) count: f64,
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Self) {
        self.sum += other.sum;
        self.count += other.count;
    }
}

impl SubAssign for Sums {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sub for Sums {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { sum: self.sum - other.sum, count: self.count - other.count }
    }
}

impl Sums {
    /// Returns the decrease of the sum of squares if the rows are predicted by `sum / (count +
    /// shrinkage)` instead of by 0.
    pub(crate) fn explained(self, shrinkage: f64) -> f64 {
        self.sum * self.sum / (self.count + shrinkage)
    }

    /// Returns the value of a leaf.
    pub(crate) fn value(self, shrinkage: f64) -> f64 {
        self.sum / (self.count + shrinkage)
    }
}

/// The values that the leaves under a node may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ValueBounds {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl ValueBounds {
    pub(crate) const NONE: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// Returns the value of a leaf of these rows: the allowed value of least squares.
    pub(crate) fn value(self, rows: Sums, shrinkage: f64) -> f64 {
        rows.value(shrinkage).clamp(self.low, self.high)
    }

    /// Returns the decrease of the sum of squares if the rows are predicted by that value instead
    /// of by 0.
    fn explained(self, rows: Sums, shrinkage: f64) -> f64 {
        if self == Self::NONE {
            return rows.explained(shrinkage);
        }
        let value = self.value(rows, shrinkage);
        value * (2.0 * rows.sum - value * (rows.count + shrinkage))
    }

    /// Returns the bounds of both sides of a split of a column with this direction. Neither side
    /// may pass the middle of their values.
    pub(crate) fn parted(self, direction: Option<Direction>, yes: f64, no: f64) -> [Self; 2] {
        let middle = yes / 2.0 + no / 2.0;
        let (below, above) = (Self { high: middle, ..self }, Self { low: middle, ..self });
        match direction {
            None => [self, self],
            Some(Direction::Rising) => [below, above],
            Some(Direction::Falling) => [above, below],
        }
    }
}

/// The limits of a split.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Maximum number of splits on the way to a leaf.
    pub(crate) depth: usize,
    /// Minimum number of rows of a leaf.
    pub(crate) min_leaf: usize,
    /// Minimum number of rows of a node that is split.
    pub(crate) min_parent: usize,
    /// Number of additional rows with target 0 that every leaf is assumed to have.
    pub(crate) shrinkage: f64,
    /// The gain below which a node is not split.
    pub(crate) least_gain: f64,
}

/// A split of the rows of a node.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    pub(crate) column: usize,
    pub(crate) test: Test,
    pub(crate) missing: bool,
    pub(crate) gain: f64,
    /// The sums of the rows whose answer is yes.
    pub(crate) yes: Sums,
    /// True for each bin of the column, including that of missing values, whose answer is yes.
    pub(crate) answers: Vec<bool>,
}

/// Rows and limits of the node that is split.
struct SplitSearch<'a> {
    total: Sums,
    bounds: ValueBounds,
    limits: &'a Limits,
    column: usize,
    direction: Option<Direction>,
    best: Option<Split>,
}

/// Returns the split with the largest gain, if it exceeds `limits.least_gain`.
///
/// Of equal splits, the first one is the best: by column, then from low to high thresholds, then
/// missing values with the yes before those with the no. If values are bounded or a column has a
/// direction, only splits that respect it count. Costs one look at each bin.
pub(crate) fn best(
    bins: &Bins,
    histogram: &[Sums],
    total: Sums,
    bounds: ValueBounds,
    limits: &Limits,
) -> Option<Split> {
    let mut search = SplitSearch { total, bounds, limits, column: 0, direction: None, best: None };
    for (index, column) in bins.columns().iter().enumerate() {
        (search.column, search.direction) = (index, column.direction);
        let sums = &histogram[column.offset..=column.offset + column.bins()];
        match &column.content {
            Content::Numbers(ranges) => search.numbers(column, ranges, sums),
            Content::Levels { present, all } => search.levels(present, *all, sums),
        }
    }
    search.best
}

impl SplitSearch<'_> {
    /// Returns the gain of the split that gives `yes` its own leaf. Returns `None` if it is not
    /// allowed or not the best so far.
    fn improves(&self, yes: Sums) -> Option<f64> {
        let Limits { min_leaf, shrinkage, least_gain, .. } = *self.limits;
        let no = self.total - yes;
        if yes.count < min_leaf as f64 || no.count < min_leaf as f64 {
            return None;
        }
        let explained = |rows| self.bounds.explained(rows, shrinkage);
        let gain = explained(yes) + explained(no) - explained(self.total);
        let bar = self.best.as_ref().map_or(least_gain, |best| best.gain);
        (gain > bar && self.keeps_direction(yes, no)).then_some(gain)
    }

    fn keeps_direction(&self, yes: Sums, no: Sums) -> bool {
        let value = |rows| self.bounds.value(rows, self.limits.shrinkage);
        match self.direction {
            None => true,
            Some(Direction::Rising) => value(yes) <= value(no),
            Some(Direction::Falling) => value(yes) >= value(no),
        }
    }

    fn numbers(&mut self, column: &BinColumn, ranges: &[(f64, f64)], sums: &[Sums]) {
        let missing = sums[column.bins()];
        let mut yes = Sums::default();
        let occupied: Vec<usize> = (0..column.bins()).filter(|&bin| sums[bin].count > 0.0).collect();
        for (at, &bin) in occupied.iter().enumerate() {
            yes += sums[bin];
            let next = occupied.get(at + 1).map(|&next| ranges[next].0);
            if missing.count > 0.0 {
                let mut with = yes;
                with += missing;
                self.number(bin, column.bins(), threshold(ranges[bin].1, next), true, with);
                self.number(bin, column.bins(), threshold(ranges[bin].1, next), false, yes);
            } else if next.is_some() {
                // A value that was never missing goes with the majority.
                let missing = yes.count >= self.total.count - yes.count;
                self.number(bin, column.bins(), threshold(ranges[bin].1, next), missing, yes);
            }
        }
    }

    fn number(&mut self, last: usize, bins: usize, threshold: f64, missing: bool, yes: Sums) {
        if let Some(gain) = self.improves(yes) {
            let answers = (0..=bins).map(|bin| if bin == bins { missing } else { bin <= last }).collect();
            let test = Test::AtMost(threshold);
            self.best = Some(Split { column: self.column, test, missing, gain, yes, answers });
        }
    }

    /// Orders levels by their means. Some prefix of this order is the best subset (Fisher, On
    /// grouping for maximum homogeneity, 1958; Breiman et al., Classification and regression trees,
    /// 1984, theorem 4.5).
    fn levels(&mut self, present: &[usize], all: usize, sums: &[Sums]) {
        let mut order: Vec<usize> = (0..sums.len()).filter(|&bin| sums[bin].count > 0.0).collect();
        order.sort_by(|&a, &b| sums[a].value(0.0).total_cmp(&sums[b].value(0.0)));
        let mut yes = Sums::default();
        for at in 0..order.len().saturating_sub(1) {
            yes += sums[order[at]];
            if let Some(gain) = self.improves(yes) {
                let mut answers = vec![false; sums.len()];
                order[..=at].iter().for_each(|&bin| answers[bin] = true);
                // A level that does not occur here goes with the majority.
                let most = yes.count >= self.total.count - yes.count;
                let missing = if sums[present.len()].count > 0.0 { answers[present.len()] } else { most };
                answers[present.len()] = missing;
                let answer = |level: &usize| match present.binary_search(level) {
                    Ok(bin) if sums[bin].count > 0.0 => answers[bin],
                    _ => missing,
                };
                let test = Test::OneOf((0..all).filter(answer).collect());
                self.best = Some(Split { column: self.column, test, missing, gain, yes, answers });
            }
        }
    }
}

/// Returns a threshold that separates two neighbouring values, between them if possible. Without a
/// higher value, returns the largest number. The question is then whether the value is missing.
fn threshold(low: f64, high: Option<f64>) -> f64 {
    let Some(high) = high else { return f64::MAX };
    let middle = low / 2.0 + high / 2.0;
    if middle.is_finite() && (low..high).contains(&middle) { middle } else { low.clamp(f64::MIN, f64::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_parts_its_neighbours_and_is_finite() {
        let next = f64::from_bits(1.0_f64.to_bits() + 1);
        let pairs =
            [(1.0, 2.0), (1.0, next), (-1e308, 1e308), (f64::MIN, f64::MAX), (0.0, f64::INFINITY), (-5e-324, 0.0)];
        for (low, high) in pairs {
            let threshold = threshold(low, Some(high));
            assert!(low <= threshold && threshold < high && threshold.is_finite(), "{low} {high} {threshold}");
        }
        assert!(threshold(f64::NEG_INFINITY, Some(3.0)).is_finite());
    }
}
