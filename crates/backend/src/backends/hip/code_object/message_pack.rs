//! Reads MessagePack (<https://github.com/msgpack/msgpack/blob/master/spec.md>), without extensions.

/// Maximum depth of lists and maps in each other. The notes of code objects nest five deep.
const DEEPEST: usize = 16;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Packed {
    Number(f64),
    Text(String),
    List(Vec<Packed>),
    Map(Vec<(Packed, Packed)>),
    /// Nothing, a truth value or bytes, none of which is wanted.
    Other,
}

impl Packed {
    /// Reads the value at the start of `bytes`. Returns `None` if it is cut off or not understood.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        Reader(bytes).value(0)
    }

    /// Returns the value of a map under `key`.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(known, _)| known.text() == Some(key)).map(|(_, value)| value)
    }

    pub(super) fn list(&self) -> Option<&[Self]> {
        if let Self::List(list) = self { Some(list) } else { None }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn number(&self) -> Option<f64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }
}

/// The bytes that are left to read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// Returns the unsigned integer in the next bytes, the most significant first.
    fn integer(&mut self, bytes: usize) -> Option<u64> {
        Some(self.bytes(bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn length(&mut self, bytes: usize) -> Option<usize> {
        usize::try_from(self.integer(bytes)?).ok()
    }

    fn value(&mut self, depth: usize) -> Option<Packed> {
        if depth > DEEPEST {
            return None;
        }
        let first = self.bytes(1)?[0];
        match first {
            0x00..=0x7f => Some(Packed::Number(f64::from(first))),
            0xe0..=0xff => Some(Packed::Number(f64::from(first.cast_signed()))),
            0x80..=0x8f => self.map(usize::from(first & 0x0f), depth),
            0x90..=0x9f => self.list(usize::from(first & 0x0f), depth),
            0xa0..=0xbf => self.text(usize::from(first & 0x1f)),
            _ => self.sized(first, depth),
        }
    }

    /// Returns a value whose size follows its `first` byte.
    fn sized(&mut self, first: u8, depth: usize) -> Option<Packed> {
        match first {
            0xc0 | 0xc2 | 0xc3 => Some(Packed::Other),
            0xc4..=0xc6 => {
                let length = self.length(1 << (first - 0xc4))?;
                self.bytes(length).map(|_| Packed::Other)
            }
            0xca => Some(Packed::Number(f64::from(f32::from_bits(self.integer(4)? as u32)))),
            0xcb => Some(Packed::Number(f64::from_bits(self.integer(8)?))),
            0xcc..=0xcf => Some(Packed::Number(self.integer(1 << (first - 0xcc))? as f64)),
            0xd0..=0xd3 => {
                let bytes = 1 << (first - 0xd0);
                let unused = 64 - 8 * bytes as u32;
                Some(Packed::Number((self.integer(bytes)?.cast_signed() << unused >> unused) as f64))
            }
            0xd9..=0xdb => self.length(1 << (first - 0xd9)).and_then(|length| self.text(length)),
            0xdc | 0xdd => self.length(2 << (first - 0xdc)).and_then(|length| self.list(length, depth)),
            0xde | 0xdf => self.length(2 << (first - 0xde)).and_then(|length| self.map(length, depth)),
            _ => None,
        }
    }

    fn text(&mut self, length: usize) -> Option<Packed> {
        String::from_utf8(self.bytes(length)?.to_vec()).ok().map(Packed::Text)
    }

    // A length is only a claim: memory grows with what is there.
    fn list(&mut self, length: usize, depth: usize) -> Option<Packed> {
        let mut list = Vec::new();
        for _ in 0..length {
            list.push(self.value(depth + 1)?);
        }
        Some(Packed::List(list))
    }

    fn map(&mut self, length: usize, depth: usize) -> Option<Packed> {
        let mut entries = Vec::new();
        for _ in 0..length {
            entries.push((self.value(depth + 1)?, self.value(depth + 1)?));
        }
        Some(Packed::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_size_are_read() {
        let number = |bytes: &[u8]| Packed::read(bytes).and_then(|value| value.number());
        assert_eq!(number(&[0x7f]), Some(127.0));
        assert_eq!(number(&[0xff]), Some(-1.0));
        assert_eq!(number(&[0xcd, 1, 2]), Some(258.0));
        assert_eq!(number(&[0xd0, 0x80]), Some(-128.0));
        assert_eq!(number(&[0xd1, 0xff, 0xfe]), Some(-2.0));
        assert_eq!(number(&[0xca, 0x3f, 0x80, 0, 0]), Some(1.0));
        assert_eq!(number(&[0xcb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0]), Some(1.0));
        assert_eq!(Packed::read(&[0xd9, 1, b'a']), Some(Packed::Text("a".to_owned())));
        assert_eq!(Packed::read(&[0xdc, 0, 1, 0xc3]), Some(Packed::List(vec![Packed::Other])));
        let map = Packed::read(&[0xde, 0, 1, 0xa1, b'a', 0xc4, 1, 9]).unwrap();
        assert_eq!(map.get("a"), Some(&Packed::Other));
    }

    #[test]
    fn what_is_cut_off_or_nested_without_end_is_refused() {
        assert_eq!(Packed::read(&[]), None);
        assert_eq!(Packed::read(&[0xdd, 0xff, 0xff, 0xff, 0xff, 0]), None);
        assert_eq!(Packed::read(&[0xc1]), None);
        assert_eq!(Packed::read(&[0x91; 1000]), None);
    }
}
