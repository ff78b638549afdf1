//! Asks drivers in a worker of their own, because they may crash or hang.

use crate::worker::process::{Waited, Worker};
use crate::worker::protocol::{Message, Request};
use serde_json::Value;
use std::sync::Arc;
use tunesmith_backend::BackendMessage;
use tunesmith_backend::host::{Processes, SystemProcesses, WorkerCommand};
use tunesmith_backend::question::{Drivers, LIMIT, NoAnswer};
use tunesmith_core::SystemClock;
use tunesmith_kernel::DeviceError;

/// Returns the processes in which drivers answer: workers that `worker` starts.
pub(crate) fn drivers(worker: &WorkerCommand) -> Drivers<'_> {
    Drivers { worker, ask }
}

/// Asks the driver of a backend in a worker of its own.
fn ask(worker: &WorkerCommand, question: BackendMessage) -> Result<Result<Value, NoAnswer>, DeviceError> {
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
