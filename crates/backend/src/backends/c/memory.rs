//! Memory that kernels in this process read and write, between areas that nobody may touch.

#![allow(unsafe_code)]

use crate::backends::Placement;
use nix::libc::{
    _SC_PAGESIZE, MAP_ANONYMOUS, MAP_FAILED, MAP_NORESERVE, MAP_PRIVATE, PROT_NONE, PROT_READ, PROT_WRITE, mmap,
    mprotect, munmap, sysconf,
};
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::slice;

/// The bytes on each side of a buffer that its users see as part of it, to look for stray writes.
/// Where nobody may touch them, they read as [`CANARY`].
pub(super) const ZONE: usize = 4096;

/// The byte that fills the memory around a buffer.
const CANARY: u8 = 0xDB;

/// The least size in bytes of the areas before and behind a buffer. An access there ends the
/// process.
const GUARD: usize = 1 << 20;

/// The alignment in bytes of the memory between the areas. It is that of large pages, so that a
/// buffer lies on them in every worker or in none.
const ALIGNMENT: usize = 2 << 20;

/// The most bytes of a buffer that is kept at both placements.
const MOST_TWICE: usize = 1 << 30;

/// A buffer whose address a kernel knows, between areas that nobody may touch.
///
/// Kernels run only within [`CSession::launch`](super::CSession), which borrows the session
/// mutably. No slice of a buffer therefore exists while a kernel changes it.
pub(super) struct Block {
    /// The memory of the buffer. A buffer that keeps its contents has two: one for each placement.
    mappings: Vec<Mapping>,
    placement: Placement,
    /// The number of bytes between the zones.
    bytes: usize,
    /// The size of the zones in bytes.
    zone: usize,
    align: usize,
    /// True if the contents stay when the buffer is placed elsewhere.
    keeps: bool,
    name: String,
}

/// Memory between two areas that nobody may touch.
struct Mapping {
    start: NonNull<u8>,
    length: usize,
    /// The accessible bytes, counted from `start`.
    room: Range<usize>,
    /// The first byte of the buffer's data, counted from the start of the room.
    data: usize,
}

impl Block {
    /// Creates a zeroed buffer of `bytes` bytes, zones included. Returns `None` if there is not
    /// enough memory.
    pub(super) fn new(bytes: usize) -> Option<Self> {
        let zone = if bytes > 2 * ZONE { ZONE } else { 0 };
        let bytes = bytes - 2 * zone;
        let mapping = Mapping::new(bytes, 1)?;
        let (mappings, placement) = (vec![mapping], Placement::Aligned);
        Some(Self { mappings, placement, bytes, zone, align: 1, keeps: false, name: String::new() })
    }

    /// Describes the buffer: its name, its alignment in bytes, and whether it keeps its contents
    /// when it is placed elsewhere. Its present contents are lost. Returns `None` if there is not
    /// enough memory.
    pub(super) fn describe(&mut self, name: &str, align: usize, keeps: bool) -> Option<()> {
        let count = if keeps && self.bytes <= MOST_TWICE { 2 } else { 1 };
        let align = align.clamp(1, ALIGNMENT / 2).next_power_of_two();
        let mut mappings = Vec::with_capacity(count);
        for placement in [Placement::Aligned, Placement::AtEnd].into_iter().take(count) {
            let mut mapping = Mapping::new(self.bytes, align)?;
            mapping.place(self.bytes, align, placement);
            mappings.push(mapping);
        }
        (self.mappings, self.align, self.keeps, self.name) = (mappings, align, keeps, name.to_owned());
        Some(())
    }

    /// Places the buffer. Its contents are lost, unless it keeps them.
    pub(super) fn place(&mut self, placement: Placement) {
        self.placement = placement;
        let (bytes, align) = (self.bytes, self.align);
        if let ([mapping], false) = (self.mappings.as_mut_slice(), self.keeps) {
            mapping.place(bytes, align, placement);
        }
    }

