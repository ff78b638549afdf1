//! Asks drivers in a worker of their own, because they may crash or hang.

use crate::backends::{DriverAnswer, DriverQuestion};
use crate::error::DeviceError;
use crate::host::{Processes, SystemProcesses, WorkerCommand};
use crate::worker::process::{Waited, Worker};
use crate::worker::protocol::{Message, Request};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::SystemClock;

/// Time limit for a driver's answer. GPUs that sleep take seconds to wake.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// The reason given when a worker sends an unexpected answer.
pub(crate) const OTHER_PROTOCOL: &str = "a worker speaks another protocol";

/// The reason why a driver gave no answer.
pub(crate) enum NoAnswer {
    /// The worker ended. The text describes the end.
    Crashed(String),
    /// The driver took longer than [`LIMIT`].
    TimedOut,
    /// The worker sent an unexpected message.
    OtherProtocol,
}

/// Asks a driver a question in a worker.
///
/// # Errors
/// The worker cannot be started, or the run was interrupted.
pub(crate) fn ask(
    worker: &WorkerCommand,
    question: DriverQuestion,
) -> Result<Result<DriverAnswer, NoAnswer>, DeviceError> {
    let processes: Arc<dyn Processes> = Arc::new(SystemProcesses);
    let mut process = Worker::spawn(&processes, worker, Arc::new(SystemClock::new()))?;
    // If the request cannot be written, the worker has ended. Waiting reports its end.
    let _ = process.send(&Request::Ask(question));
    Ok(match process.wait(LIMIT, worker.interrupt()) {
        Waited::Message(Message::Answer(answer)) => Ok(answer),
        Waited::Ended(how) | Waited::Forged(how) => Err(NoAnswer::Crashed(how)),
        Waited::TimedOut => Err(NoAnswer::TimedOut),
        Waited::Interrupted => return Err(DeviceError::Interrupted),
        Waited::Message(_) => Err(NoAnswer::OtherProtocol),
    })
}
