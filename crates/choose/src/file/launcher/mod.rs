//! Wisdom of Kernel Launcher, format 1.0.
//!
//! The file has a header with the parameters' names, then a JSON line for each configuration: its
//! values in that order, a problem size of up to three numbers, the objective and the environment.

mod read;
mod write;

pub(super) use read::read;
pub(super) use write::text;

/// The only version of the format.
const VERSION: &str = "1.0";

/// Names of its problem sizes in our inputs.
const AXES: [&str; 3] = ["x", "y", "z"];
