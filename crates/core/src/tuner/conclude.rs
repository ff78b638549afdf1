//! The end of a run: the final, and who won.

use super::running::Running;
use crate::judge::finals::{Leader, from_search};
use crate::judge::standing::{Stage, Visit, standing};
use crate::{Completion, Error, Event, Failure, FailureKind, Resample, Role, Scored, statistics};
use std::collections::HashSet;
use std::time::Duration;
use tunesmith_space::ConfigId;

/// Who won a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// The winner of the final; without one, the best of the search that did not fail later. `None` where nothing was
    /// correct.
    pub winner: Option<ConfigId>,
    /// Those the winner cannot be told from, the best first: by the final, or by the intervals of the search's samples.
    pub ties: Vec<ConfigId>,
    /// Whether a final decided.
    pub by_final: bool,
    /// Configurations that were correct and failed when they were measured again.
    pub failed: Vec<(ConfigId, Failure)>,
}

impl Role {
    /// The stage of the final, for what belongs to one.
    pub fn stage(self) -> Option<Stage> {
        [Stage::Selection, Stage::Confirmation, Stage::Baseline].into_iter().find(|stage| stage.role() == Some(self))
    }
}

impl Running<'_> {
    /// Measures the leaders again, unless the journal holds the final of the same evaluations. `false` when interrupted;
    /// what was measured then serves the resumed run.
    ///
    /// All times are the clocks of what was recorded, so that a resumed final goes the way of an uninterrupted one.
    pub(super) fn hold_final(&mut self) -> Result<bool, Error> {
        let Some(finals) = self.tuner.judging.finals else { return Ok(true) };
        if self.measured > 0 {
            self.recorded_final.clear();
        }
        if standing(&self.visits(&self.recorded_final)).is_some() {
            self.resamples.extend(std::mem::take(&mut self.recorded_final));
            return Ok(true);
        }
        let (start, leaders) = (self.searched_until(), self.leaders());
        let Some(mut contest) = finals.contest(&leaders, start, self.tuner.seed) else { return Ok(true) };
        if let Some(baseline) = leaders.iter().find(|leader| Some(leader.config) == self.tuner.baseline) {
            contest = contest.beside(baseline);
        }
        self.notify(&Event::Compared { finalists: contest.entrants() });
        let mut used = Duration::ZERO;
        while let Some((config, stage)) = contest.next(used) {
            let Some(role) = stage.role() else { continue };
            let recorded = self.recorded_final.pop_front().filter(|next| (next.config, next.role) == (config, role));
            let resample = match recorded {
                Some(resample) => resample,
                None => match self.resample(config, role, contest.samples())? {
                    Resampled::Interrupted => return Ok(false),
                    Resampled::NothingToAdd => return Ok(true),
                    Resampled::Kept(resample) => *resample,
                },
            };
            used = resample.clock.saturating_sub(start);
            contest.record(config, stage, self.scores_of(&resample));
            self.resamples.push(resample);
        }
        Ok(true)
    }

    /// Takes samples of a configuration evaluated before and stores them.
    pub(super) fn resample(&mut self, config: ConfigId, role: Role, samples: usize) -> Result<Resampled, Error> {
        let completion = self.tuner.evaluator.resample(config, samples, &self.tuner.interrupt)?;
        let Some(Completion { mut failure, measurement, spent, .. }) = completion else {
            return Ok(Resampled::Interrupted);
        };
        self.add_spent(spent);
        if failure.is_none() && measurement.times_ms.is_empty() {
            return Ok(Resampled::NothingToAdd);
        }
        if failure.is_none() {
            let scores = self.tuner.objective.samples(config, &measurement);
            failure = scores.err().map(|reason| Failure::new(FailureKind::Runtime, reason));
        }
        self.progress.elapsed = self.elapsed();
        let resample = Resample { role, config, failure, measurement, clock: self.progress.elapsed };
        let started = self.tuner.clock.now();
        if let Some(store) = &mut self.tuner.store {
            store.append_again(&resample)?;
        }
        self.added = true;
        self.seconds.store += self.tuner.clock.now() - started;
        Ok(Resampled::Kept(Box::new(resample)))
    }

    /// The scores of the samples; `None` when the configuration failed.
    pub(super) fn scores_of(&self, resample: &Resample) -> Option<Vec<f64>> {
        if resample.failure.is_some() {
            return None;
        }
        self.tuner.objective.samples(resample.config, &resample.measurement).ok()
    }

    /// Who won, by what was measured.
    pub(super) fn judge(&self) -> Verdict {
        let failure = |resample: &Resample| Some((resample.config, resample.failure.clone()?));
        let mut failed: Vec<(ConfigId, Failure)> = self.resamples.iter().filter_map(failure).collect();
        let mut seen = HashSet::new();
        failed.retain(|(config, _)| seen.insert(*config));
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

    /// The correct configurations from the best, by the samples of the search, a drift corrected; of equal scores the
    /// first found. Those that failed when measured again are left out.
    fn leaders(&self) -> Vec<Leader<ConfigId>> {
        let probes = self.probes();
        let failed = |again: &&Resample| again.failure.is_some();
        let mut seen: HashSet<ConfigId> = self.resamples.iter().filter(failed).map(|again| again.config).collect();
        let leader = |scored: &Scored| {
            let evaluation = &scored.evaluation;
            let (config, measurement) = (evaluation.request.config, &evaluation.measurement);
            let correction = self.correction(evaluation.clock, &probes);
            let scores = self.tuner.objective.samples(config, measurement).ok()?;
            let scores: Vec<f64> = scores.into_iter().map(|score| score / correction).collect();
            let launch = statistics::median(&measurement.times_ms).unwrap_or_default() / 1e3;
            let launch = Duration::try_from_secs_f64(launch).unwrap_or_default();
            seen.insert(config).then_some(Leader { config, scores, launch })
        };
        let mut leaders: Vec<Leader<ConfigId>> = self.told.ranked().into_iter().filter_map(leader).collect();
        let median = |leader: &Leader<ConfigId>| statistics::median(&leader.scores).unwrap_or(f64::INFINITY);
        leaders.sort_by(|a, b| median(a).total_cmp(&median(b)));
        leaders
    }

    /// When the search ended, by what it recorded.
    fn searched_until(&self) -> Duration {
        let evaluations = self.told.iter().map(|scored| scored.evaluation.clock);
        evaluations.chain(self.resamples.iter().map(|resample| resample.clock)).max().unwrap_or_default()
    }

    /// What a final consists of: what the search saw of the finalists and how their visits ended.
    fn visits<'b>(&self, resamples: impl IntoIterator<Item = &'b Resample>) -> Vec<Visit<ConfigId>> {
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
}

/// What measuring again gave.
pub(super) enum Resampled {
    /// Samples or a failure, stored.
    Kept(Box<Resample>),
    /// The evaluator has no more samples to give.
    NothingToAdd,
    /// The run is to end.
    Interrupted,
}
