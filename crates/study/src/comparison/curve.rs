//! The course of one search: the best so far after every evaluation.

use std::collections::HashSet;
use tunesmith_core::{Request, Rng, Run, Scored, Searcher, Told, View};
use tunesmith_space::ConfigId;

/// Records every evaluation that a strategy is told of, repeats included. The tuning loop answers a
/// repeated request from its history and does not count it.
pub(super) struct Watched {
    strategy: Box<dyn Searcher>,
    told: Vec<Step>,
}

/// An evaluation as the strategy was told of it.
struct Step {
    config: ConfigId,
    score: Option<f64>,
    /// Its end, in seconds since the start of the search.
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

/// The best times of one search in milliseconds, infinite while nothing is correct.
///
/// The best is the configuration that the search must consider best from the results that it was
/// told. Its time is the recorded one, which differs from those results when noise is replayed.
#[derive(Clone, Debug, Default)]
pub(super) struct Curve {
    /// After every evaluation, repeats and profiled re-runs included.
    pub(super) best_by_evaluation: Vec<f64>,
    /// After every distinct configuration.
    pub(super) best_by_config: Vec<f64>,
    /// The moments in simulated seconds from which on a time is the best, with that time.
    best_by_time: Vec<(f64, f64)>,
    /// The end of the last evaluation, in simulated seconds.
    ended_at: f64,
    /// The ends of the evaluations without repeats, ascending, in simulated seconds.
    ends: Vec<f64>,
    /// Mean number of cores that compile or measure at a time. 0 if no cores are simulated.
    pub(super) cores_used: f64,
    /// Time of the search without measuring: the strategy and the loop.
    pub(super) seconds: f64,
}

impl Curve {
    /// Returns the curve of the first `budget` evaluations of `run`, as `watched` was told of them.
    /// `time_ms` gives the recorded times.
    pub(super) fn of(run: &Run, watched: &Watched, budget: u64, time_ms: impl Fn(ConfigId) -> Option<f64>) -> Self {
        let mut ends: Vec<f64> = run.history.iter().map(|scored| scored.evaluation.clock.as_secs_f64()).collect();
        ends.sort_by(f64::total_cmp);
        let mut curve = Self { seconds: run.seconds.total.as_secs_f64(), ends, ..Self::default() };
        let (mut best_score, mut best, mut seen) = (f64::INFINITY, f64::INFINITY, HashSet::new());
        for Step { config, score, seconds } in watched.told.iter().chain(&taken_up(run, watched)) {
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

    /// Returns the number of evaluations of the search.
    pub(super) fn evaluations(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of evaluations that ended within `seconds` of simulated time, without repeats.
    pub(super) fn ended_by(&self, seconds: f64) -> usize {
        self.ends.partition_point(|end| *end <= seconds)
    }

    /// Returns the best after `count` distinct configurations, or the last best if there were
    /// fewer.
    pub(super) fn best_after(&self, count: u64) -> f64 {
        at(&self.best_by_config, count)
    }

    /// Returns the best after `count` evaluations, or the last best if there were fewer.
    pub(super) fn best_after_evaluations(&self, count: u64) -> f64 {
        at(&self.best_by_evaluation, count)
    }

    /// Returns the best after `seconds` of simulated time, or the last best if the search ended
    /// before.
    pub(super) fn best_at(&self, seconds: f64) -> f64 {
        let count = self.best_by_time.partition_point(|(from, _)| *from <= seconds);
        count.checked_sub(1).map_or(f64::INFINITY, |last| self.best_by_time[last].1)
    }

    /// Returns the moment of the first correct result, in simulated seconds.
    pub(super) fn first_best_at(&self) -> Option<f64> {
        self.best_by_time.first().map(|(from, _)| *from)
    }

    /// Returns the end of the search, in simulated seconds.
    pub(super) fn ended_at(&self) -> f64 {
        self.ended_at
    }

    /// Returns the moment when the search came within `limit_ms`, in simulated seconds. Returns `None`
    /// if it never did.
    pub(super) fn hit_at(&self, limit_ms: f64) -> Option<f64> {
        self.best_by_time.iter().find(|(_, best)| *best <= limit_ms).map(|(from, _)| *from)
    }

    /// Returns the number of the first evaluation within `limit_ms`, counted from 1.
    pub(super) fn first_hit(&self, limit_ms: f64) -> Option<u64> {
        self.best_by_evaluation.iter().position(|best| *best <= limit_ms).map(|position| position as u64 + 1)
    }
}

/// Returns the evaluations that came after the strategy was told the last time: compilations that were put aside and
/// taken up.
fn taken_up(run: &Run, watched: &Watched) -> Vec<Step> {
    let told = watched.told.iter().map(|step| step.seconds).fold(0.0, f64::max);
    let step = |scored: &Scored| Step {
        config: scored.evaluation.request.config,
        score: scored.score,
        seconds: scored.evaluation.clock.as_secs_f64(),
    };
    let mut steps: Vec<Step> = run.history.iter().map(step).filter(|step| step.seconds > told).collect();
    steps.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    steps
}

fn at(best: &[f64], count: u64) -> f64 {
    let last = usize::try_from(count).unwrap_or(usize::MAX).min(best.len());
    last.checked_sub(1).map_or(f64::INFINITY, |position| best[position])
}

#[cfg(test)]
impl Curve {
    /// A search whose best is `best` from `seconds` on.
    pub(super) fn holding(seconds: f64, best: f64) -> Self {
        Self { best_by_time: vec![(seconds, best)], ended_at: seconds, ..Self::default() }
    }
}
