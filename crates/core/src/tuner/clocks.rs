//! The time of a run.

use crate::Clock;
use std::sync::Arc;
use std::time::Duration;

/// The clocks of a run: the real one, and the one that its stop conditions see.
pub(super) struct Clocks {
    real: Arc<dyn Clock>,
    /// Moved by a recording, which has no time of its own.
    simulated: Option<Arc<dyn Clock>>,
    /// The start of this part of the run.
    started: Duration,
    /// The duration of the earlier parts, so that `time 60s` means the whole run.
    earlier: Duration,
}

impl Clocks {
    pub(super) fn new(real: Arc<dyn Clock>, simulated: Option<Arc<dyn Clock>>, earlier: Duration) -> Self {
        let mut clocks = Self { real, simulated, started: Duration::ZERO, earlier };
        clocks.started = clocks.now();
        clocks
    }

    /// Returns the time of the run, which is simulated on a recording.
    pub(super) fn now(&self) -> Duration {
        self.simulated.as_ref().unwrap_or(&self.real).now()
    }

    /// Returns how long the run has taken, its earlier parts included.
    pub(super) fn elapsed(&self) -> Duration {
        self.earlier + (self.now() - self.started)
    }

    /// Returns the real time, by which [`Seconds`](super::Seconds) are counted.
    pub(super) fn real(&self) -> Duration {
        self.real.now()
    }
}
