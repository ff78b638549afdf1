//! Asking drivers for their devices, in a worker of its own: they may crash or hang.

use crate::error::DeviceError;
use crate::worker::WorkerCommand;
use crate::worker::process::{Waited, Worker};
use crate::worker::protocol::{Message, Request};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::{Interrupt, SystemClock};

/// How long drivers may take to tell of their devices: those of GPUs that sleep take seconds.
const LIMIT: Duration = Duration::from_secs(60);

/// The reason where a worker answers something else.
pub(crate) const OTHER_PROTOCOL: &str = "a worker speaks another protocol";

/// The answer to a request for devices, or why there is none.
///
/// # Errors
/// No worker can be started.
pub(crate) fn ask_for_devices(
    worker: &WorkerCommand,
    request: &Request,
) -> Result<Result<Message, String>, DeviceError> {
    let mut process = Worker::spawn(worker, Arc::new(SystemClock::new()))?;
    // A worker that cannot be written to has ended, which waiting will tell.
    let _ = process.send(request);
    Ok(match process.wait(LIMIT, &Interrupt::default()) {
        Waited::Message(message) => Ok(message),
        Waited::Ended(how) => Err(format!("a driver crashes when it is asked for its devices ({how})")),
        Waited::TimedOut => Err(format!("no driver tells of its devices within {} s", LIMIT.as_secs())),
        Waited::Interrupted => Err(OTHER_PROTOCOL.to_owned()),
    })
}
