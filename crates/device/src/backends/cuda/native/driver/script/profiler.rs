//! Counters of a scripted device.

use crate::backends::Profiler;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What is launched while a pass runs adds to the counters of that pass.
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

/// A profiler that needs so many passes, of which the last one's counters are read.
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
