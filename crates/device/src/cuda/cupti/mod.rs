//! Hardware counters through CUPTI (CUDA 12.6 to 13.x): its Profiler Host interface says what a chip can count, its Range
//! Profiler interface counts.
//!
//! [`resolve`] runs in a worker, as all drivers do; [`counters`] is the tuner's side. `unsafe` is confined to `layout`,
//! `library`, `host` and `ranges`.

mod host;
mod layout;
mod library;
mod ranges;
mod resolution;
mod status;
mod task;

pub(crate) use ranges::{Counting, Gpu};
pub use resolution::{ChipCounters, ResolvedCounter};
pub(crate) use resolution::{name_on, own_name};
pub(crate) use status::PERMISSION_REMEDY;
pub use task::counters;

pub(crate) use task::{CountersTask, NoCounters, resolve};
