//! The means of the process of a job.

use crate::worker::buffers::Buffers;
use crate::worker::protocol::Phase;
use crate::worker::watcher::Watcher;
use tunesmith_backend::Session;
use tunesmith_core::Clock;

/// The tuner, as the process of a job knows it.
pub(crate) trait Tuner {
    /// Announces the next step.
    fn announce(&mut self, phase: Phase);

    /// Asks whether the outputs of a launch, counted from 1, are right. They are in the file for
    /// results. Returns `None` if the tuner is gone.
    fn judge(&mut self, launch: usize) -> Option<bool>;
}

/// A device with filled buffers, ready for jobs.
pub(crate) struct JobBench<'a> {
    pub(crate) session: &'a mut dyn Session,
    pub(crate) buffers: &'a mut Buffers,
    pub(crate) clock: &'a dyn Clock,
    /// The watcher of the device, if it is watched.
    pub(crate) watcher: Option<&'a mut Watcher>,
    pub(crate) tuner: &'a mut dyn Tuner,
}
