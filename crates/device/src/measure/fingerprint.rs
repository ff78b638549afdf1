//! A fast digest of memory. It tells equal contents from others, and is not made to withstand an
//! attack: what it finds equal was compared once, and is compared again at random.

/// The digest of bytes, in any number of pieces.
///
/// Each of four lanes takes every fourth word of eight bytes. A step of a lane is a bijection of
/// its state and of the word, so a single changed word always changes the digest.
#[derive(Clone, Debug)]
pub(crate) struct Fingerprint {
    lanes: [u64; LANES],
    /// The bytes that do not fill a block yet.
    rest: [u8; BLOCK],
    held: usize,
    length: u64,
}

const LANES: usize = 4;
const BLOCK: usize = LANES * 8;

/// An odd number with well-mixed bits: 2^64 divided by the golden ratio.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

impl Default for Fingerprint {
    fn default() -> Self {
        Self { lanes: [1, 2, 3, 4], rest: [0; BLOCK], held: 0, length: 0 }
    }
}

impl Fingerprint {
    /// Adds the next bytes.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        let bytes = self.fill_rest(bytes);
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        let mut lanes = self.lanes;
        for block in blocks {
            mix(&mut lanes, block);
        }
        self.lanes = lanes;
        self.rest[self.held..self.held + rest.len()].copy_from_slice(rest);
        self.held += rest.len();
    }

    /// Completes the block that an earlier piece began. Returns the bytes that are left.
    fn fill_rest<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if self.held == 0 {
            return bytes;
        }
        let (more, left) = bytes.split_at(bytes.len().min(BLOCK - self.held));
        self.rest[self.held..self.held + more.len()].copy_from_slice(more);
        self.held += more.len();
        if self.held == BLOCK {
            mix(&mut self.lanes, &self.rest);
            self.held = 0;
        }
        left
    }

    /// Returns the digest of all bytes in order.
    pub(crate) fn digest(mut self) -> u64 {
        self.rest[self.held..].fill(0);
        mix(&mut self.lanes, &self.rest);
        let all = self.lanes.into_iter().fold(self.length, step);
        step(all ^ (all >> 32), all)
    }
}

/// Adds a block to the lanes. Release builds optimise this package little, and leave calls of iterators in the loop.
#[inline(always)]
fn mix(lanes: &mut [u64; LANES], block: &[u8; BLOCK]) {
    let &[a, b, c, d] = block.as_chunks::<8>().0 else { return };
    lanes[0] = step(lanes[0], u64::from_le_bytes(a));
    lanes[1] = step(lanes[1], u64::from_le_bytes(b));
    lanes[2] = step(lanes[2], u64::from_le_bytes(c));
    lanes[3] = step(lanes[3], u64::from_le_bytes(d));
}

#[inline(always)]
fn step(state: u64, word: u64) -> u64 {
    (state ^ word).wrapping_mul(MULTIPLIER).rotate_left(29).wrapping_add(MULTIPLIER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(pieces: &[&[u8]]) -> u64 {
        let mut fingerprint = Fingerprint::default();
        pieces.iter().for_each(|piece| fingerprint.add(piece));
        fingerprint.digest()
    }

    proptest! {
        #[test]
        fn pieces_of_any_length_have_the_digest_of_the_whole(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            cuts in proptest::collection::vec(0..300_usize, 0..5),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut start = 0;
            for cut in cuts {
                pieces.push(&bytes[start..cut]);
                start = cut;
            }
            pieces.push(&bytes[start..]);
            prop_assert_eq!(of(&pieces), of(&[&bytes]));
        }

        #[test]
        fn one_changed_byte_always_changes_the_digest(
            bytes in proptest::collection::vec(any::<u8>(), 1..300),
            at in any::<prop::sample::Index>(),
            by in 1..=255_u8,
        ) {
            let mut changed = bytes.clone();
            changed[at.index(bytes.len())] ^= by;
            prop_assert_ne!(of(&[&changed]), of(&[&bytes]));
        }
    }

    #[test]
    fn lengths_and_orders_count() {
        assert_ne!(of(&[&[0; 31]]), of(&[&[0; 32]]));
        assert_ne!(of(&[&[]]), of(&[&[0]]));
        let (a, b) = ([1_u8; 32], [2_u8; 32]);
        assert_ne!(of(&[&a, &b]), of(&[&b, &a]));
    }
}
