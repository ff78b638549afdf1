//! The findings of a run so far.

use crate::judge::drift::{Drift, Probe, detect, level};
use crate::judge::finals::{Leader, from_search};
use crate::judge::standing::{Stage, Visit, standing};
use crate::{Failure, History, Objective, Resample, Role, Scored, Verdict, statistics};
use std::collections::HashSet;
use std::time::Duration;
use tunesmith_space::ConfigId;

/// All measurements that were told, and the conclusions from them. Nothing here measures or reads a
/// clock.
pub(super) struct Findings<'a> {
    pub(super) objective: &'a dyn Objective,
    /// The evaluations that were told to the searcher.
    pub(super) told: History,
    /// The later measurements, in the order made.
    pub(super) resamples: Vec<Resample>,
    /// The result of the probes, once the search is over.
    pub(super) drift: Option<Drift>,
}

impl<'a> Findings<'a> {
    /// Starts with the reference measurements of a resumed journal.
    pub(super) fn new(objective: &'a dyn Objective, resamples: Vec<Resample>) -> Self {
        Self { objective, told: History::default(), resamples, drift: None }
    }

    /// Returns the scores of the samples, or `None` if the configuration failed.
    pub(super) fn scores_of(&self, resample: &Resample) -> Option<Vec<f64>> {
        if resample.failure.is_some() {
            return None;
        }
        self.objective.samples(resample.config, &resample.measurement).ok()
    }

    /// Returns the reference configuration and the time of its launch.
    ///
    /// The reference is the first correct configuration. If the default configuration is correct,
    /// it is the reference, because it is evaluated first.
    pub(super) fn reference(&self) -> Option<(ConfigId, Duration)> {
        let first = self.told.iter().find(|scored| scored.score.is_some())?;
        let launch = statistics::median(&first.evaluation.measurement.times_ms)? / 1e3;
        Some((first.evaluation.request.config, Duration::try_from_secs_f64(launch).ok()?))
    }

    /// Returns the probes of the reference so far.
    pub(super) fn probes(&self) -> Vec<Probe> {
        let probes = self.resamples.iter().filter(|resample| resample.role == Role::Reference);
        probes.filter_map(|again| Some(Probe { clock: again.clock, scores: self.scores_of(again)? })).collect()
    }

    /// Judges the probes after the last one.
    pub(super) fn judge_probes(&mut self) {
        self.drift = detect(&self.probes());
    }

    /// Returns the ratio of scores now to scores at `clock`, by the last three probes, or 1 if
    /// there are fewer. The ratio may be noise: it only ever makes racing more careful.
    pub(super) fn change_since(&self, clock: Duration) -> f64 {
        let probes = self.probes();
        let Some(recent) = probes.len().checked_sub(3).map(|start| &probes[start..]) else { return 1.0 };
        let now = statistics::median(&recent.iter().flat_map(|probe| probe.scores.clone()).collect::<Vec<_>>());
        let then = level(&probes, clock);
        now.zip(then).map_or(1.0, |(now, then)| now / then)
    }

    /// Returns the divisor that makes scores measured at `clock` comparable with others. It is the
    /// level of the device if it drifted. Otherwise it is 1, because probes of a steady device
    /// would add their noise to every score.
    fn correction(&self, clock: Duration, probes: &[Probe]) -> f64 {
        let level = self.drift.filter(|drift| drift.drifted).and_then(|_| level(probes, clock));
        level.filter(|level| level.is_finite() && *level > 0.0).unwrap_or(1.0)
    }

