//! The final re-measurement: measures the leaders of a search again, in turns.

use super::measure::worse_by;
use super::standing::{FEWEST_BESIDE, FEWEST_CONFIRMATIONS, Stage, Visit, failed, is_apart};
use crate::{Rng, statistics};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use std::collections::VecDeque;
use std::time::Duration;

/// The limits of a final re-measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finals {
    /// Maximum number of finalists. Further leaders are very likely worse, and each costs as much
    /// as the winner.
    pub most: usize,
    /// Maximum share of the time of the search.
    pub share: f64,
    /// The time that it may take in any case, even beyond its share.
    pub floor: Duration,
    /// Maximum time.
    pub cap: Duration,
}

impl Default for Finals {
    /// Chooses these limits:
    /// - eight finalists, because eight already need six rounds to be told apart;
    /// - a fifth of the time of the search;
    /// - at least one second, which nobody notices;
    /// - at most two minutes, in which any kernel that can be searched shows its time.
    fn default() -> Self {
        Self { most: 8, share: 0.2, floor: Duration::from_secs(1), cap: Duration::from_secs(120) }
    }
}

/// Minimum number of finalists, if there are so many correct configurations. The runner-up guards
/// against a winner that does not confirm its score.
const FEWEST_FINALISTS: usize = 2;

/// Maximum ratio of the lower end of a finalist's interval to the upper end of the best one's. The
/// best of many measurements is partly lucky. Its interval may therefore end below those of
/// configurations that are truly faster.
const LUCK: f64 = 1.1;

/// Numbers of selection rounds. After three, one disturbed visit does not decide. Eleven halve the
/// spread of a visit's median.
const SELECTION: std::ops::RangeInclusive<usize> = 3..=11;

/// Numbers of confirmation rounds. For these, the interval of the order statistics holds the median
/// with 96.9, 96.1, 96.1, 96.5 and 95.1 %. Other numbers give much wider intervals (8 rounds: 99.2
/// %). They take more time and say less.
const CONFIRMATION: [usize; 5] = [FEWEST_CONFIRMATIONS, 9, 12, 15, 17];

/// Number of samples of a visit. Their median has the same median as the samples, and one disturbed
/// sample does not move it.
const SAMPLES: usize = 3;

/// Maximum number of search samples that count in the selection: as many as its fewest rounds give.
/// Search samples were not taken in turn, so they must not outweigh the visits.
const FROM_SEARCH: usize = 9;

/// Number of untimed launches of a visit.
const UNTIMED: usize = 1;

/// A leader of the search.
#[derive(Clone, Debug, PartialEq)]
pub struct Leader<K> {
    /// The configuration.
    pub config: K,
    /// The scores of its samples.
    pub scores: Vec<f64>,
    /// The time of one launch.
    pub launch: Duration,
}

impl Finals {
    /// Returns the maximum duration of a final re-measurement after a search of `elapsed`.
    pub fn budget(&self, elapsed: Duration) -> Duration {
        elapsed.mul_f64(self.share).max(self.floor).min(self.cap.max(self.floor))
    }

    /// Returns the part of a run of `total` that is kept for its final re-measurement: the [budget](Self::budget) after
    /// a search of the rest, but at most half of the run.
    pub fn reserve(&self, total: Duration) -> Duration {
        let share = total.mul_f64(self.share / (1.0 + self.share));
        share.max(self.floor).min(self.cap.max(self.floor)).min(total / 2)
    }

    /// Returns the time of the longest final re-measurement, if a visit of a finalist takes `visit`, and
    /// one of the default `beside`.
    pub fn longest(&self, visit: Duration, beside: Duration) -> Duration {
        let [.., confirmations] = CONFIRMATION;
        let times = |time: Duration, count: usize| time.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
        times(visit, self.most * (SELECTION.end() + confirmations)).saturating_add(times(beside, confirmations))
    }

