//! Entrances for fuzzing (bench/fuzz): parsers that no other crate calls, each with its oracle. They
//! exist only with `--cfg fuzzing`.

use crate::data::npy::NpyHeader;
use crate::problem::ElementType;
use crate::worker::envelope::{Assembly, Envelope};
use crate::worker::protocol::{Message, Request};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reads each line as a message of the worker, as a request of the tuner, and as a packet.
///
/// # Panics
/// A message that was read is written as another, or arrives as another.
pub fn protocol(input: &[u8]) {
    let envelope = Envelope { job: 1, nonce: input.len() as u64 };
    let mut assembly = Assembly::default();
    let arrived: Vec<Vec<u8>> = envelope.packets(input).iter().filter_map(|packet| assembly.add(packet)).collect();
    assert!(arrived.iter().eq(std::iter::once(input).filter(|input| !input.is_empty())), "a message is lost");
    for line in input.split(|byte| *byte == b'\n') {
        reads_back::<Message>(line);
        reads_back::<Request>(line);
        let _ = Envelope::of(line);
        let _ = assembly.add(line);
    }
}

fn reads_back<T: Serialize + DeserializeOwned>(line: &[u8]) {
    let Ok(read) = serde_json::from_slice::<T>(line) else { return };
    let written = serde_json::to_string(&read).expect("a message is JSON");
    let again: T = serde_json::from_str(&written).expect("a written message is read");
    assert_eq!(serde_json::to_string(&again).expect("a message is JSON"), written);
}

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
    fn messages_and_headers_pass_their_oracles() {
        let texts: [&[u8]; 5] = [
            b"",
            b"\"Ready\"",
            br#"{"Phase":{"Sampling":{"warmup_ms":1e300}}}"#,
            br#"{"Unusable":"no device"}"#,
            b"\x93NUMPY\x01\x00\x3e\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \ndata",
        ];
        for text in texts {
            super::protocol(text);
            super::npy(text);
        }
    }
}
