//! Least squares with non-negative coefficients.

use crate::Cholesky;

/// Minimum slope of a coefficient that enters, as a share of the largest slope at zero. A smaller
/// slope lowers the loss by rounding only.
const TOLERANCE: f64 = 1e-12;
/// The amount added to the diagonal, which is scaled to 1. Columns that are multiples of each other
/// can then be solved.
const JITTER: f64 = 1e-14;

/// Returns the coefficients `x >= 0` that minimise `|rows * x - targets|^2 + |ridge * (x -
/// towards)|^2`.
///
/// With a `ridge` above 0 the answer is unique, even with fewer rows than coefficients. `towards`
/// holds the coefficients expected without any row. Numbers must be finite.
///
/// Uses the active set method of Lawson and Hanson (Solving least squares problems, 1974, chapter
/// 23) on the normal equations. Cost: rows x coefficients^2, then coefficients^3 / 6 for each
/// coefficient that enters or leaves. There are rarely more such steps than coefficients.
///
/// ```
/// let rows = [vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0]];
/// let found = tunesmith_model::nonnegative_least_squares(&rows, &[2.0, -1.0, 1.5], &[0.0, 0.0], 1e-9);
/// assert!((found[0] - 1.75).abs() < 1e-6 && found[1] == 0.0);
/// ```
///
/// # Panics
///
/// Panics if a row does not have one number for each coefficient, or if there is not one target for
/// each row.
pub fn nonnegative_least_squares(rows: &[Vec<f64>], targets: &[f64], towards: &[f64], ridge: f64) -> Vec<f64> {
    assert_eq!(rows.len(), targets.len(), "a target for every row");
    let count = towards.len();
    let (mut gram, mut right) = (vec![vec![0.0; count]; count], vec![0.0; count]);
    for (row, target) in rows.iter().zip(targets) {
        assert_eq!(row.len(), count, "a number for every coefficient");
        for (i, a) in row.iter().enumerate() {
            right[i] += a * target;
            gram[i].iter_mut().zip(row).for_each(|(sum, b)| *sum += a * b);
        }
    }
    for i in 0..count {
        gram[i][i] += ridge * ridge;
        right[i] += ridge * ridge * towards[i];
    }
    active_set(&gram, &right)
}

/// Returns the minimum of `x' gram x / 2 - right' x` over `x >= 0`.
fn active_set(gram: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let count = right.len();
    let least = TOLERANCE * right.iter().map(|slope| slope.abs()).fold(0.0, f64::max);
    let (mut x, mut free) = (vec![0.0; count], Vec::new());
    // The loss falls with every entry, so no set comes twice. Only rounding could make the loop
    // continue.
    for _ in 0..10 * count {
        let descent = |i: usize| right[i] - gram[i].iter().zip(&x).map(|(g, x)| g * x).sum::<f64>();
        let entering = (0..count).filter(|i| !free.contains(i)).map(|i| (descent(i), i));
        match entering.max_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((slope, i)) if slope > least => free.push(i),
            _ => break,
        }
        settle(gram, right, &mut x, &mut free);
    }
    x
}

/// Moves `x` to the minimum over the coefficients in `free`. A coefficient that would become
/// negative on the way is held at 0 and leaves `free`.
fn settle(gram: &[Vec<f64>], right: &[f64], x: &mut [f64], free: &mut Vec<usize>) {
    while !free.is_empty() {
        let goal = solve(gram, right, free);
        let step = |(&i, &to): (&usize, &f64)| if to > 0.0 { 1.0 } else { x[i] / (x[i] - to) };
        let shares: Vec<f64> = free.iter().zip(&goal).map(step).collect();
        let share = shares.iter().copied().fold(1.0, f64::min);
        let stays: Vec<bool> = goal.iter().zip(&shares).map(|(to, own)| *to > 0.0 || *own > share).collect();
        for ((&i, to), stays) in free.iter().zip(&goal).zip(&stays) {
            x[i] = if *stays { x[i] + share * (to - x[i]) } else { 0.0 };
        }
        if stays.iter().all(|stays| *stays) {
            return;
        }
        let mut stays = stays.into_iter();
        free.retain(|_| stays.next() == Some(true));
    }
}

