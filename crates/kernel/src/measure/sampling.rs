//! Decides when a configuration has enough samples. Pure functions: durations in, decision out.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use tunesmith_core::judge::racing::{is_beaten, is_far};
use tunesmith_core::statistics;

/// The rule for the number of samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// The number of launches before the first sample, at least one: the result of the first launch
    /// is judged, so that its time does not count.
    pub warmups: usize,
    /// The least number of samples, unless they would take several times
    /// [`time_cap`](Self::time_cap).
    pub min_samples: usize,
    /// The largest number of samples.
    pub max_samples: usize,
    /// The median is stable if the half width of its 95 % confidence interval is at most this
    /// fraction of the median.
    pub stable: f64,
    /// Time after which no more than [`min_samples`](Self::min_samples) samples are taken.
    /// Restoring buffers counts.
    pub time_cap: Duration,
    /// The time in milliseconds above which a configuration is abandoned after few samples
    /// ([`is_beaten`]). `None` disables this rule. The bar belongs to one configuration, not to a
    /// policy.
    pub bar_ms: Option<f64>,
}

impl Default for Sampling {
    /// Returns the default rule:
    ///
    /// - `warmups`: the first launch loads the caches and what a driver compiles late.
    /// - `min_samples`: six samples are the fewest whose extremes contain the median with 95 %
    ///   probability. With a seventh, the median is one of the samples.
    /// - `max_samples`: 50 samples narrow the interval to a seventh of the spread. More samples
    ///   gain little.
    /// - `stable`: the clock of a machine varies by 1 to 3 %, so smaller differences than 2 % do
    ///   not distinguish configurations.
    /// - `time_cap`: with half a second, 200 evaluations take at most two minutes.
    fn default() -> Self {
        Self {
            warmups: 1,
            min_samples: 7,
            max_samples: 50,
            stable: 0.02,
            time_cap: Duration::from_millis(500),
            bar_ms: None,
        }
    }
}

/// The decision after a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Take another sample.
    More,
    /// The samples suffice.
    Enough,
}

/// The fewest samples of a configuration, however slow it is. One disturbed sample of three does
/// not move the median.
pub const FEWEST: usize = 3;

/// The time of a launch from which on one sample decides whether a configuration is far above the
/// bar. What disturbs a machine for some milliseconds does not change it by a quarter.
const LONG: Duration = Duration::from_secs(1);

/// The multiple of the bar above which a long first launch decides, with cold caches.
const HOPELESS: f64 = 1.5;

/// The factor on the cap within which a slow kernel may still get its [`Sampling::min_samples`].
pub(crate) const SEVERAL: u32 = 4;

impl Sampling {
    /// Returns true if a launch of `ms` milliseconds is far above the bar ([`is_far`]).
    pub fn is_far(&self, ms: f64) -> bool {
        self.bar_ms.is_some_and(|bar| is_far(ms, bar))
    }

    /// Returns true if a configuration needs no launch after its first, which took `first_ms`
    /// milliseconds: it took more than a second, and half as much again as the bar.
    pub fn is_hopeless(&self, first_ms: f64) -> bool {
        first_ms / 1e3 >= LONG.as_secs_f64() && self.bar_ms.is_some_and(|bar| first_ms > HOPELESS * bar)
    }
}

/// Decides whether the samples `times`, taken within `elapsed`, suffice. The times are in
/// milliseconds. Without a bar, any unit will do.
///
/// ```
/// # use tunesmith_kernel::measure::sampling::{decide, Decision, Sampling};
/// # use std::time::Duration;
/// let quick = Duration::from_millis(1);
/// assert_eq!(decide(&[1.0; 6], quick, &Sampling::default()), Decision::More);
/// assert_eq!(decide(&[1.0; 7], quick, &Sampling::default()), Decision::Enough);
/// ```
pub fn decide(times: &[f64], elapsed: Duration, sampling: &Sampling) -> Decision {
    let taken = times.len();
    if sampling.bar_ms.is_some_and(|bar| is_beaten(times, bar)) {
        return Decision::Enough;
    }
    let is_long = taken > 0 && elapsed >= LONG * u32::try_from(taken).unwrap_or(u32::MAX);
    if is_long && times.iter().all(|time| sampling.is_far(*time)) {
        return Decision::Enough;
    }
    let enough = if taken < sampling.min_samples.max(1) {
        // The expected time of the least number of samples, if they continue as before.
        let projected = elapsed.as_secs_f64() / taken.max(1) as f64 * sampling.min_samples as f64;
        taken >= FEWEST && projected > (sampling.time_cap * SEVERAL).as_secs_f64()
    } else {
        taken >= sampling.max_samples || elapsed >= sampling.time_cap || is_stable(times, sampling.stable)
    };
    if enough { Decision::Enough } else { Decision::More }
}

