//! The types of a kernel's arguments.

use crate::half;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The type of one lane of an [`ElementType`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names suffice
pub enum ScalarType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
    /// One byte of data whose layout only the kernel knows.
    Byte,
}

/// A number read from a buffer. Integers and floats stay apart, so that a 64-bit integer loses no
/// digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer of any integer type.
    Int(i128),
    /// A float of any floating-point type.
    Float(f64),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
        }
    }
}

impl ScalarType {
    /// Every type, in the order of messages.
    pub const ALL: [Self; 12] = [
        Self::I8,
        Self::U8,
        Self::I16,
        Self::U16,
        Self::I32,
        Self::U32,
        Self::I64,
        Self::U64,
        Self::F16,
        Self::F32,
        Self::F64,
        Self::Byte,
    ];

    /// Returns the type's name in problem files.
    pub fn name(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Byte => "bytes",
        }
    }

    /// Returns the size in bytes.
    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 | Self::Byte => 1,
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Returns true if the type is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    /// Returns the bytes of the integer `value`, or `None` if the type cannot hold it.
    /// Floating-point types take the nearest value.
    pub fn encode_int(self, value: i128) -> Option<Vec<u8>> {
        Some(match self {
            Self::I8 => i8::try_from(value).ok()?.to_ne_bytes().to_vec(),
            Self::U8 | Self::Byte => u8::try_from(value).ok()?.to_ne_bytes().to_vec(),
            Self::I16 => i16::try_from(value).ok()?.to_ne_bytes().to_vec(),
            Self::U16 => u16::try_from(value).ok()?.to_ne_bytes().to_vec(),
            Self::I32 => i32::try_from(value).ok()?.to_ne_bytes().to_vec(),
            Self::U32 => u32::try_from(value).ok()?.to_ne_bytes().to_vec(),
            Self::I64 => i64::try_from(value).ok()?.to_ne_bytes().to_vec(),
            Self::U64 => u64::try_from(value).ok()?.to_ne_bytes().to_vec(),
            Self::F16 | Self::F32 | Self::F64 => return self.encode_float(value as f64),
        })
    }

    /// Returns the bytes of `value`, rounded to the type. Returns `None` for an integer type if
    /// `value` is not whole or is too large.
    pub fn encode_float(self, value: f64) -> Option<Vec<u8>> {
        match self {
            Self::F16 => Some(half::from_f64(value).to_ne_bytes().to_vec()),
            Self::F32 => Some((value as f32).to_ne_bytes().to_vec()),
            Self::F64 => Some(value.to_ne_bytes().to_vec()),
            // No integer type holds a value beyond 2^64, so the conversion loses nothing that
            // counts.
            _ if value.fract() == 0.0 => self.encode_int(value as i128),
            _ => None,
        }
    }

    /// Decodes the number in the first [`size`](Self::size) bytes of `bytes`.
    pub fn decode(self, bytes: &[u8]) -> Number {
        match self {
            Self::I8 => Number::Int(i8::from_ne_bytes(head(bytes)).into()),
            Self::U8 | Self::Byte => Number::Int(u8::from_ne_bytes(head(bytes)).into()),
            Self::I16 => Number::Int(i16::from_ne_bytes(head(bytes)).into()),
            Self::U16 => Number::Int(u16::from_ne_bytes(head(bytes)).into()),
            Self::I32 => Number::Int(i32::from_ne_bytes(head(bytes)).into()),
            Self::U32 => Number::Int(u32::from_ne_bytes(head(bytes)).into()),
            Self::I64 => Number::Int(i64::from_ne_bytes(head(bytes)).into()),
            Self::U64 => Number::Int(u64::from_ne_bytes(head(bytes)).into()),
            Self::F16 => Number::Float(half::to_f64(u16::from_ne_bytes(head(bytes)))),
            Self::F32 => Number::Float(f32::from_ne_bytes(head(bytes)).into()),
            Self::F64 => Number::Float(f64::from_ne_bytes(head(bytes))),
        }
    }

    /// Returns the contents of an output before a launch. A later check recognises values that the
    /// kernel left unwritten. For floats, the poison is a quiet NaN with a payload that no
    /// arithmetic produces. For integers, it is a pattern that no small count or index has.
    pub fn poison(self) -> &'static [u8] {
        const INTEGER: [u8; 8] = [0xA5; 8];
        const F16: [u8; 2] = 0x7EA5_u16.to_ne_bytes();
        const F32: [u8; 4] = 0x7FE5_A5A5_u32.to_ne_bytes();
        const F64: [u8; 8] = 0x7FFD_A5A5_A5A5_A5A5_u64.to_ne_bytes();
        match self {
            Self::F16 => &F16,
            Self::F32 => &F32,
            Self::F64 => &F64,
            _ => &INTEGER[..self.size()],
        }
    }
}

