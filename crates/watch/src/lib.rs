//! Watches a tuning run by its journal: running or finished, here or on another machine.
//!
//! [`Watched`] is the state of a run: a value that each line of its journal updates. [`View`] is what
//! the reader looks at: a value that each key updates. [`draw`] is a function of both that fills a
//! buffer of cells. Nothing here needs a terminal. [`Watcher`] alone reads a file.
//!
//! The state is small: a million evaluations leave a few thousand points, fifty leaders and the
//! commonest messages.

mod curve;
mod draw;
mod failures;
mod finals;
mod leaders;
mod scale;
mod source;
mod view;
mod watched;
mod watcher;

pub use draw::{draw, text};
pub use source::{Life, Source};
pub use view::{Key, Page, View};
pub use watched::Watched;
pub use watcher::Watcher;