    fn current(&self) -> &Mapping {
        match (self.placement, self.mappings.as_slice()) {
            (Placement::AtEnd, [_, at_end, ..]) => at_end,
            (_, mappings) => &mappings[0],
        }
    }

    /// Writes to the buffer from `offset` on, at both places if it keeps its contents.
    pub(super) fn write(&mut self, offset: usize, data: &[u8]) {
        let zone = self.zone;
        for mapping in &mut self.mappings {
            let (skipped, place) = mapping.accessible(offset, data.len(), zone);
            let length = place.len();
            mapping.bytes_mut()[place].copy_from_slice(&data[skipped..skipped + length]);
        }
    }

    /// Reads the buffer from `offset` on.
    pub(super) fn read(&self, offset: usize, into: &mut [u8]) {
        let mut at = 0;
        self.view(offset..offset + into.len(), &mut |piece| {
            into[at..at + piece.len()].copy_from_slice(piece);
            at += piece.len();
        });
    }

    /// Shows a range of the buffer, piece by piece. What nobody may touch looks untouched.
    pub(super) fn view(&self, range: Range<usize>, see: &mut dyn FnMut(&[u8])) {
        let mapping = self.current();
        let (skipped, place) = mapping.accessible(range.start, range.len(), self.zone);
        let behind = range.len() - skipped - place.len();
        let pieces = [&vec![CANARY; skipped], &mapping.bytes()[place], &vec![CANARY; behind]];
        pieces.into_iter().filter(|piece| !piece.is_empty()).for_each(see);
    }

    /// Returns the address of the byte at `offset`, for kernels.
    pub(super) fn address(&self, offset: usize) -> *mut c_void {
        let mapping = self.current();
        mapping.address().wrapping_add(mapping.data).wrapping_add(offset).wrapping_sub(self.zone).cast()
    }

    /// Returns the addresses that nobody may touch before and behind the buffer, and those of its
    /// data.
    pub(super) fn guards(&self) -> ([Range<usize>; 2], Range<usize>) {
        let mapping = self.current();
        let (start, data) = (mapping.start.as_ptr() as usize, mapping.address() as usize + mapping.data);
        let before = start..start + mapping.room.start;
        ([before, start + mapping.room.end..start + mapping.length], data..data + self.bytes)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Reads every cache line of a buffer that keeps its contents, so that the caches hold what
    /// fits of it wherever it lies.
    pub(super) fn warm(&self) {
        if self.mappings.len() > 1 {
            let sum = self.current().bytes().iter().step_by(64).fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
            std::hint::black_box(sum);
        }
    }
}

impl Mapping {
    fn new(bytes: usize, align: usize) -> Option<Self> {
        // SAFETY: asks for a number.
        let page = usize::try_from(unsafe { sysconf(_SC_PAGESIZE) }).ok()?.max(1);
        // Room for the buffer at any multiple of its alignment that its placements choose.
        let room = bytes.checked_add(2 * align)?.checked_next_multiple_of(page)?;
        let length = room.checked_add(2 * GUARD + ALIGNMENT)?.checked_next_multiple_of(page)?;
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        // SAFETY: asks for new memory at any address.
        let start = unsafe { mmap(ptr::null_mut(), length, PROT_NONE, flags, -1, 0) };
        if start == MAP_FAILED {
            return None;
        }
        let start = NonNull::new(start.cast::<u8>())?;
        let first = (start.as_ptr() as usize + GUARD).checked_next_multiple_of(ALIGNMENT)? - start.as_ptr() as usize;
        let mapping = Self { start, length, room: first..first + room, data: 0 };
        // SAFETY: the range lies within the new memory, and begins and ends on a page.
        let opened = unsafe { mprotect(mapping.address().cast(), room, PROT_READ | PROT_WRITE) };
        (opened == 0).then_some(mapping)
    }

    /// Places data of `bytes` bytes, and fills the rest of the room with canaries.
    fn place(&mut self, bytes: usize, align: usize, placement: Placement) {
        self.data = match placement {
            // A multiple of the alignment, but not of twice as much.
            Placement::Aligned => align,
            Placement::AtEnd => (self.room.len() - bytes) / align * align,
        };
        let data = self.data..self.data + bytes;
        let room = self.bytes_mut();
        room[..data.start].fill(CANARY);
        room[data.end..].fill(CANARY);
    }