    /// Returns the correct configurations from the best, by the samples of the search, corrected
    /// for drift. Of equal scores, the first found comes first. Configurations that failed in a
    /// later measurement are left out.
    pub(super) fn leaders(&self) -> Vec<Leader<ConfigId>> {
        let probes = self.probes();
        let failed = |again: &&Resample| again.failure.is_some();
        let mut seen: HashSet<ConfigId> = self.resamples.iter().filter(failed).map(|again| again.config).collect();
        let leader = |scored: &Scored| {
            let leader = self.leader(scored, &probes)?;
            seen.insert(leader.config).then_some(leader)
        };
        let mut leaders: Vec<Leader<ConfigId>> = self.told.ranked().into_iter().filter_map(leader).collect();
        let median = |leader: &Leader<ConfigId>| statistics::median(&leader.scores).unwrap_or(f64::INFINITY);
        leaders.sort_by(|a, b| median(a).total_cmp(&median(b)));
        leaders
    }

    fn leader(&self, scored: &Scored, probes: &[Probe]) -> Option<Leader<ConfigId>> {
        let evaluation = &scored.evaluation;
        let (config, measurement) = (evaluation.request.config, &evaluation.measurement);
        let correction = self.correction(evaluation.clock, probes);
        let scores = self.objective.samples(config, measurement).ok()?;
        let scores: Vec<f64> = scores.into_iter().map(|score| score / correction).collect();
        let launch = statistics::median(&measurement.times_ms).unwrap_or_default() / 1e3;
        let launch = Duration::try_from_secs_f64(launch).unwrap_or_default();
        Some(Leader { config, scores, launch })
    }

    /// Returns the recorded time at which the search ended.
    pub(super) fn searched_until(&self) -> Duration {
        let evaluations = self.told.iter().map(|scored| scored.evaluation.clock);
        evaluations.chain(self.resamples.iter().map(|resample| resample.clock)).max().unwrap_or_default()
    }

    /// Returns the visits of a final: the search's samples of the finalists, then the results of
    /// their visits.
    pub(super) fn visits<'b>(&self, resamples: impl IntoIterator<Item = &'b Resample>) -> Vec<Visit<ConfigId>> {
        let visit = |resample: &Resample| {
            let stage = resample.role.stage()?;
            Some(Visit { config: resample.config, stage, scores: self.scores_of(resample) })
        };
        let own: Vec<Visit<ConfigId>> = resamples.into_iter().filter_map(visit).collect();
        if own.is_empty() {
            return own;
        }
        let competing = own.iter().filter(|visit| visit.stage != Stage::Baseline);
        let finalists: HashSet<ConfigId> = competing.map(|visit| visit.config).collect();
        let leaders = self.leaders();
        let before = leaders.iter().filter(|leader| finalists.contains(&leader.config)).map(from_search);
        before.chain(own).collect()
    }

    /// Returns the verdict on all measurements.
    pub(super) fn verdict(&self) -> Verdict {
        let failed = self.failed_again();
        if let Some(standing) = standing(&self.visits(&self.resamples)) {
            return Verdict { winner: Some(standing.winner), ties: standing.ties, by_final: true, failed };
        }
        let leaders = self.leaders();
        let mut leaders = leaders.iter();
        let Some(winner) = leaders.next() else { return Verdict { failed, ..Verdict::default() } };
        let interval = |leader: &Leader<ConfigId>| statistics::median_interval(&leader.scores, 0.95);
        let reach = interval(winner).map_or(f64::NEG_INFINITY, |(_, highest)| highest);
        let reaches = |leader: &&Leader<ConfigId>| interval(leader).is_some_and(|(lowest, _)| lowest <= reach);
        let ties = leaders.filter(reaches).map(|leader| leader.config).collect();
        Verdict { winner: Some(winner.config), ties, by_final: false, failed }
    }

    /// Returns each configuration that failed in a later measurement, with its first failure there.
    fn failed_again(&self) -> Vec<(ConfigId, Failure)> {
        let failure = |resample: &Resample| Some((resample.config, resample.failure.clone()?));
        let mut failed: Vec<(ConfigId, Failure)> = self.resamples.iter().filter_map(failure).collect();
        let mut seen = HashSet::new();
        failed.retain(|(config, _)| seen.insert(*config));
        failed
    }
}