    /// Plans the final re-measurement of `candidates`, which are ordered from the best.
    ///
    /// The finalists are the candidates whose 95 % interval begins within 10 % of the end of the
    /// first one's. There are at least two and at most [`most`](Self::most), or fewer if the budget
    /// allows no more. Returns `None` if the budget does not allow for two.
    pub fn contest<K: Copy + Ord>(&self, candidates: &[Leader<K>], elapsed: Duration, seed: u64) -> Option<Contest<K>> {
        let budget = self.budget(elapsed);
        let (_, reach) = statistics::median_interval(&candidates.first()?.scores, 0.95)?;
        let furthest = worse_by(LUCK, reach);
        let reaches = |leader: &&Leader<K>| {
            statistics::median_interval(&leader.scores, 0.95).is_some_and(|(lowest, _)| lowest <= furthest)
        };
        let guard = candidates.iter().take(FEWEST_FINALISTS);
        let others = candidates.iter().skip(FEWEST_FINALISTS).filter(reaches);
        let leaders: Vec<&Leader<K>> = guard.chain(others).take(self.most.max(1)).collect();
        let affordable = |samples: usize| {
            let cost = |count: usize| least_cost(&leaders[..count], samples);
            (1..=leaders.len()).rev().find(|count| cost(*count) <= budget).map(|count| (count, samples))
        };
        // Prefer fewer samples of more finalists to more samples of too few.
        let fewest = leaders.len().min(FEWEST_FINALISTS);
        let (count, samples) = affordable(SAMPLES).filter(|(count, _)| *count >= fewest).or_else(|| affordable(1))?;
        if count < fewest {
            return None;
        }
        Some(Contest::new(&leaders[..count], samples, budget, seed))
    }
}

/// Returns the time of the fewest rounds.
fn least_cost<K>(leaders: &[&Leader<K>], samples: usize) -> Duration {
    let launches = |rounds: usize| u32::try_from(rounds * (samples + UNTIMED)).unwrap_or(u32::MAX);
    let all: Duration = leaders.iter().map(|leader| leader.launch).sum();
    let longest = leaders.iter().map(|leader| leader.launch).max().unwrap_or_default();
    let selection = if leaders.len() > 1 { all * launches(*SELECTION.start()) } else { Duration::ZERO };
    selection + longest * launches(FEWEST_CONFIRMATIONS)
}

/// A final re-measurement in progress. It names the next visit and is told the result. It measures
/// nothing and reads no clock, so it can be replayed from a journal.
///
/// **Selection**: every round visits each finalist once, in a new random order. Neither a drift nor
/// the kernel that ran before then favours anyone. A finalist drops out if all its visits were
/// worse than all of the leader's. This rule waits until the probability that chance removes any
/// finalist in this way is at most 1 %. After at most eleven rounds, the finalist with the smallest
/// median of all scores wins. Scores of the search count, too.
///
/// **Confirmation**: up to 17 more rounds visit the winner and the finalists that did not drop out.
/// Their number is fixed before the first. They estimate the winner and find the finalists that are
/// indistinguishable from it. A [baseline](Self::beside) is visited in the same rounds, so its
/// comparison with the winner does not depend on the time of either measurement.
#[derive(Clone, Debug)]
pub struct Contest<K> {
    /// The configurations that are still visited.
    running: Vec<K>,
    entrants: usize,
    visits: Vec<Visit<K>>,
    /// The number of visits of the final re-measurement so far.
    made: u32,
    samples: usize,
    stage: Stage,
    /// The remaining visits of this round, each with its stage.
    round: VecDeque<(K, Stage)>,
    /// The number of rounds of this stage that have begun.
    begun: usize,
    confirmation: usize,
    /// The configuration to compare the winner with.
    baseline: Option<Beside<K>>,
    budget: Duration,
    rng: Rng,
}

/// The progress of a final re-measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FinalProgress {
    /// The stage: [`Selection`](Stage::Selection) or [`Confirmation`](Stage::Confirmation).
    pub stage: Stage,
    /// The number of rounds of this stage that are complete.
    pub rounds: usize,
    /// Maximum number of rounds of this stage.
    pub most: usize,
    /// The number of finalists that are still visited.
    pub finalists: usize,
    /// The share of the final that is done, from 0 to 1. It estimates the selection, which may end
    /// early.
    pub share: f64,
}

/// A configuration that is visited beside the finalists.
#[derive(Clone, Copy, Debug)]
struct Beside<K> {
    config: K,
    /// The time of one launch.
    launch: Duration,
    /// True if it is visited in a few rounds only, with one sample each.
    is_slow: bool,
}

impl<K: Copy + Ord> Contest<K> {
    fn new(leaders: &[&Leader<K>], samples: usize, budget: Duration, seed: u64) -> Self {
        Self {
            entrants: leaders.len(),
            running: leaders.iter().map(|leader| leader.config).collect(),
            visits: leaders.iter().map(|leader| from_search(leader)).collect(),
            made: 0,
            samples,
            stage: Stage::Selection,
            round: VecDeque::new(),
            begun: 0,
            confirmation: FEWEST_CONFIRMATIONS,
            baseline: None,
            budget,
            rng: Rng::seed_from_u64(seed),
        }
    }

