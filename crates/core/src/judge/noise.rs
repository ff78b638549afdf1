//! The noise of a run: how far the samples of a configuration usually spread.

use crate::statistics;
use std::collections::VecDeque;

/// Spreads above this share are high. The final then needs many rounds to tell two configurations
/// apart that differ by 1 %, and a quiet machine would save them.
pub const HIGH: f64 = 0.05;

/// Number of configurations that the noise is judged by. The machine may become quiet again, so old
/// ones are forgotten.
const LATEST: usize = 25;

/// Minimum number of configurations before the noise is known.
const FEWEST: usize = 5;

/// Minimum number of samples that have a spread. Racing abandons slow configurations with fewer.
const FEWEST_SAMPLES: usize = 4;

/// The spreads of the configurations measured last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Noise {
    spreads: VecDeque<f64>,
}

impl Noise {
    /// Adds the samples of a configuration, unless they are too few to spread.
    pub fn add(&mut self, times_ms: &[f64]) {
        let Some(spread) = spread(times_ms) else { return };
        if self.spreads.len() == LATEST {
            self.spreads.pop_front();
        }
        self.spreads.push_back(spread);
    }

    /// Returns the median spread of the latest configurations, as a share of their times. `None` if
    /// they are too few.
    pub fn share(&self) -> Option<f64> {
        if self.spreads.len() < FEWEST {
            return None;
        }
        let spreads: Vec<f64> = self.spreads.iter().copied().collect();
        statistics::median(&spreads)
    }

    /// Returns the noise as a share if it is [`HIGH`].
    pub fn high(&self) -> Option<f64> {
        self.share().filter(|share| *share > HIGH)
    }
}

/// Returns the range of the middle half of `samples`, as a share of their median.
fn spread(samples: &[f64]) -> Option<f64> {
    if samples.len() < FEWEST_SAMPLES {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = statistics::median(&sorted)?;
    let quarter = sorted.len() / 4;
    let share = (sorted[sorted.len() - 1 - quarter] - sorted[quarter]) / median;
    share.is_finite().then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_the_middle_half() {
        assert_eq!(spread(&[1.0, 2.0, 3.0]), None);
        assert_eq!(spread(&[2.0, 2.0, 2.0, 2.0]), Some(0.0));
        // One disturbed sample of eight does not count.
        assert_eq!(spread(&[10.0, 10.0, 9.5, 10.0, 10.5, 10.0, 10.0, 99.0]), Some(0.0));
        assert_eq!(spread(&[8.0, 9.0, 11.0, 12.0]), Some(0.2));
    }

    #[test]
    fn noise_is_known_after_five_configurations_and_forgets_old_ones() {
        let (loud, quiet) = ([8.0, 9.0, 11.0, 12.0], [10.0; 4]);
        let mut noise = Noise::default();
        (0..FEWEST - 1).for_each(|_| noise.add(&loud));
        noise.add(&[1.0]);
        assert_eq!((noise.share(), noise.high()), (None, None));
        noise.add(&loud);
        assert_eq!((noise.share(), noise.high()), (Some(0.2), Some(0.2)));
        (0..LATEST).for_each(|_| noise.add(&quiet));
        assert_eq!((noise.share(), noise.high()), (Some(0.0), None));
    }
}
