//! Statistics of samples: pure functions of durations.

/// Returns the median of `samples`, or `None` if there are none. Cost: a sort.
pub fn median(samples: &[f64]) -> Option<f64> {
    with_sorted(samples, middle)
}

/// Returns the median of `samples`. For an even number, it is the lower of the two in the middle.
/// Use it for comparisons: the mean of two modes would represent neither. Returns `None` if there
/// are no samples. Cost: a sort.
pub fn lower_median(samples: &[f64]) -> Option<f64> {
    with_sorted(samples, |sorted| sorted.get(sorted.len().saturating_sub(1) / 2).copied())
}

/// Returns a distribution-free confidence interval of the median from order statistics, as
/// `(low, high)`.
///
/// The median lies between the k-th smallest and the k-th largest of n samples with probability
/// `1 - 2 P(Binomial(n, 1/2) < k)`. The interval uses the largest k that keeps this at
/// `confidence`. Below six samples, no k keeps 95 %. Then the extremes are returned, with a
/// coverage of `1 - 2^(1-n)`. Returns `None` if there are no samples.
pub fn median_interval(samples: &[f64], confidence: f64) -> Option<(f64, f64)> {
    with_sorted(samples, |sorted| interval(sorted, confidence))
}

/// Returns the [`median`] of `samples` with its [interval](median_interval) at `confidence`, as
/// `(median, (low, high))`. Cost: one sort for both.
pub fn median_with_interval(samples: &[f64], confidence: f64) -> Option<(f64, (f64, f64))> {
    with_sorted(samples, |sorted| middle(sorted).zip(interval(sorted, confidence)))
}

fn middle(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

fn interval(sorted: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let n = sorted.len();
    if n == 0 {
        return None;
    }
    let k = order_for_confidence(n, confidence).max(1);
    Some((sorted[k - 1], sorted[n - k]))
}

/// Returns the largest k with `P(Binomial(n, 1/2) < k) <= (1 - confidence) / 2`, or 0 if there is
/// none.
fn order_for_confidence(n: usize, confidence: f64) -> usize {
    let tail = (1.0 - confidence) / 2.0;
    let mut probability = 0.5f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let mut below = 0.0;
    for k in 0..n {
        below += probability;
        if below > tail {
            return k;
        }
        probability *= (n - k) as f64 / (k + 1) as f64;
    }
    n / 2
}

/// Returns the exact one-sided probability of Wilcoxon's signed-rank test (F. Wilcoxon, Biometrics
/// Bulletin 1, 1945): the probability that differences distributed symmetrically around 0 tend
/// above 0 at least as much as `differences`.
///
/// Differences of 0 are left out, and equal magnitudes share their mean rank. The differences of
/// two quantities with the same distribution, whatever it is, are symmetric around 0. Returns 1 if
/// no difference is left. Cost: cubic in their number.
pub fn signed_rank(differences: &[f64]) -> f64 {
    let mut nonzero: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0 && !d.is_nan()).collect();
    nonzero.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    // Store twice the rank, so that mean ranks are whole numbers.
    let mut ranks: Vec<usize> = Vec::with_capacity(nonzero.len());
    for group in nonzero.chunk_by(|a, b| a.abs() == b.abs()) {
        let twice_mean = 2 * ranks.len() + group.len() + 1;
        ranks.extend(group.iter().map(|_| twice_mean));
    }
    let positive: usize = nonzero.iter().zip(&ranks).filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
    // The distribution of that sum if every sign is a fair coin.
    let mut probability = vec![0.0; ranks.iter().sum::<usize>() + 1];
    probability[0] = 1.0;
    for &rank in &ranks {
        for sum in (0..probability.len()).rev() {
            let with = if sum >= rank { probability[sum - rank] } else { 0.0 };
            probability[sum] = f64::midpoint(probability[sum], with);
        }
    }
    probability[positive..].iter().sum::<f64>().min(1.0)
}

/// Maximum number of samples that are sorted without asking for memory.
const FEW: usize = 32;

/// Asks the sorted `samples`.
fn with_sorted<T>(samples: &[f64], ask: impl FnOnce(&[f64]) -> T) -> T {
    let (mut few, mut many) = ([0.0; FEW], Vec::new());
    let sorted = match few.get_mut(..samples.len()) {
        Some(few) => {
            few.copy_from_slice(samples);
            few
        }
        None => {
            many.extend_from_slice(samples);
            many.as_mut_slice()
        }
    };
    sorted.sort_unstable_by(f64::total_cmp);
    ask(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_sample_or_the_mean_of_the_two() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(lower_median(&[4.0, 1.0, 2.0, 3.0]), Some(2.0));
        assert_eq!((lower_median(&[]), lower_median(&[3.0, 1.0, 2.0])), (None, Some(2.0)));
    }

    #[test]
    fn the_interval_uses_the_tabulated_order_statistics() {
        // Orders for 95 % from the binomial distribution, as tabulated for the sign test.
        for (n, order) in [(5, 0), (6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (20, 6), (30, 10), (50, 18), (100, 40)] {
            assert_eq!(order_for_confidence(n, 0.95), order, "n = {n}");
        }
        let samples: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(median_interval(&samples, 0.95), Some((6.0, 15.0)));
    }

    #[test]
    fn the_signed_rank_probability_is_exact() {
        // All of n positive: 2^-n. The tabulated critical value for n = 10 at 2.5 % is a sum of
        // negative ranks of 8.
        assert_eq!(signed_rank(&[1.0, 2.0, 3.0, 4.0, 5.0]), 1.0 / 32.0);
        let with_negative = |rank: usize| -> Vec<f64> {
            (1..=10).map(|at| if at == rank { -(at as f64) } else { at as f64 }).collect()
        };
        assert!(signed_rank(&with_negative(8)) <= 0.025 && signed_rank(&with_negative(9)) > 0.025);
        assert_eq!(signed_rank(&[-1.0, 0.0]), 1.0);
        assert_eq!(signed_rank(&[]), 1.0);
        assert_eq!(signed_rank(&[1.0, -1.0]), 0.75, "equal magnitudes share their rank");
    }

    #[test]
    fn few_and_many_samples_are_sorted_alike() {
        for count in [1, 2, 7, FEW - 1, FEW, FEW + 1, 3 * FEW] {
            let samples: Vec<f64> = (0..count).map(|at| (at * 37 % 101) as f64 - 50.0).collect();
            let mut sorted = samples.clone();
            sorted.sort_by(f64::total_cmp);
            let (low, high) = (sorted[(count - 1) / 2], sorted[count / 2]);
            assert_eq!(lower_median(&samples), Some(low), "{count} samples");
            assert_eq!(median(&samples), Some(f64::midpoint(low, high)), "{count} samples");
            let k = order_for_confidence(count, 0.95).max(1);
            let interval = (sorted[k - 1], sorted[count - k]);
            assert_eq!(median_interval(&samples, 0.95), Some(interval), "{count} samples");
            assert_eq!(median_with_interval(&samples, 0.95), Some((f64::midpoint(low, high), interval)));
        }
        assert_eq!(median_with_interval(&[], 0.95), None);
    }

    #[test]
    fn few_samples_give_their_extremes() {
        assert_eq!(median_interval(&[2.0, 1.0, 3.0], 0.95), Some((1.0, 3.0)));
        assert_eq!(median_interval(&[], 0.95), None);
    }
}
