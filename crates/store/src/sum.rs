//! The checksum of a journal's line.
//!
//! A sealed line ends with `,"sum":"xxxxxxxx"}`: the CRC-32 of the line without this field, in
//! hexadecimal. Lines of earlier versions have none. Neither have lines that a user edited and
//! whose `sum` was removed.

use flate2::Crc;

const BEFORE: &[u8] = b",\"sum\":\"";
const AFTER: &[u8] = b"\"}";
const DIGITS: usize = 8;

/// The state of a line's checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seal {
    /// The line is as it was written.
    Intact,
    /// The line has no checksum.
    Absent,
    /// The line is not as it was written.
    Broken,
}

/// Adds the checksum to `line`, a JSON object, and a line break.
pub(crate) fn seal(line: &mut Vec<u8>) {
    let sum = checksum(&[line]);
    line.pop();
    line.extend(BEFORE);
    line.extend(format!("{sum:08x}").bytes());
    line.extend(AFTER);
    line.push(b'\n');
}

/// Compares a line, without its line break, with its checksum. Costs the line's length.
pub(crate) fn check(line: &[u8]) -> Seal {
    let Some(at) = line.len().checked_sub(BEFORE.len() + DIGITS + AFTER.len()) else { return Seal::Absent };
    let (content, seal) = line.split_at(at);
    let Some(digits) = seal.strip_prefix(BEFORE).and_then(|seal| seal.strip_suffix(AFTER)) else { return Seal::Absent };
    let intact = format!("{:08x}", checksum(&[content, b"}"]));
    if digits == intact.as_bytes() { Seal::Intact } else { Seal::Broken }
}

fn checksum(parts: &[&[u8]]) -> u32 {
    let mut crc = Crc::new();
    parts.iter().for_each(|part| crc.update(part));
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(text: &str) -> Vec<u8> {
        let mut line = text.as_bytes().to_vec();
        seal(&mut line);
        assert_eq!(line.pop(), Some(b'\n'));
        line
    }

    #[test]
    fn a_sealed_line_is_json_with_one_more_field() {
        let line = sealed("{\"a\":1}");
        assert_eq!(check(&line), Seal::Intact);
        let json: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(json["a"], 1);
        assert_eq!(json["sum"].as_str().map(str::len), Some(DIGITS));
    }

    #[test]
    fn any_altered_byte_breaks_the_seal_or_removes_it() {
        let line = sealed("{\"index\":\"7\",\"times_ms\":[0.25]}");
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut altered = line.clone();
                altered[at] ^= 1 << bit;
                assert_ne!(check(&altered), Seal::Intact, "byte {at}, bit {bit}");
            }
        }
        assert_eq!(check(b"{\"index\":\"7\"}"), Seal::Absent);
        assert_eq!(check(b""), Seal::Absent);
    }
}
