//! The processor's counters of hardware events, through Linux's `perf_event`.

mod events;
mod unavailable;

use crate::backends::Missing;
use crate::backends::Profiler;
use events::{EVENTS, EventReading, ProcessorEvent, counted, named};
use perf_event::Counter;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use unavailable::unavailable;

/// The events of this process's user code, and of the threads that it starts from now on.
///
/// The events are opened one by one. An event that the processor does not count is left out. If the
/// processor has too few registers, it counts the events in turns. Threads that run already are not
/// counted, so the counters are opened before any kernel starts a thread.
pub(super) struct Counters(Vec<(ProcessorEvent, Counter)>);

impl Counters {
    /// Opens all events that the processor counts, without starting them.
    ///
    /// Returns `None` if the processor's events cannot be counted; [`missing_counters`] gives the
    /// reason.
    pub(super) fn open() -> Option<Self> {
        let opened: Vec<_> = EVENTS.into_iter().filter_map(|event| Some((event, open(event).ok()?))).collect();
        (!opened.is_empty()).then_some(Self(opened))
    }

    /// Starts the counters.
    fn start(&mut self) {
        self.0.iter_mut().for_each(|(_, counter)| drop(counter.enable()));
    }

    /// Stops the counters.
    fn stop(&mut self) {
        self.0.iter_mut().for_each(|(_, counter)| drop(counter.disable()));
    }

    /// Returns the readable counters. A counter that the system took away is left out.
    fn readings(&mut self) -> BTreeMap<ProcessorEvent, EventReading> {
        let read = |(event, counter): &mut (ProcessorEvent, Counter)| {
            let read = counter.read_count_and_time().ok()?;
            Some((*event, EventReading { count: read.count, enabled: read.time_enabled, running: read.time_running }))
        };
        self.0.iter_mut().filter_map(read).collect()
    }
}

/// One pass of counting. The processor counts all events at once, or in turns.
pub(super) struct ProcessorCounting {
    counters: Rc<RefCell<Counters>>,
    before: BTreeMap<ProcessorEvent, EventReading>,
}

impl ProcessorCounting {
    /// Counts with `counters`, which do not run until the pass begins.
    pub(super) fn new(counters: Rc<RefCell<Counters>>) -> Self {
        Self { counters, before: BTreeMap::new() }
    }
}

impl Profiler for ProcessorCounting {
    fn begin(&mut self) -> Result<(), String> {
        let mut counters = self.counters.borrow_mut();
        self.before = counters.readings();
        counters.start();
        Ok(())
    }

    fn end(&mut self) -> Result<bool, String> {
        self.counters.borrow_mut().stop();
        Ok(false)
    }

    fn readings(&mut self) -> Result<BTreeMap<String, f64>, String> {
        let after = self.counters.borrow_mut().readings();
        Ok(named(&counted(&self.before, &after), cache_line()))
    }
}

impl Drop for ProcessorCounting {
    /// Ends a pass that a failure cut short.
    fn drop(&mut self) {
        self.counters.borrow_mut().stop();
    }
}

/// Returns the reason why the processor's events cannot be counted here. Returns `None` if they
/// can.
pub(crate) fn missing_counters() -> Option<Missing> {
    open(ProcessorEvent::Instructions).err().map(|error| unavailable(&error))
}

fn open(event: ProcessorEvent) -> io::Result<Counter> {
    // Also counts threads that the kernel starts.
    event.builder().inherit(true).build()
}

/// Returns the size of a cache line in bytes, as reported by the system. Defaults to 64.
fn cache_line() -> f64 {
    let text = tunesmith_files::read_text(
        "/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size",
        tunesmith_files::TEXT,
    );
    text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(64.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted_where_the_system_allows_it_and_refused_with_a_reason_where_it_does_not() {
        let Some(counters) = Counters::open() else {
            let missing = missing_counters().unwrap();
            assert!(!missing.reason.is_empty() && !missing.remedy.is_empty(), "{missing:?}");
            return;
        };
        let work = |steps: u64| (0..steps).fold(1_u64, |x, step| std::hint::black_box(x.wrapping_mul(3) ^ step));
        let counters = Rc::new(RefCell::new(counters));
        let count = |steps| {
            let mut counting = ProcessorCounting::new(Rc::clone(&counters));
            counting.begin().unwrap();
            work(steps);
            assert_eq!(counting.end(), Ok(false));
            counting.readings().unwrap()
        };
        let (few, many) = (count(100_000), count(10_000_000));
        // Either event may have had no turn on the processor's registers.
        if let (Some(few), Some(many)) = (few.get("instructions"), many.get("instructions")) {
            assert!(many > few, "{few} {many}");
        }
    }
}
