//! Reads the inputs of a kernel: scalars and buffers.

use super::Reader;
use super::signature::Parameter;
use super::translate::{bracket, split};
use super::tuning::Fault;
use crate::element_type::element_type;
use std::ops::Range;
use tunesmith_kernel::{Access, ElementType, Fill, Memory, ScalarType};
use tunesmith_space::{Expr, Value};
use tunesmith_spec::{ArgumentDraft, ArgumentKindDraft, Key};

/// An input of a kernel.
#[derive(Clone, Debug)]
pub(super) struct Input {
    element: ElementType,
    kind: Kind,
    pub(super) place: Range<usize>,
}

#[derive(Clone, Debug)]
enum Kind {
    Scalar(Scalar),
    Buffer { size: Expr, fill: Fill },
}

#[derive(Clone, Debug)]
enum Scalar {
    /// An expression.
    Value(Expr),
    /// A random number between two numbers.
    Random(f64, f64),
}

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
                self.fault(&place, "the input", (fault, None));
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
    fn input(&self, place: &Range<usize>) -> Result<Input, Fault> {
        const FORMS: &str = "write atf::scalar<T>(value), atf::scalar<T>({min, max}), atf::buffer<T>(size), \
                             atf::buffer<T>(size, value) or atf::buffer<T>(size, {min, max})";
        let text = &self.clean[place.clone()];
        let forms = || Some(FORMS.to_string());
        let plain = text.strip_prefix("atf::").unwrap_or(text);
        let (head, rest) = plain.split_once('<').ok_or_else(|| (format!("`{text}` is no input"), forms()))?;
        let (kind, rest) = rest.split_once('>').ok_or_else(|| (format!("`{text}` is no input"), forms()))?;
        let element = element(kind).ok_or_else(|| {
            let remedy = "types are those of C, such as int, size_t, float and double, and vectors such as float4";
            (format!("`{}` is no type of an input", kind.trim()), Some(remedy.to_string()))
        })?;
        let (inside, rest) = bracket(rest.trim_start()).map_err(|fault| (fault, forms()))?;
        if !rest.trim().is_empty() {
            return Err((format!("`{}` is left over", rest.trim()), forms()));
        }
        let arguments = split(inside).map_err(|fault| (fault, None))?;
        let kind = match (head.trim(), &arguments[..]) {
            ("scalar", arguments) => Kind::Scalar(self.scalar(element, arguments)?),
            ("buffer", [size, contents @ ..]) => {
                let size = self.expression(size, None)?;
                Kind::Buffer { size, fill: self.fill(element, contents)? }
            }
            ("buffer", []) => return Err(("a buffer needs its number of elements".to_string(), forms())),
            (head, _) => return Err((format!("`{head}` is no input"), forms())),
        };
        Ok(Input { element, kind, place: place.clone() })
    }

    fn scalar(&self, element: ElementType, arguments: &[&str]) -> Result<Scalar, Fault> {
        match arguments {
            [] => {
                let (low, high) = usual_bounds(element);
                Ok(Scalar::Random(low, high))
            }
            [value] if !value.starts_with('{') => self.expression(value, None).map(Scalar::Value),
            _ => self.bounds(arguments).map(|(low, high)| Scalar::Random(low, high)),
        }
    }

    fn fill(&self, element: ElementType, contents: &[&str]) -> Result<Fill, Fault> {
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
    fn bounds(&self, arguments: &[&str]) -> Result<(f64, f64), Fault> {
        let wrong = || {
            let remedy = "write {min, max}, the lower one first".to_string();
            (format!("`{}` are no bounds of random numbers", arguments.join(", ")), Some(remedy))
        };
        let inside = match arguments {
            [one] => bracket(one).and_then(|(inside, _)| split(inside)).map_err(|fault| (fault, None))?,
            several => several.to_vec(),
        };
        let [low, high] = inside[..] else { return Err(wrong()) };
        let (low, high) = (self.number(low)?, self.number(high)?);
        if low <= high && low.is_finite() && high.is_finite() { Ok((low, high)) } else { Err(wrong()) }
    }

    fn number(&self, text: &str) -> Result<f64, Fault> {
        let value = self.value(text)?;
        value.as_float().ok_or_else(|| (format!("{value} is not a number"), None))
    }
}

impl Input {
    /// Returns the argument at `number`, counted from 0. `declared` is the kernel's parameter.
    pub(super) fn draft(&self, declared: Option<&Parameter>, number: usize) -> ArgumentDraft {
        let name = declared.map_or_else(|| format!("input_{}", number + 1), |declared| declared.name.clone());
        let kind = match &self.kind {
            Kind::Scalar(Scalar::Value(value)) => ArgumentKindDraft::Scalar(value.clone()),
            Kind::Scalar(Scalar::Random(low, high)) => {
                ArgumentKindDraft::Scalar(Expr::constant(drawn(self.element.scalar(), *low, *high, &name)))
            }
            Kind::Buffer { size, fill } => {
                // Without a declaration, the kernel may write everything.
                let is_const = declared.is_some_and(|declared| declared.is_const);
                let is_constant = declared.is_some_and(|declared| declared.is_constant_memory);
                ArgumentKindDraft::Buffer {
                    shape: vec![size.clone()],
                    fill: fill.clone(),
                    access: if is_const { Access::In } else { Access::InOut },
                    memory: if is_constant { Memory::Constant } else { Memory::Global },
                }
            }
        };
        let key = Key::of("arguments").at(number);
        ArgumentDraft { key, name, element: self.element, kind, symbol: None, align: None, tolerance: None }
    }
}

/// Draws a scalar between two numbers. The same name gives the same number in every run, as for the
/// contents of buffers.
fn drawn(scalar: ScalarType, low: f64, high: f64, name: &str) -> Value {
    // FNV-1a, then the last steps of SplitMix64, which spread a short name over all bits.
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, hash);
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    // (0, 1]: ATF's random numbers of real types exclude their lower bound.
    let share = (((hash ^ (hash >> 31)) >> 11) + 1) as f64 / 2f64.powi(53);
    if scalar.is_float() {
        return Value::Float(low + share * (high - low));
    }
    let (low, high) = (low.ceil(), high.floor());
    Value::Int((low + (share * (high - low + 1.0)).ceil() - 1.0) as i64)
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

    #[test]
    fn a_random_scalar_lies_within_its_bounds_and_is_the_same_every_time() {
        for name in ["a", "alpha", "N", "input_2"] {
            let float = drawn(ScalarType::F32, 2.0, 3.0, name).as_float().unwrap();
            assert!(float > 2.0 && float <= 3.0, "{float}");
            assert_eq!(drawn(ScalarType::F32, 2.0, 3.0, name), Value::Float(float));
            let whole = drawn(ScalarType::I32, 1.0, 3.0, name).as_int().unwrap();
            assert!((1..=3).contains(&whole), "{whole}");
        }
        assert_eq!(drawn(ScalarType::I32, 5.0, 5.0, "a"), Value::Int(5));
    }
}
