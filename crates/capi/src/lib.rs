//! Tunesmith for C and C++: search spaces, ask and tell, selection among known configurations, and
//! tuning while an application runs.
//!
//! `include/tunesmith.h` is generated from this crate, and `include/tunesmith.hpp` wraps it for
//! C++17. `docs/c.md` explains both.
//!
//! Every function returns a status. No panic crosses the boundary. Objects are handles that are
//! looked up, so that a handle that was closed, never set or is of another type gives an error.

#![allow(non_camel_case_types)] // The names are those of C.
#![allow(clippy::missing_safety_doc)] // The header says once what all functions ask of pointers.

mod config;
mod handle;
mod launch;
mod memory;
mod online;
mod search;
mod selector;
mod space;
mod status;

pub use config::*;
pub use handle::{ts_call, ts_config, ts_launcher, ts_online, ts_search, ts_selector, ts_space, ts_space_builder};
pub use launch::*;
pub use online::*;
pub use search::*;
pub use selector::*;
pub use space::*;
pub use status::{ts_message, ts_status, ts_version};
