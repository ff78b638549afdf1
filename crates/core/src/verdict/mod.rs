//! The verdict on a run: the one place that ranks its configurations.
//!
//! The loop asks for it at the end of a run, and readers of journals ask for it again. Both give
//! the same measurements and get the same answer: the best, its ties, the order of all
//! configurations, and the comparison with the default.

mod turns;
mod twins;

use crate::judge::drift::{Drift, Probe, detect, level};
use crate::judge::finals::{Leader, from_search};
use crate::judge::measure::{Gain, Measure, MeasureInterval};
use crate::judge::standing::{
    Relation, Stage, Standing, Visit, measure_interval, relation, selection_interval, standing,
};
use crate::{Role, statistics};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::time::Duration;
use tunesmith_space::ConfigId;
use turns::{Finals, OfFinal};

/// The evaluation of one configuration, as far as it decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial<K> {
    /// The configuration.
    pub config: K,
    /// The median score of its samples, or `None` if it failed or has no score.
    pub score: Option<f64>,
    /// The end of the evaluation: time since the start of the run.
    pub clock: Duration,
}

/// A later measurement of a configuration, as far as it decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeat<K> {
    /// The configuration.
    pub config: K,
    /// The purpose of the measurement.
    pub role: Role,
    /// The scores of the samples, or `None` if the configuration failed.
    pub scores: Option<Vec<f64>>,
    /// The end of the measurement.
    pub clock: Duration,
}

/// All measurements of a run from which its verdict follows.
pub struct Evidence<'a, K> {
    /// The evaluations in the order made, one of each configuration.
    pub trials: Vec<Trial<K>>,
    /// Returns the scores of all samples of the trial at a position. Most trials are never asked
    /// for.
    pub samples: &'a dyn Fn(usize) -> Vec<f64>,
    /// Returns the lower end of the 95 % interval of the median of these samples, or `None` if there
    /// are none. Without a final, every correct trial is asked for, in the order made.
    pub lowest: &'a dyn Fn(usize) -> Option<f64>,
    /// Returns the digest of the machine code of the trial at a position, with its launches and arguments
    /// ([`CompileData::code`](crate::CompileData::code)). Few trials are asked for.
    pub code: &'a dyn Fn(usize) -> Option<String>,
    /// The later measurements in the order made.
    pub repeats: Vec<Repeat<K>>,
    /// The default configuration, with which the winner is compared.
    pub default: Option<K>,
}

/// The verdict on a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict<K = ConfigId> {
    /// The best configuration. It is the default, unless another one is better beyond doubt.
    /// `None` if nothing was correct.
    pub winner: Option<K>,
    /// The configurations that are indistinguishable from the winner, by the scores that count for
    /// them. The final re-measurement decides which they are, or else the intervals of the search's
    /// samples.
    pub ties: Vec<K>,
    /// The finalists that were measured too seldom to be told apart from the winner or to be called its
    /// ties.
    pub not_compared: Vec<K>,
    /// The configurations with the machine code of the winner, its launches and its arguments. Whatever their times
    /// are, they are ties: a difference is chance.
    pub equal_code: Vec<K>,
    /// All correct configurations: the winner, its ties, the finalists that were not compared, then the others by
    /// the scores that count for them.
    pub order: Vec<K>,
    /// True if a final re-measurement decided.
    pub by_final: bool,
    /// Configurations that failed in a later measurement, in the order of these failures.
    pub failed: Vec<K>,
    /// The drift of the device. `None` if no reference was measured again.
    pub drift: Option<Drift>,
    /// The best configuration by the search's samples alone. A final may decide otherwise.
    pub leader: Option<K>,
    /// The comparison of the best contender with the default. `None` if no default was correct, or
    /// if nothing else was.
    pub comparison: Option<Comparison<K>>,
}

/// The comparison of a configuration with the default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison<K = ConfigId> {
    /// The contender: the best of the others, also if it is worse beyond doubt. It is the winner if it is better beyond
    /// doubt.
    pub contender: K,
    /// The measure of the comparison: the ratio of both values, or the difference where a ratio has no meaning.
    pub measure: Measure,
    /// The gain of the contender over the default in this measure: the speed-up if the objective is time.
    pub improvement: f64,
    /// A 95 % interval of the improvement. It lies above [equality](Measure::equality) if the contender is
    /// better beyond doubt. `None` if one of the two was measured once: one measurement has no interval.
    pub interval: Option<(f64, f64)>,
    /// The measurements compared.
    pub basis: Basis,
    /// True if the contender is better beyond doubt: if the interval lies above equality, and the default did
    /// not win the selection. Of single measurements, the better one is better.
    pub is_better: bool,
}

