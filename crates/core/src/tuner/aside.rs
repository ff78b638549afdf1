//! Compilations that take much longer than usual. They are put aside while time limits the run, and taken up once
//! nothing else is left.

use super::running::Running;
use crate::{CompileLimit, Error, Evaluation, Request, StopReason};
use std::time::Duration;

impl Running<'_> {
    /// Returns the limit for compilations, if time alone limits the run. The default configuration has none, because
    /// the winner is compared with it.
    pub(super) fn compile_limit(&self) -> Option<CompileLimit> {
        self.asking.time?;
        let has_default = self.findings.default.is_none_or(|default| self.findings.told.of(default).is_some());
        self.usual_limit().filter(|_| has_default)
    }

    fn usual_limit(&self) -> Option<CompileLimit> {
        self.compile_times.limit(self.findings.told.best().map(|best| &*best.evaluation))
    }

    /// Compiles what was put aside to its end, if `reason` says that the search has nothing else to evaluate, or if
    /// nothing was correct. Ends with the time of the run. Returns `false` if interrupted.
    pub(super) fn take_up(&mut self, reason: &StopReason) -> Result<bool, Error> {
        let is_over = matches!(reason, StopReason::Exhausted | StopReason::Finished);
        if !is_over && self.findings.told.best().is_some() {
            return Ok(true);
        }
        let told = self.findings.told.iter().map(|scored| &scored.evaluation);
        let mut left: Vec<Request> =
            told.filter(|evaluation| evaluation.aside().is_some()).map(|evaluation| evaluation.request).collect();
        if left.is_empty() || self.stop.is_out_of_time(&self.progress) {
            return Ok(true);
        }
        self.observers.note_once("nothing else is left, so the compilations that were put aside are taken up");
        for request in &left {
            self.bench.evaluator.submit(*request)?;
        }
        while let Some(oldest) = left.first().copied().filter(|_| !self.stop.is_out_of_time(&self.progress)) {
            let rest = self.rest_of_time();
            self.bench.evaluator.limit_compilation(rest);
            let Some(evaluation) = self.finish(oldest)? else { return Ok(false) };
            left.retain(|request| *request != evaluation.request);
            let score = self.findings.objective.score(&evaluation);
            self.progress.improve(&evaluation, score);
            self.findings.replace_unfinished(evaluation);
            // A final of fewer evaluations decides nothing.
            self.final_round.recorded.clear();
        }
        self.bench.evaluator.cancel();
        self.bench.evaluator.limit_compilation(None);
        Ok(true)
    }

    /// Returns the limit for a compilation that may take the rest of the search's time.
    fn rest_of_time(&self) -> Option<CompileLimit> {
        let end = self.stop.time_limit()?.saturating_sub(self.progress.reserve);
        let rest = end.saturating_sub(self.progress.elapsed);
        let usual_ms = self.usual_limit()?.usual_ms;
        Some(CompileLimit { limit_ms: rest.max(Duration::from_millis(1)).as_secs_f64() * 1e3, usual_ms })
    }

    /// Waits for an answer, which is that of `oldest` unless the evaluator says otherwise, and keeps it. Returns `None`
    /// if interrupted.
    fn finish(&mut self, oldest: Request) -> Result<Option<Evaluation>, Error> {
        let bar = self.begin_next(oldest)?;
        self.keep_answer(bar, oldest)
    }
}
