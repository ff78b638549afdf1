//! The counters of a scripted device.

use crate::backends::Profiler;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The counters of passes. Launches during a pass add to its counters.
#[derive(Debug, Default)]
pub(super) struct Counted {
    counts: bool,
    counters: BTreeMap<String, f64>,
}

impl Counted {
    /// Counts a launch with these counters.
    pub(super) fn launched(&mut self, counters: &BTreeMap<String, f64>) {
        if self.counts {
            counters.iter().for_each(|(name, value)| *self.counters.entry(name.clone()).or_default() += value);
        }
    }
}

/// A profiler that needs a given number of passes. It reads the counters of the last pass.
pub(super) struct ScriptedProfiler {
    pub(super) passes: usize,
    pub(super) counted: Rc<RefCell<Counted>>,
}

impl Profiler for ScriptedProfiler {
    fn begin(&mut self) -> Result<(), String> {
        *self.counted.borrow_mut() = Counted { counts: true, ..Counted::default() };
        Ok(())
    }

    fn end(&mut self) -> Result<bool, String> {
        self.counted.borrow_mut().counts = false;
        self.passes = self.passes.saturating_sub(1);
        Ok(self.passes > 0)
    }

    fn readings(&mut self) -> Result<BTreeMap<String, f64>, String> {
        Ok(self.counted.borrow().counters.clone())
    }
}
