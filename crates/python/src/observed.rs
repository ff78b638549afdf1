//! The progress of a run, shown to Python.

use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tunesmith::core::{Clock, Event, Observer, SystemClock};

/// Minimum time between two looks at the progress. Nobody reads faster, and each look costs more than
/// a fast function.
const INTERVAL: Duration = Duration::from_millis(50);

/// The progress of a run, which its observer writes and the thread of the interpreter shows. Clones
/// share it.
#[derive(Clone)]
pub(crate) struct Observed(Arc<Shared>);

struct Shared {
    /// A function of Python that is told the progress.
    display: Option<Py<PyAny>>,
    clock: SystemClock,
    state: Mutex<State>,
}

/// The latest state of a run.
#[derive(Clone, Debug, Default)]
struct State {
    evaluations: u64,
    limit: Option<u64>,
    failed: u64,
    best: Option<f64>,
    notes: Vec<String>,
    /// The time of the last look.
    shown: Option<Duration>,
    /// True if something has changed since.
    is_new: bool,
}

impl Observed {
    /// Shows the progress by calling `display` with the number of evaluations, its limit, the number
    /// of failures, and the best score.
    pub(crate) fn new(display: Option<Py<PyAny>>) -> Self {
        Self(Arc::new(Shared { display, clock: SystemClock::new(), state: Mutex::default() }))
    }

    /// Shows what has changed, at most a few times in a second.
    pub(crate) fn show(&self, py: Python<'_>) -> PyResult<()> {
        let Some(display) = &self.0.display else { return Ok(()) };
        let now = self.0.clock.now();
        let mut state = self.state();
        if !state.is_new || state.shown.is_some_and(|shown| now < shown + INTERVAL) {
            return Ok(());
        }
        (state.shown, state.is_new) = (Some(now), false);
        let State { evaluations, limit, failed, best, .. } = state.clone();
        drop(state);
        display.call1(py, (evaluations, limit, failed, best)).map(drop)
    }

    /// Shows the end of a run, however soon it comes.
    pub(crate) fn show_last(&self, py: Python<'_>) -> PyResult<()> {
        self.state().shown = None;
        self.show(py)
    }

    /// Returns the remarks to the user.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.state().notes.clone()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Observed {
    fn notice(&mut self, event: &Event<'_>) {
        let mut state = self.state();
        match event {
            Event::Started { space, stop, progress, .. } => {
                let limit = stop.evaluation_limit(progress.space_size);
                let size = space.len().and_then(|size| u64::try_from(size).ok()).unwrap_or(u64::MAX);
                state.limit = limit.map(|limit| limit.min(size)).filter(|limit| *limit < u64::MAX);
                state.evaluations = progress.evaluations;
            }
            Event::Evaluated { scored, progress, .. } => {
                state.evaluations = progress.evaluations;
                state.failed += u64::from(!scored.evaluation.is_correct());
                state.best = progress.best();
            }
            Event::Noted { text } => state.notes.push((*text).to_string()),
            _ => return,
        }
        state.is_new = true;
    }
}