/// Returns the solution of the normal equations of the coefficients in `free`. Their diagonal
/// elements must be positive.
fn solve(gram: &[Vec<f64>], right: &[f64], free: &[usize]) -> Vec<f64> {
    // The factor's smallest pivot is meant for a diagonal of 1.
    let scale: Vec<f64> = free.iter().map(|&i| gram[i][i].sqrt()).collect();
    let element = |a: usize, b: usize| gram[free[a]][free[b]] / (scale[a] * scale[b]);
    let element = &element;
    let row = |a: usize| (0..=a).map(move |b| if a == b { 1.0 + JITTER } else { element(a, b) });
    let factor = Cholesky::factorise(&(0..free.len()).flat_map(row).collect::<Vec<f64>>());
    let right: Vec<f64> = free.iter().zip(&scale).map(|(&i, scale)| right[i] / scale).collect();
    let scaled = factor.solve_transposed(&factor.solve(&right));
    scaled.iter().zip(&scale).map(|(x, scale)| x / scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn loss(rows: &[Vec<f64>], targets: &[f64], x: &[f64], ridge: f64) -> f64 {
        let miss =
            |(row, target): (&Vec<f64>, &f64)| (row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>() - target).powi(2);
        rows.iter().zip(targets).map(miss).sum::<f64>() + x.iter().map(|x| (ridge * x).powi(2)).sum::<f64>()
    }

    /// Returns the best of every choice of zero coefficients. Solves for the others by elimination.
    fn oracle(rows: &[Vec<f64>], targets: &[f64], ridge: f64) -> f64 {
        let choices = (0..8u32).map(|mask| (0..3).filter(|at| mask & (1 << at) != 0).collect::<Vec<usize>>());
        let losses = choices.filter_map(|free| {
            let mut x = [0.0; 3];
            for (at, value) in free.iter().zip(solve(rows, targets, &free, ridge)) {
                x[*at] = value;
            }
            x.iter().all(|x| *x >= 0.0).then(|| loss(rows, targets, &x, ridge))
        });
        losses.fold(f64::INFINITY, f64::min)
    }

    fn solve(rows: &[Vec<f64>], targets: &[f64], free: &[usize], ridge: f64) -> Vec<f64> {
        let sum = |a: usize, b: usize| rows.iter().map(|row| row[a] * row[b]).sum::<f64>();
        let mut system: Vec<Vec<f64>> = free
            .iter()
            .map(|&a| {
                let right = rows.iter().zip(targets).map(|(row, target)| row[a] * target).sum::<f64>();
                let own = |b: usize| if a == b { ridge * ridge } else { 0.0 };
                free.iter().map(|&b| sum(a, b) + own(b)).chain([right]).collect()
            })
            .collect();
        for i in 0..free.len() {
            for j in 0..free.len() {
                if i != j {
                    let factor = system[j][i] / system[i][i];
                    let pivot = system[i].clone();
                    system[j].iter_mut().zip(pivot).for_each(|(to, from)| *to -= factor * from);
                }
            }
        }
        (0..free.len()).map(|i| system[i][free.len()] / system[i][i]).collect()
    }

    proptest! {
        #[test]
        fn no_choice_of_zeros_is_better(
            rows in prop::collection::vec(prop::collection::vec(-3.0..3.0f64, 3), 1..8),
            targets in prop::collection::vec(-5.0..5.0f64, 8),
        ) {
            let targets = &targets[..rows.len()];
            let found = nonnegative_least_squares(&rows, targets, &[0.0; 3], 0.3);
            prop_assert!(found.iter().all(|x| *x >= 0.0));
            prop_assert!(loss(&rows, targets, &found, 0.3) <= oracle(&rows, targets, 0.3) * (1.0 + 1e-6) + 1e-9);
        }
    }

    #[test]
    fn without_rows_the_belief_stays() {
        let found = nonnegative_least_squares(&[], &[], &[2.0, -1.0, 0.5], 1.0);
        assert!(found.iter().zip([2.0, 0.0, 0.5]).all(|(found, belief)| (found - belief).abs() < 1e-12), "{found:?}");
    }
}
