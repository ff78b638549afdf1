//! The process in which kernels run, and how the tuner deals with it.
//!
//! A kernel may crash, hang, leak or overwrite anything; in a process of its own that costs one
//! configuration. The worker is the same executable as the tuner, entered by [`enter_if_worker`],
//! the first line of `main`.

mod ask;
mod buffers;
mod compile;
pub(crate) mod process;
mod profile;
pub(crate) mod protocol;
mod sequence;
mod serve;
mod watch;

pub use crate::host::WorkerCommand;

pub(crate) use ask::{LIMIT, NoAnswer, OTHER_PROTOCOL, ask};
pub(crate) use compile::CompileWorkers;

use crate::backends::command;
use crate::host::{SUPERVISOR, WORKER};

/// Serves as a worker, or supervises a command, and never returns when this process was started for
/// that; does nothing otherwise. Has to be the first line of `main` of every program that tunes,
/// unless it names another program as the worker.
///
/// ```no_run
/// tunesmith_device::worker::enter_if_worker(); // and then the program proper
/// ```
pub fn enter_if_worker() {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some(WORKER) => serve::serve(arguments.next().and_then(|parent| parent.parse().ok())),
        Some(SUPERVISOR) => command::supervise(),
        _ => {}
    }
}
