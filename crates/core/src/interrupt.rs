//! A request from outside to end the run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that anyone may raise (a signal handler, another thread) and the loop obeys: the run ends
/// with what it has. Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Creates a flag that shares `flag`, for signal handlers that store into an atomic.
    pub fn from_flag(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }

    /// Asks the run to end.
    pub fn raise(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Returns true if the run was asked to end.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
