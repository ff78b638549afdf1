//! Connections between processes that keep packets apart and name the sender of each.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::sockopt::set_socket_passcred;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The largest packet in bytes. Several packets fit into the buffer of a connection.
pub const MOST: usize = 32 << 10;

/// The largest number of descriptors that come with a packet.
const DESCRIPTORS: usize = 2;

/// One end of a connection. Processes that were forked from the other end's owner may hold copies
/// of that end, but each packet names the process that sent it.
#[derive(Debug)]
pub struct Channel(OwnedFd);

/// A received packet.
#[derive(Debug)]
pub struct Packet {
    /// The contents.
    pub bytes: Vec<u8>,
    /// The id of the process that sent the packet. It comes from the operating system, not from the
    /// sender.
    pub sender: u32,
    /// The descriptors that came with the packet.
    pub descriptors: Vec<OwnedFd>,
}

impl Channel {
    /// Returns both ends of a new connection. No other program inherits them.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        for end in [&one, &other] {
            // Each packet then carries the sender's id, which the sender cannot choose.
            set_socket_passcred(end, true)?;
        }
        Ok((Self(one), Self(other)))
    }

    /// Sends a packet of at most [`MOST`] bytes. Waits while the connection is full.
    pub fn send(&self, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        self.wait_for(PollFlags::OUT, || self.send_with(bytes, descriptors, SendFlags::NOSIGNAL))
    }

    /// Sends a packet. Fails with [`io::ErrorKind::WouldBlock`] if the connection is full.
    pub fn try_send(&self, bytes: &[u8]) -> io::Result<()> {
        self.send_with(bytes, &[], SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
    }

    fn send_with(&self, bytes: &[u8], descriptors: &[BorrowedFd<'_>], flags: SendFlags) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(io::Error::other("too many descriptors for one packet"));
        }
        rustix::io::retry_on_intr(|| sendmsg(&self.0, &[IoSlice::new(bytes)], &mut ancillary, flags))?;
        Ok(())
    }

    /// Waits for the next packet. Returns `None` at the end of the connection.
    pub fn receive(&self) -> io::Result<Option<Packet>> {
        self.wait_for(PollFlags::IN, || self.receive_with(RecvFlags::empty()))
    }

    /// Tries until it need not wait. A kernel in the same process can forbid this end to wait by
    /// itself (`O_NONBLOCK`).
    fn wait_for<T>(&self, ready: PollFlags, attempt: impl Fn() -> io::Result<T>) -> io::Result<T> {
        loop {
            match attempt() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
            rustix::io::retry_on_intr(|| poll(&mut [PollFd::new(&self.0, ready)], None))?;
        }
    }

    /// Returns a packet that is there already, or an error of the kind
    /// [`io::ErrorKind::WouldBlock`].
    pub fn try_receive(&self) -> io::Result<Option<Packet>> {
        self.receive_with(RecvFlags::DONTWAIT)
    }

    fn receive_with(&self, flags: RecvFlags) -> io::Result<Option<Packet>> {
        let mut bytes = vec![0; MOST];
        loop {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS), ScmCredentials(1))];
            let mut ancillary = RecvAncillaryBuffer::new(&mut space);
            let flags = flags | RecvFlags::CMSG_CLOEXEC;
            let length = match recvmsg(&self.0, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, flags) {
                Ok(message) => message.bytes,
                Err(Errno::INTR) => continue,
                Err(Errno::CONNRESET) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            let (mut sender, mut descriptors) = (None, Vec::new());
            for message in ancillary.drain() {
                match message {
                    RecvAncillaryMessage::ScmCredentials(credentials) => sender = Some(credentials.pid),
                    RecvAncillaryMessage::ScmRights(received) => descriptors.extend(received),
                    _ => {}
                }
            }
            // The end of the connection has no sender. An empty packet has one, and says nothing.
            let Some(sender) = sender else { return Ok(None) };
            if length > 0 {
                bytes.truncate(length);
                let sender = sender.as_raw_nonzero().get().unsigned_abs();
                return Ok(Some(Packet { bytes, sender, descriptors }));
            }
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl From<OwnedFd> for Channel {
    fn from(descriptor: OwnedFd) -> Self {
        Self(descriptor)
    }
}

impl From<Channel> for OwnedFd {
    fn from(channel: Channel) -> Self {
        channel.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn packets_stay_apart_and_name_their_sender() {
        let (one, other) = Channel::pair().unwrap();
        one.send(b"first", &[]).unwrap();
        one.send(b"", &[]).unwrap();
        one.send(b"second", &[one.as_fd()]).unwrap();
        let packet = other.receive().unwrap().unwrap();
        assert_eq!((packet.bytes.as_slice(), packet.sender), (&b"first"[..], std::process::id()));
        let packet = other.receive().unwrap().unwrap();
        assert_eq!((packet.bytes.as_slice(), packet.descriptors.len()), (&b"second"[..], 1));
        assert_eq!(other.try_receive().unwrap_err().kind(), ErrorKind::WouldBlock);
    }

    #[test]
    fn a_connection_that_must_not_wait_by_itself_still_waits() {
        let (one, other) = Channel::pair().unwrap();
        rustix::io::ioctl_fionbio(&one.0, true).unwrap();
        while one.try_send(&[1; MOST]).is_ok() {}
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while other.receive().unwrap().unwrap().bytes != b"question" {}
                other.send(b"answer", &[]).unwrap();
            });
            // The connection is full, and then no answer is there yet.
            one.send(b"question", &[]).unwrap();
            assert_eq!(one.receive().unwrap().unwrap().bytes, b"answer");
        });
    }

    #[test]
    fn the_end_of_a_connection_is_no_packet_and_a_full_one_does_not_block() {
        let (one, other) = Channel::pair().unwrap();
        let full = (0..1 << 12).find_map(|_| one.try_send(&[1; MOST]).err()).unwrap();
        assert_eq!(full.kind(), ErrorKind::WouldBlock);
        drop(one);
        while other.receive().unwrap().is_some() {}
        assert!(other.receive().unwrap().is_none());
    }
}
