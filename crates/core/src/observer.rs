//! Observers: they watch a run without changing it.

use crate::judge::finals::FinalProgress;
use crate::{Objective, Progress, Scored, Stop, StopReason};
use tunesmith_space::Space;

/// Watches a run: progress bars, logs, tests. An observer cannot change the run.
pub trait Observer {
    /// Receives an event. The measuring thread calls this after every event and waits for it.
    fn notice(&mut self, event: &Event<'_>);
}

/// An event of a run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The run starts. `progress` includes the evaluations of a resumed journal.
    Started {
        /// The space to search.
        space: &'a Space,
        /// The objective.
        objective: &'a Objective,
        /// The stop condition.
        stop: &'a Stop,
        /// The progress of the run.
        progress: &'a Progress,
    },
    /// An evaluation was made, stored and scored.
    Evaluated {
        /// The evaluation and its score.
        scored: &'a Scored,
        /// The best evaluation so far, including this one.
        best: Option<&'a Scored>,
        /// The progress of the run, including this evaluation.
        progress: &'a Progress,
    },
    /// The search ended. The final re-measurement of its leaders begins.
    Compared {
        /// The number of finalists.
        finalists: usize,
    },
    /// A visit of the final re-measurement was made and stored.
    Remeasured {
        /// The progress of the final re-measurement, including this visit.
        progress: &'a FinalProgress,
    },
    /// A note for the user. The run continues.
    Noted {
        /// The note, a sentence.
        text: &'a str,
    },
    /// The run ended.
    Finished {
        /// The reason why it ended.
        reason: &'a StopReason,
    },
}

impl<F: FnMut(&Event<'_>)> Observer for F {
    fn notice(&mut self, event: &Event<'_>) {
        self(event);
    }
}
