//! Detects drift: a change of the device during a run. Probes of one reference configuration show
//! it.

use super::measure::Measure;
use crate::{Rng, statistics};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use std::time::Duration;

/// The rule that schedules the probes of the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watch {
    /// Maximum share of the run's time for probes.
    pub share: f64,
    /// Minimum number of evaluations between two probes.
    pub every: usize,
}

impl Default for Watch {
    /// Allows 5 % of the time, a fair price for a reliable winner, and a probe at most every fourth
    /// evaluation. 200 evaluations then give 50 probes. More would not show a slow change any
    /// better.
    fn default() -> Self {
        Self { share: 0.05, every: 4 }
    }
}

/// Number of samples of a probe.
pub const SAMPLES: usize = 3;

/// A measurement of the reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// The time at which the probe ended.
    pub clock: Duration,
    /// The scores of its samples.
    pub scores: Vec<f64>,
}

/// The result of the probes of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// The number of probes.
    pub probes: usize,
    /// The change between the slowest and the fastest third of the run: the ratio of the medians of
    /// their samples, less 1. Noise alone makes it differ from 0.
    pub change: f64,
    /// True if the device drifted: it changed by more than noise explains, and by enough to matter.
    pub drifted: bool,
}

/// Minimum number of probes to detect a drift. Of the 720 orders of six probes, two are sorted.
const FEWEST: usize = 6;

/// Maximum probability, for each of the two tests, that a steady device counts as drifting.
const ERROR: f64 = 0.005;

/// Number of random orders. Together with the observed one there are 1,000, which makes [`ERROR`]
/// exact.
const SHUFFLES: usize = 999;

/// Maximum number of groups of consecutive probes. Groups show a slow change as well as single
/// probes do, at less cost.
const GROUPS: usize = 64;

/// Minimum change that matters. Samples, too, are taken until the median is known to 2 %.
const MATTERS: f64 = 0.02;

/// Detects drift in `probes`, given in the order made. Returns `None` if there are none.
///
/// On a steady device the probes are exchangeable: every order of them is equally likely, whatever
/// the noise. A permutation test (E. J. G. Pitman, 1937) therefore compares the observed order with
/// 999 random ones. It uses two statistics of the probes' rank sums, where a sample's rank is its
/// rank among all samples:
///
/// - The correlation with time, as in Spearman's. It finds a trend.
/// - The sum of squared differences of neighbours, as in the rank version of von Neumann's ratio
///   (R. Bartels, JASA 77, 1982). It finds any slow change, such as a clock that falls and rises
///   again.
///
/// Each test errs in at most 0.5 % of the cases, both together in at most 1 %. A change below 2 %
/// is not reported as a drift, which makes errors rarer still. The random orders have a fixed seed,
/// so the same probes always give the same answer. Noise that persists from probe to probe counts
/// as drift.
///
/// Cost: about 1,000 times the number of probes, at most 64 of them.
pub fn detect(probes: &[Probe]) -> Option<Drift> {
    if probes.is_empty() {
        return None;
    }
    let groups = grouped(probes, GROUPS);
    let thirds: Vec<f64> = grouped(probes, 3).iter().filter_map(|scores| statistics::median(scores)).collect();
    let change = change(&thirds);
    let drifted = groups.len() >= FEWEST && change >= MATTERS && is_ordered(&groups);
    Some(Drift { probes: probes.len(), change, drifted })
}

/// Returns the level of the device at `clock`. At each probe, the level is the median of the
/// samples of the probe and its neighbours. It is linear between probes and constant outside.
/// Returns `None` if there are no probes.
pub fn level(probes: &[Probe], clock: Duration) -> Option<f64> {
    let smooth = |at: usize| {
        let around = &probes[at.saturating_sub(1)..(at + 2).min(probes.len())];
        statistics::median(&around.iter().flat_map(|probe| probe.scores.iter().copied()).collect::<Vec<_>>())
    };
    let after = probes.partition_point(|probe| probe.clock < clock);
    if after == 0 || after == probes.len() {
        return smooth(after.saturating_sub(1)).filter(|_| !probes.is_empty());
    }
    let (from, to) = (probes[after - 1].clock, probes[after].clock);
    let share = clock.saturating_sub(from).as_secs_f64() / to.saturating_sub(from).as_secs_f64().max(f64::MIN_POSITIVE);
    let (low, high) = (smooth(after - 1)?, smooth(after)?);
    Some(low + (high - low) * share.min(1.0))
}

/// Returns the scores of at most `groups` consecutive groups of nearly equal size.
fn grouped(probes: &[Probe], groups: usize) -> Vec<Vec<f64>> {
    let groups = groups.min(probes.len());
    let bound = |group: usize| group * probes.len() / groups.max(1);
    let scores = |group: usize| probes[bound(group)..bound(group + 1)].iter().flat_map(|probe| probe.scores.clone());
    (0..groups).map(|group| scores(group).collect()).collect()
}

