//! The verdict on a recorded run: what `tune` said at its end, from the journal alone.

use std::collections::HashSet;
use std::time::Duration;
use tunesmith_core::{Depth, Evidence, Gain, Repeat, Role, RunState, Trial, Verdict, statistics};
use tunesmith_problem::Metric;
use tunesmith_space::Value;
use tunesmith_store::{Again, Brief, Entries, Entry, Outline};

/// A recorded run with its verdict. Configurations are known by [`key_of`].
pub struct JudgedRun<'a> {
    /// The run.
    pub recorded: &'a Outline,
    /// The verdict.
    pub verdict: Verdict<u128>,
    /// The metric that the run optimised.
    pub metric: Metric,
    /// The default configuration, if it was evaluated.
    pub default: Option<u128>,
}

/// Returns the name of the configuration of a later measurement in a verdict: its rank. An index
/// that is no number never comes from a run. Such a line gets a name of its own, beyond all ranks
/// that are likely.
pub fn key_of(entry: &Entry) -> u128 {
    entry.index.parse().unwrap_or(u128::MAX - entry.line as u128)
}

impl<'a> JudgedRun<'a> {
    /// Returns the recorded run with its verdict. Reads the lines that decide.
    pub fn new(recorded: &'a Outline) -> Self {
        let metric = Metric::recorded(recorded.header.objective.as_ref());
        let trials = trials(&recorded.entries);
        let samples = |at: usize| samples(&metric, &recorded.entries, at);
        let default = recorded.header.default.as_ref().and_then(|config| recorded.entries.find(config));
        let default = default.map(|at| recorded.entries.briefs()[at].index);
        let trial = |at: &usize| {
            let brief = &recorded.entries.briefs()[*at];
            let score = brief_value(&metric, brief).map(|value| metric.objective().score(value));
            let score = score.or_else(|| statistics::median(&samples(*at)?));
            Trial { config: brief.index, score, clock: clock(brief.clock) }
        };
        let lowest = |at: usize| {
            let times = recorded.entries.briefs()[trials[at]].times;
            let known = times.and_then(|times| metric.of_times(&[times.lowest_ms])?.pop());
            known.or_else(|| statistics::median_interval(&samples(trials[at])?, 0.95).map(|(lowest, _)| lowest))
        };
        let repeats = recorded.current().filter_map(|again| {
            let (config, clock) = (key_of(&again.entry), clock(again.entry.clock));
            Some(Repeat { config, role: again.role()?, scores: scores(&metric, &again.entry), clock })
        });
        let verdict = Evidence {
            trials: trials.iter().map(trial).collect(),
            samples: &|at| samples(trials[at]).unwrap_or_default(),
            lowest: &lowest,
            code: &|at| recorded.entries.get(trials[at]).ok()?.compile?.code,
            repeats: repeats.collect(),
            default,
        }
        .verdict();
        Self { recorded, verdict, metric, default }
    }

    /// Returns the state in which the run ended, as far as the journal tells. A run that came to a verdict
    /// without a final leaves no line of it, so that `None` means either end.
    pub fn state(&self) -> Option<RunState> {
        if self.recorded.verdict.is_some() {
            return Some(RunState::Complete);
        }
        let is_visit = |again: &Again| again.role().and_then(Role::stage).is_some();
        self.recorded.current().any(is_visit).then_some(RunState::UnfinishedFinal)
    }

    /// Returns how much better a configuration is than the default, by their scores that count. For the
    /// contender, it is the verdict's, which is corrected for drift. `None` without a correct default.
    pub fn gain(&self, key: u128, default_score: Option<f64>, score: f64) -> Option<Gain> {
        let of_verdict = self.verdict.comparison.filter(|known| known.contender == key);
        of_verdict.map(|known| known.gain()).or_else(|| Some(Gain::between(score, default_score?)))
    }
}

/// Returns the position of the entry that counts for every configuration, in the order made: the
/// timed one, else the profiled one.
fn trials(entries: &Entries) -> Vec<usize> {
    let briefs = entries.briefs();
    let is_timed = |brief: &&Brief| brief.depth == Depth::Timed;
    if briefs.iter().all(|brief| is_timed(&brief)) {
        return (0..briefs.len()).collect();
    }
    let timed: HashSet<u128> = briefs.iter().filter(is_timed).map(|brief| brief.index).collect();
    let counts = |at: &usize| is_timed(&&briefs[*at]) || !timed.contains(&briefs[*at].index);
    (0..briefs.len()).filter(counts).collect()
}

/// Returns the scores of the samples of the evaluation at a position, or `None` if it failed or has
/// none. Reads its line.
fn samples(metric: &Metric, entries: &Entries, at: usize) -> Option<Vec<f64>> {
    entries.briefs().get(at)?.failure.is_none().then_some(())?;
    match metric.of_times(&[]) {
        // The times are found without the rest of the line.
        Some(_) => metric.of_times(&entries.times(at).ok()?),
        None => scores(metric, &entries.get(at).ok()?),
    }
}

/// Returns the value of an evaluation that failed nowhere, as far as the index of its journal tells it: the index
/// holds times.
pub(crate) fn brief_value(metric: &Metric, brief: &Brief) -> Option<f64> {
    metric.of_times(&[brief.time_ms()?])?.pop()
}

fn clock(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

/// Returns the scores of the samples of a correct entry, or `None` if it failed or has none.
fn scores(metric: &Metric, entry: &Entry) -> Option<Vec<f64>> {
    entry.failure().ok()?.is_none().then_some(())?;
    Some(samples_of(metric, entry)?.into_iter().map(|value| metric.objective().score(value)).collect())
}

/// Returns the metric's value of every sample, or `None` if there is none.
pub fn samples_of(metric: &Metric, entry: &Entry) -> Option<Vec<f64>> {
    let parameter = |name: &str| entry.config.get(name).and_then(Value::of_document);
    metric.samples(&parameter, &entry.measurement()).ok()
}
