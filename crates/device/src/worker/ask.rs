//! Asking drivers in a worker of its own: they may crash or hang.

use crate::backends::{DriverAnswer, DriverQuestion};
use crate::error::DeviceError;
use crate::host::WorkerCommand;
use crate::worker::process::{Waited, Worker};
use crate::worker::protocol::{Message, Request};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::{Interrupt, SystemClock};

/// How long drivers may take to answer: those of GPUs that sleep take seconds.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// The reason where a worker answers something else.
pub(crate) const OTHER_PROTOCOL: &str = "a worker speaks another protocol";

/// Why drivers gave no answer.
pub(crate) enum NoAnswer {
    /// The worker ended, in these words.
    Crashed(String),
    /// They took longer than [`LIMIT`].
    TimedOut,
    /// The worker said something else.
    OtherProtocol,
}

/// Asks drivers a question in a worker.
///
/// # Errors
/// No worker can be started.
pub(crate) fn ask(
    worker: &WorkerCommand,
    question: DriverQuestion,
) -> Result<Result<DriverAnswer, NoAnswer>, DeviceError> {
    let mut process = Worker::spawn(worker, Arc::new(SystemClock::new()))?;
    // A worker that cannot be written to has ended, which waiting will tell.
    let _ = process.send(&Request::Ask(question));
    Ok(match process.wait(LIMIT, &Interrupt::default()) {
        Waited::Message(Message::Answer(answer)) => Ok(answer),
        Waited::Ended(how) => Err(NoAnswer::Crashed(how)),
        Waited::TimedOut => Err(NoAnswer::TimedOut),
        Waited::Message(_) | Waited::Interrupted => Err(NoAnswer::OtherProtocol),
    })
}
