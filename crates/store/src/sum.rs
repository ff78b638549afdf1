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
    line.extend(hexadecimal(sum));
    line.extend(AFTER);
    line.push(b'\n');
}

/// Compares a line, without its line break, with its checksum. Costs the line's length.
pub(crate) fn check(line: &[u8]) -> Seal {
    let Some((content, digits)) = split(line) else { return Seal::Absent };
    if digits == hexadecimal(checksum(&[content, b"}"])) { Seal::Intact } else { Seal::Broken }
}

/// Returns the end of a line, without its line break, up to its checksum. Returns `None` if it has
/// none.
pub(crate) fn content(line: &[u8]) -> Option<&[u8]> {
    split(line).map(|(content, _)| content)
}

/// Splits a line into its content and the digits of its checksum.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (content, seal) = line.split_at_checked(line.len().checked_sub(BEFORE.len() + DIGITS + AFTER.len())?)?;
    Some((content, seal.strip_prefix(BEFORE)?.strip_suffix(AFTER)?))
}

fn hexadecimal(sum: u32) -> [u8; DIGITS] {
    let digit = |at: usize| b"0123456789abcdef"[(sum >> (4 * (DIGITS - 1 - at)) & 0xf) as usize];
    std::array::from_fn(digit)
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
        assert_eq!(content(&line), Some(&b"{\"a\":1"[..]));
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
        assert_eq!(content(b""), None);
    }

    #[test]
    fn a_checksum_has_eight_digits_in_hexadecimal() {
        for sum in [0, 1, 0xab, 0x1234_5678, 0x0fed_cba9, u32::MAX] {
            assert_eq!(hexadecimal(sum), format!("{sum:08x}").as_bytes());
        }
    }
}
