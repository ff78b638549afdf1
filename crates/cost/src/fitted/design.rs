//! The matrix to which a model is fitted.

use super::case::Case;
use super::kin::Kinship;
use super::overlap::Uses;
use super::property::{CostProperty, Resource};

/// Maximum distance of the cosine from 1 at which two columns are multiples of each other. The
/// rounding of counts below 2^53 stays under it.
const PARALLEL: f64 = 1e-12;

/// A matrix with a row for each case and a column for each property. Properties that are multiples
/// of each other in all cases share a column.
///
/// Every row is divided by its time, so that the squared errors are relative (section 4.3) and the
/// target is 1 everywhere. Every column is divided by its length, so that all coefficients have
/// similar size.
#[derive(Debug)]
pub(super) struct Design {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<f64>>,
    /// The part of each cell that is done [apart](super::PropertyCounts::apart).
    pub(super) apart: Vec<Vec<f64>>,
}

/// Properties that cannot be told apart. The first one gives the name.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) members: Vec<Member>,
    pub(super) resource: Resource,
}

/// A property and the length of its column.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) property: CostProperty,
    length: f64,
}

#[cfg(test)]
impl Member {
    /// Returns a property whose column has the length of its counts.
    pub(super) fn unit(property: CostProperty) -> Self {
        Self { property, length: 1.0 }
    }
}

impl Design {
    /// Returns the matrix of the properties that `keep` selects and some case has. The cases must
    /// be valid.
    pub(super) fn new(cases: &[Case], keep: impl Fn(CostProperty) -> bool) -> Self {
        let counted = cases.iter().flat_map(|case| case.counts.iter().filter(|(_, count)| *count > 0.0));
        let properties = counted.map(|(property, _)| property).chain([CostProperty::Constant]);
        let properties = CostProperty::sorted(properties.filter(|property| keep(*property)));
        let empty = vec![Vec::new(); cases.len()];
        let mut design = Self { columns: Vec::new(), rows: empty.clone(), apart: empty };
        properties.into_iter().for_each(|property| design.add(property, cases));
        design
    }

    fn add(&mut self, property: CostProperty, cases: &[Case]) {
        let relative: Vec<f64> = cases.iter().map(|case| case.counts.of(property) / case.seconds).collect();
        let length = relative.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (member, resource) = (Member { property, length }, property.resource());
        let cosine = |at: usize| self.rows.iter().zip(&relative).map(|(row, x)| row[at] * x / length).sum::<f64>();
        let twin =
            (0..self.columns.len()).find(|&at| self.columns[at].resource == resource && cosine(at) > 1.0 - PARALLEL);
        match twin {
            Some(at) => self.columns[at].members.push(member),
            None => {
                self.columns.push(Column { members: vec![member], resource });
                self.rows.iter_mut().zip(&relative).for_each(|(row, x)| row.push(x / length));
                let apart = cases.iter().map(|case| case.counts.apart(property) / case.seconds / length);
                self.apart.iter_mut().zip(apart).for_each(|(row, x)| row.push(x));
            }
        }
    }

    /// Returns the rows with the parts that are done apart.
    pub(super) fn uses(&self) -> Vec<Uses> {
        let uses = |(all, apart): (&Vec<f64>, &Vec<f64>)| Uses { all: all.clone(), apart: apart.clone() };
        self.rows.iter().zip(&self.apart).map(uses).collect()
    }

    /// Returns the columns whose properties cost alike.
    pub(super) fn kinship(&self) -> Kinship {
        let cost = |column: &Column| {
            let (property, weight) = (column.name(), column.weights(1.0).next().map_or(1.0, |(_, weight)| weight));
            (property, column.resource, 1.0 / weight)
        };
        Kinship::new(self.columns.iter().map(cost))
    }

    /// Returns the resource of each column.
    pub(super) fn resources(&self) -> Vec<Resource> {
        self.columns.iter().map(|column| column.resource).collect()
    }
}

impl Column {
    /// Returns the weights of its properties in seconds. They add up to the column's `coefficient`,
    /// and each property takes the same part of the time of the cases.
    pub(super) fn weights(&self, coefficient: f64) -> impl Iterator<Item = (CostProperty, f64)> {
        let share = coefficient / self.members.len() as f64;
        self.members.iter().map(move |member| (member.property, share / member.length))
    }

    /// Returns its first property.
    pub(super) fn name(&self) -> CostProperty {
        self.members[0].property
    }
}

#[cfg(test)]
mod tests {
    use super::super::property::counts_of;
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn properties_that_are_multiples_of_each_other_share_a_column_and_its_time() {
        let case = |loads: f64, adds: f64, seconds: f64| {
            let counts =
                [("op:f32:add", adds), ("op:f32:mul", 2.0 * adds), ("g:32:load:s1", loads), ("g:32:load:s0", adds)];
            let counts = counts_of(&counts);
            Case { kernel: "k".into(), class: "c".into(), sizes: BTreeMap::new(), counts, seconds }
        };
        let cases = [case(3.0, 1.0, 0.5), case(0.0, 5.0, 0.25), case(7.0, 2.0, 4.0)];
        let design = Design::new(&cases, |_| true);
        let names: Vec<Vec<String>> =
            design.columns.iter().map(|c| c.members.iter().map(|m| m.property.to_string()).collect()).collect();
        // Loads and additions that grow together use different resources. Only the form can tell
        // them apart.
        let expected = [vec!["const"], vec!["g:32:load:s0"], vec!["g:32:load:s1"], vec!["op:f32:add", "op:f32:mul"]];
        assert_eq!(names, expected);
        let weights: Vec<(CostProperty, f64)> = design.columns[3].weights(1.0).collect();
        assert!((weights[0].1 - 2.0 * weights[1].1).abs() < 1e-12 * weights[0].1);
        let seconds = |case: &Case| weights.iter().map(|(property, w)| w * case.counts.of(*property)).sum::<f64>();
        assert!((seconds(&cases[1]) / cases[1].seconds - design.rows[1][3]).abs() < 1e-12);
    }
}
