//! Errors of a fleet and of a worker.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A fleet cannot be started, or a worker cannot serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FleetError {
    /// The text of `--fleet` is wrong.
    #[error("`{text}` names no fleet: {reason}")]
    Spec {
        /// The text as written.
        text: String,
        /// The reason.
        reason: String,
    },
    /// The token cannot be used.
    #[error("the token cannot be used: {0}")]
    Token(String),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: String,
        /// The reason.
        source: io::Error,
    },
    /// The coordinator cannot be reached.
    #[error(
        "cannot reach the coordinator at {address}: {source}; is its run there, and the port open? `tune \
         --fleet-address HOST` names another address of it"
    )]
    Connect {
        /// The address.
        address: String,
        /// The reason.
        source: io::Error,
    },
    /// The peer does not know the token, or is no Tunesmith.
    #[error("the coordinator at {address} did not accept the token, or does not know it: {reason}")]
    Proof {
        /// The address.
        address: SocketAddr,
        /// The reason.
        reason: String,
    },
    /// The peer said what the protocol does not allow.
    #[error("the peer broke the protocol: {0}")]
    Protocol(String),
    /// The connection ended.
    #[error("{}", lost(.0))]
    Lost(#[from] io::Error),
    /// The coordinator refused this worker.
    #[error("the coordinator refused this worker: {0}")]
    Refused(String),
    /// The files of the problem cannot be sent or kept.
    #[error("{}: {reason}", path.display())]
    Files {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A program that starts workers cannot be run.
    #[error("cannot start `{program}`: {source}")]
    Start {
        /// The program.
        program: String,
        /// The reason.
        source: io::Error,
    },
    /// A program that starts workers failed.
    #[error("`{command}` failed: {reason}")]
    Engine {
        /// The command.
        command: String,
        /// The reason.
        reason: String,
    },
    /// The system gives no thread.
    #[error("no thread can be started that {purpose}: {source}; see `ulimit -u`, and start again")]
    Thread {
        /// The work of the thread, after `that`.
        purpose: &'static str,
        /// The reason.
        source: io::Error,
    },
    /// The worker's device or problem cannot be used.
    #[error(transparent)]
    Device(#[from] Box<tunesmith::Error>),
}

impl From<FleetError> for tunesmith::Error {
    fn from(error: FleetError) -> Self {
        match error {
            FleetError::Device(error) => *error,
            FleetError::Spec { .. } | FleetError::Token(_) | FleetError::Files { .. } => {
                Self::request(error.to_string(), None)
            }
            // A network, a device or a disk failed.
            error => tunesmith_core::Error::Device(Box::new(error)).into(),
        }
    }
}

fn lost(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the other side closed the connection".to_string(),
        _ => format!("the connection ended: {error}"),
    }
}
