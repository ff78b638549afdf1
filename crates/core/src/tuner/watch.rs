//! Watching the device: the reference measured again through the run.

use super::conclude::Resampled;
use super::running::Running;
use crate::judge::drift::{Probe, SAMPLES, detect, level};
use crate::{Error, Role, statistics};
use std::time::Duration;
use tunesmith_space::ConfigId;

/// What is known of the probes' cost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watching {
    /// Evaluations since the last probe.
    since: usize,
    /// What the last probe took.
    cost: Option<Duration>,
    /// Whether the reference cannot be measured again.
    over: bool,
}

impl Running<'_> {
    /// Measures the reference again when it is time. The requests of the searcher do not depend on it.
    ///
    /// The reference is the first correct configuration: the default one, which is evaluated first, if it is correct.
    pub(super) fn watch(&mut self) -> Result<(), Error> {
        let Some(watch) = self.tuner.judging.drift else { return Ok(()) };
        self.watching.since += 1;
        let due = !self.watching.over && (self.probes().is_empty() || self.watching.since > watch.every);
        let Some((reference, launch)) = self.reference().filter(|_| due) else { return Ok(()) };
        let launches = u32::try_from(SAMPLES + 1).unwrap_or(u32::MAX);
        let cost = self.watching.cost.unwrap_or(launch * launches);
        let made = u32::try_from(self.probes().len() + 1).unwrap_or(u32::MAX);
        if cost.saturating_mul(made) > self.progress.elapsed.mul_f64(watch.share) {
            return Ok(());
        }
        let started = self.now();
        match self.resample(reference, Role::Reference, SAMPLES)? {
            Resampled::Kept(resample) => {
                self.watching.over = resample.failure.is_some();
                self.resamples.push(*resample);
            }
            // An interrupt ends the loop at its next step.
            Resampled::NothingToAdd | Resampled::Interrupted => self.watching.over = true,
        }
        self.watching.since = 0;
        // A first probe may have compiled the reference once more.
        let took = self.now() - started;
        self.watching.cost = Some(self.watching.cost.map_or(took, |before| took.min(before)));
        Ok(())
    }

    /// The configuration that is watched, and what its launch takes.
    fn reference(&self) -> Option<(ConfigId, Duration)> {
        let first = self.told.iter().find(|scored| scored.score.is_some())?;
        let launch = statistics::median(&first.evaluation.measurement.times_ms)? / 1e3;
        Some((first.evaluation.request.config, Duration::try_from_secs_f64(launch).ok()?))
    }

    /// The probes so far.
    pub(super) fn probes(&self) -> Vec<Probe> {
        let probes = self.resamples.iter().filter(|resample| resample.role == Role::Reference);
        probes.filter_map(|again| Some(Probe { clock: again.clock, scores: self.scores_of(again)? })).collect()
    }

    /// Judges the probes, once all were made.
    pub(super) fn judge_probes(&mut self) {
        self.drift = detect(&self.probes());
    }

    /// How many times higher scores are now than at `clock`, by the last three probes; 1 where there are not as many.
    /// Whether that is noise is not asked: it only ever makes racing more careful.
    pub(super) fn change_since(&self, clock: Duration) -> f64 {
        let probes = self.probes();
        let Some(recent) = probes.len().checked_sub(3).map(|start| &probes[start..]) else { return 1.0 };
        let now = statistics::median(&recent.iter().flat_map(|probe| probe.scores.clone()).collect::<Vec<_>>());
        let then = level(&probes, clock);
        now.zip(then).map_or(1.0, |(now, then)| now / then)
    }

    /// By what scores measured at `clock` have to be divided to be compared with others: the level of the device where it
    /// drifted, else 1, since probes of a steady device would add their noise to every score.
    pub(super) fn correction(&self, clock: Duration, probes: &[Probe]) -> f64 {
        let level = self.drift.filter(|drift| drift.drifted).and_then(|_| level(probes, clock));
        level.filter(|level| level.is_finite() && *level > 0.0).unwrap_or(1.0)
    }
}
