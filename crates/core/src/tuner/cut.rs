//! The last resort of a run without a winner: configurations that limits from the best time cut.

use super::race::bound;
use super::running::Running;
use crate::{Bound, Error, Evaluation, Request};
use std::collections::HashSet;
use std::time::Duration;

/// The number of configurations in a row that still do not end before the rest is left. Each may take
/// several times as long as its earlier limit.
const HANGING: usize = 10;

impl Running<'_> {
    /// Measures the configurations that were cut, if no correct one is left: those that ended them have
    /// lost their places since. What is correct now is compared and verified as after any search.
    /// Returns `false` if interrupted.
    ///
    /// They are the same evaluations as before, so that only a time may be used up. The rest stays cut,
    /// and the outcome names it.
    pub(super) fn measure_cut(&mut self) -> Result<bool, Error> {
        // A recording or a function has no more to give than before. What is in flight would answer first.
        if !self.bench.evaluator.has_limits() || self.queue.len() > 0 {
            return Ok(true);
        }
        let mut tried = HashSet::new();
        while self.findings.verdict().winner.is_none() {
            let before = tried.len();
            if !self.measure_round(&mut tried)? {
                return Ok(false);
            }
            if tried.len() == before {
                break;
            }
            if self.findings.verdict().winner.is_some() && !(self.hold_final()? && self.confirm_winners()?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Measures what was cut and may win, one after the other. Returns `false` if interrupted.
    fn measure_round(&mut self, tried: &mut HashSet<Request>) -> Result<bool, Error> {
        let mut hanging = 0;
        while hanging < HANGING && !self.stop.is_out_of_time(&self.progress) {
            let Some((request, limit)) = self.next_cut(tried) else { break };
            if tried.is_empty() {
                self.observers.note_once(
                    "no correct configuration is left, so those that were cut by the best time are measured to their end",
                );
            }
            tried.insert(request);
            let Some(evaluation) = self.measure_beyond(request, limit)? else { return Ok(false) };
            hanging = if evaluation.is_cut() { hanging + 1 } else { 0 };
            self.findings.replace_unfinished(evaluation);
        }
        Ok(true)
    }

    /// Returns the next configuration to measure with the limit that cut it: the one that is known to
    /// take the least time. One whose limit is beyond the time that can win is left as it is.
    fn next_cut(&self, tried: &HashSet<Request>) -> Option<(Request, Duration)> {
        let best = self.standing_score();
        let candidate = |evaluation: &Evaluation| {
            let (request, cut) = (evaluation.request, evaluation.cut()?);
            let limit = Duration::try_from_secs_f64(cut.limit_ms / 1e3).ok()?;
            let may_win = best.is_none_or(|best| {
                let longest = self.findings.objective.longest_time_that_can_win(request.config, best);
                longest.is_none_or(|longest| limit < longest)
            });
            let known_ms = evaluation.measurement.warmup_ms.unwrap_or(cut.limit_ms);
            (may_win && !tried.contains(&request)).then_some((request, limit, known_ms))
        };
        let candidates = self.findings.told.iter().filter_map(|scored| candidate(&scored.evaluation));
        let cheapest = candidates.min_by(|(.., one), (.., other)| one.total_cmp(other));
        cheapest.map(|(request, limit, _)| (request, limit))
    }

    /// Returns the score of the best configuration that has not lost its place.
    fn standing_score(&self) -> Option<f64> {
        self.findings.told.of(self.findings.verdict().winner?)?.score
    }

    /// Measures a configuration beyond the limit that cut it, and keeps the evaluation. Returns `None`
    /// if interrupted.
    fn measure_beyond(&mut self, request: Request, limit: Duration) -> Result<Option<Evaluation>, Error> {
        let best = self.standing_score();
        let wanted = best.map_or(Bound::Beyond(limit), |best| bound(&self.findings, request.config, Some(best)));
        self.bench.bound(|| wanted);
        self.bench.evaluator.submit(request)?;
        self.start(request)?;
        self.keep_answer(None, request)
    }
}