fn is_stable(times: &[f64], stable: f64) -> bool {
    let interval = statistics::median_interval(times, 0.95);
    let median = statistics::median(times);
    matches!((interval, median), (Some((low, high)), Some(median)) if (high - low) / 2.0 <= stable * median)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const QUICK: Duration = Duration::from_millis(1);

    fn after(times: &[f64], elapsed: Duration) -> Decision {
        decide(times, elapsed, &Sampling::default())
    }

    #[test]
    fn a_stable_median_needs_the_least_number_of_samples() {
        assert_eq!(after(&[], Duration::ZERO), Decision::More);
        assert_eq!(after(&[1.0, 1.0, 1.001, 0.999, 1.0, 1.0], QUICK), Decision::More);
        assert_eq!(after(&[1.0, 1.0, 1.001, 0.999, 1.0, 1.0, 1.0], QUICK), Decision::Enough);
    }

    #[test]
    fn a_noisy_median_gets_more_samples_up_to_the_most() {
        let noisy: Vec<f64> = (0..50).map(|i| 1.0 + f64::from(i % 2)).collect();
        assert_eq!(after(&noisy[..7], QUICK), Decision::More);
        assert_eq!(after(&noisy[..49], QUICK), Decision::More);
        assert_eq!(after(&noisy, QUICK), Decision::Enough);
    }

    #[test]
    fn a_single_disturbed_sample_is_outvoted_by_more_samples() {
        let mut times = vec![1.0; 7];
        times[3] = 9.0;
        assert_eq!(after(&times, QUICK), Decision::More);
        times.extend([1.0; 2]);
        assert_eq!(after(&times, QUICK), Decision::Enough);
    }

    #[test]
    fn a_configuration_far_above_the_bar_gets_three_samples_and_a_noisy_one_near_it_all() {
        let raced = Sampling { bar_ms: Some(1.0), ..Sampling::default() };
        let after = |times: &[f64]| decide(times, QUICK, &raced);
        assert_eq!((after(&[2.0; 2]), after(&[2.0; 3])), (Decision::More, Decision::Enough));
        let noisy = [1.2, 0.9, 1.2, 0.9, 1.3, 0.8, 1.2, 1.1];
        assert_eq!(after(&noisy), Decision::More);
        assert_eq!(after(&[1.2, 1.1, 1.3, 1.05, 1.2, 1.1, 1.4, 1.2]), Decision::Enough);
    }

    #[test]
    fn time_ends_the_sampling_of_a_noisy_kernel() {
        let noisy = [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0];
        assert_eq!(after(&noisy, Duration::from_millis(499)), Decision::More);
        assert_eq!(after(&noisy, Duration::from_millis(500)), Decision::Enough);
    }

    #[test]
    fn a_slow_kernel_gets_seven_samples_and_a_very_slow_one_three() {
        let sample =
            |seconds: f64, count: u32| after(&vec![seconds; count as usize], Duration::from_secs_f64(seconds) * count);
        assert_eq!(sample(0.2, 6), Decision::More);
        assert_eq!(sample(0.2, 7), Decision::Enough);
        assert_eq!(sample(9.0, 2), Decision::More);
        assert_eq!(sample(9.0, 3), Decision::Enough);
    }

    #[test]
    fn a_long_launch_far_above_the_bar_is_the_only_sample() {
        let raced = Sampling { bar_ms: Some(1000.0), ..Sampling::default() };
        let after = |times: &[f64]| decide(times, Duration::from_secs_f64(times.iter().sum::<f64>() / 1e3), &raced);
        assert_eq!(
            [after(&[1300.0]), after(&[1200.0]), after(&[1200.0; 2])],
            [Decision::Enough, Decision::More, Decision::More]
        );
        // The same kernel, a thousand times as fast.
        let quick = Sampling { bar_ms: Some(1.0), ..raced };
        assert_eq!(decide(&[1.3], QUICK, &quick), Decision::More);
        assert_eq!(
            [raced.is_hopeless(1600.0), raced.is_hopeless(1400.0), quick.is_hopeless(1.6)],
            [true, false, false]
        );
        assert!(!Sampling::default().is_hopeless(9000.0), "nothing is known yet");
    }

    proptest! {
        #[test]
        fn sampling_always_ends_and_never_before_three(
            times in proptest::collection::vec(0.0..10.0f64, 0..60), milliseconds in 0..10_000u64,
        ) {
            let decision = after(&times, Duration::from_millis(milliseconds));
            if times.len() < FEWEST {
                prop_assert_eq!(decision, Decision::More);
            }
            if times.len() >= 50 {
                prop_assert_eq!(decision, Decision::Enough);
            }
        }

        #[test]
        fn the_unit_of_time_does_not_matter(times in proptest::collection::vec(0.5..2.0f64, 7..50)) {
            let scaled: Vec<f64> = times.iter().map(|time| time * 1024.0).collect();
            prop_assert_eq!(after(&times, QUICK), after(&scaled, QUICK));
        }
    }
}
