//! The worker: connects to a coordinator, and measures or compiles what it asks for.

mod compiling;
mod desk;
mod measuring;
mod work;

pub(crate) use measuring::answer;
pub(crate) use work::is_connected;
pub use work::work;

use crate::secure::Listening;
use crate::wire::Readiness;
use crate::{FleetError, Token};
use serde_json::{Map, Value as Json};
use std::time::Duration;
use tunesmith::{Error, Machine, Problem};
use tunesmith_backend::host::instruction_set;
use tunesmith_core::Interrupt;
use tunesmith_space::Space;
use tunesmith_store::WorkerRole;

/// The choices for a worker.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// The coordinator, as `HOST:PORT`.
    pub address: String,
    /// The secret of the run.
    pub token: Token,
    /// The processors to run on. Empty for all.
    pub cpus: Vec<usize>,
    /// Its work.
    pub role: WorkerRole,
    /// A pause before each answer, to try a fleet out without a device that takes time.
    pub pause: Duration,
}

/// The work of a worker that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// Number of leases answered.
    pub answers: u64,
    /// The reason why it ended.
    pub ending: ServedUntil,
}

/// The reason why a worker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServedUntil {
    /// The run has ended.
    Over,
    /// The coordinator set the worker aside, for this reason.
    SetAside(String),
    /// The coordinator is gone.
    Gone(String),
    /// Somebody ended the worker.
    Interrupted,
}

/// The work for which a worker was admitted.
struct Assignment<'a> {
    problem: Problem,
    machine: Machine,
    listening: Listening,
    interrupt: &'a Interrupt,
    options: &'a WorkerOptions,
    tell: &'a mut dyn FnMut(&str),
}

/// Returns the words with which a worker begins to work that compiles `room` configurations at once.
fn ready(identity: Map<String, Json>, problem: &Problem, space: &Space, room: usize) -> Readiness {
    let (problem, space) = (problem.digest(), space.digest().to_string());
    Readiness { identity, problem, space, instructions: instruction_set(), room }
}

fn failed(error: Error) -> FleetError {
    FleetError::Device(Box::new(error))
}

fn unexpected() -> FleetError {
    FleetError::Protocol("a message came out of turn".to_string())
}
