//! Watches the device: schedules the probes of the reference.

use super::findings::Findings;
use crate::judge::drift::{SAMPLES, Watch};
use std::time::Duration;
use tunesmith_space::ConfigId;

/// The watch over the device: its rule, and the cost of the probes so far.
pub(super) struct Watching {
    rule: Option<Watch>,
    /// Evaluations since the last probe.
    since: usize,
    /// Minimum time of a probe so far.
    cost: Option<Duration>,
    /// True if the reference cannot be measured again.
    over: bool,
}

impl Watching {
    pub(super) fn new(rule: Option<Watch>) -> Self {
        Self { rule, since: 0, cost: None, over: false }
    }

    /// Counts an evaluation. Returns the reference if it is due for a probe after `elapsed`. The
    /// requests of the searcher do not depend on this.
    pub(super) fn due(&mut self, findings: &Findings<'_>, elapsed: Duration) -> Option<ConfigId> {
        let rule = self.rule?;
        self.since += 1;
        let probes = findings.of_probes(<[_]>::len);
        if self.over || (probes > 0 && self.since <= rule.every) {
            return None;
        }
        let (reference, launch) = findings.reference()?;
        let launches = u32::try_from(SAMPLES + 1).unwrap_or(u32::MAX);
        let cost = self.cost.unwrap_or(launch * launches);
        let made = u32::try_from(probes + 1).unwrap_or(u32::MAX);
        (cost.saturating_mul(made) <= elapsed.mul_f64(rule.share)).then_some(reference)
    }

    /// Records that a probe took `took`. `over` means that there cannot be another.
    pub(super) fn probed(&mut self, took: Duration, over: bool) {
        self.since = 0;
        self.over = over;
        // The first probe may have compiled the reference once more.
        self.cost = Some(self.cost.map_or(took, |before| took.min(before)));
    }
}
