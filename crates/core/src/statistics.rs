//! Statistics of samples: pure functions of durations.

/// The median of `samples`, or `None` of none. Cost: a sort.
pub fn median(samples: &[f64]) -> Option<f64> {
    let sorted = sorted(samples);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// A distribution-free confidence interval of the median from order statistics, as `(low, high)`.
///
/// Between the k-th smallest and the k-th largest of n samples the median lies with probability
/// `1 - 2 P(Binomial(n, 1/2) < k)`; the largest k that keeps it at `confidence` is taken. Below six samples no k
/// keeps 95 %; then the extremes are returned, whose coverage is `1 - 2^(1-n)`. `None` of no samples.
pub fn median_interval(samples: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let sorted = sorted(samples);
    let n = sorted.len();
    if n == 0 {
        return None;
    }
    let k = order_for_confidence(n, confidence).max(1);
    Some((sorted[k - 1], sorted[n - k]))
}

/// The largest k with `P(Binomial(n, 1/2) < k) <= (1 - confidence) / 2`, 0 when there is none.
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

fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_sample_or_the_mean_of_the_two() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
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
    fn few_samples_give_their_extremes() {
        assert_eq!(median_interval(&[2.0, 1.0, 3.0], 0.95), Some((1.0, 3.0)));
        assert_eq!(median_interval(&[], 0.95), None);
    }
}
