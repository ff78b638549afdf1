//! Reads the inputs of a kernel: scalars and buffers.

use super::Reader;
use super::input::{Input, Kind, Scalar};
use super::translate::{bracket, split};
use crate::element_type::element_type;
use std::ops::Range;
use tunesmith_core::Refusal;
use tunesmith_kernel::{ElementType, Fill};

/// The types of C, OpenCL and CUDA, with ours.
const TYPES: &[(&str, &str)] = &[
    ("bool", "u8"),
    ("char", "i8"),
    ("signed char", "i8"),
    ("int8_t", "i8"),
    ("uchar", "u8"),
    ("unsigned char", "u8"),
    ("uint8_t", "u8"),
    ("short", "i16"),
    ("int16_t", "i16"),
    ("ushort", "u16"),
    ("unsigned short", "u16"),
    ("uint16_t", "u16"),
    ("int", "i32"),
    ("int32_t", "i32"),
    ("uint", "u32"),
    ("unsigned", "u32"),
    ("unsigned int", "u32"),
    ("uint32_t", "u32"),
    ("long", "i64"),
    ("long long", "i64"),
    ("int64_t", "i64"),
    ("ulong", "u64"),
    ("unsigned long", "u64"),
    ("unsigned long long", "u64"),
    ("uint64_t", "u64"),
    ("size_t", "u64"),
    ("half", "f16"),
    ("float", "f32"),
    ("double", "f64"),
];

/// Returns our type for a name such as `float`, `cl_uint`, `std::size_t` or `float4`.
fn element(name: &str) -> Option<ElementType> {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain = name.strip_prefix("std::").or_else(|| name.strip_prefix("cl_")).unwrap_or(&name);
    element_type(plain, TYPES)
}

/// Returns the bounds of random numbers that ATF takes for a type: (0, 1] and 1 to 10.
fn usual_bounds(element: ElementType) -> (f64, f64) {
    if element.scalar().is_float() { (0.0, 1.0) } else { (1.0, 10.0) }
}

impl Reader<'_> {
    /// Reads one input, or several with commas between them.
    pub(super) fn inputs(&self, place: Range<usize>) -> Vec<Input> {
        let place = self.listed(place);
        let text = &self.clean[place.clone()];
        let parts = match split(text) {
            Ok(parts) if !parts.is_empty() => parts,
            Ok(_) => vec![text],
            Err(fault) => {
                self.fault(&place, "the input", Refusal::new(fault, None));
                return Vec::new();
            }
        };
        let input = |part: &str| {
            let start = place.start + (part.as_ptr() as usize - text.as_ptr() as usize);
            let part = super::scan::unquoted(self.clean, start..start + part.len());
            self.input(&part).map_err(|fault| self.fault(&part, "the input", fault)).ok()
        };
        parts.into_iter().filter_map(input).collect()
    }

    /// Reads `atf::scalar<T>(value)` or `atf::buffer<T>(size)`, with the forms of their contents.
    fn input(&self, place: &Range<usize>) -> Result<Input, Refusal> {
        const FORMS: &str = "write atf::scalar<T>(value), atf::scalar<T>({min, max}), atf::buffer<T>(size), \
                             atf::buffer<T>(size, value) or atf::buffer<T>(size, {min, max})";
        let text = &self.clean[place.clone()];
        let forms = || Some(FORMS.to_string());
        let plain = text.strip_prefix("atf::").unwrap_or(text);
        let (head, rest) =
            plain.split_once('<').ok_or_else(|| Refusal::new(format!("`{text}` is no input"), forms()))?;
        let (kind, rest) =
            rest.split_once('>').ok_or_else(|| Refusal::new(format!("`{text}` is no input"), forms()))?;
        let element = element(kind).ok_or_else(|| {
            let remedy = "types are those of C, such as int, size_t, float and double, and vectors such as float4";
            Refusal::new(format!("`{}` is no type of an input", kind.trim()), Some(remedy.to_string()))
        })?;
        let (inside, rest) = bracket(rest.trim_start()).map_err(|fault| Refusal::new(fault, forms()))?;
        if !rest.trim().is_empty() {
            return Err(Refusal::new(format!("`{}` is left over", rest.trim()), forms()));
        }
        let arguments = split(inside).map_err(|fault| Refusal::new(fault, None))?;
        let kind = match (head.trim(), &arguments[..]) {
            ("scalar", arguments) => Kind::Scalar(self.scalar(element, arguments)?),
            ("buffer", [size, contents @ ..]) => {
                let size = self.expression(size, None)?;
                Kind::Buffer { size, fill: self.fill(element, contents)? }
            }
            ("buffer", []) => return Err(Refusal::new("a buffer needs its number of elements", forms())),
            (head, _) => return Err(Refusal::new(format!("`{head}` is no input"), forms())),
        };
        Ok(Input { element, kind, place: place.clone() })
    }

    fn scalar(&self, element: ElementType, arguments: &[&str]) -> Result<Scalar, Refusal> {
        match arguments {
            [] => {
                let (low, high) = usual_bounds(element);
                Ok(Scalar::Random(low, high))
            }
            [value] if !value.starts_with('{') => self.expression(value, None).map(Scalar::Value),
            _ => self.bounds(arguments).map(|(low, high)| Scalar::Random(low, high)),
        }
    }

    fn fill(&self, element: ElementType, contents: &[&str]) -> Result<Fill, Refusal> {
        match contents {
            [] => {
                let (low, high) = usual_bounds(element);
                Ok(Fill::Between(low, high))
            }
            [generator] if generator.starts_with('[') => self.expression(generator, Some("i")).map(Fill::Generator),
            [value] if !value.starts_with('{') => self.number(value).map(Fill::Constant),
            _ => self.bounds(contents).map(|(low, high)| Fill::Between(low, high)),
        }
    }

    /// Reads the bounds `{min, max}` or `min, max`.
    fn bounds(&self, arguments: &[&str]) -> Result<(f64, f64), Refusal> {
        let wrong = || {
            let remedy = "write {min, max}, the lower one first".to_string();
            Refusal::new(format!("`{}` are no bounds of random numbers", arguments.join(", ")), Some(remedy))
        };
        let inside = match arguments {
            [one] => bracket(one).and_then(|(inside, _)| split(inside)).map_err(|fault| Refusal::new(fault, None))?,
            several => several.to_vec(),
        };
        let [low, high] = inside[..] else { return Err(wrong()) };
        let (low, high) = (self.number(low)?, self.number(high)?);
        if low <= high && low.is_finite() && high.is_finite() { Ok((low, high)) } else { Err(wrong()) }
    }

    fn number(&self, text: &str) -> Result<f64, Refusal> {
        let value = self.value(text)?;
        value.as_float().ok_or_else(|| Refusal::new(format!("{value} is not a number"), None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_c_have_ours() {
        let cases = [
            ("float", "f32"),
            ("unsigned  int", "u32"),
            ("cl_ulong", "u64"),
            ("std::size_t", "u64"),
            ("float4", "f32x4"),
        ];
        for (theirs, ours) in cases {
            assert_eq!(element(theirs), ElementType::parse(ours).ok(), "{theirs}");
        }
        assert_eq!(element("realM"), None);
        assert_eq!(element("float5"), None);
    }
}
