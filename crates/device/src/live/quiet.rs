//! The quiet in which kernels are timed.

use crate::worker::protocol::Phase;
use std::sync::Arc;
use tunesmith_backend::host::{Pause, Suspension};

/// Stops the compilers on the processors of the device while kernels of a job are timed. They continue when this value
/// is dropped.
pub(super) struct Quiet<'a> {
    suspension: Option<&'a Arc<Suspension>>,
    pause: Option<Pause>,
}

impl<'a> Quiet<'a> {
    /// Creates the state in which compilers run. Without `suspension`, none shares the processors.
    pub(super) fn new(suspension: Option<&'a Arc<Suspension>>) -> Self {
        Self { suspension, pause: None }
    }

    /// Stops the compilers if something is measured in `phase`, and lets them run while programs are loaded. The memory is
    /// checked between two launches, so that the compilers do then as before.
    pub(super) fn enter(&mut self, phase: Phase) {
        match phase {
            Phase::Launching | Phase::Sampling { .. } | Phase::Profiling => self.begin(),
            Phase::Preparing | Phase::Starting => self.end(),
            Phase::Checking => {}
        }
    }

    /// Stops the compilers.
    pub(super) fn begin(&mut self) {
        if self.pause.is_none() {
            self.pause = self.suspension.map(Suspension::pause);
        }
    }

    /// Lets the compilers run.
    pub(super) fn end(&mut self) {
        self.pause = None;
    }
}
