//! Hardware counters through CUPTI (CUDA 12.6 to 13.x): its Profiler Host interface says what a
//! chip can count, its Range Profiler interface counts.
//!
//! [`resolve`] runs in a worker, as all drivers do; [`counters`] is the tuner's side. `unsafe` is
//! confined to `layout`, `library`, `host` and `ranges`.

mod host;
mod layout;
mod library;
mod ranges;
mod resolution;
mod status;
mod task;

pub(crate) use ranges::{CuptiCounting, Gpu};
pub(crate) use task::resolve;
