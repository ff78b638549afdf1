//! The bar that a configuration must come near to be measured in full.

use super::findings::Findings;
use crate::judge::racing::{CONFIDENCE, Racing};
use crate::{Request, statistics};

/// Returns the bar for `request` in milliseconds: the time at which this configuration would have
/// the score of the bar. Returns `None` if there is no best, or if time does not decide.
pub(super) fn bar_ms(racing: &Racing, findings: &Findings<'_>, request: Request) -> Option<f64> {
    let best = &findings.told.best()?.evaluation;
    let scores = findings.objective.samples(best.request.config, &best.measurement).ok()?;
    let (_, upper) = statistics::median_interval(&scores, CONFIDENCE)?;
    let bar = findings.objective.time_ms_at(request.config, racing.bar(upper, findings.change_since(best.clock)))?;
    (bar.is_finite() && bar > 0.0).then_some(bar)
}
