//! Estimates better scores from the best of the scores seen.

use tunesmith_core::Scale;

/// Number of spacings. More would reach into the body of the scores, fewer would leave the scale
/// unknown.
const SPACINGS: usize = 5;

/// Returns the chance that a score better than the best of `scores`, if there is one, is better by
/// more than the factor `1 + share`.
///
/// The logarithms of the lowest scores, on a [`Scale`] on which all are positive, are assumed to thin out
/// like an exponential tail. Then j times the spacing between the j-th score and the next is exponential
/// with the scale of the tail, for every j (A. Rényi, On the theory of order statistics, 1953). The gain of
/// a better score on the best has the same distribution. With k spacings of mean `m` and nothing else known
/// of the scale, the gain exceeds `d = ln(1 + share)` with the chance `(1 + d / (k m))^-k`.
///
/// So a best that stands alone is a warning: if one configuration is far ahead of all others,
/// another may be too. Returns 1 if there are too few scores, and 0 if there are only ties
/// (`m = 0`). Cost: a sort.
pub(super) fn excess(scores: impl Iterator<Item = f64>, share: f64) -> f64 {
    let mut lowest: Vec<f64> = scores.collect();
    let scale = Scale::of(lowest.iter().copied());
    lowest.iter_mut().for_each(|score| *score = scale.positive(*score));
    lowest.sort_by(f64::total_cmp);
    if lowest.len() <= SPACINGS {
        return 1.0;
    }
    let spacing = |j: usize| j as f64 * (lowest[j] / lowest[j - 1]).ln();
    let sum: f64 = (1..=SPACINGS).map(spacing).sum();
    if sum <= 0.0 { 0.0 } else { (1.0 + share.ln_1p() / sum).powi(-(SPACINGS as i32)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt as _, SeedableRng};
    use tunesmith_core::Rng;

    #[test]
    fn a_best_that_stands_alone_warns_of_others_and_a_crowd_does_not() {
        let alone = [1.0, 1.25, 1.26, 1.27, 1.28, 1.29, 1.4];
        let crowd = [1.0, 1.001, 1.002, 1.002, 1.003, 1.004, 1.4];
        assert!(excess(alone.into_iter(), 0.02) > 0.6);
        assert!(excess(crowd.into_iter(), 0.02) < 0.05);
        assert_eq!(excess([1.0; 6].into_iter(), 0.02), 0.0);
        assert_eq!(excess([1.0; 5].into_iter(), 0.02), 1.0, "too few");
    }

    #[test]
    fn the_unit_and_the_order_of_the_scores_change_nothing() {
        let scores = [3.0, 1.1, 1.0, 1.3, 1.2, 1.25, 1.4];
        let turned = scores.iter().rev().map(|score| score * 1024.0);
        assert_eq!(excess(scores.into_iter(), 0.05), excess(turned, 0.05));
    }

    #[test]
    fn in_an_exponential_tail_the_chance_is_the_share_of_such_gains() {
        let mut rng = Rng::seed_from_u64(1);
        let (mut expected, mut exceeded) = (0.0, 0.0);
        let rounds = 20_000;
        for _ in 0..rounds {
            // The lower end of 60 scores and the gain of a better one, all with the same scale.
            let mut draw = || -rng.random::<f64>().ln();
            let gain = draw() * 0.03;
            let mut log = 0.0;
            let mut scores = vec![1.0];
            for j in 1..=10 {
                log += draw() * 0.03 / f64::from(j);
                scores.push(f64::exp(log));
            }
            expected += excess(scores.into_iter(), 0.02);
            exceeded += if gain > 0.02_f64.ln_1p() { 1.0 } else { 0.0 };
        }
        assert!((expected - exceeded).abs() < 0.03 * f64::from(rounds), "{expected} {exceeded}");
    }
}
