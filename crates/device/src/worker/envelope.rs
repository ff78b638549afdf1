//! The envelope of every message: the number of its job, and a number that nobody outside can
//! guess. A message travels in packets, each with the envelope.
//!
//! A kernel can fork, and its child can run on as if it were the worker. It can also write into
//! every descriptor that it finds. The envelope tells the worker's messages about the present job
//! from all others.

use tunesmith_backend::host::MOST;

/// The job of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Envelope {
    /// The number of the job, counted from 1 for each worker.
    pub(crate) job: u64,
    /// The job's random number.
    pub(crate) nonce: u64,
}

/// The bytes before the contents of a packet: the job, its random number, and the packet's place in
/// the message.
const HEAD: usize = 20;

/// The mark of a message's last packet, in its place.
const LAST: u32 = 1 << 31;

/// The most bytes of a message. The logs of compilers are the longest.
const MOST_OF_A_MESSAGE: usize = 64 << 20;

impl Envelope {
    /// Returns the packets of a message.
    pub(crate) fn packets(self, message: &[u8]) -> Vec<Vec<u8>> {
        let pieces: Vec<&[u8]> = message.chunks(MOST - HEAD).collect();
        let last = pieces.len().saturating_sub(1);
        let packet = |(place, piece): (usize, &&[u8])| {
            let mark = u32::try_from(place).unwrap_or(LAST - 1) | if place == last { LAST } else { 0 };
            let mut packet = Vec::with_capacity(HEAD + piece.len());
            packet.extend(self.job.to_le_bytes());
            packet.extend(self.nonce.to_le_bytes());
            packet.extend(mark.to_le_bytes());
            packet.extend(*piece);
            packet
        };
        pieces.iter().enumerate().map(packet).collect()
    }

    /// Returns the envelope of a packet. Returns `None` if the packet has none.
    pub(crate) fn of(packet: &[u8]) -> Option<Self> {
        let number = |at: usize| Some(u64::from_le_bytes(packet.get(at..at + 8)?.try_into().ok()?));
        (packet.len() > HEAD).then_some(Self { job: number(0)?, nonce: number(8)? })
    }
}

/// A message of which some packets may be missing. All packets come from one sender, in order.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    message: Vec<u8>,
    packets: u32,
}

impl Assembly {
    /// Adds the next packet of a message with its envelope. Returns the message if this was its
    /// last packet. A packet out of order discards the message.
    pub(crate) fn add(&mut self, packet: &[u8]) -> Option<Vec<u8>> {
        let mark = u32::from_le_bytes(packet.get(HEAD - 4..HEAD)?.try_into().ok()?);
        if mark & !LAST != self.packets || self.message.len() > MOST_OF_A_MESSAGE {
            *self = Self::default();
            return None;
        }
        self.message.extend(&packet[HEAD..]);
        self.packets += 1;
        (mark & LAST != 0).then(|| std::mem::take(self).message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ENVELOPE: Envelope = Envelope { job: 7, nonce: 0x1234_5678_9abc_def0 };

    proptest! {
        #[test]
        fn a_message_of_any_length_arrives_whole(length in 1_usize..200_000) {
            let message: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let packets = ENVELOPE.packets(&message);
            let mut assembly = Assembly::default();
            let mut arrived: Vec<_> = packets.iter().map(|packet| assembly.add(packet)).collect();
            prop_assert!(packets.iter().all(|packet| Envelope::of(packet) == Some(ENVELOPE) && packet.len() <= MOST));
            prop_assert_eq!(arrived.pop().flatten(), Some(message));
            prop_assert!(arrived.iter().all(Option::is_none));
        }

        #[test]
        fn nothing_that_is_no_packet_is_taken_for_one(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assume!(Envelope::of(&bytes) != Some(ENVELOPE));
            prop_assert!(Envelope::of(&bytes).is_none() || bytes.len() > HEAD);
        }
    }

    #[test]
    fn a_packet_that_is_doubled_or_missing_discards_the_message_but_not_the_next_one() {
        let message = vec![1; 3 * MOST];
        let packets = ENVELOPE.packets(&message);
        let mut assembly = Assembly::default();
        for wrong in [vec![0, 0, 1, 2, 3], vec![0, 2, 3], vec![1, 2, 3]] {
            assert!(wrong.iter().all(|at: &usize| assembly.add(&packets[*at]).is_none()), "{wrong:?}");
            assembly = Assembly::default();
        }
        let arrived: Vec<_> = packets.iter().filter_map(|packet| assembly.add(packet)).collect();
        assert_eq!(arrived, [message]);
    }
}
