//! Entrances for fuzzing (bench/fuzz): parsers that no other crate calls, each with its oracle. They
//! exist only with `--cfg fuzzing`.

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

#[cfg(test)]
mod tests {
    #[test]
    fn messages_pass_their_oracle() {
        let texts: [&[u8]; 4] =
            [b"", b"\"Ready\"", br#"{"Phase":{"Sampling":{"warmup_ms":1e300}}}"#, br#"{"Unusable":"no device"}"#];
        for text in texts {
            super::protocol(text);
        }
    }
}
