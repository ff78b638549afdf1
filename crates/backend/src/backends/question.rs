//! Questions to drivers, which are asked in workers, because drivers crash and hang.

use crate::backends::message::{BackendMessage, decoded};
use crate::host::WorkerCommand;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::time::Duration;
use tunesmith_kernel::DeviceError;

/// The time limit of an answer. GPUs that sleep take seconds to wake.
pub const LIMIT: Duration = Duration::from_secs(60);

/// The reason given when a worker sends an unexpected answer.
pub(crate) const OTHER_PROTOCOL: &str = "a worker speaks another protocol";

/// The reason why a driver gave no answer.
pub enum NoAnswer {
    /// The worker ended. The text describes the end.
    Crashed(String),
    /// The driver took longer than [`LIMIT`].
    TimedOut,
    /// The worker sent an unexpected message.
    OtherProtocol,
}

impl NoAnswer {
    /// Returns the reason why a driver listed no devices.
    pub(crate) fn why_no_devices(self) -> String {
        match self {
            Self::Crashed(how) => format!("a driver crashes when it lists its devices ({how})"),
            Self::TimedOut => format!("the drivers do not list their devices within {} s", LIMIT.as_secs()),
            Self::OtherProtocol => OTHER_PROTOCOL.to_owned(),
        }
    }
}

/// Asks the driver of a backend in a worker that the command starts.
///
/// # Errors
/// The process cannot be started, or the run was interrupted.
pub type AskWorker = fn(&WorkerCommand, BackendMessage) -> Result<Result<Value, NoAnswer>, DeviceError>;

/// The processes in which drivers answer.
#[derive(Clone, Copy)]
pub struct Drivers<'a> {
    /// The command that starts them.
    pub worker: &'a WorkerCommand,
    /// Starts one and waits for its answer.
    pub ask: AskWorker,
}

/// Asks the driver of a backend a question whose answer has the type `A`.
///
/// # Errors
/// The process cannot be started, or the run was interrupted.
pub(crate) fn ask<A: DeserializeOwned>(
    drivers: Drivers<'_>,
    backend: &'static str,
    question: &impl Serialize,
) -> Result<Result<A, NoAnswer>, DeviceError> {
    let answer = (drivers.ask)(drivers.worker, BackendMessage::new(backend, question))?;
    Ok(answer.and_then(|answer| decoded(&answer).ok_or(NoAnswer::OtherProtocol)))
}