fn head<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut head = [0; N];
    head.copy_from_slice(&bytes[..N]);
    head
}

/// The type of a kernel argument or of a buffer's elements: a scalar type, or a short vector of
/// one.
///
/// ```
/// # use tunesmith_kernel::ElementType;
/// let vector = ElementType::parse("f32x3")?;
/// assert_eq!(vector.size(), 16); // three lanes take the room of four, as in OpenCL and CUDA
/// assert_eq!(vector.to_string(), "f32x3");
/// # Ok::<(), tunesmith_kernel::UnknownElementType>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ElementType {
    scalar: ScalarType,
    lanes: u8,
}

/// The error for an unknown element type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown type `{name}`; the types are i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64, their vectors with x2 x3 x4 x8 \
     x16 (f32x4), and bytes"
)]
pub struct UnknownElementType {
    /// The type's name as written.
    pub name: String,
}

impl UnknownElementType {
    /// Returns the advice for users: the type for a word of C, OpenCL or NumPy.
    pub fn remedy(&self) -> Option<String> {
        let word = self.name.trim().trim_end_matches(['*', ' ']);
        let lanes = word.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        let is_vector = ["2", "3", "4", "8", "16"].contains(&lanes);
        let (bare, lanes) = if is_vector { (&word[..word.len() - lanes.len()], lanes) } else { (word, "") };
        let scalar = match bare {
            "half" | "float16" => "f16",
            "float" | "float32" | "single" => "f32",
            "double" | "float64" => "f64",
            "char" | "int8" | "int8_t" | "signed char" => "i8",
            "uchar" | "unsigned char" | "uint8" | "uint8_t" => "u8",
            "short" | "int16" | "int16_t" => "i16",
            "ushort" | "unsigned short" | "uint16" | "uint16_t" => "u16",
            "int" | "int32" | "int32_t" => "i32",
            "uint" | "unsigned" | "unsigned int" | "uint32" | "uint32_t" => "u32",
            "long" | "long long" | "int64" | "int64_t" | "ptrdiff_t" => "i64",
            "ulong" | "unsigned long" | "uint64" | "uint64_t" | "size_t" => "u64",
            _ => return None,
        };
        let lanes = if lanes.is_empty() { String::new() } else { format!("x{lanes}") };
        Some(format!("write `{scalar}{lanes}`"))
    }
}

impl From<ScalarType> for ElementType {
    fn from(scalar: ScalarType) -> Self {
        Self { scalar, lanes: 1 }
    }
}

impl ElementType {
    /// The valid numbers of lanes of a vector.
    const LANES: [u8; 5] = [2, 3, 4, 8, 16];

    /// Parses a type's name, such as `f32`, `u8x16` or `bytes`.
    ///
    /// # Errors
    /// The name is unknown. The error lists the types.
    pub fn parse(name: &str) -> Result<Self, UnknownElementType> {
        let find = |text: &str| ScalarType::ALL.into_iter().find(|scalar| scalar.name() == text);
        let parsed = match name.split_once('x') {
            None => find(name).map(|scalar| Self { scalar, lanes: 1 }),
            Some((scalar, lanes)) => find(scalar)
                .filter(|scalar| *scalar != ScalarType::Byte)
                .zip(Self::LANES.into_iter().find(|count| count.to_string() == lanes))
                .map(|(scalar, lanes)| Self { scalar, lanes }),
        };
        parsed.ok_or_else(|| UnknownElementType { name: name.to_owned() })
    }

    /// Returns all types, for tests and documentation.
    pub fn all() -> impl Iterator<Item = Self> {
        ScalarType::ALL.into_iter().flat_map(|scalar| {
            let vectors = Self::LANES.into_iter().filter(move |_| scalar != ScalarType::Byte);
            std::iter::once(1).chain(vectors).map(move |lanes| Self { scalar, lanes })
        })
    }

    /// Returns the type of a lane.
    pub fn scalar(self) -> ScalarType {
        self.scalar
    }

    /// Returns the number of lanes that hold data. A scalar has 1.
    pub fn lanes(self) -> usize {
        usize::from(self.lanes)
    }

    /// Returns the number of lanes in memory. Three lanes take the room of four.
    pub fn stored_lanes(self) -> usize {
        if self.lanes == 3 { 4 } else { self.lanes() }
    }

