//! The budget of trials: the only place where their cost is counted.

use std::collections::VecDeque;

/// Number of the latest candidates whose slowdowns say what to expect of the next.
const REMEMBERED: usize = 64;

/// The assumed time of the first thought in milliseconds. It is longer than most: nothing is in the
/// processor's caches yet.
const FIRST_THOUGHT: f64 = 1.0;

/// The share of the longest thought that is left with each that follows. Strategies fit their models now and then.
const THOUGHTS_FADE: f64 = 0.9;

/// The share of its earnings that an input leaves to all. Trials for inputs with short calls cost
/// little, and what they find is tried next for those with long calls. On the recorded matrix product
/// of `tests/matrix_product.rs`, calls 200 to 2,000 were 28 %, 9 % and 11 % slower than the best with
/// shares of 0, 0.5 and 0.9.
const SHARED: f64 = 0.5;

/// The budget of all trials of a kernel, over all inputs and threads.
///
/// **The bound.** Let *useful* be the time of all calls with the configuration that was the best
/// known for their input. Let *excess* be the time of all trials beyond the mean of the latest calls
/// with that configuration, all time of failed calls, and the time that the strategy took to think and
/// the application to prepare candidates. A trial that is faster than that mean reduces it, but not
/// below 0. The mean is fair where calls are disturbed now and then: a trial is as well. A trial begins
/// only if
///
/// ```text
/// excess + what the trials in flight may cost + what this trial may cost <= slowdown * useful
/// ```
///
/// where a trial may cost `(worst - 1)` times the mean, or as much as its dearest call so far. The
/// `worst` is that of the options, or that of the latest candidates if it is larger
/// ([`expected`](Self::expected)). A new candidate may also cost as much
/// preparation as the latest, and as much thought as the longest of the latest.
///
/// Hence `excess <= slowdown * useful` at any time, as long as no trial costs more than it may. If
/// some do, `excess <= slowdown * useful + e`, where `e` is what the trials that ended since the
/// latest trial began cost beyond what they may: the next one begins only when `e` has been earned.
/// Without threads, `e` is the excess of one call alone. A best known configuration that fails
/// although it worked elsewhere adds its time to `e`.
///
/// **Fairness.** Within that bound, every input has an [`Account`] of its own, which gets half of what
/// the input earns, so that inputs with short calls do not use up what those with long calls have
/// earned. The other half is free for all inputs. So is all that an input earns after it has nothing
/// left to try.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Purse {
    slowdown: f64,
    useful: f64,
    excess: f64,
    reserved: f64,
    /// The time of the longest thought, which fades, and the time that the latest candidate took to
    /// prepare.
    thinking: Option<f64>,
    preparing: f64,
    /// The slowdowns of the latest candidates, by the fastest call of each.
    slowdowns: VecDeque<f64>,
    /// The time left over by inputs that have nothing left to try.
    free: f64,
}

/// The time that one input has earned and not spent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Account {
    balance: f64,
    /// True once nothing is left to try.
    is_closed: bool,
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
        if self.slowdowns.len() == REMEMBERED {
            self.slowdowns.pop_front();
        }
        self.slowdowns.push_back(slowdown);
    }

    /// Returns the slowdown that is expected of a candidate that was not tried yet: `worst` or that of
    /// the slowest candidate, the larger. A few candidates hardly contain the slowest, so that the
    /// slowest of `n` counts `1 + 2 / (n + 1)` times.
    pub(super) fn expected(&self, worst: f64) -> f64 {
        let slowest = self.slowdowns.iter().copied().fold(1.0, f64::max);
        worst.max(slowest * (1.0 + 2.0 / (self.slowdowns.len() as f64 + 1.0)))
    }

    /// Counts the time of a call that was no trial.
    pub(super) fn earn(&mut self, account: &mut Account, time: f64) {
        self.useful += time;
        let earned = self.slowdown * time;
        let shared = if account.is_closed { earned } else { SHARED * earned };
        self.free += shared;
        account.balance += earned - shared;
    }

    /// Counts what a call of an input cost. Time that a trial saved is negative.
    pub(super) fn pay(&mut self, account: &mut Account, time: f64) {
        account.balance -= time.max(0.0);
        self.spend(time);
    }

    /// Returns true if the input of `account` may spend `cost`. What it lacks is taken from what is
    /// free.
    pub(super) fn grants(&mut self, account: &mut Account, cost: f64) -> bool {
        let lacking = cost - account.balance;
        if !self.affords(cost) || lacking > self.free.max(0.0) {
            return false;
        }
        if lacking > 0.0 {
            self.free -= lacking;
            account.balance = cost;
        }
        true
    }

    /// Frees what an input has left if it has nothing left to try, and otherwise lets it earn again.
    pub(super) fn settle(&mut self, account: &mut Account, is_settled: bool) {
        if is_settled && !account.is_closed {
            self.free += std::mem::take(&mut account.balance);
        }
        account.is_closed = is_settled;
    }

    /// Counts time that no call without tuning would have taken. Time that a trial saved is negative.
    pub(super) fn spend(&mut self, time: f64) {
        self.excess = (self.excess + time).max(0.0);
    }

    /// Counts the time that a strategy took for a candidate.
    pub(super) fn think(&mut self, account: &mut Account, time: f64) {
        self.thinking = Some(time.max(THOUGHTS_FADE * self.thinking.unwrap_or(0.0)));
        self.pay(account, time);
    }

    /// Counts the time that a candidate took to prepare, by a compiler for example.
    pub(super) fn prepare(&mut self, time: f64) {
        self.preparing = time;
        self.spend(time);
    }

    /// Returns what the next candidate may cost besides its calls.
    pub(super) fn overhead(&self) -> f64 {
        self.thinking.unwrap_or(FIRST_THOUGHT) + self.preparing
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
