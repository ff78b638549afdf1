//! A fleet: many devices and hosts measure the configurations of one tuning run.
//!
//! The tuner stays the one place that searches and records. A [`Fleet`] takes the place of its device
//! ([`RemoteDevice`](tunesmith::runner::RemoteDevice)): it listens for workers, gives them [leases](lease), and
//! returns their answers in the order in which they come. [`work`] is the other side: a long-lived
//! worker, which opens a device as `tune` does and answers leases. Engines that exist start workers:
//! this host, `ssh`, Slurm, HyperQueue ([`FleetSpec`]). The journal is the only truth; all that a fleet
//! knows may be lost.
//!
//! `docs/fleet.md` describes the protocol, and what an attacker can do.

mod bundle;
pub mod comparison;
mod coordinator;
mod depot;
mod digest;
mod error;
mod hall;
pub mod lease;
mod pools;
mod report;
mod secure;
pub mod simulated;
mod spec;
mod start;
mod status;
mod threads;
mod token;
mod wire;
mod worker;

pub use coordinator::{Fleet, FleetOptions};
pub use error::FleetError;
pub use pools::Pools;
pub use report::SharedReport;
pub use spec::FleetSpec;
pub use start::{TOKEN_VARIABLE, WorkerProgram};
pub use status::{FleetStatus, status};
pub use token::Token;
pub use tunesmith_store::{FleetReport, WorkerReport, WorkerRole, WorkerState};
pub use wire::PROTOCOL;
pub use worker::{Served, ServedUntil, WorkerOptions, work};
