//! Those who watch a run without changing it.

use crate::{Progress, Scored, Stop, StopReason};
use tunesmith_space::Space;

/// Watches a run: progress bars, logs, tests. It cannot change the run.
pub trait Observer {
    /// Takes notice of an event. The measuring thread calls this after every event and waits for
    /// it.
    fn notice(&mut self, event: &Event<'_>);
}

/// An event of a run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The run starts; `progress` counts what a resumed journal already holds.
    Started {
        /// The space that is searched.
        space: &'a Space,
        /// The stop condition.
        stop: &'a Stop,
        /// The progress of the run.
        progress: &'a Progress,
    },
    /// An evaluation was made, stored and scored.
    Evaluated {
        /// The evaluation and its score.
        scored: &'a Scored,
        /// The best so far, this one included.
        best: Option<&'a Scored>,
        /// The progress of the run, this evaluation included.
        progress: &'a Progress,
    },
    /// The search ended and its leaders are measured again.
    Compared {
        /// The number of finalists.
        finalists: usize,
    },
    /// There is something that the user should know; the run goes on.
    Noted {
        /// A sentence.
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
