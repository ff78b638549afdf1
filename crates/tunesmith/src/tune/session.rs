//! The surroundings of a tuning run.

use crate::Diagnostic;
use crate::runner::RemoteDevice;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tunesmith_core::{Clock, Interrupt, Observer, SystemClock};
use tunesmith_search::StrategySpec;
use tunesmith_space::Space;
use tunesmith_study::LeftOut;

/// The surroundings of a run: its observers, its interrupt, and its clock.
pub struct Session<'a> {
    /// The observers of the run.
    pub observers: Vec<&'a mut dyn Observer>,
    /// Ends the run.
    pub interrupt: Interrupt,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Called once the run is about to start.
    pub on_start: Option<&'a mut dyn FnMut(&Starting<'_>)>,
    /// Measures in place of this machine's device.
    pub remote: Option<Box<dyn RemoteDevice>>,
}

/// The facts about a run that is about to start.
#[derive(Debug)]
pub struct Starting<'a> {
    /// The device, by name.
    pub device: &'a str,
    /// The strategy.
    pub strategy: &'a StrategySpec,
    /// The space.
    pub space: &'a Space,
    /// A warning for every constraint left out because the device lacks a limit.
    pub warnings: &'a [Diagnostic],
    /// The assumptions about the recording that stands for the device, as its file does not state everything.
    pub assumptions: &'a [String],
    /// The history of the strategy.
    pub history: &'a [PathBuf],
    /// Recordings that were left out of the history.
    pub left_out: &'a [LeftOut],
    /// True if outputs are compared with correct results. `None` if there are no outputs.
    pub verified: Option<bool>,
    /// The journal.
    pub journal: &'a Path,
    /// Number of evaluations that it already holds.
    pub resumed: usize,
    /// Remarks about a journal that is resumed, a sentence each.
    pub remarks: &'a [String],
}

impl Default for Session<'_> {
    fn default() -> Self {
        let clock = Arc::new(SystemClock::new());
        Self { observers: Vec::new(), interrupt: Interrupt::default(), clock, on_start: None, remote: None }
    }
}