    /// Visits `baseline` in the confirmation rounds as well, unless it is a confirmed finalist.
    ///
    /// A slow baseline is visited in [`FEWEST_BESIDE`] of the rounds, with one sample each: if its
    /// launches take longer than the average visit so far, and longer than half of the time left
    /// for each of the fewest rounds. So it takes its turn in every final, and costs about as much
    /// as its evaluation did. The visits do not make it a finalist.
    pub fn beside(mut self, baseline: &Leader<K>) -> Self {
        self.baseline = Some(Beside { config: baseline.config, launch: baseline.launch, is_slow: false });
        self
    }

    /// Returns the number of finalists.
    pub fn entrants(&self) -> usize {
        self.entrants
    }

    /// Returns the number of samples of a visit in `stage`.
    pub fn samples(&self, stage: Stage) -> usize {
        let is_slow = stage == Stage::Baseline && self.baseline.is_some_and(|beside| beside.is_slow);
        if is_slow { 1 } else { self.samples }
    }

    /// Returns all visits so far. The search's samples of the finalists come first.
    pub fn visits(&self) -> &[Visit<K>] {
        &self.visits
    }

    /// Returns the progress, with `used` time spent on the final re-measurement so far.
    pub fn progress(&self, used: Duration) -> FinalProgress {
        let rounds = self.begun.saturating_sub(usize::from(!self.round.is_empty()));
        let selecting = self.stage == Stage::Selection;
        let most = if selecting { *SELECTION.end() } else { self.confirmation };
        let part = rounds as f64 / most as f64;
        // The selection may use half of the time.
        let late = 2.0 * used.as_secs_f64() / self.budget.as_secs_f64();
        let part = if selecting && late.is_finite() { part.max(late) } else { part };
        let share = (part.min(1.0) + if selecting { 0.0 } else { 1.0 }) / 2.0;
        FinalProgress { stage: self.stage, rounds, most, finalists: self.running.len(), share }
    }

    /// Returns the next visit, with `used` time spent on the final re-measurement so far. Returns
    /// `None` at the end.
    pub fn next(&mut self, used: Duration) -> Option<(K, Stage)> {
        loop {
            if let Some(visit) = self.round.pop_front() {
                return Some(visit);
            }
            if self.stage == Stage::Selection {
                self.go_on_selecting(used);
            } else {
                let over = if self.running.is_empty() { !self.bring_back() } else { self.begun >= self.confirmation };
                if over {
                    return None;
                }
                self.begin_round();
            }
        }
    }

    /// Records the scores of the visit that [`next`](Self::next) returned. `None` means that the
    /// configuration failed: it loses its place.
    pub fn record(&mut self, config: K, stage: Stage, scores: Option<Vec<f64>>) {
        let failed = scores.is_none();
        self.visits.push(Visit { config, stage, scores });
        self.made += 1;
        if failed {
            self.running.retain(|running| *running != config);
            self.round.retain(|(waiting, _)| *waiting != config);
            self.baseline = self.baseline.filter(|beside| beside.config != config);
        }
    }

    fn begin_round(&mut self) {
        self.begun += 1;
        let visits = self.running.iter().map(|config| (*config, self.stage));
        let beside =
            self.baseline.filter(|beside| self.is_beside(beside)).map(|beside| (beside.config, Stage::Baseline));
        self.round = visits.chain(beside).collect();
        self.round.make_contiguous().shuffle(&mut self.rng);
    }

    /// Returns true if the round that has begun visits `beside`.
    fn is_beside(&self, beside: &Beside<K>) -> bool {
        // The rounds of a slow one are spread evenly over all.
        let made = |rounds: usize| rounds * FEWEST_BESIDE / self.confirmation;
        let is_due = !beside.is_slow || made(self.begun) > made(self.begun - 1);
        self.stage == Stage::Confirmation && is_due && !self.running.contains(&beside.config)
    }

    fn go_on_selecting(&mut self, used: Duration) {
        self.drop_beaten();
        let pace = self.pace(used);
        let next_round = pace * u32::try_from(self.running.len()).unwrap_or(u32::MAX);
        let is_late = self.begun >= *SELECTION.start() && used + next_round > self.budget / 2;
        if self.running.len() <= 1 || self.begun >= *SELECTION.end() || is_late {
            self.begin_confirmation(used, pace);
        } else {
            self.begin_round();
        }
    }

    fn drop_beaten(&mut self) {
        let Some(leader) = self.by_median().first().copied() else { return };
        let (best, rivals) = (self.medians(leader), self.entrants - 1);
        let beaten = |config: &K| *config != leader && is_apart(&best, &self.medians(*config), rivals);
        let beaten: Vec<K> = self.running.iter().copied().filter(beaten).collect();
        self.running.retain(|config| !beaten.contains(config));
    }

