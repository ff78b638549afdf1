//! Contents of an array, given as numbers or as a file.

use super::texts::Texts;
use std::io;
use std::path::{Path, PathBuf};

/// The contents of an array: numbers, or a file of them.
///
/// Numbers are in the order of memory, with the last extent contiguous. A file is NumPy's `.npy` or
/// raw bytes.
#[derive(Clone, Debug)]
pub struct Contents(Held);

#[derive(Clone, Debug)]
enum Held {
    File(PathBuf),
    Bytes(Vec<u8>),
}

impl Contents {
    /// Takes the raw bytes of an array.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Held::Bytes(bytes.into()))
    }

    /// Takes the contents of a file. A relative path starts from the problem's folder.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self(Held::File(path.into()))
    }

    /// Returns the file with the contents. Writes it among `texts` unless the user named a file.
    pub(super) fn path(&self, name: &str, texts: &Texts) -> io::Result<PathBuf> {
        match &self.0 {
            Held::File(path) => Ok(path.clone()),
            Held::Bytes(bytes) => texts.write(name, "bin", bytes),
        }
    }
}

impl From<&Path> for Contents {
    fn from(path: &Path) -> Self {
        Self::file(path)
    }
}

/// Implements the conversion from slices and vectors of a number type.
macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl From<&[$number]> for Contents {
            fn from(numbers: &[$number]) -> Self {
                Self::bytes(numbers.iter().flat_map(|number| number.to_ne_bytes()).collect::<Vec<u8>>())
            }
        }

        impl From<Vec<$number>> for Contents {
            fn from(numbers: Vec<$number>) -> Self {
                Self::from(numbers.as_slice())
            }
        }

        impl<const N: usize> From<[$number; N]> for Contents {
            fn from(numbers: [$number; N]) -> Self {
                Self::from(numbers.as_slice())
            }
        }
    )*};
}

numbers!(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);
