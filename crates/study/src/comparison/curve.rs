//! How one search went: the best so far after every evaluation.

use std::collections::HashSet;
use tunesmith_core::{Request, Rng, Run, Searcher, Told, View};
use tunesmith_space::ConfigId;

/// A strategy whose evaluations are written down as it is told them, repeats included: the tuning loop answers a
/// configuration asked again from its history and does not count it.
pub(super) struct Watched {
    strategy: Box<dyn Searcher>,
    told: Vec<Step>,
}

/// An evaluation as the strategy learnt of it.
struct Step {
    config: ConfigId,
    score: Option<f64>,
    /// When it ended, in seconds since the start of the search.
    seconds: f64,
}

impl Watched {
    pub(super) fn new(strategy: Box<dyn Searcher>) -> Self {
        Self { strategy, told: Vec::new() }
    }
}

impl Searcher for Watched {
    fn ask(&mut self, view: &View<'_>, room: usize, rng: &mut Rng) -> Vec<Request> {
        self.strategy.ask(view, room, rng)
    }

    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        let Told { evaluation, score } = told;
        let (config, seconds) = (evaluation.request.config, evaluation.clock.as_secs_f64());
        self.told.push(Step { config, score: *score, seconds });
        self.strategy.tell(view, told);
    }
}

/// The best times of one search in milliseconds; infinite while nothing is correct. The best is the configuration that the
/// search must think best, by what it was told; its time is the recorded one, which differs from that where noise is replayed.
#[derive(Clone, Debug, Default)]
pub(super) struct Curve {
    /// After every evaluation, repeats and profiled re-runs included.
    pub(super) best_by_evaluation: Vec<f64>,
    /// After every distinct configuration.
    pub(super) best_by_config: Vec<f64>,
    /// From when on, in simulated seconds, which time is the best.
    best_by_time: Vec<(f64, f64)>,
    /// When the last evaluation ended, in simulated seconds.
    ended_at: f64,
    /// How many evaluations were made, repeats left out.
    made: usize,
    /// What the search took beside measuring: the strategy and the loop.
    pub(super) seconds: f64,
}

impl Curve {
    /// The first `budget` evaluations of `run` as `watched` was told them. `time_ms` gives the recorded times.
    pub(super) fn of(run: &Run, watched: &Watched, budget: u64, time_ms: impl Fn(ConfigId) -> Option<f64>) -> Self {
        let mut curve = Self { seconds: run.seconds.total.as_secs_f64(), made: run.history.len(), ..Self::default() };
        let (mut best_score, mut best, mut seen) = (f64::INFINITY, f64::INFINITY, HashSet::new());
        for Step { config, score, seconds } in &watched.told {
            curve.ended_at = *seconds;
            if let Some(score) = score.filter(|score| *score < best_score) {
                (best_score, best) = (score, time_ms(*config).unwrap_or(score));
                curve.best_by_time.push((*seconds, best));
            }
            if (curve.best_by_evaluation.len() as u64) < budget {
                curve.best_by_evaluation.push(best);
            }
            if seen.insert(*config) {
                curve.best_by_config.push(best);
            } else if let Some(last) = curve.best_by_config.last_mut() {
                *last = best;
            }
        }
        curve
    }

    /// How many evaluations the search made.
    pub(super) fn evaluations(&self) -> usize {
        self.made
    }

    /// The best after `count` distinct configurations; the last best when there were fewer.
    pub(super) fn best_after(&self, count: u64) -> f64 {
        at(&self.best_by_config, count)
    }

    /// The best after `count` evaluations; the last best when there were fewer.
    pub(super) fn best_after_evaluations(&self, count: u64) -> f64 {
        at(&self.best_by_evaluation, count)
    }

    /// The best after so much simulated time; the last best when the search ended before.
    pub(super) fn best_at(&self, seconds: f64) -> f64 {
        let count = self.best_by_time.partition_point(|(from, _)| *from <= seconds);
        count.checked_sub(1).map_or(f64::INFINITY, |last| self.best_by_time[last].1)
    }

    /// When the search first had something correct, in simulated seconds.
    pub(super) fn first_best_at(&self) -> Option<f64> {
        self.best_by_time.first().map(|(from, _)| *from)
    }

    /// When the search ended, in simulated seconds.
    pub(super) fn ended_at(&self) -> f64 {
        self.ended_at
    }

    /// When the search came within `limit_ms`, in simulated seconds; its end when it did not.
    pub(super) fn hit_at(&self, limit_ms: f64) -> f64 {
        let hit = self.best_by_time.iter().find(|(_, best)| *best <= limit_ms);
        hit.map_or(self.ended_at, |(from, _)| *from)
    }

    /// The number of the first evaluation within `limit_ms`, from 1.
    pub(super) fn first_hit(&self, limit_ms: f64) -> Option<u64> {
        self.best_by_evaluation.iter().position(|best| *best <= limit_ms).map(|position| position as u64 + 1)
    }
}

fn at(best: &[f64], count: u64) -> f64 {
    let last = usize::try_from(count).unwrap_or(usize::MAX).min(best.len());
    last.checked_sub(1).map_or(f64::INFINITY, |position| best[position])
}

#[cfg(test)]
impl Curve {
    /// A search that has `best` from `seconds` on.
    pub(super) fn holding(seconds: f64, best: f64) -> Self {
        Self { best_by_time: vec![(seconds, best)], ended_at: seconds, ..Self::default() }
    }
}
