//! Hardware counters through CUPTI (CUDA 12.6 to 13.x). Its Profiler Host interface describes the
//! counters of a chip. Its Range Profiler interface reads them.
//!
//! [`resolve`] runs in a worker, like all drivers. [`counters`] is the tuner's side. Only `layout`,
//! `library`, `host` and `ranges` contain `unsafe` code.

mod host;
mod layout;
mod library;
mod question;
mod ranges;
mod resolution;
mod status;
mod task;

pub(crate) use ranges::{CuptiCounting, Gpu};
pub(crate) use status::Refusal;
pub(crate) use task::resolve;
