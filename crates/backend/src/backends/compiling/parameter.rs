//! Reads the types of parameters that compilers and drivers print: `const double (*)[64]`,
//! `__vector(4) float *`, `uchar16*`.

use tunesmith_kernel::{ElementType, ScalarType};

/// The elements that a pointer parameter addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pointee {
    /// Numbers, or vectors or arrays of them. The type is that of a lane.
    Numbers {
        /// The size of one lane in bytes.
        size: usize,
        /// True for a floating-point type.
        is_float: bool,
    },
    /// A type that only the kernel knows, or `void`.
    Own,
    /// Pointers or functions, which no data of a problem can hold.
    Addresses,
}

impl Pointee {
    /// Returns true if a buffer of `declared` holds these elements. As on every backend, size and
    /// kind of a lane must agree. The number of lanes and the sign of integers do not matter.
    pub(crate) fn holds(self, declared: ElementType) -> bool {
        let lane = declared.scalar();
        match self {
            _ if lane == ScalarType::Byte => true,
            Self::Own => true,
            Self::Addresses => false,
            Self::Numbers { size, is_float } => lane.size() == size && lane.is_float() == is_float,
        }
    }
}

/// Returns the elements of the pointer type called `text`. Returns `None` if it is no pointer.
pub(crate) fn pointee(text: &str) -> Option<Pointee> {
    let text = without_attribute(text);
    let text = text.trim();
    let (base, rest) = match text.find("(*") {
        Some(at) => {
            // `double (*)[64]` points to an array, `void (*)(int)` to a function.
            let after = text[at..].split_once(')')?.1.trim_start();
            (&text[..at], if after.starts_with('[') { "*" } else { "**" })
        }
        None => text.split_at(text.find(['*', '['])?),
    };
    let addresses = rest.matches('*').count() > 1 || base.contains('*');
    Some(if addresses { Pointee::Addresses } else { element(base) })
}

/// Returns the elements of type `base`, which is no pointer.
fn element(base: &str) -> Pointee {
    const QUALIFIERS: [&str; 7] = ["const", "volatile", "restrict", "_Atomic", "_Complex", "signed", "unsigned"];
    let is_vector = base.contains("__vector(");
    let words = base.split_whitespace().filter(|word| !QUALIFIERS.contains(word) && !word.starts_with("__vector("));
    let words: Vec<&str> = words.collect();
    let numbers = |size, is_float| Pointee::Numbers { size, is_float };
    match words.as_slice() {
        // `unsigned` and `signed` alone are integers.
        [] if is_vector || base.contains("signed") => numbers(4, false),
        ["long", "double"] => numbers(16, true),
        ["short", "int"] => numbers(2, false),
        ["long"] | ["long", "int"] | ["long", "long"] | ["long", "long", "int"] => numbers(8, false),
        [word] => number(word).map_or(Pointee::Own, |(size, is_float)| numbers(size, is_float)),
        _ => Pointee::Own,
    }
}

/// Returns `text` without Clang's spelling of a vector,
/// `__attribute__((__vector_size__(4 * sizeof(float))))`.
fn without_attribute(text: &str) -> String {
    let Some((before, attribute)) = text.split_once("__attribute__") else { return text.to_owned() };
    let mut depth = 0_usize;
    let end = attribute.char_indices().find(|(_, character)| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        *character == ')' && depth == 0
    });
    format!("{before}{}", end.map_or("", |(at, _)| &attribute[at + 1..]))
}

/// Returns size and kind of a type with a name of one word, in C or OpenCL C, with or without a
/// number of lanes.
fn number(word: &str) -> Option<(usize, bool)> {
    let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let lanes = &word[name.len()..];
    Some(match (name, lanes) {
        ("_Float", "16") | ("__fp", "16") => (2, true),
        ("_Float" | "__float", "128") => (16, true),
        ("__int", "128") => (16, false),
        _ if !matches!(lanes, "" | "2" | "3" | "4" | "8" | "16") => return None,
        ("char" | "uchar" | "_Bool" | "bool", _) => (1, false),
        ("short" | "ushort", _) => (2, false),
        ("int" | "uint", _) => (4, false),
        ("long" | "ulong", _) => (8, false),
        ("half", _) => (2, true),
        ("float", _) => (4, true),
        ("double", _) => (8, true),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn holds(declared: &str, text: &str) -> Option<bool> {
        pointee(text).map(|pointee| pointee.holds(ElementType::parse(declared).unwrap()))
    }

    #[test]
    fn the_type_of_a_lane_counts_wherever_it_stands() {
        for text in [
            "double *",
            "const double * restrict",
            "double (*)[64]",
            "const volatile double (*)[64][64]",
            "double (*)[*]",
            "__vector(4) double *",
            "const __vector(2) double (*)[8]",
            "__attribute__((__vector_size__(4 * sizeof(double)))) double *",
            "double4*",
            "double[64]*",
            "_Complex double *",
        ] {
            assert_eq!(holds("f64", text), Some(true), "{text}");
            assert_eq!(holds("f64x2", text), Some(true), "{text}");
            assert_eq!(holds("bytes", text), Some(true), "{text}");
            for other in ["f32", "i64", "f16"] {
                assert_eq!(holds(other, text), Some(false), "{other} as {text}");
            }
        }
    }

    #[test]
    fn integers_of_a_size_fit_whatever_their_name_and_sign() {
        let sizes = [
            ("i8", &["char *", "unsigned char *", "signed char *", "_Bool *", "uchar*", "uchar16*"][..]),
            ("u16", &["short int *", "short unsigned int *", "unsigned short *", "ushort8*"]),
            ("i32", &["int *", "unsigned int *", "unsigned *", "uint4*", "__vector(4) int *"]),
            ("u64", &["long int *", "long long unsigned int *", "unsigned long *", "long long *", "ulong2*"]),
        ];
        for (index, (_, texts)) in sizes.iter().enumerate() {
            for (other, (name, _)) in sizes.iter().enumerate() {
                for text in *texts {
                    assert_eq!(holds(name, text), Some(index == other), "{name} as {text}");
                }
            }
        }
    }

    #[test]
    fn types_of_the_kernel_fit_and_addresses_do_not() {
        for text in ["void *", "struct point *", "complex_t *", "enum kind *", "const void * restrict", "real*"] {
            assert_eq!(holds("f32", text), Some(true), "{text}");
        }
        for text in ["float **", "float *(*)[4]", "void (*)(int)", "const float * const *"] {
            assert_eq!(holds("f32", text), Some(false), "{text}");
        }
        for text in ["int", "float", "struct point", ""] {
            assert_eq!(pointee(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "[a-z_()*\\[\\]0-9 é]{0,40}") {
            pointee(&text);
        }
    }
}
