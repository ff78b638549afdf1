//! Finds the weights that the measured kernels do not determine.

use super::design::Design;
use super::property::CostProperty;
use super::qr::PivotedQr;
use serde::{Deserialize, Serialize};

/// Maximum share of the first pivot that counts as rounding.
const NEGLIGIBLE: f64 = 1e-9;

/// A property whose column is a sum of others in all measured kernels. The time is shared among
/// them arbitrarily.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dependence {
    /// The property.
    pub property: CostProperty,
    /// The other properties.
    pub on: Vec<CostProperty>,
}

/// Returns the rank of the matrix and the columns that are sums of others, by QR with pivots. Costs
/// rows x columns^2.
pub(super) fn dependences(design: &Design) -> (usize, Vec<Dependence>) {
    let columns = design.columns.len();
    let column = |at: usize| design.rows.iter().map(|row| row[at]).collect();
    let factor = PivotedQr::new((0..columns).map(column).collect(), NEGLIGIBLE);
    let (rank, name) = (factor.rank(), |part: usize| design.columns[factor.order[part]].name());
    let dependence = |at: usize| {
        let parts = factor.combination(at);
        let on = (0..rank).filter(|&part| parts[part].abs() > NEGLIGIBLE.sqrt());
        let on = CostProperty::sorted(on.map(name));
        Dependence { property: name(at), on }
    };
    let mut found: Vec<Dependence> = (rank..columns).map(dependence).collect();
    found.sort_by_cached_key(|own| own.property.to_string());
    (rank, found)
}

#[cfg(test)]
mod tests {
    use super::super::design::{Column, Member};
    use super::super::property::Resource;
    use super::*;
    use proptest::prelude::*;

    /// Operations that stand for the columns.
    const NAMES: [&str; 5] = ["add", "div", "exp", "mul", "sin"];

    fn design(rows: Vec<Vec<f64>>) -> Design {
        let column = |at: usize| Column {
            members: vec![Member::unit(format!("op:f32:{}", NAMES[at]).parse().unwrap())],
            resource: Resource::Compute,
        };
        Design { columns: (0..rows[0].len()).map(column).collect(), rows, apart: Vec::new() }
    }

    /// Returns the rank by elimination in exact integers.
    fn rank(mut rows: Vec<Vec<i128>>) -> usize {
        let mut rank = 0;
        for column in 0..rows[0].len() {
            let Some(pivot) = (rank..rows.len()).find(|&row| rows[row][column] != 0) else { continue };
            rows.swap(rank, pivot);
            for row in rank + 1..rows.len() {
                let (own, above) = (rows[row][column], rows[rank][column]);
                for at in 0..rows[row].len() {
                    rows[row][at] = rows[row][at] * above - rows[rank][at] * own;
                }
            }
            rank += 1;
        }
        rank
    }

    proptest! {
        #[test]
        fn the_rank_is_that_of_exact_elimination(rows in prop::collection::vec(prop::collection::vec(-2i32..3, 5), 1..8)) {
            let exact = rank(rows.iter().map(|row| row.iter().map(|x| i128::from(*x)).collect()).collect());
            let numbers: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|x| f64::from(*x)).collect()).collect();
            let (found, dependent) = dependences(&design(numbers));
            prop_assert_eq!(found, exact);
            prop_assert_eq!(dependent.len(), 5 - exact);
        }
    }

    #[test]
    fn a_sum_of_others_is_named_with_them() {
        let rows = vec![
            vec![1.0, 2.0, 9.0, 3.0],
            vec![0.5, 0.0, 2.0, 0.5],
            vec![4.0, 1.0, 1.0, 5.0],
            vec![1.0, 1.0, 0.0, 2.0],
        ];
        let (rank, found) = dependences(&design(rows));
        assert_eq!((rank, found.len()), (3, 1));
        let mut all = found[0].on.clone();
        all.push(found[0].property);
        let all: Vec<String> = CostProperty::sorted(all).iter().map(ToString::to_string).collect();
        assert_eq!(all, ["op:f32:add", "op:f32:div", "op:f32:mul"]);
    }
}
