//! The backend for problems whose kernel is any program.
//!
//! A configuration of a command problem is built by the problem's own build steps, several at a
//! time, into a folder of its own ([`backend`]). Its command is then run untimed once, judged, and
//! run until its cost is known well enough ([`measure`]). Every process the user named is started
//! by a supervisor, which is the tuner's executable entered once more ([`supervisor`]): it takes
//! the times next to the process, sets its limit of memory, and ends the whole process group when
//! the tuner says so or dies ([`launcher`]).
//!
//! A supervisor that stays, rather than one that replaces itself with the command: only a live
//! process notices that a tuner was killed and can end what the command started in turn, and its
//! own start does not count as the command's.

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