    /// Keeps as many finalists as the rest of the budget allows, best first, and fixes the number
    /// of rounds. To look at their scores before stopping would make the interval too narrow.
    fn begin_confirmation(&mut self, used: Duration, pace: Duration) {
        let mut ranked = self.by_median();
        let left = self.budget.saturating_sub(used).as_secs_f64();
        // The time of a round if there are only the fewest rounds.
        let (round, pace) = (left / FEWEST_CONFIRMATIONS as f64, pace.as_secs_f64());
        let launches = u32::try_from(self.samples + UNTIMED).unwrap_or(u32::MAX);
        let visit = |beside: &Beside<K>| (beside.launch * launches).as_secs_f64();
        // A visit with short launches is as cheap as any other.
        let is_slow = |beside: &Beside<K>| visit(beside) > pace.max(round / 2.0);
        let apart = |ranked: &[K]| {
            let baseline = self.baseline.filter(|beside| !ranked.contains(&beside.config));
            baseline.map(|beside| Beside { is_slow: is_slow(&beside), ..beside })
        };
        // The few visits to a slow one come on top: the finalists keep their rounds.
        let cost = |baseline: Option<Beside<K>>| {
            baseline.filter(|beside| !beside.is_slow).map_or(0.0, |beside| visit(&beside).max(pace))
        };
        let times = |whole: f64, part: f64| if part > 0.0 { whole / part } else { f64::INFINITY };
        let room = |baseline| times(round - cost(baseline), pace).max(1.0) as usize;
        ranked.truncate(room(apart(&ranked)));
        // A baseline that competed and finds no room among the finalists takes its turn beside them.
        let baseline = apart(&ranked);
        ranked.truncate(room(baseline));
        let beside = cost(baseline);
        let rounds = times(left, pace * ranked.len() as f64 + beside);
        let affordable = CONFIRMATION.into_iter().rev().find(|count| *count as f64 <= rounds);
        self.confirmation = affordable.unwrap_or(FEWEST_CONFIRMATIONS);
        self.baseline = baseline;
        (self.stage, self.begun, self.running) = (Stage::Confirmation, 0, ranked);
    }

    /// Restores the best finalist that dropped out, if all finalists to be confirmed failed.
    /// Returns true if there is one.
    fn bring_back(&mut self) -> bool {
        let failed = failed(&self.visits);
        let finalists = self.visits.iter().filter(|visit| visit.stage != Stage::Baseline);
        let mut others: Vec<K> = finalists.map(|visit| visit.config).collect();
        others.retain(|config| !failed.contains(config));
        others.sort();
        others.dedup();
        self.running = others;
        self.running = self.by_median();
        self.running.truncate(1);
        self.begun = 0;
        !self.running.is_empty()
    }

    /// Returns the average time of a visit.
    fn pace(&self, used: Duration) -> Duration {
        used / self.made.max(1)
    }

    fn scores(&self, config: K, counts: impl Fn(Stage) -> bool) -> impl Iterator<Item = &Vec<f64>> {
        let of = move |visit: &&Visit<K>| visit.config == config && counts(visit.stage);
        self.visits.iter().filter(of).filter_map(|visit| visit.scores.as_ref())
    }

    /// Returns the medians of the selection visits.
    fn medians(&self, config: K) -> Vec<f64> {
        self.scores(config, |stage| stage == Stage::Selection).filter_map(|scores| statistics::median(scores)).collect()
    }

    /// Returns the configurations still visited, ordered by the medians of all their scores before
    /// the confirmation, best first. Of equal medians, the smaller key comes first.
    fn by_median(&self) -> Vec<K> {
        let median = |config: K| {
            let scores: Vec<f64> =
                self.scores(config, |stage| stage != Stage::Confirmation).flatten().copied().collect();
            statistics::lower_median(&scores).unwrap_or(f64::INFINITY)
        };
        let mut ranked: Vec<(f64, K)> = self.running.iter().map(|config| (median(*config), *config)).collect();
        ranked.sort_by(|(a, x), (b, y)| a.total_cmp(b).then_with(|| x.cmp(y)));
        ranked.into_iter().map(|(_, config)| config).collect()
    }
}

/// Returns the search's samples of a leader in the form of a visit: an evenly spread part of them.
pub(crate) fn from_search<K: Copy>(leader: &Leader<K>) -> Visit<K> {
    let (taken, count) = (leader.scores.len(), leader.scores.len().min(FROM_SEARCH));
    let scores = (0..count).map(|at| leader.scores[at * taken / count]).collect();
    Visit { config: leader.config, stage: Stage::Search, scores: Some(scores) }
}

#[cfg(test)]
#[path = "finals_tests.rs"]
mod tests;
