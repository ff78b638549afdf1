//! Images: arguments that a device reads and writes through its texture units.

use crate::problem::{ElementType, ScalarType};
use serde::{Deserialize, Serialize};
use tunesmith_core::Refusal;

/// The form of an image. Its extents and its elements are those of the argument: an element is a
/// pixel, and its lanes are the channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Image {
    /// True if kernels read and write integers as numbers from 0 to 1, or from -1 to 1 with a sign.
    pub normalized: bool,
    /// The way in which a texture is read. In OpenCL, kernels declare samplers themselves.
    pub sampler: Sampler,
}

/// The way in which a texture is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sampler {
    /// The value between pixels.
    pub filter: Filter,
    /// The value outside of the image.
    pub address: Address,
    /// True if coordinates run from 0 to 1, else from 0 to the extents.
    pub normalized_coordinates: bool,
}

/// The value between pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Filter {
    /// That of the nearest pixel.
    #[default]
    Nearest,
    /// Interpolated between the nearest pixels.
    Linear,
}

/// The value outside of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Address {
    /// That of the nearest pixel.
    #[default]
    Clamp,
    /// Zero.
    Border,
    /// The image repeats.
    Wrap,
    /// The image repeats, every other time reversed.
    Mirror,
}

impl Image {
    /// Returns the reason why there are no such images of `element` in so many `dimensions`, and
    /// the remedy, or `None` if there are.
    pub fn refusal(&self, element: ElementType, dimensions: usize) -> Option<Refusal> {
        let (scalar, lanes) = (element.scalar(), element.lanes());
        let Sampler { filter, address, normalized_coordinates } = self.sampler;
        let refused = |text: String, remedy: &str| Some(Refusal::new(text, Some(remedy.to_owned())));
        if !(1..=3).contains(&dimensions) {
            let remedy = "write one to three extents, the width last";
            return refused(format!("an image cannot have {dimensions} dimensions"), remedy);
        }
        let is_channel = !matches!(scalar, ScalarType::I64 | ScalarType::U64 | ScalarType::F64 | ScalarType::Byte);
        if !is_channel || !matches!(lanes, 1 | 2 | 4) {
            let remedy = "a pixel has one, two or four channels of at most 32 bits, such as \"f32\" or \"u8x4\"";
            return refused(format!("the pixels of an image cannot be {element}"), remedy);
        }
        let is_small = !scalar.is_float() && scalar.size() <= 2;
        if self.normalized && !is_small {
            let remedy = "only integers of 8 and 16 bits can be; remove the key";
            return refused(format!("{element} cannot be normalised"), remedy);
        }
        if filter == Filter::Linear && !scalar.is_float() && !self.normalized {
            let remedy = "write normalized = true, or filter = \"nearest\"";
            return refused("integers are not interpolated".to_owned(), remedy);
        }
        if matches!(address, Address::Wrap | Address::Mirror) && !normalized_coordinates {
            let remedy = "write coordinates = \"normalized\", or address = \"clamp\"";
            return refused("an image repeats only in normalised coordinates".to_owned(), remedy);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_that_no_device_has_are_refused_with_a_remedy() {
        let of = |image: Image, element: &str, dimensions: usize| {
            image.refusal(ElementType::parse(element).unwrap(), dimensions).map(|refusal| refusal.text)
        };
        let plain = Image::default();
        let with = |filter, address| Image { sampler: Sampler { filter, address, ..Sampler::default() }, ..plain };
        let scaled = Image { normalized: true, ..plain };
        for (image, element) in [
            (plain, "f32"),
            (plain, "u8x4"),
            (plain, "f16x2"),
            (scaled, "u8"),
            (scaled, "i16x4"),
            (with(Filter::Linear, Address::Border), "f32x4"),
            (Image { normalized: true, ..with(Filter::Linear, Address::Clamp) }, "u8"),
        ] {
            assert_eq!(of(image, element, 2), None, "{element}");
        }
        for (image, element, dimensions) in [
            (plain, "f32", 0),
            (plain, "f32", 4),
            (plain, "f64", 2),
            (plain, "f32x3", 2),
            (plain, "bytes", 2),
            (scaled, "f32", 2),
            (scaled, "u32", 2),
            (with(Filter::Linear, Address::Clamp), "u8", 2),
            (with(Filter::Nearest, Address::Wrap), "f32", 2),
        ] {
            assert!(of(image, element, dimensions).is_some(), "{element} in {dimensions}");
        }
    }
}
