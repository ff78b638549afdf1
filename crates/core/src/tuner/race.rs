//! The bar that a configuration must come near to be measured in full, and the bound that its time
//! must keep to be measured at all.

use super::findings::Findings;
use crate::judge::racing::{CONFIDENCE, Racing};
use crate::{Bound, Request, statistics};
use std::time::Duration;
use tunesmith_space::ConfigId;

/// Returns the bar for `request` in milliseconds: the time at which this configuration would have
/// the score of the bar. Returns `None` if there is no best, or if time does not decide.
pub(super) fn bar_ms(racing: &Racing, findings: &Findings<'_>, request: Request) -> Option<f64> {
    let best = &findings.told.best()?.evaluation;
    let scores = findings.objective.samples(best.request.config, &best.measurement).ok()?;
    let (_, upper) = statistics::median_interval(&scores, CONFIDENCE)?;
    let bar = findings.objective.time_ms_at(request.config, racing.bar(upper, findings.change_since(best.clock)))?;
    (bar.is_finite() && bar > 0.0).then_some(bar)
}

/// Returns the bound of a configuration that is evaluated, if `best` is the best score. Only results that may win bound
/// others: those that break a limit have no score.
pub(super) fn bound(findings: &Findings<'_>, config: ConfigId, best: Option<f64>) -> Bound {
    let longest = |best| findings.objective.longest_time_that_can_win(config, best);
    best.and_then(longest).map_or(Bound::Open, Bound::Best)
}

/// Returns the bound of a configuration that is measured again. It need not win: the default and the
/// reference may be many times slower than the best.
pub(super) fn own_bound(findings: &Findings<'_>, config: ConfigId) -> Bound {
    let evaluated = findings.told.of(config);
    let time = evaluated.and_then(|scored| statistics::median(&scored.evaluation.measurement.times_ms));
    let time = time.and_then(|ms| Duration::try_from_secs_f64(ms / 1e3).ok());
    time.map_or(Bound::Open, Bound::Own)
}
