//! The time of a run.

use crate::Clock;
use std::sync::Arc;
use std::time::Duration;

/// The clocks of a run: the real clock, and the clock that its stop conditions see.
pub(super) struct Clocks {
    real: Arc<dyn Clock>,
    /// The clock of a recording. It advances by recorded times, because a recording has no time of
    /// its own.
    simulated: Option<Arc<dyn Clock>>,
    /// The start of this part of the run.
    started: Duration,
    /// The duration of the earlier parts. `time 60s` limits the whole run.
    earlier: Duration,
}

impl Clocks {
    pub(super) fn new(real: Arc<dyn Clock>, simulated: Option<Arc<dyn Clock>>, earlier: Duration) -> Self {
        let mut clocks = Self { real, simulated, started: Duration::ZERO, earlier };
        clocks.started = clocks.now();
        clocks
    }

    /// Returns the time of the run. On a recording it is simulated.
    pub(super) fn now(&self) -> Duration {
        self.simulated.as_ref().unwrap_or(&self.real).now()
    }

    /// Returns the duration of the run, including its earlier parts.
    pub(super) fn elapsed(&self) -> Duration {
        self.earlier + (self.now() - self.started)
    }

    /// Returns the real time. [`Seconds`](super::Seconds) are counted in it.
    pub(super) fn real(&self) -> Duration {
        self.real.now()
    }
}
