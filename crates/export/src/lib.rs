//! Writes portfolios as source code that chooses among a few configurations.
//!
//! The code depends on nothing: an application compiles it in, and calls a function with the sizes
//! of its input. [`c_header()`] writes C and C++, [`x_macro()`] also instantiates code for each
//! configuration, and [`rust()`] writes a Rust module. [`for_build`] writes a single configuration for
//! a build.

mod best;
mod build;
mod c_header;
mod format;
mod names;
mod rust;
mod summary;
mod x_macro;

pub use best::best;
pub use build::{BuildForm, TUNED, for_all_inputs, for_build};
pub use c_header::c_header;
pub use format::{ExportFormat, MeasuringOption};
pub use names::file_name;
pub use rust::rust;
pub use summary::{ExportedPortfolio, Guarded, TriedRule, doubts, summary};
pub use x_macro::x_macro;
