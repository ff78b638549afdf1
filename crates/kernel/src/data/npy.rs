//! NumPy's file format, as far as kernels' data need it.
//!
//! A file begins with `\x93NUMPY` and two bytes of version. The length of the header follows: two
//! bytes in version 1, four in later ones, lowest first. Then comes the header, a Python dictionary
//! with `descr`, `fortran_order` and `shape`, and finally the data. See
//! <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

use crate::problem::{ElementType, ScalarType};
use std::io::{self, Read};

/// The greatest length of a header in bytes.
const MAX_HEADER: u64 = 1 << 16;

/// The header of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NpyHeader {
    /// The type in NumPy's notation, such as `<f4`.
    pub(crate) descr: String,
    /// True if the first index is contiguous.
    pub(crate) fortran_order: bool,
    /// The extents, outermost first.
    pub(crate) shape: Vec<u64>,
}

/// The reason why a file does not hold the declared data, as a clause without a subject.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NpyError {
    #[error("is not a .npy file")]
    Magic,
    #[error("has a header that cannot be read: {0}")]
    Header(String),
    #[error("holds `{found}`, but the problem says {wanted}")]
    Type { found: String, wanted: ElementType },
    #[error("has the shape {found:?}, but the problem says {wanted:?}")]
    Shape { found: Vec<u64>, wanted: Vec<u64> },
    #[error("is in Fortran order; save it with `numpy.ascontiguousarray`")]
    Order,
    #[error("is in the other byte order; save it with `array.astype(array.dtype.newbyteorder('='))`")]
    ByteOrder,
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl NpyHeader {
    /// Reads the header. Leaves `from` at the first byte of the data.
    pub(crate) fn read(from: &mut dyn Read) -> Result<Self, NpyError> {
        let mut start = [0; 8];
        from.read_exact(&mut start).map_err(|_| NpyError::Magic)?;
        if &start[..6] != b"\x93NUMPY" {
            return Err(NpyError::Magic);
        }
        let mut length = [0; 4];
        let width = if start[6] == 1 { 2 } else { 4 };
        from.read_exact(&mut length[..width])?;
        let mut header = Vec::new();
        // The file declares the length. NumPy itself reads no header above 10,000 bytes.
        let length = u64::from(u32::from_le_bytes(length));
        if length > MAX_HEADER {
            return Err(NpyError::Header(format!("it says that it has {length} bytes; at most {MAX_HEADER} are read")));
        }
        if from.take(length).read_to_end(&mut header)? as u64 != length {
            return Err(NpyError::Header("the file ends within it".to_owned()));
        }
        let header = String::from_utf8_lossy(&header);
        Self::parse(&header).ok_or_else(|| NpyError::Header(header.trim().to_owned()))
    }

    fn parse(header: &str) -> Option<Self> {
        let descr = after(header, "'descr'")?.strip_prefix('\'')?.split('\'').next()?;
        let fortran_order = after(header, "'fortran_order'")?.starts_with("True");
        let shape = after(header, "'shape'")?.strip_prefix('(')?.split(')').next()?;
        let shape = shape.split(',').map(str::trim).filter(|extent| !extent.is_empty());
        let shape = shape.map(|extent| extent.parse().ok()).collect::<Option<_>>()?;
        Some(Self { descr: descr.to_owned(), fortran_order, shape })
    }

    /// Checks that the data are `wanted` elements of `shape`. The lanes of vectors are an innermost
    /// dimension. Returns the number of lanes per element in the file.
    pub(crate) fn check(&self, wanted: ElementType, shape: &[u64]) -> Result<usize, NpyError> {
        self.check_type(wanted)?;
        let fits = |lanes: usize| {
            let inner = (wanted.lanes() > 1).then_some(lanes as u64);
            shape.iter().copied().chain(inner).eq(self.shape.iter().copied())
        };
        let lanes = [wanted.lanes(), wanted.stored_lanes()].into_iter().find(|lanes| fits(*lanes));
        let lanes = lanes.ok_or_else(|| NpyError::Shape { found: self.shape.clone(), wanted: shape.to_vec() })?;
        let dimensions = self.shape.iter().filter(|extent| **extent > 1).count();
        if self.fortran_order && dimensions > 1 { Err(NpyError::Order) } else { Ok(lanes) }
    }

    fn check_type(&self, wanted: ElementType) -> Result<(), NpyError> {
        let mut kind = self.descr.as_str();
        let foreign = if cfg!(target_endian = "big") { '<' } else { '>' };
        let swapped = kind.starts_with(foreign);
        kind = kind.trim_start_matches(['<', '>', '=', '|']);
        let accepted: &[&str] = match wanted.scalar() {
            ScalarType::I8 => &["i1"],
            ScalarType::U8 => &["u1", "b1"],
            ScalarType::I16 => &["i2"],
            ScalarType::U16 => &["u2"],
            ScalarType::I32 => &["i4"],
            ScalarType::U32 => &["u4"],
            ScalarType::I64 => &["i8"],
            ScalarType::U64 => &["u8"],
            ScalarType::F16 => &["f2"],
            ScalarType::F32 => &["f4"],
            ScalarType::F64 => &["f8"],
            ScalarType::Byte => &["u1", "i1", "b1"],
        };
        if !accepted.contains(&kind) {
            return Err(NpyError::Type { found: self.descr.clone(), wanted });
        }
        if swapped { Err(NpyError::ByteOrder) } else { Ok(()) }
    }
}

