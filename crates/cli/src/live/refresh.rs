//! Draws the report of a run again while it lasts.

use super::Live;
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;
use tunesmith::core::{Clock, Event, Observer, SystemClock};

/// Minimum time between two reports.
const LEAST: Duration = Duration::from_secs(2);

/// The time between two reports over the time that one takes to draw: reports take at most a
/// twentieth of the run.
const SHARE: u32 = 19;

/// Draws reports on the thread that measures, between measurements and only if somebody looks.
pub(crate) struct Refresher<'a> {
    live: &'a Live,
    /// The journal, once it is known.
    pub(crate) journal: Rc<RefCell<Option<PathBuf>>>,
    clock: SystemClock,
    pace: Pace,
}

/// Decides when a report may be drawn again.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    /// The time from which it may.
    next: Duration,
}

impl Pace {
    fn is_due(self, now: Duration) -> bool {
        now >= self.next
    }

    /// Records that a report was drawn from `start` to `end`.
    fn drawn(&mut self, start: Duration, end: Duration) {
        self.next = end + LEAST.max(end.saturating_sub(start) * SHARE);
    }
}

impl<'a> Refresher<'a> {
    pub(crate) fn new(live: &'a Live) -> Self {
        Self { live, journal: Rc::default(), clock: SystemClock::new(), pace: Pace::default() }
    }

    /// Draws the report of the finished run, for the browsers that watch it.
    pub(crate) fn finish(&self, journal: PathBuf) {
        if let Ok(report) = tunesmith::page::interactive_page(&[journal]) {
            self.live.finish(&report);
        }
    }

    fn refresh(&mut self) {
        let start = self.clock.now();
        if !self.live.is_wanted() || !self.pace.is_due(start) {
            return;
        }
        let Some(journal) = self.journal.borrow().clone() else { return };
        // A report that cannot be drawn, as of a journal that was deleted, leaves the earlier one.
        if let Ok(report) = tunesmith::page::interactive_page(&[journal]) {
            self.live.publish(&report);
        }
        self.pace.drawn(start, self.clock.now());
    }
}

impl Observer for Refresher<'_> {
    fn notice(&mut self, event: &Event<'_>) {
        if matches!(event, Event::Evaluated { .. } | Event::Remeasured { .. }) {
            self.refresh();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_take_a_twentieth_of_the_run_and_come_every_two_seconds_at_most() {
        let seconds = Duration::from_secs_f64;
        let mut pace = Pace::default();
        assert!(pace.is_due(Duration::ZERO));
        pace.drawn(seconds(10.0), seconds(10.01));
        assert!(!pace.is_due(seconds(12.0)) && pace.is_due(seconds(12.01)));
        pace.drawn(seconds(20.0), seconds(21.0));
        assert!(!pace.is_due(seconds(39.9)) && pace.is_due(seconds(40.0)));
    }
}
