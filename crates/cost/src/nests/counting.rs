//! An evaluator for devices without counters: it gives profiled runs symbolic counts.

use super::NestEstimates;
use std::collections::VecDeque;
use tunesmith_core::{
    Bound, Claim, CompileLimit, Completion, Confirmed, Depth, Error, Evaluator, Interrupt, Request, Waited,
};
use tunesmith_space::{ConfigId, Space};

/// Answers requests like another evaluator. If a request asks for counters, it fills in the counts
/// of the estimates.
pub struct Counting<'a> {
    inner: &'a mut dyn Evaluator,
    estimates: &'a NestEstimates<'a>,
    space: &'a Space,
    submitted: VecDeque<Request>,
}

impl<'a> Counting<'a> {
    /// Creates an evaluator that answers like `inner`, with the counts of `estimates` for
    /// configurations of `space`.
    pub fn new(inner: &'a mut dyn Evaluator, estimates: &'a NestEstimates<'a>, space: &'a Space) -> Self {
        Self { inner, estimates, space, submitted: VecDeque::new() }
    }

    /// Fills the counts of a configuration in, if its request asks for counters.
    fn counted(&mut self, mut completion: Completion) -> Completion {
        // The inner evaluator knows the request without counters.
        let place = completion.request.map_or(Some(0), |answered| {
            self.submitted.iter().position(|submitted| submitted.config == answered.config)
        });
        let request = place.and_then(|place| self.submitted.remove(place));
        completion.request = completion.request.and(request);
        if let Some(Request { config, depth: Depth::Profiled }) = request {
            self.estimates.fill(self.space, config, &mut completion.measurement);
        }
        completion
    }
}

// Whatever an evaluator can do, the inner one does.
#[deny(clippy::missing_trait_methods)]
impl Evaluator for Counting<'_> {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.submitted.push_back(request);
        self.inner.submit(Request::timed(request.config))
    }

    fn next(&mut self, interrupt: &Interrupt) -> Result<Option<Completion>, Error> {
        Ok(self.inner.next(interrupt)?.map(|completion| self.counted(completion)))
    }

    fn upcoming(&mut self, interrupt: &Interrupt) -> Result<Option<Request>, Error> {
        // The inner evaluator knows the request without counters.
        let upcoming = self.inner.upcoming(interrupt)?;
        let submitted = |request: Request| self.submitted.iter().find(|submitted| submitted.config == request.config);
        Ok(upcoming.and_then(submitted).copied())
    }

    fn cancel(&mut self) {
        self.submitted.clear();
        self.inner.cancel();
    }

    fn wait(&mut self, room: usize, interrupt: &Interrupt) -> Result<Waited, Error> {
        Ok(match self.inner.wait(room, interrupt)? {
            Waited::Answered(completion) => Waited::Answered(Box::new(self.counted(*completion))),
            other => other,
        })
    }

    fn runs_here(&self) -> bool {
        self.inner.runs_here()
    }

    fn ready(&mut self) -> Result<Option<Completion>, Error> {
        Ok(self.inner.ready()?.map(|completion| self.counted(completion)))
    }

    fn idle(&mut self, in_flight: usize) -> Option<String> {
        self.inner.idle(in_flight)
    }

    fn race(&mut self, bar_ms: Option<f64>) {
        self.inner.race(bar_ms);
    }

    fn share_bounds(&mut self) {
        self.inner.share_bounds();
    }

    fn limit_compilation(&mut self, limit: Option<CompileLimit>) {
        self.inner.limit_compilation(limit);
    }

    fn has_limits(&self) -> bool {
        self.inner.has_limits()
    }

    fn bound(&mut self, bound: Bound) {
        self.inner.bound(bound);
    }

    fn resample(
        &mut self,
        config: ConfigId,
        samples: usize,
        interrupt: &Interrupt,
    ) -> Result<Option<Completion>, Error> {
        self.inner.resample(config, samples, interrupt)
    }

    fn confirm(&mut self, config: ConfigId, claim: Claim, interrupt: &Interrupt) -> Result<Option<Confirmed>, Error> {
        self.inner.confirm(config, claim, interrupt)
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.inner.take_notes()
    }
}