impl<K> Comparison<K> {
    /// Returns how much better the contender is than the default.
    pub fn gain(&self) -> Gain {
        self.measure.of_value(self.improvement)
    }
}

/// The measurements that a comparison with the default rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The final re-measurement, where both took turns.
    Final,
    /// The search.
    Search,
    /// The contender's final re-measurement and the default's evaluation in the search. Journals of
    /// earlier versions may lack the default's turns.
    Different,
}

impl<K> Default for Verdict<K> {
    fn default() -> Self {
        Self {
            winner: None,
            ties: Vec::new(),
            not_compared: Vec::new(),
            equal_code: Vec::new(),
            order: Vec::new(),
            by_final: false,
            failed: Vec::new(),
            drift: None,
            leader: None,
            comparison: None,
        }
    }
}

impl<K> Verdict<K> {
    /// Returns true if the winner is better than the default beyond doubt. Without a correct
    /// default there is nothing to be better than.
    pub fn is_better_than_default(&self) -> bool {
        self.comparison.as_ref().is_some_and(|comparison| comparison.is_better)
    }
}

impl<K: Copy + Ord + Hash> Evidence<'_, K> {
    /// Returns the verdict.
    ///
    /// The winner of the final re-measurement is its [`standing`]'s. Without a final, it is the
    /// configuration with the smallest score of the search that did not fail later, corrected for
    /// drift. It is crowned only if it is better than the default beyond doubt: if the 95 % interval of
    /// the ratio of their scores lies above 1, or that of their difference above 0 where a ratio has no meaning.
    /// This is [`measure_interval`] in the final, else that between the ends of their own intervals.
    /// Otherwise the default is the best and the contenders are its ties.
    ///
    /// Cost: a sort of the trials.
    pub fn verdict(&self) -> Verdict<K> {
        Court::new(self).verdict()
    }

    /// Returns the correct configurations from the best, by the samples of the search, corrected
    /// for drift: at most `most`, and the default in any case. `launch` returns the time of one
    /// launch of the trial at a position.
    pub(crate) fn leaders(&self, most: usize, launch: impl Fn(usize) -> Duration) -> Leaders<K> {
        let court = Court::new(self);
        let leader = |at: &usize| Leader {
            config: self.trials[*at].config,
            scores: court.corrected_samples(*at),
            launch: launch(*at),
        };
        let default = self.default.and_then(|default| court.place(default));
        Leaders { default: default.as_ref().map(leader), first: court.search.iter().take(most).map(leader).collect() }
    }
}

/// The leaders of a search.
pub(crate) struct Leaders<K> {
    /// The best, in their order.
    pub(crate) first: Vec<Leader<K>>,
    /// The default, if it is correct.
    pub(crate) default: Option<Leader<K>>,
}

/// The evidence, put in order.
struct Court<'a, K> {
    evidence: &'a Evidence<'a, K>,
    /// The configurations that failed later.
    failed: Vec<K>,
    probes: Vec<Probe>,
    drift: Option<Drift>,
    /// The positions of the correct trials, best first. Of equal scores, the first found comes
    /// first.
    search: Vec<usize>,
}

impl<'a, K: Copy + Ord + Hash> Court<'a, K> {
    fn new(evidence: &'a Evidence<'a, K>) -> Self {
        let probes = probes(&evidence.repeats);
        let drift = detect(&probes);
        let (mut court, mut seen) =
            (Self { evidence, failed: Vec::new(), drift, probes, search: Vec::new() }, HashSet::new());
        let failures = evidence.repeats.iter().filter(|repeat| repeat.scores.is_none());
        court.failed = failures.map(|repeat| repeat.config).filter(|config| seen.insert(*config)).collect();
        let counts = |(at, trial): (usize, &Trial<K>)| {
            let score = trial.score.filter(|_| !seen.contains(&trial.config))?;
            Some((score / court.correction(trial.clock), at))
        };
        let mut search: Vec<(f64, usize)> = evidence.trials.iter().enumerate().filter_map(counts).collect();
        search.sort_by(|a, b| a.0.total_cmp(&b.0));
        court.search = search.into_iter().map(|(_, at)| at).collect();
        court
    }

