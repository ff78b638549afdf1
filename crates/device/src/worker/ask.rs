//! Asks drivers in a worker of their own, because they may crash or hang.

use crate::backends::BackendMessage;
use crate::backends::question::{Drivers, LIMIT, NoAnswer};
use crate::error::DeviceError;
use crate::host::{Processes, SystemProcesses, WorkerCommand};
use crate::worker::process::{Waited, Worker};
use crate::worker::protocol::{Message, Request};
use serde_json::Value;
use std::sync::Arc;
use tunesmith_core::SystemClock;

impl Drivers for WorkerCommand {
    fn ask(&self, question: BackendMessage) -> Result<Result<Value, NoAnswer>, DeviceError> {
        let processes: Arc<dyn Processes> = Arc::new(SystemProcesses);
        let mut process = Worker::spawn(&processes, self, Arc::new(SystemClock::new()))?;
        // If the request cannot be written, the worker has ended. Waiting reports its end.
        let _ = process.send(&Request::Ask(question));
        Ok(match process.wait(LIMIT, self.interrupt()) {
            Waited::Message(Message::Answer(answer)) => Ok(answer),
            Waited::Ended(how) | Waited::Forged(how) => Err(NoAnswer::Crashed(how)),
            Waited::TimedOut => Err(NoAnswer::TimedOut),
            Waited::Interrupted => return Err(DeviceError::Interrupted),
            Waited::Message(_) => Err(NoAnswer::OtherProtocol),
        })
    }
}
