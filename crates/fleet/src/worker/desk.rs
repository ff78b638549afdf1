//! The messages of the coordinator to a worker, and the worker's wish to stop.

use super::{Served, ServedUntil, WorkerOptions};
use crate::FleetError;
use crate::depot::{Depot, Made};
use crate::secure::Listening;
use crate::threads::{self, caught};
use crate::wire::{FROM_COORDINATOR, FromCoordinator, Parcel, hear, read_parcel};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tunesmith_core::Interrupt;

/// Time between looks at the interrupt.
const LOOK: Duration = Duration::from_millis(50);

/// The work of the thread that listens.
const PURPOSE: &str = "hears the coordinator";

/// The reason why the coordinator is gone.
type Gone = Arc<Mutex<Option<ServedUntil>>>;

/// A message of the coordinator.
#[derive(Debug)]
enum Heard {
    Message(FromCoordinator),
    Parcel(Made),
}

/// Reads a message, and the content that follows it.
fn hear_next(listening: &mut Listening) -> Result<Heard, FleetError> {
    match hear(listening, FROM_COORDINATOR)? {
        FromCoordinator::Content { digest, bytes } => {
            let content = read_parcel(listening, &Parcel { digest: digest.clone(), bytes })?;
            Ok(Heard::Parcel(Made { digest, content: Arc::new(content) }))
        }
        message => Ok(Heard::Message(message)),
    }
}

/// Starts the thread that listens to the coordinator. It raises `interrupt` when the coordinator ends
/// the run or vanishes.
fn listen(mut listening: Listening, interrupt: &Interrupt) -> Result<(Receiver<Heard>, Gone), FleetError> {
    let (heard, messages) = mpsc::channel();
    let gone = Gone::default();
    let (interrupt, end) = (interrupt.clone(), Arc::clone(&gone));
    let listen = move || {
        // `heard` outlives this: whoever notices that no message will come must find the reason.
        let hear_all = || {
            loop {
                match hear_next(&mut listening) {
                    Ok(Heard::Message(FromCoordinator::End { reason: None })) => break ServedUntil::Over,
                    Ok(Heard::Message(FromCoordinator::End { reason: Some(reason) })) => {
                        break ServedUntil::SetAside(reason);
                    }
                    Ok(message) => {
                        let _ = heard.send(message);
                    }
                    Err(error) => break ServedUntil::Gone(error.to_string()),
                }
            }
        };
        end_with(hear_all, &end, &interrupt);
    };
    threads::start(PURPOSE, listen, drop)?;
    Ok((messages, gone))
}

/// Keeps the reason why `hear_all` ended, and ends the worker. The coordinator of a worker that hears it no more is
/// gone, too.
fn end_with(hear_all: impl FnOnce() -> ServedUntil, end: &Mutex<Option<ServedUntil>>, interrupt: &Interrupt) {
    let reason = caught(PURPOSE, hear_all).unwrap_or_else(ServedUntil::Gone);
    *end.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    interrupt.raise();
}

/// The messages that come in, and the wish to stop.
pub(super) struct Desk<'a> {
    heard: Receiver<Heard>,
    gone: Gone,
    /// The parcels that came, for leases that name them.
    parcels: Depot<Arc<Vec<u8>>>,
    pub(super) interrupt: &'a Interrupt,
    options: &'a WorkerOptions,
}

impl<'a> Desk<'a> {
    /// Starts to listen.
    pub(super) fn open(
        listening: Listening,
        interrupt: &'a Interrupt,
        options: &'a WorkerOptions,
    ) -> Result<Self, FleetError> {
        let (heard, gone) = listen(listening, interrupt)?;
        Ok(Self { heard, gone, parcels: Depot::of_worker(), interrupt, options })
    }

    /// Waits for a message, for a moment at most. Keeps parcels. Returns `None` if none came.
    pub(super) fn next_within(&mut self, most: Duration) -> Option<FromCoordinator> {
        loop {
            match self.heard.recv_timeout(most) {
                Ok(Heard::Message(message)) => return Some(message),
                Ok(Heard::Parcel(Made { digest, content })) => {
                    let bytes = content.len() as u64;
                    self.parcels.add(&digest, bytes, content);
                }
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => {
                    // The listening thread raises the interrupt before it ends.
                    self.interrupt.raise();
                    return None;
                }
            }
        }
    }

    /// Waits for a message. Returns `None` if the worker is to end.
    pub(super) fn next(&mut self) -> Option<FromCoordinator> {
        while !self.interrupt.is_raised() {
            if let Some(message) = self.next_within(LOOK) {
                return Some(message);
            }
        }
        None
    }

    /// Returns the parcel with this digest, if it came and is still here.
    pub(super) fn parcel(&self, digest: &str) -> Option<&Arc<Vec<u8>>> {
        self.parcels.get(digest)
    }

    pub(super) fn ended(&self, answers: u64) -> Served {
        let gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Served { answers, ending: gone.unwrap_or(ServedUntil::Interrupted) }
    }

    /// Waits as long as the options say.
    pub(super) fn pause(&self) {
        let mut left = self.options.pause;
        while !left.is_zero() && !self.interrupt.is_raised() {
            let step = left.min(LOOK);
            thread::sleep(step);
            left -= step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_whose_listener_panics_ends_and_says_so() {
        let (end, interrupt) = (Mutex::default(), Interrupt::default());
        end_with(|| panic!("a message of length -1"), &end, &interrupt);
        let expected = "the thread that hears the coordinator failed: a message of length -1; this is a bug";
        assert_eq!(end.into_inner().unwrap(), Some(ServedUntil::Gone(expected.to_string())));
        assert!(interrupt.is_raised());
    }
}
