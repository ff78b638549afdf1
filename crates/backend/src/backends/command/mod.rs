//! The backend for problems that tune any program.
//!
//! Each configuration has a copy of the problem's folder (`folder`). The problem's own build steps
//! build it there, several configurations at a time (`backend`). The command then runs once untimed, and its result
//! is judged. It then runs until its cost is known well enough (`measure`).
//!
//! A supervisor starts every process that the user named (`crate::host`). It measures the times
//! next to the process and sets the limit of memory. Its own start does not count as the command's.

mod backend;
mod device;
mod digest;
mod evaluator;
mod folder;
mod judge;
mod lookup;
mod measure;
mod reach;
mod words;

pub use device::device;
pub use evaluator::{CommandEvaluator, CommandOptions};
