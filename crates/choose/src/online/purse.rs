//! The budget of trials: the only place where their cost is counted.

/// The budget of all trials of a kernel, over all inputs and threads.
///
/// **The bound.** Let *useful* be the time of all calls with the configuration that was the best
/// known for their input. Let *excess* be the time of all trials beyond the median of that
/// configuration, all time of failed calls, and the time that the strategy took to think and the
/// application to prepare candidates. A trial begins only if
///
/// ```text
/// excess + what the trials in flight may cost + what this trial may cost <= slowdown * useful
/// ```
///
/// where a trial may cost `(worst - 1)` times the median, or as much as its dearest call so far. The
/// `worst` is that of the options, or that of the second slowest candidate so far if it is slower: the
/// slowest may have been disturbed. A new candidate may also cost as much thought and preparation as
/// the latest.
/// Hence `excess <= slowdown * useful` at any time, as long as no trial costs more than it may. If
/// some do, `excess <= slowdown * useful + e`, where `e` is what the trials that ended since the
/// latest trial began cost beyond what they may: the next one begins only when `e` has been earned.
/// Without threads, `e` is the excess of one call alone. A best known configuration that fails
/// although it worked elsewhere adds its time to `e`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Purse {
    slowdown: f64,
    useful: f64,
    excess: f64,
    reserved: f64,
    /// The time that the latest candidate took to find, and to prepare.
    thinking: f64,
    preparing: f64,
    /// The slowdowns of the two slowest candidates so far, the slowest first.
    slowest: [f64; 2],
}

impl Purse {
    /// Sets the share of the useful time that trials may cost.
    pub(super) fn allow(&mut self, slowdown: f64) {
        self.slowdown = slowdown.max(0.0);
    }

    /// Returns true if a trial that may cost `cost` fits into the budget.
    pub(super) fn affords(&self, cost: f64) -> bool {
        self.excess + self.reserved + cost <= self.slowdown * self.useful
    }

    /// Remembers the slowdown of a candidate, by its fastest call.
    pub(super) fn learn(&mut self, slowdown: f64) {
        let [first, second] = self.slowest;
        self.slowest = if slowdown > first { [slowdown, first] } else { [first, second.max(slowdown)] };
    }

    /// Returns the slowdown that is expected of a candidate that was not tried yet.
    pub(super) fn expected(&self, worst: f64) -> f64 {
        worst.max(self.slowest[1]).max(1.0)
    }

    /// Counts the time of a call that was no trial.
    pub(super) fn earn(&mut self, time: f64) {
        self.useful += time;
    }

    /// Counts time that no call without tuning would have taken.
    pub(super) fn spend(&mut self, time: f64) {
        self.excess += time.max(0.0);
    }

    /// Counts the time that a strategy took for a candidate.
    pub(super) fn think(&mut self, time: f64) {
        self.thinking = time;
        self.spend(time);
    }

    /// Counts the time that a candidate took to prepare, by a compiler for example.
    pub(super) fn prepare(&mut self, time: f64) {
        self.preparing = time;
        self.spend(time);
    }

    /// Returns what the next candidate may cost besides its calls.
    pub(super) fn overhead(&self) -> f64 {
        self.thinking + self.preparing
    }

    /// Sets `cost` aside while a trial is in flight.
    pub(super) fn reserve(&mut self, cost: f64) {
        self.reserved += cost;
    }

    /// Ends what [`reserve`](Self::reserve) began.
    pub(super) fn release(&mut self, cost: f64) {
        self.reserved = (self.reserved - cost).max(0.0);
    }

    /// Returns the excess and the useful time.
    pub(super) fn spent(&self) -> (f64, f64) {
        (self.excess, self.useful)
    }
}
