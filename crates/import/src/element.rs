//! Types of C.

/// A type of C that nests have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Element {
    I8,
    U8,
    I16,
    U16,
    I32,
    /// For sizes and indices alone.
    U32,
    I64,
    /// For sizes and indices alone.
    U64,
    F32,
    F64,
}

impl Element {
    /// Returns its name in nests.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 | Self::U32 => "i32",
            Self::I64 | Self::U64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Returns its name in C.
    pub(crate) fn in_c(self) -> &'static str {
        match self {
            Self::I8 => "signed char",
            Self::U8 => "unsigned char",
            Self::I16 => "short",
            Self::U16 => "unsigned short",
            Self::I32 => "int",
            Self::U32 => "unsigned",
            Self::I64 => "long long",
            Self::U64 => "unsigned long long",
            Self::F32 => "float",
            Self::F64 => "double",
        }
    }

    /// Returns the type of an operation on both: floating point before integer, then the wider one.
    pub(crate) fn joined(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) if one.is_float() != other.is_float() => {
                Some(if one.is_float() { one } else { other })
            }
            (Some(one), Some(other)) => Some(one.max(other)),
            (one, other) => one.or(other),
        }
    }

    /// Returns true if arrays of nests have the type.
    pub(crate) fn is_of_arrays(self) -> bool {
        !matches!(self, Self::U32 | Self::U64)
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Returns the type with this name in C.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.join(" ").as_str() {
            "float" => Some(Self::F32),
            "double" => Some(Self::F64),
            "int" | "signed" | "signed int" | "int32_t" => Some(Self::I32),
            "long" | "long int" | "long long" | "long long int" | "int64_t" | "ptrdiff_t" | "ssize_t" => {
                Some(Self::I64)
            }
            "signed char" | "int8_t" => Some(Self::I8),
            "unsigned char" | "uint8_t" => Some(Self::U8),
            "short" | "short int" | "signed short" | "int16_t" => Some(Self::I16),
            "unsigned short" | "unsigned short int" | "uint16_t" => Some(Self::U16),
            "unsigned" | "unsigned int" | "uint32_t" => Some(Self::U32),
            "unsigned long" | "unsigned long int" | "unsigned long long" | "size_t" | "uint64_t" => Some(Self::U64),
            _ => None,
        }
    }
}
