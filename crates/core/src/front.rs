//! Fronts: what is best if several quantities count.

/// Returns the positions of the points that no other point dominates, in their order. Of equal
/// points, only the first.
///
/// Smaller is better. A point dominates another if it is at most as large in every dimension, and
/// smaller in one. Costs a sort, and a comparison of every point with the members found before it.
pub fn non_dominated(points: &[Vec<f64>]) -> Vec<usize> {
    let ascending = |one: &usize, other: &usize| {
        let pairs = points[*one].iter().zip(&points[*other]);
        pairs.map(|(one, other)| one.total_cmp(other)).find(|order| order.is_ne()).unwrap_or_else(|| one.cmp(other))
    };
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(ascending);
    let mut front: Vec<usize> = Vec::new();
    for at in order {
        // What dominates a point comes before it in this order.
        let covers = |member: &usize| points[*member].iter().zip(&points[at]).all(|(one, other)| one <= other);
        if !front.iter().any(covers) {
            front.push(at);
        }
    }
    front.sort_unstable();
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_those_that_an_obvious_comparison_finds() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % 6) as f64
        };
        for case in 0..300 {
            let points: Vec<Vec<f64>> = (0..case % 12).map(|_| (0..2 + case % 2).map(|_| next()).collect()).collect();
            let covers = |one: usize, other: usize| points[one].iter().zip(&points[other]).all(|(a, b)| a <= b);
            let beaten = |at: usize| {
                (0..points.len()).any(|other| other != at && covers(other, at) && (other < at || !covers(at, other)))
            };
            let obvious: Vec<usize> = (0..points.len()).filter(|at| !beaten(*at)).collect();
            assert_eq!(non_dominated(&points), obvious, "{points:?}");
        }
    }
}
