//! One call of the application, from its begin to its end.

use super::Online;
use super::lore::Key;
use super::trials::Role;
use crate::wisdom::Config;
use std::sync::Arc;
use std::time::Duration;

/// A call that takes so many times as long as the best known configuration's has lost.
const SURELY_LOST: f64 = 1.5;

/// A call that has begun. [`Online::end`] ends it. A trial that never ends keeps all other trials
/// for its input from beginning.
#[derive(Debug)]
#[must_use = "end the call with `Online::end`"]
pub struct Ticket {
    pub(super) key: Key,
    /// The work of the call, relative to a call for the input that stands for its class.
    pub(super) units: f64,
    pub(super) config: Arc<Config>,
    pub(super) role: Role,
}

impl Ticket {
    /// Returns the configuration to run with.
    pub fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// Returns true if the call tries a candidate.
    pub fn is_trial(&self) -> bool {
        matches!(self.role, Role::Trial { .. })
    }

    /// Returns the time after which a trial has lost. An application that can stop its kernel does so
    /// then, and ends the call as failed. Its trials never exceed the budget, but for those of
    /// configurations known to be fast elsewhere: by less than one call. Other calls have no limit.
    pub fn limit(&self) -> Option<Duration> {
        let Role::Trial { reference, reserved, .. } = self.role else { return None };
        // The time of a failed call is a cost as a whole.
        Duration::try_from_secs_f64(reserved.max(SURELY_LOST * reference) * self.units * 1e-3).ok()
    }
}

/// The end of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The kernel took this time.
    Took(Duration),
    /// The configuration failed after this time. It is not tried again.
    Failed(Duration),
    /// The call was given up for another reason. It counts for nothing.
    Abandoned,
}

/// The application's next step after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The call is done.
    Done,
    /// The configuration failed. Another one is there: begin the call again.
    Repeat,
}

/// Ends a call as failed if the application panics in it.
pub(super) struct Guard<'a> {
    online: &'a Online,
    ticket: Option<Ticket>,
    start: Duration,
}

impl<'a> Guard<'a> {
    pub(super) fn new(online: &'a Online, ticket: Ticket) -> Self {
        Self { online, ticket: Some(ticket), start: online.clock.now() }
    }

    pub(super) fn config(&self) -> &Config {
        self.ticket.as_ref().map_or(&*self.online.default, |ticket| ticket.config())
    }

    pub(super) fn end(mut self, ending: Ending) -> Next {
        self.ticket.take().map_or(Next::Done, |ticket| self.online.end(ticket, ending))
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            let took = self.online.clock.now().saturating_sub(self.start);
            self.online.end(ticket, Ending::Failed(took));
        }
    }
}
