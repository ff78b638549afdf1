//! The text of a file: decompressed, in UTF-8, without a byte order mark.

use super::error::Flaw;
use std::io::{ErrorKind, Read};

/// Maximum size of a recording once it is decompressed. Real ones are smaller, but a small
/// compressed file may hold more than the memory does.
pub(super) const MAX_BYTES: u64 = 256 << 20;

/// The first bytes of files that pack or compress others, with a command that unpacks them.
const PACKED: [(&[u8], &str, &str); 6] = [
    (b"PK\x03\x04", "a zip archive", "unzip"),
    (b"\xfd7zXZ\0", "compressed with xz", "xz -d"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "zstd -d"),
    (b"BZh", "compressed with bzip2", "bunzip2"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "7z x"),
    (b"\x04\x22\x4d\x18", "compressed with lz4", "lz4 -d"),
];

/// The place of the name of the format in a tar archive.
const TAR: std::ops::Range<usize> = 257..262;

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Returns the text of a file of this content, decompressed if it is compressed with gzip. Reads UTF-8 and
/// UTF-16, with or without a byte order mark.
pub(super) fn of_file(bytes: Vec<u8>) -> Result<String, Flaw> {
    let bytes = if bytes.starts_with(&GZIP) { decompressed(&bytes)? } else { bytes };
    if let Some((_, what, command)) = PACKED.iter().find(|(first, ..)| bytes.starts_with(first)) {
        return Err(Flaw::new(
            "whole file",
            format!("it is {what}"),
            format!("unpack it first, for example by `{command}`"),
        ));
    }
    if bytes.get(TAR).is_some_and(|name| name == b"ustar") {
        return Err(Flaw::new(
            "whole file",
            "it is a tar archive",
            "unpack it first by `tar -x`, and name one of its files",
        ));
    }
    decoded(bytes)
}

fn decompressed(bytes: &[u8]) -> Result<Vec<u8>, Flaw> {
    let mut plain = Vec::new();
    let mut decoder = flate2::read::MultiGzDecoder::new(bytes).take(MAX_BYTES + 1);
    decoder.read_to_end(&mut plain).map_err(|error| {
        let remedy = match error.kind() {
            ErrorKind::UnexpectedEof => "fetch or write the file again: it is cut short",
            _ => "fetch or write the file again: it is damaged",
        };
        Flaw::new("whole file", format!("gzip: {error}"), remedy)
    })?;
    if plain.len() as u64 > MAX_BYTES {
        let reason = format!("it holds more than {} MiB once it is decompressed", MAX_BYTES >> 20);
        let remedy = "decompress it first, for example by `gunzip`, if it is what you mean; or split it";
        return Err(Flaw::new("whole file", reason, remedy));
    }
    Ok(plain)
}

/// Returns the unit of UTF-16 that two bytes hold.
type Unit = fn([u8; 2]) -> u16;

/// Returns the text of bytes in UTF-8 or UTF-16.
fn decoded(bytes: Vec<u8>) -> Result<String, Flaw> {
    // A recording begins with a character of ASCII, so that a zero beside it shows two bytes for each.
    let order: Option<(usize, Unit)> = match bytes[..] {
        [0xff, 0xfe, ..] => Some((2, u16::from_le_bytes)),
        [0xfe, 0xff, ..] => Some((2, u16::from_be_bytes)),
        [1..=u8::MAX, 0, 1..=u8::MAX, 0, ..] => Some((0, u16::from_le_bytes)),
        [0, 1..=u8::MAX, 0, 1..=u8::MAX, ..] => Some((0, u16::from_be_bytes)),
        _ => None,
    };
    if let Some((start, unit)) = order {
        let units: Vec<u16> = bytes[start..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        return String::from_utf16(&units)
            .map_err(|_| Flaw::new("whole file", "it is UTF-16 with a faulty character", "write it as UTF-8"));
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let (at, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
        let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
        let column = at - bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1) + 1;
        let reason = format!("byte {} of the file (hexadecimal {:02x}) is not UTF-8", at + 1, bytes[at]);
        let remedy = "write the file as UTF-8; of a file in Latin-1, `iconv -f latin1 -t utf-8` makes one";
        Flaw::new(format!("line {line}, byte {column}"), reason, remedy)
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flaw(bytes: &[u8]) -> String {
        let Flaw { place, reason, remedy } = of_file(bytes.to_vec()).unwrap_err();
        format!("{place}: {reason}; {remedy}")
    }

    #[test]
    fn every_encoding_of_a_text_gives_it() {
        let text = "A,time_ms\n1,2.5\n";
        let units = || text.encode_utf16();
        let of_units =
            |mark: &[u8], bytes: fn(u16) -> [u8; 2]| [mark, &units().flat_map(bytes).collect::<Vec<_>>()].concat();
        let encoded = [
            text.as_bytes().to_vec(),
            ["\u{feff}".as_bytes(), text.as_bytes()].concat(),
            of_units(&[0xff, 0xfe], u16::to_le_bytes),
            of_units(&[0xfe, 0xff], u16::to_be_bytes),
            of_units(&[], u16::to_le_bytes),
            of_units(&[], u16::to_be_bytes),
        ];
        for bytes in encoded {
            assert_eq!(of_file(bytes).unwrap(), text);
        }
    }

    #[test]
    fn other_bytes_are_named_with_their_line() {
        assert!(
            flaw(b"A,time_ms\n1,2\ngr\xfc\xdf,2\n").starts_with("line 3, byte 3: byte 17 of the file (hexadecimal fc)")
        );
        assert!(flaw(b"PK\x03\x04rest").contains("it is a zip archive; unpack it first, for example by `unzip`"));
        assert!(flaw(b"BZh91AY").contains("bzip2") && flaw(b"\xfd7zXZ\0x").contains("xz"));
        let mut tar = vec![b'a'; 300];
        tar[TAR].copy_from_slice(b"ustar");
        assert!(flaw(&tar).contains("tar archive"));
        assert!(flaw(&[0x1f, 0x8b, 8, 0]).contains("cut short"));
    }
}
