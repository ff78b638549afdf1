//! The final: the leaders of a search measured again, in turns.

use super::standing::{FEWEST_CONFIRMATIONS, Stage, Visit, failed, is_apart};
use crate::{Rng, statistics};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use std::collections::VecDeque;
use std::time::Duration;

/// The limits of a final.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finals {
    /// The most finalists. Leaders beyond are worse in all likelihood, and every one costs as much
    /// as the winner.
    pub most: usize,
    /// Its share of the time that the search took.
    pub share: f64,
    /// The time that it may take in any case.
    pub floor: Duration,
    /// The most time that it may take.
    pub cap: Duration,
}

impl Default for Finals {
    /// Chooses eight, because telling eight apart already needs six rounds; a fifth of the search,
    /// which found them; a second, below which nobody waits; two minutes, in which any kernel that
    /// can be searched shows what it takes.
    fn default() -> Self {
        Self { most: 8, share: 0.2, floor: Duration::from_secs(1), cap: Duration::from_secs(120) }
    }
}

/// Finalists there are at least, where there are so many correct configurations: the runner-up
/// guards against a winner that does not keep what it promised.
const FEWEST_FINALISTS: usize = 2;

/// The factor above the best one's interval at which that of a finalist may begin. The best of many
/// measurements owes something to luck, and its interval then ends below those of configurations
/// that are truly faster.
const LUCK: f64 = 1.1;

/// Rounds of the selection. After three, one disturbed visit does not decide; eleven halve the
/// spread of a visit's median.
const SELECTION: std::ops::RangeInclusive<usize> = 3..=11;

/// Numbers of confirming rounds. The interval of their order statistics holds the median with 96.9,
/// 96.1, 96.1, 96.5 and 95.1 %; other numbers give much wider ones (8 rounds 99.2 %), that is, they
/// take time and say less.
const CONFIRMATION: [usize; 5] = [FEWEST_CONFIRMATIONS, 9, 12, 15, 17];

/// Samples of a visit: their median has the same median as the samples, and one disturbed sample
/// does not move it.
const SAMPLES: usize = 3;

/// The most samples of the search that count in the selection: no more than its fewest rounds give,
/// since they were not taken in turn.
const FROM_SEARCH: usize = 9;

/// One launch of every visit is not timed.
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
    /// Returns what a final may take after a search of `elapsed`.
    pub fn budget(&self, elapsed: Duration) -> Duration {
        elapsed.mul_f64(self.share).max(self.floor).min(self.cap.max(self.floor))
    }

    /// Returns the final among `candidates`, ordered from the best: those whose 95 % interval
    /// begins within 10 % of the end of the first one's, at least two and at most
    /// [`most`](Self::most); fewer where the budget does not allow for them. `None` where not even
    /// two could be compared in time.
    pub fn contest<K: Copy + Ord>(&self, candidates: &[Leader<K>], elapsed: Duration, seed: u64) -> Option<Contest<K>> {
        let budget = self.budget(elapsed);
        let (_, reach) = statistics::median_interval(&candidates.first()?.scores, 0.95)?;
        let reaches = |leader: &&Leader<K>| {
            statistics::median_interval(&leader.scores, 0.95).is_some_and(|(lowest, _)| lowest <= LUCK * reach)
        };
        let guard = candidates.iter().take(FEWEST_FINALISTS);
        let others = candidates.iter().skip(FEWEST_FINALISTS).filter(reaches);
        let leaders: Vec<&Leader<K>> = guard.chain(others).take(self.most.max(1)).collect();
        let affordable = |samples: usize| {
            let cost = |count: usize| least_cost(&leaders[..count], samples);
            (1..=leaders.len()).rev().find(|count| cost(*count) <= budget).map(|count| (count, samples))
        };
        // Fewer samples of more finalists rather than more samples of too few.
        let fewest = leaders.len().min(FEWEST_FINALISTS);
        let (count, samples) = affordable(SAMPLES).filter(|(count, _)| *count >= fewest).or_else(|| affordable(1))?;
        if count < fewest {
            return None;
        }
        Some(Contest::new(&leaders[..count], samples, budget, seed))
    }
}

/// Returns what the fewest rounds take.
fn least_cost<K>(leaders: &[&Leader<K>], samples: usize) -> Duration {
    let launches = |rounds: usize| u32::try_from(rounds * (samples + UNTIMED)).unwrap_or(u32::MAX);
    let all: Duration = leaders.iter().map(|leader| leader.launch).sum();
    let longest = leaders.iter().map(|leader| leader.launch).max().unwrap_or_default();
    let selection = if leaders.len() > 1 { all * launches(*SELECTION.start()) } else { Duration::ZERO };
    selection + longest * launches(FEWEST_CONFIRMATIONS)
}

/// A final in progress. It says who is to be visited next and is told what the visit gave; it
/// measures nothing and reads no clock, so that a final can be replayed from a journal.
///
/// **Selection**: in rounds, each of which visits every finalist once in a new random order, so
/// that neither a drift nor what ran before favours anyone. A finalist all of whose visits were
/// worse than all of the leader's drops out once that has a probability of at most 1 % by chance,
/// for all finalists together. After at most eleven rounds the smallest median of all scores, those
/// of the search included, wins.
///
/// **Confirmation**: the winner and those that did not drop out are visited in up to 17 more
/// rounds, whose number is fixed before the first. They estimate the winner and say whom it ties
/// with. A [baseline](Self::beside) is visited in the same rounds, so that how much faster the
/// winner is does not depend on when either was measured.
#[derive(Clone, Debug)]
pub struct Contest<K> {
    /// Those still visited.
    running: Vec<K>,
    entrants: usize,
    visits: Vec<Visit<K>>,
    /// The number of visits made in the final.
    made: u32,
    samples: usize,
    stage: Stage,
    /// The visits still to be made in this round, each with its stage.
    round: VecDeque<(K, Stage)>,
    /// Rounds of this stage begun.
    begun: usize,
    confirmation: usize,
    /// The configuration that the winner is compared with, and the least time of a visit to it.
    baseline: Option<(K, Duration)>,
    budget: Duration,
    rng: Rng,
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

