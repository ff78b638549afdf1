//! The memory of a scripted device.

use crate::backends::gpu::native::{Address, ErrorKind};
use std::collections::BTreeMap;

/// The address of the first block. It is too large to be mistaken for another number.
const FIRST: u64 = 0x7_0000_0000;

/// Blocks of memory by address, with gaps between them.
pub(super) struct DeviceMemory {
    blocks: BTreeMap<u64, Vec<u8>>,
    next: u64,
    free: usize,
}

impl DeviceMemory {
    /// Creates a memory of `bytes` bytes.
    pub(super) fn new(bytes: usize) -> Self {
        Self { blocks: BTreeMap::new(), next: FIRST, free: bytes }
    }

    pub(super) fn allocate(&mut self, bytes: usize) -> Result<Address, ErrorKind> {
        self.free = self.free.checked_sub(bytes).ok_or(ErrorKind::OutOfMemory)?;
        let address = self.next;
        self.blocks.insert(address, vec![0; bytes]);
        self.next += (bytes as u64 + 1).next_multiple_of(1 << 16);
        Ok(Address(address))
    }

    /// Returns the bytes at an address. All of them must be in one block.
    pub(super) fn at(&mut self, address: Address, bytes: usize) -> Result<&mut [u8], ErrorKind> {
        let found = self.blocks.range_mut(..=address.0).next_back();
        let slice = found.and_then(|(start, block)| {
            let offset = usize::try_from(address.0 - start).ok()?;
            block.get_mut(offset..offset.checked_add(bytes)?)
        });
        slice.ok_or(ErrorKind::InvalidValue)
    }

    /// Returns all blocks with their addresses, in the order of these.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.blocks.iter().map(|(address, block)| (*address, block.as_slice()))
    }

    /// Replaces the contents of all blocks, in the order of their addresses. Returns false if `contents`
    /// has another size.
    pub(super) fn replace(&mut self, contents: &[u8]) -> bool {
        let mut rest = contents;
        for block in self.blocks.values_mut() {
            let Some((own, others)) = rest.split_at_checked(block.len()) else { return false };
            block.copy_from_slice(own);
            rest = others;
        }
        rest.is_empty()
    }

    pub(super) fn copy(&mut self, from: Address, to: Address, bytes: usize) -> Result<(), ErrorKind> {
        let data = self.at(from, bytes)?.to_vec();
        self.at(to, bytes)?.copy_from_slice(&data);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_must_lie_within_one_block() {
        let mut memory = DeviceMemory::new(100);
        let (a, b) = (memory.allocate(60).unwrap(), memory.allocate(40).unwrap());
        assert_eq!(memory.allocate(1), Err(ErrorKind::OutOfMemory));
        memory.at(a.add(59), 1).unwrap()[0] = 7;
        memory.copy(a.add(50), b.add(30), 10).unwrap();
        assert_eq!(memory.at(b.add(39), 1).unwrap()[0], 7);
        for (address, bytes) in [(a, 61), (a.add(60), 1), (Address(FIRST - 1), 1), (b.add(39), 2)] {
            assert_eq!(memory.at(address, bytes), Err(ErrorKind::InvalidValue));
        }
    }
}
