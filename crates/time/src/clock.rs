//! The only place where Tunesmith reads the time.

use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A source of time. All code that waits, limits or reports time takes a clock, so tests can stop
/// it.
pub trait Clock: Send + Sync {
    /// Returns monotonic time since an arbitrary origin that is fixed for the life of the clock.
    fn now(&self) -> Duration;

    /// Returns wall-clock time since the Unix epoch, for stamps in files.
    fn unix(&self) -> Duration;
}

/// The operating system's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    origin: Instant,
}

#[allow(clippy::disallowed_methods)] // the one sanctioned reader of the system's time
impl SystemClock {
    /// Returns a clock whose origin is the time of this call.
    pub fn new() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    #[allow(clippy::disallowed_methods)] // the one sanctioned reader of the system's time
    fn unix(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}

/// A clock that moves only on request, for tests and simulated time.
#[derive(Debug, Default)]
pub struct ManualClock {
    now: Mutex<Duration>,
}

impl ManualClock {
    /// Moves the clock forward by `step`.
    pub fn advance(&self, step: Duration) {
        *self.lock() += step;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Duration> {
        self.now.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        *self.lock()
    }

    fn unix(&self) -> Duration {
        self.now()
    }
}
