//! The choices for a fleet.

use crate::lease::Terms;
use crate::start::WorkerProgram;
use crate::{FleetSpec, Token};
use std::path::PathBuf;
use std::time::Duration;
use tunesmith_core::Interrupt;
use tunesmith_space::Value;

/// The choices for a fleet.
#[derive(Clone, Debug)]
pub struct FleetOptions {
    /// Its workers.
    pub spec: FleetSpec,
    /// The secret of the run.
    pub token: Token,
    /// The file of the problem. What lies in its folder is sent to workers.
    pub problem: PathBuf,
    /// The sizes that replace those of the file.
    pub sizes: Vec<(String, Value)>,
    /// The device of workers that name none themselves, as `--device` takes it.
    pub device: Option<String>,
    /// The command that starts a worker.
    pub worker: WorkerProgram,
    /// The rules of leases.
    pub terms: Terms,
    /// Time to wait for a worker if there is none, and for the first words of one on another host.
    pub patience: Duration,
    /// True if workers of another kind wait for a run of their own ([`Pools`](crate::Pools)). Otherwise
    /// they are set aside.
    pub pools: bool,
    /// Ends the start of workers.
    pub interrupt: Interrupt,
}

impl FleetOptions {
    /// Time to wait for a worker if there is none.
    pub const PATIENCE: Duration = Duration::from_secs(600);
}