    /// Returns the position of the correct trial of `config`. Linear, but few are asked for.
    fn place(&self, config: K) -> Option<usize> {
        self.search.iter().copied().find(|at| self.evidence.trials[*at].config == config)
    }

    /// Returns the divisor that makes scores measured at `clock` comparable with others. It is the
    /// level of the device if it drifted. Otherwise it is 1, because probes of a steady device
    /// would add their noise to every score. It is positive, so that it keeps signs.
    fn correction(&self, clock: Duration) -> f64 {
        let level = self.drift.filter(|drift| drift.drifted).and_then(|_| level(&self.probes, clock));
        level.map(f64::abs).filter(|level| level.is_finite() && *level > 0.0).unwrap_or(1.0)
    }

    /// Returns the scores of the samples of a trial, corrected for drift.
    fn corrected_samples(&self, at: usize) -> Vec<f64> {
        let correction = self.correction(self.evidence.trials[at].clock);
        (self.evidence.samples)(at).into_iter().map(|score| score / correction).collect()
    }

    fn visits(&self) -> Vec<Visit<K>> {
        // What failed later for any reason, such as verification on other data, has lost its place.
        let counts = |repeat: &&Repeat<K>| !self.failed.contains(&repeat.config);
        let visit = |repeat: &Repeat<K>| {
            Some(Visit { config: repeat.config, stage: repeat.role.stage()?, scores: repeat.scores.clone() })
        };
        let own: Vec<Visit<K>> = self.evidence.repeats.iter().filter(counts).filter_map(visit).collect();
        let competing = own.iter().filter(|visit| visit.stage != Stage::Baseline);
        let finalists: HashSet<K> = competing.map(|visit| visit.config).collect();
        let trial = |at: &&usize| finalists.contains(&self.evidence.trials[**at].config);
        let before = self.search.iter().filter(trial).map(|at| {
            let config = self.evidence.trials[*at].config;
            from_search(&Leader { config, scores: self.corrected_samples(*at), launch: Duration::ZERO })
        });
        before.chain(own.iter().cloned()).collect()
    }

    fn verdict(self) -> Verdict<K> {
        let field = self.field();
        let leader = self.search.first().map(|at| self.evidence.trials[*at].config);
        let Some((field, by_final)) = field else {
            return Verdict { failed: self.failed, drift: self.drift, leader, ..Verdict::default() };
        };
        let finals = self.finals();
        let comparison = self.compare(&field, by_final, &finals);
        let Standing { winner, ties, not_compared } =
            match self.evidence.default.filter(|_| comparison.is_some_and(|found| !found.is_better)) {
                None => field,
                Some(default) => self.beside_default(default, field, by_final, &finals),
            };
        let (ties, not_compared) = (self.sorted(ties, &finals), self.sorted(not_compared, &finals));
        let order = self.order(winner, ties.iter().chain(&not_compared), &finals);
        let equal_code = self.twins(winner, &order);
        let (failed, drift) = (self.failed, self.drift);
        let winner = Some(winner);
        Verdict { winner, ties, not_compared, equal_code, order, by_final, failed, drift, leader, comparison }
    }

    /// Returns the standing with the default as the winner, because nothing in `field` is better beyond doubt.
    /// Without a final, the leaders of the search are its ties.
    fn beside_default(&self, default: K, field: Standing<K>, by_final: bool, finals: &Finals<K>) -> Standing<K> {
        let mut standing = Standing { winner: default, ties: Vec::new(), not_compared: Vec::new() };
        let known = std::iter::once(field.winner).chain(field.ties).chain(field.not_compared);
        let rivals = finals.entrants(&self.failed).saturating_sub(1);
        for config in known.filter(|config| *config != default) {
            let is_tie = !by_final || self.are_twins(default, config);
            let relation = if is_tie { Relation::Tie } else { self.relation(default, config, rivals, finals) };
            standing.add(config, relation);
        }
        standing
    }

    /// Returns the relation of `other` to `winner` by their turns in the final.
    fn relation(&self, winner: K, other: K, rivals: usize, finals: &Finals<K>) -> Relation {
        let [of_winner, of_other] = [winner, other].map(|config| {
            let mut of = finals.0.get(&config).cloned().unwrap_or_default();
            of.before.extend(self.place(config).map(|at| self.corrected_samples(at)).unwrap_or_default());
            of
        });
        relation(of_winner.turns(), of_other.turns(), rivals)
    }

