//! An entrance for fuzzing (bench/fuzz): a parser that no other crate calls, with its oracle. It exists only with
//! `--cfg fuzzing`.

use crate::ElementType;
use crate::data::npy::NpyHeader;

/// Reads the header of an `.npy` file, and compares it with every element type.
///
/// # Panics
/// The header is accepted for a buffer of another size.
pub fn npy(input: &[u8]) {
    let mut rest = input;
    let Ok(header) = NpyHeader::read(&mut rest) else { return };
    assert!(input.ends_with(rest) && rest.len() + 10 <= input.len(), "the data begin within the header");
    for element in ElementType::all() {
        for shape in [&header.shape[..], &header.shape[..header.shape.len().saturating_sub(1)], &[], &[7]] {
            let Ok(lanes) = header.check(element, shape) else { continue };
            assert!(lanes == element.lanes() || lanes == element.stored_lanes());
            // The size may exceed 64 bits, and extents of 0 hide that: the rest is compared modulo 2^64.
            let stated = shape.iter().fold(lanes as u64, |all, extent| all.wrapping_mul(*extent));
            let found = header.shape.iter().fold(1, |all: u64, extent| all.wrapping_mul(*extent));
            assert_eq!(stated, found, "{element} of {shape:?} is accepted");
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn headers_pass_their_oracle() {
        let header = b"\x93NUMPY\x01\x00\x3e\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \ndata";
        for text in [b"".as_slice(), header] {
            super::npy(text);
        }
    }
}
