//! What surrounds a tuning run.

use crate::Diagnostic;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tunesmith_core::{Clock, Interrupt, Observer, SystemClock};
use tunesmith_search::StrategySpec;
use tunesmith_space::Space;
use tunesmith_study::LeftOut;

/// What surrounds a run: who watches it, who may end it, what time it is.
pub struct Session<'a> {
    /// Watches the run.
    pub observers: Vec<&'a mut dyn Observer>,
    /// Ends the run.
    pub interrupt: Interrupt,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Called once the run is about to start.
    pub on_start: Option<&'a mut dyn FnMut(&Starting<'_>)>,
}

/// What is known when a run is about to start.
#[derive(Debug)]
pub struct Starting<'a> {
    /// The device, by name.
    pub device: &'a str,
    /// The strategy.
    pub strategy: &'a StrategySpec,
    /// The space.
    pub space: &'a Space,
    /// A warning for every constraint left out because the device lacks what it asks for.
    pub warnings: &'a [Diagnostic],
    /// The history that the strategy is told of.
    pub history: &'a [PathBuf],
    /// Recordings that were left out of it.
    pub left_out: &'a [LeftOut],
    /// The journal.
    pub journal: &'a Path,
    /// How many evaluations it holds already.
    pub resumed: usize,
}

impl Default for Session<'_> {
    fn default() -> Self {
        let clock = Arc::new(SystemClock::new());
        Self { observers: Vec::new(), interrupt: Interrupt::default(), clock, on_start: None }
    }
}
