//! Compares a kernel's arguments with the problem's. A pure function: names of types in, a message
//! out.

use crate::backends::Mismatch;
use crate::backends::compiling::pointee;
use serde::{Deserialize, Serialize};
use std::fmt;
use tunesmith_kernel::{Argument, ArgumentKind, ElementType, Memory, Shape};

/// An argument as the driver sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FoundArgument {
    /// The address space. `None` if the driver does not report it.
    pub(super) place: Option<Place>,
    /// The name of the type, with a `*` for memory.
    pub(super) type_name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Place {
    Global,
    Constant,
    Local,
    Private,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Global => "global ",
            Self::Constant => "constant ",
            Self::Local => "local ",
            Self::Private => "",
        })
    }
}

impl FoundArgument {
    /// Returns the type without qualifiers and without the star of memory.
    fn element(&self) -> &str {
        self.type_name.trim_end_matches('*').trim()
    }
}

/// Compares a kernel's arguments with the problem's.
pub(super) fn judge(function: &str, declared: &[&Argument], found: &[FoundArgument]) -> Result<(), Mismatch> {
    if declared.len() != found.len() {
        let (takes, has) = (found.len(), declared.len());
        let surplus = declared.get(takes).map(|argument| argument.name.clone());
        let remedy = match &surplus {
            Some(name) => format!("remove `{name}` from the problem, or add it to the kernel"),
            None => format!("declare the missing {} in [[arguments]]", takes - has),
        };
        let message = format!("the kernel `{function}` takes {takes} arguments, but the problem declares {has}");
        return Err(Mismatch { argument: surplus, message, remedy, log: String::new() });
    }
    let mismatch = declared.iter().zip(found).find(|(declared, found)| !fits(declared, found));
    mismatch.map_or(Ok(()), |(declared, found)| Err(explain(function, declared, found)))
}

fn fits(declared: &Argument, found: &FoundArgument) -> bool {
    let Some(place) = found.place else { return true };
    if let Some(dimensions) = image_dimensions(&found.type_name) {
        return declared.is_image() && dimensions == declared_dimensions(declared);
    }
    match &declared.kind {
        ArgumentKind::Buffer { memory: Memory::Image(_), .. } => false,
        ArgumentKind::Buffer { .. } => {
            matches!(place, Place::Global | Place::Constant) && same_element(declared.element, found)
        }
        ArgumentKind::Local { .. } => place == Place::Local && same_element(declared.element, found),
        ArgumentKind::Scalar(_) => place == Place::Private && same_size(declared.element, found.element()),
        ArgumentKind::Object(_) => place == Place::Private && element_of(found.element()).is_none(),
    }
}

/// Returns the number of dimensions of an image's type. `None` for any other type.
fn image_dimensions(type_name: &str) -> Option<usize> {
    let digits = type_name.trim().strip_prefix("image")?.strip_suffix("d_t")?;
    digits.parse().ok()
}

fn declared_dimensions(declared: &Argument) -> usize {
    match &declared.kind {
        ArgumentKind::Buffer { shape: Shape::Fixed(extents), .. } => extents.len(),
        ArgumentKind::Buffer { shape: Shape::Varying(extents), .. } => extents.len(),
        _ => 0,
    }
}

/// Returns true if memory of type `declared` may have the type called `found`. The names of a
/// user's own types say nothing, so they fit.
fn same_element(declared: ElementType, found: &FoundArgument) -> bool {
    pointee(&found.type_name).is_none_or(|pointee| pointee.holds(declared))
}

/// Returns true if a value of type `declared` may be passed for `found`. As in C, the sign of
/// integers does not matter.
fn same_size(declared: ElementType, found: &str) -> bool {
    element_of(found).is_none_or(|element| {
        let is_float = |element: ElementType| element.scalar().is_float();
        element.lanes() == declared.lanes()
            && element.size() == declared.size()
            && is_float(element) == is_float(declared)
    })
}

/// Returns the type with OpenCL C's name `name`. Returns `None` for a user's own type.
fn element_of(name: &str) -> Option<ElementType> {
    let short = name.replace("unsigned ", "u");
    let lanes = short.trim_start_matches(|c: char| !c.is_ascii_digit());
    let scalar = match short.strip_suffix(lanes)? {
        "char" => "i8",
        "uchar" => "u8",
        "short" => "i16",
        "ushort" => "u16",
        "int" => "i32",
        "uint" => "u32",
        "long" => "i64",
        "ulong" => "u64",
        "half" => "f16",
        "float" => "f32",
        "double" => "f64",
        _ => return None,
    };
    let text = if lanes.is_empty() { scalar.to_owned() } else { format!("{scalar}x{lanes}") };
    ElementType::parse(&text).ok()
}

