//! The worker's end of its connection to the tuner.

use crate::worker::bench::Tuner;
use crate::worker::envelope::{Assembly, Envelope};
use crate::worker::protocol::{Message, Phase, Request};
use std::fmt::Debug;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use tunesmith_backend::host::{Channel, Packet};
use tunesmith_backend::leave;

/// Carries packets to the tuner and back.
pub(crate) trait Wire: Debug {
    /// Waits for a packet. Returns `None` if the tuner is gone.
    fn receive(&self) -> io::Result<Option<Packet>>;

    /// Sends a packet, with descriptors.
    fn send(&self, packet: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()>;

    /// Returns the connection's descriptor, if it has one.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;
}

impl Wire for Channel {
    fn receive(&self) -> io::Result<Option<Packet>> {
        Self::receive(self)
    }

    fn send(&self, packet: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        Self::send(self, packet, descriptors)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.as_fd())
    }
}

/// Receives requests, and answers each in the envelope in which it came.
#[derive(Debug)]
pub(crate) struct Link {
    wire: Box<dyn Wire>,
    envelope: Envelope,
    request: Assembly,
    /// The process that the link belongs to.
    owner: u32,
}

impl Link {
    /// Creates a link over a connection.
    pub(crate) fn new(wire: Box<dyn Wire>) -> Self {
        Self { wire, envelope: Envelope::default(), request: Assembly::default(), owner: std::process::id() }
    }

    /// Returns the same job's link over another connection.
    pub(crate) fn over(&self, wire: Box<dyn Wire>) -> Self {
        Self { envelope: self.envelope, ..Self::new(wire) }
    }

    /// Waits for the next request. Returns `None` if the tuner is gone.
    pub(crate) fn receive(&mut self) -> io::Result<Option<Request>> {
        self.leave_if_foreign();
        while let Some(packet) = self.wire.receive()? {
            let Some(envelope) = Envelope::of(&packet.bytes) else { continue };
            if envelope != self.envelope {
                (self.envelope, self.request) = (envelope, Assembly::default());
            }
            if let Some(request) = self.request.add(&packet.bytes) {
                return Ok(Some(serde_json::from_slice(&request)?));
            }
        }
        Ok(None)
    }

    /// Sends a message about the present job.
    pub(crate) fn send(&self, message: &Message) -> io::Result<()> {
        self.send_with(message, &[])
    }

    /// Sends a message about the present job, with descriptors.
    pub(crate) fn send_with(&self, message: &Message, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        self.leave_if_foreign();
        let packets = self.envelope.packets(&serde_json::to_vec(message)?);
        let last = packets.len().saturating_sub(1);
        packets
            .iter()
            .enumerate()
            .try_for_each(|(at, packet)| self.wire.send(packet, if at == last { descriptors } else { &[] }))
    }

    /// Ends this process if it does not own the link: a kernel forked it, and it returned from the
    /// kernel as the worker does. It must neither answer nor take the worker's requests.
    fn leave_if_foreign(&self) {
        if std::process::id() != self.owner {
            leave(0);
        }
    }

    /// Returns the connection's descriptor, if it has one.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.wire.descriptor()
    }
}

impl Tuner for Link {
    fn announce(&mut self, phase: Phase) {
        // If the message cannot be sent, the tuner is gone. Sending the report will find that out.
        let _ = self.send(&Message::Phase(phase));
    }

    fn judge(&mut self, launch: usize) -> Option<bool> {
        self.send(&Message::Outputs { launch }).ok()?;
        loop {
            match self.receive().ok()?? {
                Request::Verdict { launch: judged, is_right } if judged == launch => return Some(is_right),
                // It was sent twice, and answers an earlier question.
                Request::Verdict { .. } => {}
                _ => return None,
            }
        }
    }
}
