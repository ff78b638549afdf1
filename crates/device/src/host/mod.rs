//! The parts of this machine that every backend may use: its compilers, its processor, and the
//! processes started on it.

mod compilers;
mod ending;
mod entry;
mod processor;
mod tool;

pub use compilers::{Compilers, CudaSetup};
pub use entry::WorkerCommand;

pub(crate) use compilers::Compiler;
pub(crate) use ending::{describe, signal};
pub(crate) use entry::{SUPERVISOR, WORKER, was_not_entered};
pub(crate) use processor::{limits, processor_name, threads};
pub(crate) use tool::Ended;

use std::time::Duration;

/// The interval at which waiting for a process or a build looks at the interrupt.
pub(crate) const POLL: Duration = Duration::from_millis(50);