    /// Returns the winner among all configurations with its ties, whatever the default, and
    /// whether a final decided. Returns `None` if nothing was correct.
    fn field(&self) -> Option<(Standing<K>, bool)> {
        if let Some(standing) = standing(&self.visits()) {
            return Some((standing, true));
        }
        let (first, others) = self.search.split_first()?;
        let interval = statistics::median_interval(&self.corrected_samples(*first), 0.95);
        let reaching = self.reaching(interval.map_or(f64::NEG_INFINITY, |(_, highest)| highest));
        let config = |at: &usize| self.evidence.trials[*at].config;
        let ties = others.iter().filter(|at| reaching[**at]).map(config).collect();
        Some((Standing { winner: config(first), ties, not_compared: Vec::new() }, false))
    }

    /// Returns for every trial whether its 95 % interval, corrected for drift, begins at `reach` or
    /// below. A million trials are asked in the order made, in which they lie in memory.
    fn reaching(&self, reach: f64) -> Vec<bool> {
        // Division by a positive number keeps the order of samples, so that the end of the corrected
        // interval is the corrected end.
        let reaches = |(at, trial): (usize, &Trial<K>)| {
            let lowest = trial.score.and_then(|_| (self.evidence.lowest)(at));
            lowest.is_some_and(|lowest| lowest / self.correction(trial.clock) <= reach)
        };
        self.evidence.trials.iter().enumerate().map(reaches).collect()
    }

    /// Returns the scores of every configuration in the final.
    fn finals(&self) -> Finals<K> {
        let mut finals: HashMap<K, OfFinal> = HashMap::new();
        for repeat in &self.evidence.repeats {
            let Some((stage, scores)) = repeat.role.stage().zip(repeat.scores.as_ref()) else { continue };
            let Some(median) = statistics::median(scores) else { continue };
            let of = finals.entry(repeat.config).or_default();
            of.visits.push((stage, median / self.correction(repeat.clock)));
            match stage {
                Stage::Search => {}
                Stage::Selection => {
                    of.selection.push(median);
                    of.before.extend(scores);
                }
                Stage::Confirmation | Stage::Baseline => of.confirmation.push(median),
            }
        }
        Finals(finals)
    }

    /// Compares the winner of the field, `first`, with the default. `None` if no default is
    /// correct, or if the default itself is the only correct configuration.
    fn compare(&self, field: &Standing<K>, by_final: bool, finals: &Finals<K>) -> Option<Comparison<K>> {
        let default = self.evidence.default?;
        self.place(default)?;
        let first = field.winner;
        let contender = self.contender(field, default, finals)?;
        let (best, base) = (self.estimate(contender, finals)?, self.estimate(default, finals)?);
        let basis = match (best.in_final, base.in_final) {
            (true, true) => Basis::Final,
            (false, _) => Basis::Search,
            (true, false) => Basis::Different,
        };
        let told = self.interval(contender, default, by_final, finals);
        let of_own = || (MeasureInterval::between(best.interval, base.interval), best.count.min(base.count));
        let (MeasureInterval { measure, ends: (low, high) }, measurements) = told.unwrap_or_else(of_own);
        let improvement = measure.between(best.median, base.median);
        let (low, high) = (low.min(improvement), high.max(improvement));
        // The times of the same machine code differ by chance.
        let is_better = first != default && low > measure.equality() && !self.are_twins(first, default);
        let interval = (measurements > 1).then_some((low, high));
        Some(Comparison { contender, measure, improvement, interval, basis, is_better })
    }

    /// Returns the best of the others than the default: those that the field places first, else the best by the scores
    /// that count. One that is worse beyond doubt has no place in the field, and contends all the same.
    fn contender(&self, field: &Standing<K>, default: K, finals: &Finals<K>) -> Option<K> {
        let placed = std::iter::once(&field.winner).chain(&field.ties).chain(&field.not_compared);
        placed.copied().find(|config| *config != default).or_else(|| {
            let others = self.search.iter().map(|at| self.evidence.trials[*at].config);
            self.sorted(others.filter(|config| *config != default).collect(), finals).first().copied()
        })
    }

