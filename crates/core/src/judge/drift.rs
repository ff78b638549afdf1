//! Detects drift: a change of the device during a run, seen by probes of one reference
//! configuration.

use crate::{Rng, statistics};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use std::time::Duration;

/// The rule for measuring the reference again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watch {
    /// The most that probes may take of the run's time.
    pub share: f64,
    /// Evaluations between two probes at least.
    pub every: usize,
}

impl Default for Watch {
    /// Allows 5 % of the time, which an honest winner may cost, and a probe every fourth evaluation
    /// at most. 200 evaluations then give 50 probes. More would not show a slow change any better.
    fn default() -> Self {
        Self { share: 0.05, every: 4 }
    }
}

/// Samples of a probe.
pub const SAMPLES: usize = 3;

/// One probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// The time at which it ended.
    pub clock: Duration,
    /// The scores of its samples.
    pub scores: Vec<f64>,
}

/// The findings of the probes of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// The number of probes.
    pub probes: usize,
    /// By how much the slowest third of the run differed from the fastest one, as a share: the
    /// ratio of the medians of their samples, less 1. Noise alone makes it differ from 0.
    pub change: f64,
    /// True if the device drifted: it changed by more than noise explains, and by enough to matter.
    pub drifted: bool,
}

/// The fewest probes that can show a drift: of six, two orders in 720 are sorted.
const FEWEST: usize = 6;

/// The greatest probability, for each of the two tests, that a steady device is said to drift.
const ERROR: f64 = 0.005;

/// Orders that the observed one is compared with. With the observed one they are 1,000, so that
/// [`ERROR`] is exact.
const SHUFFLES: usize = 999;

/// Probes are merged into so many consecutive groups at most: a slow change shows in them as well,
/// at less cost.
const GROUPS: usize = 64;

/// A change that is smaller does not matter: samples are taken until the median is known to 2 % as
/// well.
const MATTERS: f64 = 0.02;

/// Returns true if the device drifted by these probes, in the order made. `None` of no probe.
///
/// On a steady device the probes are exchangeable: every order of them is equally likely, whatever
/// the noise. So the observed order is compared with 999 random ones (a permutation test: E. J. G.
/// Pitman, 1937) by two statistics of the probes' rank sums, a sample's rank being that among all
/// samples: the correlation with time (as Spearman's), which finds a trend, and the sum of squared
/// differences of neighbours (as the rank version of von Neumann's ratio, R. Bartels, JASA 77,
/// 1982), which finds any slow change, such as a clock that falls and rises again. Each test errs
/// with at most 0.5 %, both together with at most 1 %. A change below 2 % is not reported as a
/// drift, which makes errors rarer still. The random orders have a fixed seed: the same probes
/// always give the same answer. Noise that itself persists from probe to probe is a drift here.
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

/// Returns the level of the device at `clock`: the median of the samples of every probe and its
/// neighbours, with straight lines between them and constant outside. `None` of no probe.
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
    if lowest > 0.0 { highest / lowest - 1.0 } else { 0.0 }
}

/// Returns true if the order of `groups` is one that chance hardly gives.
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

/// Returns for every group twice the sum of the ranks of its scores among all; equal ones share the
/// mean rank. Whole numbers, so that equal statistics compare equal.
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
