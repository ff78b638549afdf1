//! The seam between the tuner and the operating system's processes. The tuner's side of a worker
//! uses only these traits, so that a simulation can take the place of the system.

use crate::host::WorkerCommand;
use crate::host::channel::Packet;
use std::fmt::Debug;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

/// Starts processes.
pub trait Processes: Debug + Send + Sync {
    /// Starts a worker.
    ///
    /// # Errors
    /// The program cannot be started, or the system has no process or descriptor left.
    fn start(&self, command: &WorkerCommand) -> io::Result<Box<dyn Process>>;

    /// Returns a number that no other process can guess.
    fn nonce(&self) -> u64;
}

/// A started process, and the process that it forked for the present job. Dropping this value ends
/// both.
pub trait Process: Debug + Send {
    /// Returns the id of the started process. It belongs to no other process until
    /// [`end`](Self::end) is called.
    fn id(&self) -> u32;

    /// Sends a packet to the process of the present job: the one that was
    /// [adopted](Self::adopt), or else the started one.
    ///
    /// # Errors
    /// The process is gone, or does not read.
    fn send(&mut self, packet: &[u8]) -> io::Result<()>;

    /// Waits for a packet, for at most `limit`. The packets of an adopted process come before those
    /// that the started process sent after them.
    fn receive(&mut self, limit: Duration) -> Received;

    /// Makes the process that came with the last packet the process of the present job. Returns
    /// false if no process came with it.
    fn adopt(&mut self) -> bool;

    /// Returns true if the system is ending the adopted process already. It closes the connection before it takes the
    /// memory back, which takes seconds for many gigabytes. The default does not know.
    fn is_job_ending(&self) -> bool {
        false
    }

    /// Ends the adopted process by force, and forgets it. The started process ends everything
    /// that it left behind.
    fn end_job(&mut self);

    /// Forgets the adopted process. It has ended, or its messages no longer matter.
    fn forget_job(&mut self);

    /// Closes the connection, so that the process can end by itself within `patience`. Then ends
    /// it by force, with its process group. Returns its status, or `None` if it cannot be ended.
    fn end(&mut self, patience: Duration) -> Option<ExitStatus>;

    /// Returns the memory in bytes that belongs to the started process alone. Returns `None` if the
    /// process has ended, or the system does not tell.
    fn memory(&self) -> Option<u64>;

    /// Returns and forgets the end of everything that was printed so far.
    fn take_printed(&mut self) -> Vec<u8>;
}

/// The result of waiting for a packet.
#[derive(Debug)]
pub enum Received {
    /// A packet of any process that holds the connection.
    Packet(Packet),
    /// The connection of the adopted process has ended.
    JobClosed,
    /// The connection of the started process has ended.
    Closed,
    /// Nothing came in time.
    Nothing,
}
