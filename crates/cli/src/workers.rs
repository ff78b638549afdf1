//! The workers that measure for `tune`. Programs without fleets have the types alone.
#![cfg_attr(not(feature = "fleet"), allow(dead_code))] // then nobody makes any

use std::path::Path;
use std::rc::Rc;
use tunesmith::runner::RemoteDevice;
use tunesmith::store::FleetReport;

/// The workers of a run.
pub(crate) struct Workers {
    pub(crate) report: Rc<dyn LiveReport>,
    /// Returns the device of the next search, or `None` if nobody waits for one. The device of the search before must
    /// be dropped.
    pub(crate) next: Box<dyn FnMut() -> Option<Box<dyn RemoteDevice>>>,
}

/// A report that changes while workers measure.
pub(crate) trait LiveReport {
    /// Returns the report at this time.
    fn now(&self) -> FleetReport;

    /// Keeps the report beside `journal` from now on, where `tunesmith fleet status` finds it.
    fn keep_beside(&self, journal: &Path);
}
