//! Racing: abandons a configuration that is clearly slower than the best.

use super::measure::worse_by;

/// The rule for abandoning a configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Racing {
    /// The distance of the bar from the upper end of the best one's 80 % interval, as a share of
    /// that end. Configurations closer to the best are measured in full, so that the final
    /// re-measurement can choose among them.
    pub margin: f64,
}

impl Default for Racing {
    /// Chooses 5 %. Pairs of measurements of one configuration differ by less on an idle machine,
    /// and a search aims at more.
    fn default() -> Self {
        Self { margin: 0.05 }
    }
}

/// The confidence of the interval that sets the bar. With more confidence, one outlier among seven
/// samples of the best would become the bar, and racing would be useless. The bar is too low with a
/// probability of up to 10 %. The margin makes up for it.
pub const CONFIDENCE: f64 = 0.8;

impl Racing {
    /// Returns the bar: a configuration with scores above it may be abandoned. `upper` is the upper
    /// end of the best one's interval.
    ///
    /// `change` is how many times worse scores are now than at the time when the best was measured. It can
    /// raise the bar but never lowers it, because a wrong decision costs more than a few extra
    /// samples.
    pub fn bar(&self, upper: f64, change: f64) -> f64 {
        worse_by((1.0 + self.margin) * change.max(1.0), upper)
    }
}

/// Minimum number of samples of a configuration. A single disturbed sample must not decide.
const FEWEST: usize = 3;

/// The multiple of the bar above which a sample is far.
const FAR: f64 = 1.25;

/// Maximum probability that the sequential test ever abandons a configuration whose median does not
/// exceed the bar.
const ERROR: f64 = 0.01;

/// The share of samples above the bar that the sequential test expects of a slower configuration.
/// The closer to 1, the sooner the test ends, and the less it forgives a fast sample among slow
/// ones.
const EXPECTED: f64 = 0.9;

/// Returns true if a sample is far above `bar`: by more than a quarter. Both have the same unit.
pub fn is_far(sample: f64, bar: f64) -> bool {
    sample > FAR * bar
}

/// Returns true if a configuration with these `samples` should be abandoned. The samples may have
/// any unit, but the same as `bar`.
///
/// Either of two rules suffices:
///
/// 1. **Far**: there are at least three samples, and all exceed the bar by more than a quarter.
///    Consider a configuration no worse than the bar whose samples are disturbed this much with
///    probability q. It is abandoned with probability q^3: 0.1 % at q = 10 %.
/// 2. **Sequential sign test** (A. Wald, Sequential Analysis, 1947, section 5.3): the likelihood
///    ratio compares "9 of 10 samples lie above" with "1 of 2 does". Each sample above the bar
///    multiplies it by 1.8, each other sample by 0.2. At 100 the configuration is abandoned. If its
///    median does not exceed the bar, the ratio is a supermartingale. By Ville's inequality it then
///    ever reaches 100 with a probability of at most 1 %, for any distribution of the noise and any
///    number of looks. Eight samples above the bar and none below suffice.
///
/// The guarantee does not cover dependent samples, such as under a slow drift or beside a second
/// program. [`Racing::bar`] follows a known drift. Cost: linear in the number of samples.
///
/// ```
/// # use tunesmith_core::judge::racing::is_beaten;
/// assert!(!is_beaten(&[9.0, 9.0], 1.0), "two samples decide nothing");
/// assert!(is_beaten(&[1.3, 1.4, 1.3], 1.0), "three far above the bar do");
/// assert!(!is_beaten(&[1.1; 7], 1.0) && is_beaten(&[1.1; 8], 1.0), "eight above it do");
/// ```
pub fn is_beaten(samples: &[f64], bar: f64) -> bool {
    if samples.len() < FEWEST {
        return false;
    }
    if samples.iter().all(|sample| is_far(*sample, bar)) {
        return true;
    }
    let above = samples.iter().filter(|sample| **sample > bar).count();
    let rest = samples.len() - above;
    let log_ratio = above as f64 * (EXPECTED / 0.5).ln() + rest as f64 * ((1.0 - EXPECTED) / 0.5).ln();
    log_ratio >= -ERROR.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_the_bar_is_never_given_up_for_its_slow_samples() {
        let mixed: Vec<f64> = (0..50).map(|i| if i % 2 == 0 { 0.9 } else { 9.0 }).collect();
        assert!((0..=50).all(|taken| !is_beaten(&mixed[..taken], 1.0)));
        assert!(!is_beaten(&[1.0; 50], 1.0), "equal to the bar is not above it");
    }

    #[test]
    fn one_fast_sample_is_outvoted_by_enough_slow_ones() {
        let mut samples = vec![0.9];
        samples.extend([1.2; 10]);
        assert!(!is_beaten(&samples, 1.0));
        samples.extend([1.2; 1]);
        assert!(is_beaten(&samples, 1.0));
    }

    #[test]
    fn the_unit_does_not_matter() {
        for samples in [vec![1.3, 1.4, 1.3], vec![1.1; 8], vec![1.1; 7], vec![0.9, 1.4, 1.3]] {
            let scaled: Vec<f64> = samples.iter().map(|sample| sample * 1024.0).collect();
            assert_eq!(is_beaten(&samples, 1.0), is_beaten(&scaled, 1024.0));
        }
    }

    #[test]
    fn a_bar_rises_with_the_device_and_never_falls() {
        let racing = Racing { margin: 0.25 };
        assert_eq!([0.5, 1.0, 2.0].map(|change| racing.bar(4.0, change)), [5.0, 5.0, 10.0]);
        assert_eq!([0.5, 1.0, 2.0].map(|change| racing.bar(-10.0, change)), [-8.0, -8.0, -4.0]);
    }

    /// Computes the probability of ever being abandoned exactly: paths of samples above and below
    /// the bar with equal probability, the least favourable case.
    #[test]
    fn the_sequential_test_errs_in_less_than_one_percent_whatever_the_noise() {
        let mut alive = vec![1.0]; // by the number of samples above the bar
        let mut given_up = 0.0;
        for taken in 1..=200usize {
            let mut next = vec![0.0; taken + 1];
            for (above, probability) in alive.iter().enumerate() {
                next[above] += probability / 2.0;
                next[above + 1] += probability / 2.0;
            }
            for (above, probability) in next.iter_mut().enumerate() {
                let mut samples = vec![1.1; above];
                samples.resize(taken, 0.9);
                if is_beaten(&samples, 1.0) {
                    given_up += std::mem::take(probability);
                }
            }
            alive = next;
        }
        assert!((0.003..0.01).contains(&given_up), "{given_up}");
    }
}
