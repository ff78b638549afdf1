//! The backend for problems that tune any program.
//!
//! The problem's own build steps build each configuration into a folder of its own, several
//! configurations at a time ([`backend`]). The command then runs once untimed, and its result is
//! judged. It then runs until its cost is known well enough ([`measure`]).
//!
//! A supervisor starts every process that the user named. It is the tuner's own executable, started
//! again ([`supervisor`]). It measures the times next to the process and sets the limit of memory.
//! It ends the whole process group if the tuner asks for it or dies ([`launcher`]).
//!
//! The supervisor stays alive beside the command instead of replacing itself with it. Only a live
//! process notices that the tuner was killed, and can then end everything that the command started.
//! Besides, its own start does not count as the command's.

mod backend;
mod device;
mod digest;
mod evaluator;
mod judge;
mod launcher;
mod lookup;
mod measure;
mod output;
mod pattern;
mod spec;
mod supervisor;

pub use evaluator::{CommandEvaluator, CommandOptions};
pub use pattern::{NumberPattern, PatternError, TextPattern};
pub use spec::{CommandSpec, CommandVerify, Cost, OUT, Unit};

pub use device::device;
pub(crate) use supervisor::supervise;
