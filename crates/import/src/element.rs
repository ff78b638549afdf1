//! Types of C.

use tunesmith_loopnest::Type;

/// A type of C that nests have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Element {
    kind: Type,
    /// True for unsigned types of 32 and 64 bits, which sizes and indices alone have.
    is_unsigned: bool,
}

impl Element {
    pub(crate) const I32: Self = Self::new(Type::I32);

    const fn new(kind: Type) -> Self {
        Self { kind, is_unsigned: false }
    }

    const fn unsigned(kind: Type) -> Self {
        Self { kind, is_unsigned: true }
    }

    /// Returns its name in nests.
    pub(crate) fn name(self) -> String {
        self.kind.to_string()
    }

    /// Returns its name in C.
    pub(crate) fn in_c(self) -> &'static str {
        match (self.kind, self.is_unsigned) {
            (Type::I8, _) => "signed char",
            (Type::U8, _) => "unsigned char",
            (Type::I16, _) => "short",
            (Type::U16, _) => "unsigned short",
            (Type::I32, false) => "int",
            (Type::I32, true) => "unsigned",
            (Type::I64, false) => "long long",
            (Type::I64, true) => "unsigned long long",
            (Type::F16, _) => "_Float16",
            (Type::F32, _) => "float",
            (Type::F64, _) => "double",
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
        !self.is_unsigned
    }

    /// Returns the type in which operations on values of this type are computed.
    pub(crate) fn promoted(self) -> Self {
        Self { kind: self.kind.promoted(), ..self }
    }

    pub(crate) fn is_float(self) -> bool {
        self.kind.is_float()
    }

    /// Returns the type with this name in C.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.join(" ").as_str() {
            "_Float16" => Some(Self::new(Type::F16)),
            "float" => Some(Self::new(Type::F32)),
            "double" => Some(Self::new(Type::F64)),
            "int" | "signed" | "signed int" | "int32_t" => Some(Self::new(Type::I32)),
            "long" | "long int" | "long long" | "long long int" | "int64_t" | "ptrdiff_t" | "ssize_t" => {
                Some(Self::new(Type::I64))
            }
            "signed char" | "int8_t" => Some(Self::new(Type::I8)),
            "unsigned char" | "uint8_t" => Some(Self::new(Type::U8)),
            "short" | "short int" | "signed short" | "int16_t" => Some(Self::new(Type::I16)),
            "unsigned short" | "unsigned short int" | "uint16_t" => Some(Self::new(Type::U16)),
            "unsigned" | "unsigned int" | "uint32_t" => Some(Self::unsigned(Type::I32)),
            "unsigned long" | "unsigned long int" | "unsigned long long" | "size_t" | "uint64_t" => {
                Some(Self::unsigned(Type::I64))
            }
            _ => None,
        }
    }
}
