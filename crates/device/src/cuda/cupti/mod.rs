//! Hardware counters through CUPTI's Profiler Host interface (CUDA 12.6 to 13.x).
//!
//! [`resolve`] runs in a worker, as all drivers do; [`counters`] is the tuner's side. `unsafe` is confined to `layout`,
//! `library` and `host`.

mod host;
mod layout;
mod libraries;
mod library;
mod resolution;
mod status;
mod task;

pub use resolution::{ChipCounters, ResolvedCounter};
pub use task::counters;

pub(crate) use task::{CountersTask, NoCounters, resolve};