fn after<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let rest = &header[header.find(key)? + key.len()..];
    Some(rest.trim_start().strip_prefix(':')?.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(b"data");
        bytes
    }

    fn check(header: &str, element: &str, shape: &[u64]) -> Result<usize, String> {
        let header = NpyHeader::read(&mut file(header).as_slice()).unwrap();
        header.check(ElementType::parse(element).unwrap(), shape).map_err(|error| error.to_string())
    }

    #[test]
    fn the_header_is_read_up_to_the_data() {
        let bytes = file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n");
        let mut rest = bytes.as_slice();
        let header = NpyHeader::read(&mut rest).unwrap();
        assert_eq!(header, NpyHeader { descr: "<f4".into(), fortran_order: false, shape: vec![2, 3] });
        assert_eq!(rest, b"data");
    }

    #[test]
    fn another_type_shape_or_order_is_refused_with_both_sides() {
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
        assert_eq!(check(header, "f32", &[2, 3]), Ok(1));
        assert_eq!(check(header, "f64", &[2, 3]), Err("holds `<f4`, but the problem says f64".into()));
        let message = "has the shape [2, 3], but the problem says [6]";
        assert_eq!(check(header, "f32", &[6]), Err(message.into()));
        let fortran = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }";
        assert!(check(fortran, "f32", &[2, 3]).unwrap_err().contains("Fortran order"));
        let big = "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }";
        assert!(check(big, "f32", &[2, 3]).unwrap_err().contains("byte order"));
    }

    #[test]
    fn a_header_is_never_believed_beyond_its_limit_or_the_file() {
        let error = |bytes: &[u8]| NpyHeader::read(&mut &bytes[..]).unwrap_err().to_string();
        let mut endless = b"\x93NUMPY\x02\x00".to_vec();
        endless.extend(u32::MAX.to_le_bytes());
        endless.extend([b' '; 100]);
        assert!(error(&endless).contains("at most 65536"), "{}", error(&endless));
        assert!(error(b"\x93NUMPY\x01\x00\x40\x00{'descr'").contains("ends within"));
    }

    #[test]
    fn vectors_are_an_innermost_dimension() {
        let of = |lanes| format!("{{'descr': '<f4', 'fortran_order': False, 'shape': (5, {lanes}), }}");
        assert_eq!(check(&of(4), "f32x4", &[5]), Ok(4));
        assert_eq!(check(&of(3), "f32x3", &[5]), Ok(3));
        assert_eq!(check(&of(4), "f32x3", &[5]), Ok(4));
        assert!(check(&of(2), "f32x4", &[5]).is_err());
    }

    #[test]
    fn a_column_in_fortran_order_is_the_same_as_in_c_order() {
        let header = "{'descr': '|u1', 'fortran_order': True, 'shape': (7,), }";
        assert_eq!(check(header, "bytes", &[7]), Ok(1));
    }

    #[test]
    fn what_is_no_npy_file_is_refused() {
        assert!(matches!(NpyHeader::read(&mut b"plain text".as_slice()), Err(NpyError::Magic)));
        assert!(matches!(NpyHeader::read(&mut b"".as_slice()), Err(NpyError::Magic)));
        assert!(matches!(NpyHeader::read(&mut file("{'descr': 3}").as_slice()), Err(NpyError::Header(_))));
    }
}
