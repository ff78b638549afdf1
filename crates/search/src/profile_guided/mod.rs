//! Counter-guided search.

mod readings;

pub use readings::{name_of, readings, size};
