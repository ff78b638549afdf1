//! Least squares whose coefficients are not negative.

/// Sweeps over the coefficients at most; far fewer are needed for some dozens of them.
const SWEEPS: usize = 500;
/// A sweep that moves no coefficient by this share of the largest is the last.
const TOLERANCE: f64 = 1e-9;

/// The coefficients `x >= 0` that minimise `|rows * x - targets|^2 + |ridge * (x - towards)|^2`.
///
/// With a `ridge` above 0 the answer is unique, also of fewer rows than coefficients; `towards` is what the coefficients are
/// believed to be without any row. Numbers must be finite. By coordinate descent on the normal equations, which for
/// convex problems with bounds finds the minimum. Cost: rows x coefficients^2, then coefficients^2 per sweep.
///
/// ```
/// let rows = [vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0]];
/// let found = tunesmith_model::nonnegative_least_squares(&rows, &[2.0, -1.0, 1.5], &[0.0, 0.0], 1e-9);
/// assert!((found[0] - 1.75).abs() < 1e-6 && found[1] == 0.0);
/// ```
///
/// # Panics
/// A row has not one number for each coefficient, or there is not one target for each row.
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
    descend(&gram, &right, towards.iter().map(|x| x.max(0.0)).collect())
}

fn descend(gram: &[Vec<f64>], right: &[f64], mut x: Vec<f64>) -> Vec<f64> {
    for _ in 0..SWEEPS {
        let mut moved = 0.0_f64;
        for i in 0..x.len() {
            if gram[i][i] <= 0.0 {
                continue;
            }
            let slope: f64 = gram[i].iter().zip(&x).map(|(g, x)| g * x).sum::<f64>() - right[i];
            let next = (x[i] - slope / gram[i][i]).max(0.0);
            moved = moved.max((next - x[i]).abs());
            x[i] = next;
        }
        if moved <= TOLERANCE * x.iter().copied().fold(0.0, f64::max) {
            break;
        }
    }
    x
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

    /// The best of every choice of which coefficients are 0, the others by elimination.
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
        assert_eq!(nonnegative_least_squares(&[], &[], &[2.0, -1.0, 0.5], 1.0), [2.0, 0.0, 0.5]);
    }
}