    /// Returns the size of an element in bytes, which is a power of two.
    pub fn size(self) -> usize {
        self.scalar.size() * self.stored_lanes()
    }

    /// Returns the type's name in C and C++. Neither language names vectors, so a vector has the
    /// name of a `typedef` with GCC's `vector_size`. The call is compiled with that `typedef`. It
    /// agrees with any other `typedef` of the same vector.
    pub fn c_name(self) -> String {
        match self.lanes {
            1 => self.scalar.c_name().to_owned(),
            _ => format!("tunesmith_{self}"),
        }
    }
}

impl ScalarType {
    /// Returns the type's name in C and C++. The 64-bit integers use the compiler's own macros,
    /// because `int64_t` is `long` on some systems and `long long` on others.
    pub fn c_name(self) -> &'static str {
        match self {
            Self::I8 => "signed char",
            Self::U8 | Self::Byte => "unsigned char",
            Self::I16 => "short",
            Self::U16 => "unsigned short",
            Self::I32 => "int",
            Self::U32 => "unsigned int",
            Self::I64 => "__INT64_TYPE__",
            Self::U64 => "__UINT64_TYPE__",
            Self::F16 => "_Float16",
            Self::F32 => "float",
            Self::F64 => "double",
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.scalar.name())?;
        if self.lanes > 1 { write!(f, "x{}", self.lanes) } else { Ok(()) }
    }
}

impl From<ElementType> for String {
    fn from(element: ElementType) -> Self {
        element.to_string()
    }
}

impl TryFrom<String> for ElementType {
    type Error = UnknownElementType;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        Self::parse(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_reads_back_from_its_name() {
        assert_eq!(ElementType::all().count(), 11 * 6 + 1);
        for element in ElementType::all() {
            assert_eq!(ElementType::parse(&element.to_string()), Ok(element));
            assert!(element.size().is_power_of_two());
        }
    }

    #[test]
    fn three_lanes_take_the_room_of_four() {
        let size = |name| ElementType::parse(name).unwrap().size();
        assert_eq!((size("u8x3"), size("f64x3"), size("f16x16"), size("bytes")), (4, 32, 32, 1));
    }

    #[test]
    fn a_type_of_another_language_has_a_remedy() {
        let remedy = |name: &str| ElementType::parse(name).unwrap_err().remedy();
        for (name, own) in [("float", "f32"), ("unsigned int", "u32"), ("float4", "f32x4"), ("double *", "f64")] {
            assert_eq!(remedy(name), Some(format!("write `{own}`")));
        }
        assert_eq!(remedy("int8_t"), Some("write `i8`".to_string()));
        assert_eq!(remedy("complex"), None);
    }

    #[test]
    fn an_unknown_type_is_refused_with_the_list_of_types() {
        for name in ["float", "f32x5", "x4", "f32x", "bytesx2", "f32x04", "F32"] {
            let message = ElementType::parse(name).unwrap_err().to_string();
            assert!(message.starts_with(&format!("unknown type `{name}`; the types are i8 u8")), "{message}");
        }
    }

    #[test]
    fn integers_that_do_not_fit_are_refused() {
        assert_eq!(ScalarType::U8.encode_int(255), Some(vec![255]));
        assert_eq!(ScalarType::U8.encode_int(256), None);
        assert_eq!(ScalarType::I8.encode_int(-129), None);
        assert_eq!(ScalarType::U64.encode_int(-1), None);
        assert_eq!(ScalarType::I32.encode_float(1.5), None);
        assert_eq!(ScalarType::I32.encode_float(2.0), ScalarType::I32.encode_int(2));
        assert_eq!(ScalarType::I32.encode_float(f64::NAN), None);
    }

    #[test]
    fn numbers_read_back_as_written() {
        for scalar in ScalarType::ALL {
            let bytes = scalar.encode_int(77).unwrap();
            assert_eq!(bytes.len(), scalar.size());
            let wanted = if scalar.is_float() { Number::Float(77.0) } else { Number::Int(77) };
            assert_eq!(scalar.decode(&bytes), wanted, "{scalar:?}");
        }
    }

    #[test]
    fn the_poison_of_floats_is_a_quiet_nan() {
        for scalar in ScalarType::ALL.into_iter().filter(|scalar| scalar.is_float()) {
            assert!(matches!(scalar.decode(scalar.poison()), Number::Float(value) if value.is_nan()));
        }
        assert_eq!(ScalarType::F64.poison().len(), 8);
        assert_eq!(ScalarType::U16.poison(), [0xA5, 0xA5]);
    }
}