fn explain(function: &str, declared: &Argument, found: &FoundArgument) -> Mismatch {
    let Argument { name, element, kind, .. } = declared;
    let wanted = match kind {
        ArgumentKind::Buffer { memory: Memory::Image(_), .. } => {
            format!("an image of {element} with {} dimensions", declared_dimensions(declared))
        }
        ArgumentKind::Buffer { .. } => format!("a buffer of {element}"),
        ArgumentKind::Local { .. } => format!("local memory of {element}"),
        ArgumentKind::Scalar(_) => format!("a scalar of {element}"),
        ArgumentKind::Object(_) => declared.type_text(),
    };
    let place = found.place.map(|place| place.to_string()).unwrap_or_default();
    let is = format!("`{place}{}`", found.type_name);
    let message = format!("argument `{name}` of the kernel `{function}` is {is}, but the problem declares {wanted}");
    let remedy = match element_of(found.element()).filter(|found| found != element) {
        Some(right) => format!("write type = \"{right}\", or change the kernel"),
        None => "see `shape`, `value` and `memory` of the argument, or change the kernel".to_owned(),
    };
    Mismatch { argument: Some(name.clone()), message, remedy, log: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_kernel::{Access, Fill, Image};
    use tunesmith_space::Expr;

    fn argument(name: &str, element: &str, kind: &str) -> Argument {
        let kind = match kind {
            "buffer" => ArgumentKind::Buffer {
                shape: vec![8].into(),
                fill: Fill::Zeros,
                access: Access::In,
                memory: Memory::Global,
            },
            "image" => ArgumentKind::Buffer {
                shape: vec![8, 8].into(),
                fill: Fill::Zeros,
                access: Access::In,
                memory: Memory::Image(Image::default()),
            },
            "local" => ArgumentKind::Local { shape: vec![Expr::parse("8").unwrap()] },
            "object" => ArgumentKind::Object(vec![0; 12]),
            _ => ArgumentKind::Scalar(Expr::parse("8").unwrap()),
        };
        Argument::new(name, ElementType::parse(element).unwrap(), kind)
    }

    fn judged(element: &str, kind: &str, place: Place, type_name: &str) -> Result<(), String> {
        let found = [FoundArgument { place: Some(place), type_name: type_name.into() }];
        judge("f", &[&argument("a", element, kind)], &found).map_err(|mismatch| mismatch.message)
    }

    #[test]
    fn types_of_the_same_name_and_place_fit() {
        assert_eq!(judged("f32", "buffer", Place::Global, "float*"), Ok(()));
        assert_eq!(judged("f32x4", "buffer", Place::Constant, "float4*"), Ok(()));
        assert_eq!(judged("u8", "local", Place::Local, "uchar*"), Ok(()));
        assert_eq!(judged("i32", "scalar", Place::Private, "uint"), Ok(()));
        assert_eq!(judged("f64x16", "scalar", Place::Private, "double16"), Ok(()));
    }

    #[test]
    fn types_that_only_the_kernel_knows_pass() {
        assert_eq!(judged("f32", "buffer", Place::Global, "real*"), Ok(()));
        assert_eq!(judged("bytes", "buffer", Place::Global, "float*"), Ok(()));
        assert_eq!(judged("f32", "buffer", Place::Global, "float4*"), Ok(()));
        assert_eq!(judged("f32x4", "local", Place::Local, "float*"), Ok(()));
        assert_eq!(judged("i32", "buffer", Place::Global, "uint*"), Ok(()));
        assert_eq!(judged("f64", "buffer", Place::Global, "double[64]*"), Ok(()));
        assert_eq!(judged("f32", "scalar", Place::Private, "real"), Ok(()));
        assert_eq!(judged("bytes", "object", Place::Private, "params"), Ok(()));
        let unknown = [FoundArgument { place: None, type_name: String::new() }];
        assert!(judge("f", &[&argument("a", "f32", "local")], &unknown).is_ok());
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let message = judged("f64", "buffer", Place::Global, "float*").unwrap_err();
        let wanted = "argument `a` of the kernel `f` is `global float*`, but the problem declares a buffer of f64";
        assert_eq!(message, wanted);
        assert!(judged("f64", "buffer", Place::Global, "float4*").is_err());
        assert!(judged("f32", "local", Place::Global, "float*").unwrap_err().contains("local memory of f32"));
        assert!(judged("f32", "scalar", Place::Private, "int").is_err());
        assert!(judged("i64", "scalar", Place::Private, "int").is_err());
        assert!(judged("f32", "buffer", Place::Private, "float").is_err());
        assert!(judged("bytes", "object", Place::Global, "params*").unwrap_err().ends_with("an object of 12 bytes"));
        assert!(judged("bytes", "object", Place::Private, "float").is_err());
    }

    #[test]
    fn images_fit_images_of_as_many_dimensions() {
        assert_eq!(judged("f32x4", "image", Place::Global, "image2d_t"), Ok(()));
        let message = judged("f32x4", "image", Place::Global, "image3d_t").unwrap_err();
        assert!(message.contains("declares an image of f32x4 with 2 dimensions"), "{message}");
        assert!(judged("f32x4", "image", Place::Global, "float4*").is_err());
        assert!(judged("f32x4", "buffer", Place::Global, "image2d_t").is_err());
    }

    #[test]
    fn a_wrong_number_of_arguments_is_told_with_the_remedy() {
        let found = [FoundArgument { place: Some(Place::Global), type_name: "float*".into() }];
        let (a, b) = (argument("a", "f32", "buffer"), argument("b", "f32", "buffer"));
        let mismatch = judge("f", &[&a, &b], &found).unwrap_err();
        assert_eq!(mismatch.argument.as_deref(), Some("b"));
        assert_eq!(mismatch.message, "the kernel `f` takes 1 arguments, but the problem declares 2");
        assert!(judge("f", &[], &found).unwrap_err().remedy.contains("declare the missing 1"));
    }
}