fn change(levels: &[f64]) -> f64 {
    let highest = levels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = levels.iter().copied().fold(f64::INFINITY, f64::min);
    match Measure::of(levels.iter().copied()) {
        Measure::Ratio if !levels.is_empty() => Measure::Ratio.between(lowest, highest) - 1.0,
        // A level of zero or of both signs is no scale for other scores.
        Measure::Ratio | Measure::Difference => 0.0,
    }
}

/// Returns true if the order of `groups` is unlikely to arise by chance.
fn is_ordered(groups: &[Vec<f64>]) -> bool {
    let mut ranks = rank_sums(groups);
    let (trend, roughness) = (trend(&ranks).abs(), roughness(&ranks));
    let mut rng = Rng::seed_from_u64(0);
    let (mut as_trending, mut as_smooth) = (1, 1);
    for _ in 0..SHUFFLES {
        ranks.shuffle(&mut rng);
        as_trending += usize::from(self::trend(&ranks).abs() >= trend);
        as_smooth += usize::from(self::roughness(&ranks) <= roughness);
    }
    let allowed = ERROR * (SHUFFLES + 1) as f64;
    as_trending.min(as_smooth) as f64 <= allowed
}

/// Returns, for every group, twice the sum of the ranks of its scores among all scores. Equal
/// scores share their mean rank. The sums are integers, so that equal statistics compare equal.
fn rank_sums(groups: &[Vec<f64>]) -> Vec<i64> {
    let mut sorted: Vec<f64> = groups.concat();
    sorted.sort_by(f64::total_cmp);
    let rank = |score: &f64| {
        let below = sorted.partition_point(|other| other < score);
        let upto = sorted.partition_point(|other| other <= score);
        (below + upto) as i64
    };
    groups.iter().map(|group| group.iter().map(rank).sum()).collect()
}

/// Returns a number proportional to the correlation of ranks and time.
fn trend(ranks: &[i64]) -> i64 {
    let weight = |at: usize| 2 * at as i64 + 1 - ranks.len() as i64;
    ranks.iter().enumerate().map(|(at, rank)| weight(at) * rank).sum()
}

fn roughness(ranks: &[i64]) -> i64 {
    ranks.windows(2).map(|pair| (pair[1] - pair[0]).pow(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probes(scores: impl IntoIterator<Item = f64>) -> Vec<Probe> {
        let probe = |(at, score)| Probe { clock: Duration::from_secs(at as u64), scores: vec![score] };
        scores.into_iter().enumerate().map(probe).collect()
    }

    fn wobble(at: usize) -> f64 {
        0.01 * ((at * 7) % 5) as f64
    }

    #[test]
    fn a_steady_device_does_not_drift_and_one_that_slows_down_does() {
        let steady = detect(&probes((0..30).map(|at| 1.0 + wobble(at)))).unwrap();
        assert!(!steady.drifted && steady.probes == 30, "{steady:?}");
        let slower = detect(&probes((0..30).map(|at| 1.0 + 0.004 * at as f64 + wobble(at)))).unwrap();
        assert!(slower.drifted && (0.05..0.12).contains(&slower.change), "{slower:?}");
    }

    #[test]
    fn a_clock_that_falls_and_rises_again_is_found_without_a_trend() {
        let there_and_back = |at: usize| 1.0 + 0.1 * (at as f64 / 29.0 * std::f64::consts::PI).sin() + wobble(at) / 2.0;
        assert!(detect(&probes((0..30).map(there_and_back))).unwrap().drifted);
    }

    #[test]
    fn few_probes_and_small_changes_say_nothing() {
        assert_eq!(detect(&[]), None);
        assert!(!detect(&probes([1.0, 2.0, 3.0, 4.0, 5.0])).unwrap().drifted);
        assert!(detect(&probes([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])).unwrap().drifted);
        assert!(!detect(&probes((0..30).map(|at| 1.0 + 0.0003 * at as f64))).unwrap().drifted);
    }

    #[test]
    fn a_thousand_probes_cost_as_little_as_sixty_four() {
        assert!(detect(&probes((0..1000).map(|at| 1.0 + 0.0002 * at as f64 + wobble(at)))).unwrap().drifted);
    }

    #[test]
    fn the_unit_does_not_matter() {
        let scores = |unit: f64| probes((0..30).map(move |at| unit * (1.0 + 0.003 * at as f64 + wobble(at))));
        assert_eq!(detect(&scores(1.0)), detect(&scores(1024.0)));
    }

    #[test]
    fn levels_lie_on_lines_between_smoothed_probes() {
        let probes = probes([1.0, 1.0, 9.0, 1.0, 1.0, 2.0, 2.0]);
        let at = |seconds: f64| level(&probes, Duration::from_secs_f64(seconds)).unwrap();
        assert_eq!([at(0.0), at(2.0), at(4.5), at(5.0), at(99.0)], [1.0, 1.0, 1.5, 2.0, 2.0]);
        assert_eq!(level(&[], Duration::ZERO), None);
        assert_eq!(level(&probes[..1], Duration::from_secs(7)), Some(1.0));
    }
}
