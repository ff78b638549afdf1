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

/// Returns the 95 % [interval](median_interval) of the median as reports show it: `None` for fewer than two
/// samples, because one measurement says nothing about the next.
pub fn reported_interval(samples: &[f64]) -> Option<(f64, f64)> {
    if samples.len() < 2 { None } else { median_interval(samples, 0.95) }
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

/// Returns the interval of a shift that Wilcoxon's exact signed-rank test does not exclude (F. Wilcoxon,
/// Biometrics Bulletin 1, 1945; J. L. Hodges and E. L. Lehmann, Annals of Mathematical Statistics 34,
/// 1963), as `(low, high)`: that of `differences` that are distributed symmetrically around it.
///
/// Each end is wrong with a probability of at most `error`. The lower end is above 0 exactly if the
/// one-sided test at `error` calls the differences greater than 0, so that one rule gives the answer and
/// the interval. The ends are the k-th smallest and the k-th largest mean of two differences, where a
/// difference also pairs with itself: sums of ranks below k have a probability of at most `error`
/// together. Differences that share a magnitude or are 0 make the interval wider, never narrower.
///
/// Returns `None` if there are too few differences to exclude anything (below six for 2.5 %). Cost:
/// cubic in their number.
pub fn signed_rank_interval(differences: &[f64], error: f64) -> Option<(f64, f64)> {
    let from = |at: usize| differences[at..].iter().map(move |other| f64::midpoint(differences[at], *other));
    let mut means: Vec<f64> = (0..differences.len()).flat_map(from).filter(|mean| !mean.is_nan()).collect();
    means.sort_by(f64::total_cmp);
    let k = rank_sums_within(differences.len(), error);
    Some((*means.get(k.checked_sub(1)?)?, *means.get(means.len().checked_sub(k)?)?))
}

/// Returns the number of the least rank sums that have a probability of at most `error` together, if
/// the sign of each of the ranks 1 to `n` is a fair coin.
fn rank_sums_within(n: usize, error: f64) -> usize {
    let mut probability = vec![0.0; n * (n + 1) / 2 + 1];
    probability[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..probability.len()).rev() {
            let with = if sum >= rank { probability[sum - rank] } else { 0.0 };
            probability[sum] = f64::midpoint(probability[sum], with);
        }
    }
    let mut together = 0.0;
    let is_within = |one: &&f64| {
        together += **one;
        together <= error
    };
    probability.iter().take_while(is_within).count()
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
    fn the_rank_sums_are_the_tabulated_ones() {
        // Critical values of Wilcoxon's test at 2.5 %, one-sided, as tabulated: the greatest sum that is
        // significant.
        for (n, greatest) in [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (12, 13), (15, 25), (17, 34)] {
            assert_eq!(rank_sums_within(n, 0.025), greatest + 1, "n = {n}");
        }
        assert_eq!(rank_sums_within(5, 0.025), 0);
        assert_eq!((signed_rank_interval(&[1.0; 5], 0.025), signed_rank_interval(&[], 0.025)), (None, None));
    }

    /// Returns the probability of a sum of the negative ranks as small as that of `differences`, by its
    /// definition: all signs are tried.
    fn signed_rank_by_definition(differences: &[f64]) -> f64 {
        let mut sorted = differences.to_vec();
        sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        let negative: usize = (0..sorted.len()).filter(|at| sorted[*at] < 0.0).map(|at| at + 1).sum();
        let sum = |signs: u32| (0..sorted.len()).filter(|at| signs >> at & 1 == 1).map(|at| at + 1).sum::<usize>();
        let all = 1_u32 << sorted.len();
        (0..all).filter(|signs| sum(*signs) <= negative).count() as f64 / f64::from(all)
    }

    #[test]
    fn the_interval_lies_above_0_exactly_if_the_signed_rank_test_says_so() {
        let mut decided = [0, 0];
        for seed in 0..400_u64 {
            let draw = |at: u64| (seed * 7919 + at * 104_729) % 10_007;
            let differences: Vec<f64> =
                (0..6 + seed % 5).map(|at| draw(at) as f64 + at as f64 / 64.0 - 2500.25).collect();
            let (low, high) = signed_rank_interval(&differences, 0.025).unwrap();
            assert_eq!(low > 0.0, signed_rank_by_definition(&differences) <= 0.025, "{differences:?}");
            let negated: Vec<f64> = differences.iter().map(|difference| -difference).collect();
            assert_eq!(signed_rank_interval(&negated, 0.025), Some((-high, -low)));
            decided[usize::from(low > 0.0)] += 1;
        }
        assert!(decided.iter().all(|count| *count > 40), "{decided:?}");
        assert!(signed_rank_interval(&[0.0; 9], 0.025) == Some((0.0, 0.0)), "equal scores exclude nothing");
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
