//! Those who watch a run without changing it.

use crate::{Progress, Scored, Stop, StopReason};
use tunesmith_space::Space;

/// Watches a run: progress bars, logs, tests. It cannot change the run.
pub trait Observer {
    /// Called after every event, on the measuring thread: be quick.
    fn notice(&mut self, event: &Event<'_>);
}

/// What happens in a run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The run starts; `progress` counts what a resumed journal already holds.
    Started {
        /// What is searched.
        space: &'a Space,
        /// When the run ends.
        stop: &'a Stop,
        /// How far the run has come.
        progress: &'a Progress,
    },
    /// An evaluation was made, stored and scored.
    Evaluated {
        /// The evaluation and its score.
        scored: &'a Scored,
        /// The best so far, this one included.
        best: Option<&'a Scored>,
        /// How far the run has come, this evaluation included.
        progress: &'a Progress,
    },
    /// The search ended and its leaders are measured again.
    Compared {
        /// How many there are.
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
