//! Properties that cost alike.

use super::property::{CostProperty, Resource};
use std::collections::BTreeMap;
use tunesmith_loopnest::{Direction, Function, Operation, Property};

/// The penalty for a cost that is e times the mean of its kin. The loss of a kernel whose estimate is e times
/// its time is 1, so a few kernels that agree outweigh the kin.
///
/// It was chosen by a calibration alone: see `bench/results/costmodel.md`.
const STRENGTH: f64 = 0.1;

/// A kind of properties that take the same hardware, so that their costs have a similar size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kin {
    /// Accesses to global memory in a direction.
    Access(Direction),
    /// The lesser of loads and stores.
    LoadsAndStores,
    /// Accesses to local memory.
    Local,
    /// Data beyond a cache.
    Beyond,
    /// Operations that take a unit one step: sums, products, comparisons. True for those of floating-point
    /// numbers.
    Steps(bool),
    /// Conversions between types.
    Conversions,
    /// Atomic updates.
    Updates,
    /// A longer operation, in any precision.
    Operation(Operation),
    /// Waiting for an operation of one step. True for those of floating-point numbers.
    WaitingForSteps(bool),
    /// Waiting for longer operations.
    WaitingForOthers,
}

impl Kin {
    /// Returns the kin of a property, or `None` if it has none.
    pub(crate) fn of(property: CostProperty) -> Option<Self> {
        match property {
            CostProperty::Beyond(_) => Some(Self::Beyond),
            CostProperty::Waits(Property::Arithmetic(operation, kind)) => {
                Some(if is_step(operation) { Self::WaitingForSteps(kind.is_float()) } else { Self::WaitingForOthers })
            }
            CostProperty::Items(property) | CostProperty::Lanes(property) => match property {
                Property::Global(_, direction, _) => Some(Self::Access(direction)),
                Property::LoadsAndStores(..) => Some(Self::LoadsAndStores),
                Property::LocalLoads(_) | Property::StridedLocalLoads(..) | Property::Banks(..) => Some(Self::Local),
                Property::Atomic(..) => Some(Self::Updates),
                Property::Arithmetic(Operation::Convert(_), _) | Property::Operations(Operation::Convert(_), _) => {
                    Some(Self::Conversions)
                }
                Property::Arithmetic(operation, kind) | Property::Operations(operation, kind) => {
                    Some(if is_step(operation) { Self::Steps(kind.is_float()) } else { Self::Operation(operation) })
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// Returns true if an arithmetic unit takes one step for the operation.
fn is_step(operation: Operation) -> bool {
    use Operation::{Add, Fma, Mul, Special};
    matches!(operation, Add | Mul | Fma | Special(Function::Abs | Function::Min | Function::Max | Function::Select(_)))
}

/// The coefficients whose properties are kin.
///
/// The logarithms of their costs are drawn towards the mean of their kin (a hierarchical model). A weight
/// that the measured kernels do not tell takes the cost of its kin. One that they tell is hardly moved.
#[derive(Clone, Debug, Default)]
pub(super) struct Kinship {
    /// Columns by kin, at least two in each group.
    groups: Vec<Vec<usize>>,
    /// The factor from the cost of each column's property to its coefficient.
    lengths: Vec<f64>,
}

impl Kinship {
    /// Returns the kin among columns, given the property of each, its resource, and the factor from the cost
    /// of the property to the coefficient of the column.
    pub(super) fn new(columns: impl Iterator<Item = (CostProperty, Resource, f64)>) -> Self {
        let (mut groups, mut lengths): (BTreeMap<_, Vec<usize>>, _) = (BTreeMap::new(), Vec::new());
        for (at, (property, resource, length)) in columns.enumerate() {
            if let Some(kin) = Kin::of(property) {
                groups.entry((kin, resource)).or_default().push(at);
            }
            lengths.push(length);
        }
        Self { groups: groups.into_values().filter(|group| group.len() > 1).collect(), lengths }
    }

    /// Returns the columns of each group, and the distances of the logarithms of their costs from their mean.
    fn distances(&self, x: &[f64]) -> impl Iterator<Item = (&[usize], Vec<f64>)> {
        self.groups.iter().map(|group| {
            let logarithms: Vec<f64> = group.iter().map(|at| (x[*at] / self.lengths[*at]).ln()).collect();
            let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
            (group.as_slice(), logarithms.into_iter().map(|own| own - mean).collect())
        })
    }

    /// Returns the penalty for coefficients `x > 0`.
    pub(super) fn loss(&self, x: &[f64]) -> f64 {
        STRENGTH * self.distances(x).flat_map(|(_, own)| own).map(|own| own * own).sum::<f64>()
    }

    /// Returns the derivatives of the penalty by the logarithm of each coefficient.
    pub(super) fn slopes(&self, x: &[f64]) -> Vec<(usize, f64)> {
        let slopes = |(group, distances): (&'_ [usize], Vec<f64>)| {
            group.iter().copied().zip(distances.into_iter().map(|own| 2.0 * STRENGTH * own)).collect::<Vec<_>>()
        };
        self.distances(x).flat_map(slopes).collect()
    }

    /// Returns the second derivatives of the penalty, each pair of different columns once.
    pub(super) fn curvature(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        self.groups.iter().flat_map(|group| {
            let mean = 1.0 / group.len() as f64;
            group.iter().enumerate().flat_map(move |(place, at)| {
                group[..=place].iter().map(move |other| {
                    let own = if other == at { 1.0 } else { 0.0 };
                    (*at, *other, 2.0 * STRENGTH * (own - mean))
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinship() -> Kinship {
        let texts = ["g:32:load:s1", "g:64:load:1/2", "const", "g:32:store:s1", "g:8:load:s0", "op:f32:add"];
        let column = |text: &str| text.parse::<CostProperty>().unwrap();
        let columns = texts.map(column).into_iter().zip([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        Kinship::new(columns.map(|(property, length)| (property, property.resource(), length)))
    }

    #[test]
    fn the_penalty_falls_with_the_distance_of_the_costs_from_their_mean() {
        let kinship = kinship();
        assert_eq!(kinship.groups, [[0, 1, 4]], "the loads");
        let alike = [1.0, 2.0, 9.0, 9.0, 5.0, 9.0];
        assert!(kinship.loss(&alike) < 1e-12, "a cost of 1 each");
        let mut other = alike;
        other[1] *= std::f64::consts::E;
        assert!((kinship.loss(&other) - STRENGTH * 2.0 / 3.0).abs() < 1e-12);
        other[3] = 1e9;
        assert!((kinship.loss(&other) - STRENGTH * 2.0 / 3.0).abs() < 1e-12, "what has no kin is free");
    }

    #[test]
    fn slopes_and_curvature_are_those_of_differences() {
        let (kinship, x) = (kinship(), [1.0, 3.0, 1.0, 1.0, 0.5, 1.0]);
        let moved = |changes: &[(usize, f64)]| {
            let mut moved = x;
            changes.iter().for_each(|(at, by)| moved[*at] *= by.exp());
            kinship.loss(&moved)
        };
        let step = 1e-3;
        for (at, slope) in kinship.slopes(&x) {
            let difference = (moved(&[(at, step)]) - moved(&[(at, -step)])) / (2.0 * step);
            assert!((slope - difference).abs() < 1e-6, "{slope} {difference}");
        }
        for (at, other, curvature) in kinship.curvature() {
            let both = |one: f64, two: f64| moved(&[(at, one), (other, two)]);
            let difference =
                (both(step, step) - both(step, -step) - both(-step, step) + both(-step, -step)) / (4.0 * step * step);
            assert!((curvature - difference).abs() < 1e-6, "{curvature} {difference}");
        }
    }
}
