//! The process in which kernels run, and the tuner's side of it.
//!
//! A kernel may crash, hang, leak or overwrite anything. In a process of its own, this costs one
//! configuration. The worker is the tuner's own executable. [`enter_if_worker`], the first line of
//! `main`, turns it into a worker.

mod apart;
mod ask;
pub(crate) mod bench;
mod block;
mod bounds;
mod buffers;
mod compile;
pub(crate) mod envelope;
mod link;
pub(crate) mod process;
mod profile;
pub(crate) mod protocol;
pub(crate) mod sequence;
mod series;
mod serve;
mod service;
mod speaker;
mod state;
mod watch;
mod watcher;
mod zygote;

pub(crate) use ask::drivers;
pub(crate) use compile::CompileWorkers;
#[cfg(test)]
pub(crate) use link::{Link, Wire};
pub(crate) use profile::MOST_PASSES;
#[cfg(test)]
pub(crate) use service::{ReadyDevice, Surroundings, answer_all};
pub(crate) use speaker::forged;
#[cfg(test)]
pub(crate) use zygote::Zygote;

use tunesmith_backend::host::{GUARD, SUPERVISOR, WORKER, supervise};

/// Serves as a worker, supervises a command, or guards a device's clock, if this process was started
/// for that, and never returns. Otherwise does nothing. Every program that tunes must call it in the
/// first line of `main`, unless it names another program as the worker.
///
/// ```no_run
/// tunesmith_device::worker::enter_if_worker(); // and then the program proper
/// ```
pub fn enter_if_worker() {
    // An argument that is no text is none of ours.
    enter_with(std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()));
}

/// Does the same for a program with arguments of its own, such as an interpreter. `arguments` are
/// those that follow them ([`arguments`](tunesmith_backend::host::WorkerCommand::arguments)).
pub fn enter_with(arguments: impl IntoIterator<Item = String>) {
    let mut arguments = arguments.into_iter();
    match arguments.next().as_deref() {
        Some(WORKER) => serve::serve(arguments.next().and_then(|parent| parent.parse().ok())),
        Some(SUPERVISOR) => supervise(),
        Some(GUARD) => tunesmith_power::guard::serve(),
        _ => {}
    }
}
