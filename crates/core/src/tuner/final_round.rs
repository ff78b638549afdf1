//! The final re-measurement at the end of a run.

use super::bench::{Bench, Resampled};
use super::findings::Findings;
use super::observers::Observers;
use super::race::own_bound;
use crate::judge::finals::{Contest, Finals};
use crate::{Error, Event, Resample, Role};
use std::collections::VecDeque;
use std::time::Duration;
use tunesmith_space::ConfigId;

/// Maximum number of configurations of the search that the rule of the final looks at. Only a few
/// of them compete.
const FIELD: usize = 1000;

/// The final re-measurement of a run: its rule, and its visits in a resumed journal.
pub(super) struct FinalRound {
    pub(super) rule: Option<Finals>,
    /// The seed of its order. The order must not depend on the search.
    pub(super) seed: u64,
    /// The visits of the journal's final that are not yet taken over.
    pub(super) recorded: VecDeque<Resample>,
}

impl FinalRound {
    /// Measures the leaders again, as far as the journal does not hold the final of the same
    /// evaluations. Returns `false` if interrupted. The measurements made so far then serve the
    /// resumed run.
    ///
    /// All times are the clocks of recorded measurements, so a resumed final proceeds like an
    /// uninterrupted one. It goes through the journal's visits in any case: a final that was cut
    /// short may name a winner already, but not yet have visited the default often enough.
    pub(super) fn hold(
        &mut self,
        findings: &mut Findings<'_>,
        bench: &mut Bench<'_>,
        observers: &mut Observers<'_>,
    ) -> Result<bool, Error> {
        if findings.has_verified() && !self.recorded.is_empty() {
            findings.take_over_final(std::mem::take(&mut self.recorded));
            return Ok(true);
        }
        let start = findings.searched_until();
        let Some(mut contest) = self.contest(findings, start) else { return Ok(true) };
        observers.notice(&Event::Compared { finalists: contest.entrants() });
        let mut used = Duration::ZERO;
        while let Some((config, stage)) = contest.next(used) {
            let Some(role) = stage.role() else { continue };
            bench.bound(|| own_bound(findings, config));
            let visited = self.visit(config, role, contest.samples(stage), bench)?;
            bench.pass_on(observers)?;
            let resample = match visited {
                Resampled::Interrupted => return Ok(false),
                Resampled::NothingToAdd => return Ok(true),
                Resampled::Kept(resample) => *resample,
            };
            used = resample.clock.saturating_sub(start);
            contest.record(config, stage, findings.scores_of(&resample));
            findings.resamples.push(resample);
            observers.notice(&Event::Remeasured { progress: &contest.progress(used) });
        }
        Ok(true)
    }

    /// Returns the contest of the leaders, or `None` if there is none.
    fn contest(&self, findings: &Findings<'_>, start: Duration) -> Option<Contest<ConfigId>> {
        let rule = self.rule?;
        let leaders = findings.leaders(FIELD);
        let contest = rule.contest(&leaders.first, start, self.seed)?;
        Some(match &leaders.default {
            Some(default) => contest.beside(default),
            None => contest,
        })
    }

    /// Takes the next visit from the journal if it matches, or measures it.
    fn visit(
        &mut self,
        config: ConfigId,
        role: Role,
        samples: usize,
        bench: &mut Bench<'_>,
    ) -> Result<Resampled, Error> {
        let recorded = self.recorded.pop_front().filter(|next| (next.config, next.role) == (config, role));
        match recorded {
            Some(resample) => Ok(Resampled::Kept(Box::new(resample))),
            None => bench.resample(config, role, samples),
        }
    }
}
