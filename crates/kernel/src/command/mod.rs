//! Commands as values: any program that a problem tunes.

mod number;
mod pattern;
mod spec;

pub use number::NumberFault;
pub use pattern::{NumberPattern, PatternError, TextPattern};
pub use spec::{CommandSpec, CommandVerify, Cost, OUT, Unit};