    /// Returns the accessible part of `length` bytes of a buffer from `offset` on: the number of
    /// bytes before it, and its place in the room.
    fn accessible(&self, offset: usize, length: usize, zone: usize) -> (usize, Range<usize>) {
        // The room's first byte is this byte of the buffer or, with a zone that does not fit, one
        // before.
        let skipped = zone.saturating_sub(self.data + offset).min(length);
        let start = (self.data + offset + skipped).saturating_sub(zone).min(self.room.len());
        (skipped, start..(start + length - skipped).min(self.room.len()))
    }

    fn address(&self) -> *mut u8 {
        self.start.as_ptr().wrapping_add(self.room.start)
    }

    /// Returns all accessible bytes.
    fn bytes(&self) -> &[u8] {
        // SAFETY: the room is mapped, readable and initialised, because the system zeroes memory.
        // `&self` keeps kernels from running and `bytes_mut` from being called.
        unsafe { slice::from_raw_parts(self.address(), self.room.len()) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`, and `&mut self` makes this the only slice.
        unsafe { slice::from_raw_parts_mut(self.address(), self.room.len()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped with this length and not unmapped before.
        unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(bytes: usize, align: usize, keeps: bool) -> Block {
        let mut block = Block::new(bytes + 2 * ZONE).unwrap();
        block.describe("a", align, keeps).unwrap();
        block
    }

    fn data_of(block: &Block, bytes: usize) -> Vec<u8> {
        let mut data = vec![0; bytes];
        block.read(ZONE, &mut data);
        data
    }

    proptest! {
        #[test]
        fn a_buffer_lies_at_its_alignment_and_no_more_or_ends_at_the_guard(
            bytes in 1_usize..300_000,
            shift in 0_u32..13,
            keeps: bool,
        ) {
            let align = 1 << shift;
            let mut block = block(bytes, align, keeps);
            let data: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
            block.write(ZONE, &data);
            for placement in [Placement::Aligned, Placement::AtEnd, Placement::Aligned] {
                block.place(placement);
                if !keeps {
                    block.write(ZONE, &data);
                }
                prop_assert_eq!(&data_of(&block, bytes), &data);
                let ([before, behind], own) = block.guards();
                prop_assert!(before.len() >= GUARD && behind.len() >= GUARD && own.len() == bytes);
                prop_assert_eq!(own.start, block.address(ZONE) as usize);
                match placement {
                    Placement::Aligned => prop_assert_eq!(own.start % (2 * align), align),
                    Placement::AtEnd => {
                        prop_assert_eq!(own.start % align, 0);
                        prop_assert!(behind.start - own.end < align);
                    }
                }
            }
        }

        #[test]
        fn zones_are_canaries_that_can_be_spoilt_where_they_exist(
            bytes in 1_usize..10_000,
            at_end: bool,
            offset in 0_usize..2 * ZONE,
        ) {
            let mut block = block(bytes, 64, false);
            block.place(if at_end { Placement::AtEnd } else { Placement::Aligned });
            // The byte at `offset` of the zone before, or else of the zone behind.
            let at = if offset < ZONE { offset } else { bytes + offset };
            block.write(at, &[0]);
            let mut all = vec![0; bytes + 2 * ZONE];
            block.read(0, &mut all);
            let zones = all[..ZONE].iter().chain(&all[ZONE + bytes..]);
            let spoilt = zones.filter(|byte| **byte != CANARY).count();
            let ([before, behind], own) = block.guards();
            let address = (own.start + at).wrapping_sub(ZONE);
            let exists = !before.contains(&address) && !behind.contains(&address);
            prop_assert_eq!(spoilt, usize::from(exists));
            let mut seen = Vec::<u8>::new();
            block.view(0..all.len(), &mut |piece| seen.extend(piece));
            prop_assert_eq!(seen, all);
        }
    }
}
