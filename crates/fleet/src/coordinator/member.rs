//! A worker as the coordinator knows it.

use crate::depot::{Depot, Made};
use crate::hall::{Connection, Offer, Outbox};
use crate::lease::WorkerId;
use crate::wire::Readiness;
use serde_json::{Map, Value as Json};

/// A worker as the coordinator knows it.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) outbox: Outbox,
    pub(super) offer: Box<Offer>,
    /// Its id among the leases, once it is ready to measure.
    pub(super) id: Option<WorkerId>,
    /// Its id among the leases for compiling, once it is ready to compile.
    pub(super) compiler: Option<WorkerId>,
    /// A digest of the instructions that its processor knows.
    pub(super) instructions: String,
    /// The parcels that it has.
    pub(super) sent: Depot<()>,
    /// Its words if it is ready to compile, until somebody is ready to measure.
    pub(super) readiness: Option<Readiness>,
    /// Its words if it is ready and its pool does not have its turn.
    pub(super) waiting: Option<Waiting>,
}

/// The words of a worker that is ready, while it waits for its pool.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) identity: Map<String, Json>,
    pub(super) problem: String,
    pub(super) space: String,
}

impl Member {
    /// Creates a worker that is not ready yet.
    pub(super) fn new(connection: Connection, offer: Box<Offer>) -> Self {
        Self {
            name: format!("worker {connection} ({}, process {})", offer.who.host, offer.who.process),
            outbox: offer.outbox.clone(),
            offer,
            id: None,
            compiler: None,
            instructions: String::new(),
            sent: Depot::of_worker(),
            readiness: None,
            waiting: None,
        }
    }

    /// Sends machine code that the worker does not have yet. Returns its digest.
    pub(super) fn send_code(&mut self, made: Made) -> String {
        let digest = made.digest.clone();
        if self.sent.get(&digest).is_none() {
            self.sent.add(&digest, made.content.len() as u64, ());
            self.outbox.send_content(made);
        }
        digest
    }
}
