//! Settings of online tuning.

/// The budget of trials, and the care with which results are told apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnlineOptions {
    /// Maximum cost of all trials together, as a share of the time of the other calls: 0.05 slows
    /// the application by 5 %.
    pub slowdown: f64,
    /// The assumed slowdown of a trial relative to the best known configuration. A trial begins
    /// only when the budget covers that slowdown, or that of the slowest of the latest candidates. A
    /// smaller number begins trials earlier, and exceeds the budget more often.
    pub worst: f64,
    /// Number of calls that decide about a candidate.
    pub samples: usize,
    /// The share by which a candidate must beat the best known configuration to replace it.
    pub margin: f64,
    /// Drift: once the best known configuration takes this many times as long as when it was
    /// decided about, the fastest others are tried again.
    pub drift: f64,
    /// Sizes that differ by less than about this many doublings are tuned together, if the work of
    /// a call is known ([`Online::with_work`](crate::Online::with_work)).
    pub resolution: f64,
}

impl Default for OnlineOptions {
    /// A budget of 5 %; trials at most ten times as slow; five calls, whose median withstands two
    /// disturbed ones; a margin of 1 %, since a smaller gain is not worth a change; a drift of a
    /// quarter; half doublings.
    fn default() -> Self {
        Self { slowdown: 0.05, worst: 10.0, samples: 5, margin: 0.01, drift: 1.25, resolution: 0.5 }
    }
}

impl OnlineOptions {
    /// Returns the number of calls that decide, at least 1.
    pub(super) fn deciding(&self) -> usize {
        self.samples.max(1)
    }

    /// Returns the number of calls of the best known configuration before a trial of one that is
    /// fast for a similar input.
    pub(super) fn glimpse(&self) -> usize {
        self.deciding().div_ceil(2)
    }
}
