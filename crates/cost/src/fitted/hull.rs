//! The cone of the measured kernels: the mixtures of properties that some measured kernels make.

use super::case::Case;
use super::model::CostModel;
use super::property::PropertyCounts;
use tunesmith_model::nonnegative_least_squares;

/// Keeps the mixture of measured kernels unique.
const RIDGE: f64 = 1e-6;
/// Minimum cosine at which two kernels count as the same direction: sizes of one kernel mostly do.
const SAME: f64 = 0.9999;
/// Number of directions that enter the mixture in each round.
const ENTERING: usize = 8;
/// Minimum slope at which a direction would still come nearer to the kernel.
const SLOPE: f64 = 1e-6;

/// The directions in which measured kernels spend their time, each of length 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hull {
    directions: Vec<Vec<f64>>,
}

/// The distance of a kernel from all mixtures of measured kernels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Distance {
    /// The part of the kernel's time that no mixture has, from 0 to 1.
    pub(super) share: f64,
    /// The term of the model that differs most.
    pub(super) term: usize,
}

impl Hull {
    /// Returns the hull of measured kernels. Each property's time is that of the property alone.
    pub(super) fn new<'a>(model: &CostModel, cases: impl Iterator<Item = &'a Case>) -> Self {
        let mut directions: Vec<Vec<f64>> = Vec::new();
        for own in cases.filter_map(|case| direction(model, &case.counts)) {
            if directions.iter().all(|known| cosine(known, &own) < SAME) {
                directions.push(own);
            }
        }
        Self { directions }
    }

    /// Returns the distance of a kernel, or `None` for a kernel without any property.
    ///
    /// Directions enter the mixture while they bring it nearer to the kernel, some at a time. This
    /// finds the mixture that all directions together would. Costs directions x properties for each
    /// round, and the cube of the few directions of the mixture.
    pub(super) fn distance(&self, model: &CostModel, counts: &PropertyCounts) -> Option<Distance> {
        let kernel = direction(model, counts)?;
        let (mut used, mut misses) = (Vec::new(), kernel.clone());
        loop {
            let slope = |at: usize| cosine(&self.directions[at], &misses);
            let nearer = (0..self.directions.len()).filter(|at| !used.contains(at)).map(|at| (slope(at), at));
            let mut nearer: Vec<(f64, usize)> = nearer.filter(|(slope, _)| *slope > SLOPE).collect();
            if nearer.is_empty() {
                break;
            }
            nearer.sort_by(|a, b| b.0.total_cmp(&a.0));
            used.extend(nearer.into_iter().take(ENTERING).map(|(_, at)| at));
            misses = self.misses(&used, &kernel);
        }
        let share = cosine(&misses, &misses).sqrt().min(1.0);
        let term = (0..misses.len()).max_by(|&a, &b| misses[a].abs().total_cmp(&misses[b].abs()))?;
        Some(Distance { share, term })
    }

    /// Returns the difference of a kernel from the nearest mixture of the directions in `used`.
    fn misses(&self, used: &[usize], kernel: &[f64]) -> Vec<f64> {
        let row = |at: usize| used.iter().map(|direction| self.directions[*direction][at]).collect();
        let rows: Vec<Vec<f64>> = (0..kernel.len()).map(row).collect();
        let parts = nonnegative_least_squares(&rows, kernel, &vec![0.0; used.len()], RIDGE);
        rows.iter().zip(kernel).map(|(row, own)| own - cosine(row, &parts)).collect()
    }
}

/// Returns the sum of products, which is the cosine of directions.
fn cosine(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// Returns the times of the properties as a vector of length 1. The constant is not part of a
/// mixture. Returns `None` for a kernel without any property.
fn direction(model: &CostModel, counts: &PropertyCounts) -> Option<Vec<f64>> {
    let times: Vec<f64> = model.terms.iter().map(|term| term.weight.abs() * counts.counted(term.property)).collect();
    let length = cosine(&times, &times).sqrt();
    (length > 0.0).then(|| times.iter().map(|time| time / length).collect())
}

#[cfg(test)]
mod tests {
    use super::super::property::CostProperty;
    use super::super::{Form, Term};
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const NAMES: [&str; 4] = ["add", "div", "exp", "mul"];

    fn property(at: usize) -> CostProperty {
        format!("op:f32:{}", NAMES[at]).parse().unwrap()
    }

    fn model() -> CostModel {
        let term = |at| Term { property: property(at), weight: 1.0, spread: None, kernels: 1 };
        CostModel {
            form: Form::Nnls,
            exponent: 1.0,
            units: 1.0,
            terms: (0..NAMES.len()).map(term).collect(),
            rank: NAMES.len(),
            merged: Vec::new(),
            dependent: Vec::new(),
            residuals: BTreeMap::new(),
            reach: None,
        }
    }

    fn counts(row: &[f64]) -> PropertyCounts {
        row.iter().enumerate().map(|(at, count)| (property(at), *count)).collect()
    }

    fn case(row: &[f64]) -> Case {
        Case { kernel: "k".into(), class: "c".into(), sizes: BTreeMap::new(), counts: counts(row), seconds: 1.0 }
    }

    proptest! {
        #[test]
        fn directions_that_enter_in_rounds_give_the_distance_from_all_of_them(
            cases in prop::collection::vec(prop::collection::vec(0.0..1.0f64, 4), 1..40),
            kernel in prop::collection::vec(0.01..1.0f64, 4),
        ) {
            let (model, cases) = (model(), cases.iter().map(|row| case(row)).collect::<Vec<_>>());
            let hull = Hull::new(&model, cases.iter());
            let found = hull.distance(&model, &counts(&kernel)).unwrap().share;
            let all: Vec<usize> = (0..hull.directions.len()).collect();
            let misses = hull.misses(&all, &direction(&model, &counts(&kernel)).unwrap());
            prop_assert!((found - cosine(&misses, &misses).sqrt()).abs() < 1e-3, "{}", found);
        }
    }

    #[test]
    fn mixtures_of_measured_kernels_have_no_distance_and_others_name_what_differs() {
        let cases = [case(&[1.0, 0.0, 0.0, 0.0]), case(&[1.0, 1.0, 0.0, 0.0])];
        let (model, near) = (model(), |row: &[f64]| counts(row));
        let hull = Hull::new(&model, cases.iter());
        assert!(hull.distance(&model, &near(&[4.0, 1.0, 0.0, 0.0])).unwrap().share < 1e-3);
        let far = hull.distance(&model, &near(&[1.0, 9.0, 0.0, 0.0])).unwrap();
        assert!(far.share > 0.3 && far.term < 2, "{far:?}");
        let other = hull.distance(&model, &near(&[0.0, 0.0, 5.0, 0.0])).unwrap();
        assert!(other.share > 0.999 && other.term == 2, "{other:?}");
        assert_eq!(hull.distance(&model, &near(&[0.0; 4])), None);
    }
}
