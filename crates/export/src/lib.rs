//! Writes portfolios as source code that chooses among a few configurations.
//!
//! The code depends on nothing: an application compiles it in, and calls a function with the sizes
//! of its input. [`c_header`] writes C and C++, [`rust`] a Rust module. [`for_build`] writes a single
//! configuration for a build.

mod build;
mod c_header;
mod names;
mod rust;

pub use build::{BuildForm, TUNED, for_build};
pub use c_header::c_header;
pub use names::file_name;
pub use rust::rust;
