//! What a configuration has to come near to be measured in full.

use super::running::Running;
use crate::judge::racing::CONFIDENCE;
use crate::{Request, statistics};

impl Running<'_> {
    /// The time in milliseconds that `request` is raced against: the bar of the best one's scores, as the time at which
    /// this configuration would have that score. `None` without racing, without a best, or where time is not what
    /// decides.
    pub(super) fn bar_ms(&self, request: Request) -> Option<f64> {
        let racing = self.tuner.judging.racing?;
        let best = &self.told.best()?.evaluation;
        let scores = self.tuner.objective.samples(best.request.config, &best.measurement).ok()?;
        let (_, upper) = statistics::median_interval(&scores, CONFIDENCE)?;
        let per_millisecond = self.tuner.objective.per_millisecond(request.config)?;
        let bar = racing.bar(upper, self.change_since(best.clock)) / per_millisecond;
        (bar.is_finite() && bar > 0.0).then_some(bar)
    }
}
