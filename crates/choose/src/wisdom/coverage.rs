//! Tells the inputs that a choice was measured for from those where it is a guess.

use super::distance::{doublings, outside};
use super::measure::{Measure, measures};

/// The inputs that a choice covers: the ranges of their measures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// The smallest and largest number of each [`Measure`] of the inputs.
    ranges: Vec<(f64, f64)>,
    /// Number of sizes.
    sizes: usize,
}

/// The range of a measure that is no number for any input, such as the ratio to a size of 0. It
/// excludes nothing.
const UNKNOWN: (f64, f64) = (-1e300, 1e300);

/// The factor beyond an end of a range at which an input is far outside. Within a doubling of what was
/// measured, the neighbours' configuration still tends to be good.
pub const FAR: f64 = 2.0;

impl Coverage {
    /// Covers the box of these inputs, which all have the same number of sizes.
    pub fn of(inputs: &[Vec<f64>]) -> Self {
        let rows: Vec<Vec<f64>> = inputs.iter().map(|sizes| measures(sizes)).collect();
        let range = |at: usize| {
            let numbers = rows.iter().map(|row| row[at]).filter(|number| number.is_finite());
            let ends = numbers.fold(None, |ends: Option<(f64, f64)>, number| {
                Some(ends.map_or((number, number), |(low, high)| (low.min(number), high.max(number))))
            });
            ends.unwrap_or(UNKNOWN)
        };
        let sizes = inputs.first().map_or(0, Vec::len);
        Self { ranges: (0..Measure::all(sizes).count()).map(range).collect(), sizes }
    }

    /// Covers the box of these ranges of sizes, of which no proportions are known.
    pub fn of_box(ranges: Vec<(f64, f64)>) -> Self {
        Self { sizes: ranges.len(), ranges }
    }

    /// Returns the covered measures with their ranges.
    pub fn ranges(&self) -> impl Iterator<Item = (Measure, (f64, f64))> + '_ {
        Measure::all(self.sizes).zip(self.ranges.iter().copied())
    }

    /// Returns the ranges of all measures, the sizes' first.
    pub fn numbers(&self) -> &[(f64, f64)] {
        &self.ranges
    }

    /// Covers `ranges` of the measures of `sizes` sizes, or of the sizes alone. Returns `None` if
    /// there are fewer ranges than sizes or more than measures.
    pub fn from_numbers(ranges: Vec<(f64, f64)>, sizes: usize) -> Option<Self> {
        (sizes..=Measure::all(sizes).count()).contains(&ranges.len()).then_some(Self { ranges, sizes })
    }

    /// Returns the distance of an input from the covered ones, in doublings; 0 inside. It is the
    /// distance of the sizes from their box, or the largest distance of a product or ratio from its
    /// range, whichever is larger.
    pub fn outside(&self, sizes: &[f64]) -> f64 {
        let number = |(measure, range): (Measure, (f64, f64))| (measure.of(sizes), range);
        let of_box = outside(self.ranges().take(self.sizes).map(number));
        let of_shapes = self.ranges().skip(self.sizes).map(|pair| outside(std::iter::once(number(pair))));
        of_shapes.fold(of_box, f64::max)
    }

    /// Returns true if a measure lies beyond its range by more than the factor [`FAR`], or is not
    /// known.
    pub fn is_far(&self, sizes: &[f64]) -> bool {
        let is_near = |(measure, range): (Measure, (f64, f64))| {
            let (number, (low, high)) = (measure.of(sizes), widened(range));
            number >= low && number <= high
        };
        !self.ranges().all(is_near)
    }
}

/// Returns the range of numbers that are not far outside of `range`.
pub fn widened((low, high): (f64, f64)) -> (f64, f64) {
    let low = if low > 0.0 { low / FAR } else { low * FAR };
    let high = if high > 0.0 { high * FAR } else { high / FAR };
    (low, high)
}

/// Returns the distance of an input from inputs that all have the same value of some sizes, in
/// doublings. Each pair is the input's value and the common one. A size that is not given does not
/// count.
pub(crate) fn apart(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let given = pairs.filter(|(own, _)| !own.is_nan());
    given.map(|(own, common)| doublings(Some(own), Some(common)).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_do_not_cover_a_long_strip_although_its_sides_are_in_range() {
        let squares: Vec<Vec<f64>> = [256.0, 512.0, 2048.0].map(|side| vec![side, side]).to_vec();
        let coverage = Coverage::of(&squares);
        assert_eq!(coverage.outside(&[1024.0, 1024.0]), 0.0);
        assert_eq!((coverage.outside(&[2048.0, 256.0]), coverage.is_far(&[2048.0, 256.0])), (3.0, true));
        assert_eq!((coverage.outside(&[640.0, 640.0]), coverage.is_far(&[640.0, 480.0])), (0.0, false));
        assert!(coverage.outside(&[640.0, 480.0]) > 0.4, "no rectangle was measured");
    }

    #[test]
    fn inputs_beyond_the_box_are_outside_and_those_beyond_twice_it_far() {
        let coverage = Coverage::of(&[vec![8.0], vec![1024.0]]);
        let at = |size| (coverage.outside(&[size]), coverage.is_far(&[size]));
        assert_eq!([100.0, 2048.0, 2049.0, 4.0].map(|size| at(size).1), [false, false, true, false]);
        assert_eq!((at(2048.0).0, at(4.0).0, at(4096.0).0), (1.0, 1.0, 2.0));
        assert!(coverage.is_far(&[f64::NAN]) && coverage.is_far(&[]) && coverage.outside(&[]) > 60.0);
        assert!(!Coverage::default().is_far(&[]) && Coverage::default().outside(&[]) == 0.0);
    }

    #[test]
    fn constant_sizes_are_compared_if_they_are_given() {
        assert_eq!(apart([(8.0, 2.0), (f64::NAN, 5.0), (3.0, 3.0)].into_iter()), 2.0);
    }
}
