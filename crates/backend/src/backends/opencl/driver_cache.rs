//! Follows whether a driver's own cache holds the kernels that are compiled.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A compilation that takes at most this long is left to the measuring worker. That worker loads
/// the program in any case, and a driver that has the kernel in its cache takes as long to load it
/// as to "compile" it. In a compile worker, the same work would be done twice.
const SHORT: Duration = Duration::from_millis(100);

/// Tells whether the driver's cache holds what is compiled now, by the time of the last
/// compilation. Drivers do not say it.
pub(super) struct DriverCache {
    /// True if kernels run on the processors that compile. Elsewhere a compile worker works beside
    /// the measurements and costs nothing.
    shares_processor: bool,
    is_warm: AtomicBool,
}

impl DriverCache {
    /// Creates the state at the start of a run, in which nothing is known.
    pub(super) fn new(shares_processor: bool) -> Self {
        Self { shares_processor, is_warm: AtomicBool::new(false) }
    }

    /// Returns true if the measuring worker should compile.
    pub(super) fn is_warm(&self) -> bool {
        self.is_warm.load(Ordering::Relaxed)
    }

    /// Learns the time of a compilation in a compile worker.
    pub(super) fn compiled_in(&self, time: Duration) {
        self.is_warm.store(self.shares_processor && time <= SHORT, Ordering::Relaxed);
    }

    /// Learns the time of a compilation in the measuring worker. A long one does not run beside
    /// others there, so the next ones go to compile workers.
    pub(super) fn loaded_in(&self, time: Duration) {
        if time > SHORT {
            self.is_warm.store(false, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_compilations_go_to_the_measuring_worker_until_one_is_long() {
        let cache = DriverCache::new(true);
        assert!(!cache.is_warm());
        cache.compiled_in(2 * SHORT);
        assert!(!cache.is_warm());
        cache.compiled_in(SHORT / 2);
        cache.loaded_in(SHORT / 2);
        assert!(cache.is_warm());
        cache.loaded_in(2 * SHORT);
        assert!(!cache.is_warm());
    }

    #[test]
    fn a_device_of_its_own_compiles_beside_measurements() {
        let cache = DriverCache::new(false);
        cache.compiled_in(SHORT / 2);
        assert!(!cache.is_warm());
    }
}
