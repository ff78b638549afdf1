//! Memory of a session between two guard zones.

use std::ops::Range;
use tunesmith_backend::{BufferId, Fault, LaunchArgument, PIECE, Pixels, Session};
use tunesmith_kernel::Memory;

/// The smallest guard zone in bytes. It is one page, so that the memory begins on a page. An index
/// that is off by a row of a thousand floats still hits the zone.
const LEAST_ZONE: usize = 4096;

/// The byte that fills the zones. Read as a float it is a huge negative number, and as a signed
/// integer a negative one. Kernels rarely write either.
const CANARY: u8 = 0xDB;

/// Memory between two guard zones.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) id: BufferId,
    /// The size of each zone in bytes.
    zone: usize,
    capacity: usize,
    /// The number of bytes between the zones. The zone behind them begins here.
    pub(super) bytes: usize,
}

/// The properties of memory that is allocated.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) name: &'a str,
    pub(super) align: usize,
    /// True if the contents stay when the memory is placed elsewhere.
    pub(super) keeps: bool,
    pub(super) memory: Memory,
}

impl Block {
    /// Allocates `bytes` between zones. Takes smaller zones where memory is scarce.
    pub(super) fn allocate(session: &mut dyn Session, bytes: usize, wanted: Wanted<'_>) -> Result<Self, Fault> {
        let Wanted { name, align, keeps, memory } = wanted;
        let zone = match memory {
            Memory::Global => session.guard_zone().max(LEAST_ZONE),
            // Devices have little of it.
            Memory::Constant => LEAST_ZONE,
            // Kernels cannot write beside an image.
            Memory::Image(_) => LEAST_ZONE,
        };
        let mut allocate = |zone: usize| {
            let id = session.allocate(bytes.saturating_add(2 * zone), memory)?;
            session.describe(id, name, align, keeps)?;
            Ok(Self { id, zone, capacity: bytes, bytes })
        };
        match allocate(zone) {
            Err(_) if zone > LEAST_ZONE => allocate(LEAST_ZONE),
            block => block,
        }
    }

    /// Returns the same memory for `bytes`, or other memory if there is not enough of it.
    pub(super) fn resized(
        block: Option<Self>,
        session: &mut dyn Session,
        bytes: usize,
        wanted: Wanted<'_>,
    ) -> Result<Self, Fault> {
        match block {
            Some(block) if block.capacity >= bytes => Ok(Self { bytes, ..block }),
            _ => Self::allocate(session, bytes, wanted),
        }
    }

    /// Returns the memory in the form of a launch.
    pub(super) fn argument(&self) -> LaunchArgument {
        LaunchArgument::Buffer { id: self.id, offset: self.zone, bytes: self.bytes }
    }

    /// Returns the memory in the form of a launch, as the pixels of an image.
    pub(super) fn image(&self, pixels: Pixels) -> LaunchArgument {
        LaunchArgument::Image { id: self.id, offset: self.zone, pixels }
    }

    /// Fills the zones.
    pub(super) fn guard(&self, session: &mut dyn Session) -> Result<(), Fault> {
        let canaries = vec![CANARY; self.zone];
        [0, self.zone + self.bytes].into_iter().try_for_each(|zone| session.write(self.id, zone, &canaries))
    }

    /// Returns the place of a stray write, in bytes from the start of the memory: the first behind
    /// its end, or else the last before its start.
    pub(super) fn stray_write(&self, session: &mut dyn Session) -> Result<Option<i64>, Fault> {
        let (mut before, mut behind) = (None, None);
        let mut at = 0;
        session.view(self.id, 0..self.zone, &mut |bytes| {
            before = last_spoilt(bytes).map(|place| at + place).or(before);
            at += bytes.len();
        })?;
        let end = self.zone + self.bytes;
        let mut at = self.bytes;
        session.view(self.id, end..end + self.zone, &mut |bytes| {
            behind = behind.or_else(|| first_spoilt(bytes).map(|place| at + place));
            at += bytes.len();
        })?;
        Ok(behind.map(|place| place as i64).or_else(|| before.map(|place| place as i64 - self.zone as i64)))
    }

    /// Shows a range of the memory, piece by piece, in order.
    pub(super) fn view(
        &self,
        session: &mut dyn Session,
        range: Range<usize>,
        see: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Fault> {
        session.view(self.id, self.zone + range.start..self.zone + range.end, see)
    }

    /// Writes bytes from `offset` on.
    pub(super) fn write(&self, session: &mut dyn Session, offset: usize, bytes: &[u8]) -> Result<(), Fault> {
        session.write(self.id, self.zone + offset, bytes)
    }

    /// Fills the memory with repetitions of `lane`.
    pub(super) fn fill(&self, session: &mut dyn Session, lane: &[u8]) -> Result<(), Fault> {
        let piece = lane.repeat(PIECE.min(self.bytes).div_ceil(lane.len()));
        for (offset, length) in pieces(self.bytes) {
            self.write(session, offset, &piece[..length])?;
        }
        Ok(())
    }

    /// Allocates room for a copy of the memory at the same place.
    pub(super) fn allocate_copy(&self, session: &mut dyn Session, memory: Memory) -> Result<BufferId, Fault> {
        session.allocate(self.capacity + self.zone, memory)
    }

    /// Copies the memory from one of two buffers to the other.
    pub(super) fn copy(&self, session: &mut dyn Session, from: BufferId, to: BufferId) -> Result<(), Fault> {
        session.copy(from, to, self.zone, self.bytes)
    }
}

/// An intact part of a zone. Parts are compared as a whole: a search byte by byte took 8 % of a run.
static INTACT: [u8; LEAST_ZONE] = [CANARY; LEAST_ZONE];

/// Returns the place of the first byte that is none of an intact zone.
fn first_spoilt(bytes: &[u8]) -> Option<usize> {
    let part = bytes.chunks(INTACT.len()).position(is_spoilt)? * INTACT.len();
    bytes[part..].iter().position(|byte| *byte != CANARY).map(|place| part + place)
}

/// Returns the place of the last byte that is none of an intact zone.
fn last_spoilt(bytes: &[u8]) -> Option<usize> {
    let part = bytes.chunks(INTACT.len()).rposition(is_spoilt)? * INTACT.len();
    let end = bytes.len().min(part + INTACT.len());
    bytes[part..end].iter().rposition(|byte| *byte != CANARY).map(|place| part + place)
}

fn is_spoilt(part: &[u8]) -> bool {
    part != &INTACT[..part.len()]
}

/// Returns the offsets and lengths of the pieces of a buffer.
pub(super) fn pieces(bytes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..bytes).step_by(PIECE).map(move |offset| (offset, PIECE.min(bytes - offset)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_and_the_last_spoilt_byte_are_found_wherever_they_are(
            length in 0..3 * LEAST_ZONE, places in proptest::collection::vec(any::<prop::sample::Index>(), 0..3),
        ) {
            let mut zone = vec![CANARY; length];
            if length > 0 {
                places.iter().for_each(|place| zone[place.index(length)] ^= 1);
            }
            let spoilt = |byte: &u8| *byte != CANARY;
            prop_assert_eq!(first_spoilt(&zone), zone.iter().position(spoilt));
            prop_assert_eq!(last_spoilt(&zone), zone.iter().rposition(spoilt));
        }
    }
}