    /// Returns the 95 % interval of how much better the contender is than the default, by the
    /// measurements that were taken in turn, and the number of measurements of the one that has fewer. What the
    /// interval excludes is beyond doubt. Returns `None` if they took no turns: their own intervals then say the most.
    fn interval(
        &self,
        contender: K,
        default: K,
        by_final: bool,
        finals: &Finals<K>,
    ) -> Option<(MeasureInterval, usize)> {
        let fewer = |best: &[f64], base: &[f64]| best.len().min(base.len());
        let told = match finals.paired(contender, default) {
            Some((best, base)) => measure_interval(best, base).map(|interval| (interval, fewer(best, base))),
            // A finalist that dropped out of the selection.
            None if by_final && finals.competed(default) => {
                let rivals = finals.entrants(&self.failed).saturating_sub(1);
                let (best, base) = (finals.selection(contender), finals.selection(default));
                selection_interval(&best, &base, rivals).map(|interval| (interval, fewer(&best, &base)))
            }
            None => return None,
        };
        // A final that was cut short visited one of them too seldom. The search decides.
        let searched = |config| Some(self.corrected_samples(self.place(config)?));
        told.or_else(|| {
            let (best, base) = (searched(contender)?, searched(default)?);
            let own = |scores: &[f64]| statistics::median_interval(scores, 0.95);
            Some((MeasureInterval::between(own(&best)?, own(&base)?), fewer(&best, &base)))
        })
    }

    /// Returns the scores that count for a correct configuration, corrected for drift.
    fn estimate(&self, config: K, finals: &Finals<K>) -> Option<Estimate> {
        let in_final = finals.counted(config);
        let scores = if in_final.is_empty() { self.corrected_samples(self.place(config)?) } else { in_final.clone() };
        let interval = statistics::median_interval(&scores, 0.95)?;
        let (median, count) = (statistics::median(&scores)?, scores.len());
        Some(Estimate { median, interval, count, in_final: !in_final.is_empty() })
    }

    /// Returns all correct configurations: the winner, those that `follow` it, and the others by the scores that
    /// count for them.
    fn order<'k>(&self, winner: K, follow: impl Iterator<Item = &'k K>, finals: &Finals<K>) -> Vec<K>
    where
        K: 'k,
    {
        let mut order = vec![winner];
        order.extend(follow);
        let placed: HashSet<K> = order.iter().copied().collect();
        let others = self.search.iter().map(|at| self.evidence.trials[*at].config);
        let others = others.filter(|config| !placed.contains(config)).collect();
        order.extend(self.sorted(others, finals));
        order
    }

    /// Sorts configurations by the scores that count for them, which are shown beside them. Those of a
    /// tie that confirmed it are others than those that chose the winner.
    fn sorted(&self, configs: Vec<K>, finals: &Finals<K>) -> Vec<K> {
        if finals.0.is_empty() {
            return configs; // The scores of the search count, and all lists of them are sorted by them.
        }
        let mut wanted: HashSet<K> = configs.iter().copied().collect();
        let score = |at: &usize| {
            let trial = &self.evidence.trials[*at];
            let in_final = || statistics::median(&finals.counted(trial.config));
            let searched = || trial.score.unwrap_or(f64::INFINITY) / self.correction(trial.clock);
            wanted.remove(&trial.config).then(|| (in_final().unwrap_or_else(searched), trial.config))
        };
        let mut scored: Vec<(f64, K)> = self.search.iter().filter_map(score).collect();
        // A finalist without a trial comes last.
        scored
            .extend(configs.into_iter().filter(|config| wanted.contains(config)).map(|config| (f64::INFINITY, config)));
        scored.sort_by(|a, b| a.0.total_cmp(&b.0));
        scored.into_iter().map(|(_, config)| config).collect()
    }
}

/// The scores that count for a configuration.
struct Estimate {
    median: f64,
    interval: (f64, f64),
    /// Number of the scores.
    count: usize,
    in_final: bool,
}

/// Returns the probes of the reference.
fn probes<K>(repeats: &[Repeat<K>]) -> Vec<Probe> {
    let of_reference = repeats.iter().filter(|repeat| repeat.role == Role::Reference);
    of_reference.filter_map(|repeat| Some(Probe { clock: repeat.clock, scores: repeat.scores.clone()? })).collect()
}

#[cfg(test)]
mod tests;