    /// Visits `baseline` in the rounds of the confirmation as well, unless it is confirmed itself,
    /// or its launches take longer than a visit has taken on average and more than half of what is
    /// left for the fewest rounds. It cannot win by that and ties with nobody.
    pub fn beside(mut self, baseline: &Leader<K>) -> Self {
        let launches = u32::try_from(self.samples + UNTIMED).unwrap_or(u32::MAX);
        self.baseline = Some((baseline.config, baseline.launch * launches));
        self
    }

    /// Returns how many compete.
    pub fn entrants(&self) -> usize {
        self.entrants
    }

    /// Returns how many samples a visit takes.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Returns what was seen so far, beginning with what the search saw of the finalists.
    pub fn visits(&self) -> &[Visit<K>] {
        &self.visits
    }

    /// Returns who is to be visited next, `used` into the final; `None` when it is over.
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

    /// Tells the scores of the visit that [`next`](Self::next) asked for; `None` when the
    /// configuration failed: it loses its place.
    pub fn record(&mut self, config: K, stage: Stage, scores: Option<Vec<f64>>) {
        let failed = scores.is_none();
        self.visits.push(Visit { config, stage, scores });
        self.made += 1;
        if failed {
            self.running.retain(|running| *running != config);
            self.round.retain(|(waiting, _)| *waiting != config);
            self.baseline = self.baseline.filter(|(baseline, _)| *baseline != config);
        }
    }

    fn begin_round(&mut self) {
        self.begun += 1;
        let visits = self.running.iter().map(|config| (*config, self.stage));
        let beside = self.baseline.map(|(config, _)| config).filter(|config| !self.running.contains(config));
        let beside = beside.filter(|_| self.stage == Stage::Confirmation).map(|config| (config, Stage::Baseline));
        self.round = visits.chain(beside).collect();
        self.round.make_contiguous().shuffle(&mut self.rng);
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

    /// Keeps whom the rest of the budget allows for, the best first, and fixes the number of
    /// rounds: looking at what they show before stopping would make the interval too narrow.
    fn begin_confirmation(&mut self, used: Duration, pace: Duration) {
        let mut ranked = self.by_median();
        let left = self.budget.saturating_sub(used).as_secs_f64();
        // What a round may take where there are no more than the fewest.
        let (round, pace) = (left / FEWEST_CONFIRMATIONS as f64, pace.as_secs_f64());
        // Where the launches do not matter, a visit is as cheap as any other.
        let fits = |visit: &Duration| visit.as_secs_f64() <= pace.max(round / 2.0);
        self.baseline = self.baseline.filter(|(config, visit)| !ranked.contains(config) && fits(visit));
        let beside = self.baseline.map_or(0.0, |(_, visit)| visit.as_secs_f64().max(pace));
        let times = |whole: f64, part: f64| if part > 0.0 { whole / part } else { f64::INFINITY };
        ranked.truncate(times(round - beside, pace).max(1.0) as usize);
        let rounds = times(left, pace * ranked.len() as f64 + beside);
        let affordable = CONFIRMATION.into_iter().rev().find(|count| *count as f64 <= rounds);
        self.confirmation = affordable.unwrap_or(FEWEST_CONFIRMATIONS);
        (self.stage, self.begun, self.running) = (Stage::Confirmation, 0, ranked);
    }

    /// Returns when all that were to be confirmed failed, the best of those that dropped out takes
    /// their place.
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

    /// Returns what a visit took on average.
    fn pace(&self, used: Duration) -> Duration {
        used / self.made.max(1)
    }

    fn scores(&self, config: K, counts: impl Fn(Stage) -> bool) -> impl Iterator<Item = &Vec<f64>> {
        let of = move |visit: &&Visit<K>| visit.config == config && counts(visit.stage);
        self.visits.iter().filter(of).filter_map(|visit| visit.scores.as_ref())
    }

    /// Returns the medians of the selecting visits.
    fn medians(&self, config: K) -> Vec<f64> {
        self.scores(config, |stage| stage == Stage::Selection).filter_map(|scores| statistics::median(scores)).collect()
    }

    /// Returns those still visited by the medians of all their scores before the confirmation, the
    /// best first; of equal ones the smaller key.
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

/// Returns what the search measured of a leader, as if it had been visited: some of its samples,
/// evenly spread.
pub(crate) fn from_search<K: Copy>(leader: &Leader<K>) -> Visit<K> {
    let (taken, count) = (leader.scores.len(), leader.scores.len().min(FROM_SEARCH));
    let scores = (0..count).map(|at| leader.scores[at * taken / count]).collect();
    Visit { config: leader.config, stage: Stage::Search, scores: Some(scores) }
}

#[cfg(test)]
#[path = "finals_tests.rs"]
mod tests;
