//! The operations that libraries compute in place of a kernel.

use crate::refusal::refused;
use serde::Deserialize;
use std::fmt;
use tunesmith::Error;
use tunesmith_space::{Expr, Value, lookup};

/// A product of matrices in single precision, C = A B. The extents are expressions over the
/// problem's sizes: A has `m` rows and `k` columns, B `k` rows and `n` columns.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Product {
    /// The rows of A and C.
    pub m: Extent,
    /// The columns of B and C.
    pub n: Extent,
    /// The inner dimension.
    pub k: Extent,
    /// True if A is stored transposed.
    #[serde(default)]
    pub a_transposed: bool,
    /// True if B is stored transposed.
    #[serde(default)]
    pub b_transposed: bool,
    /// True if the columns are contiguous instead of the rows.
    #[serde(default)]
    pub column_major: bool,
}

/// A 2-D convolution in single precision, with stride 1. The images come with their border: each has
/// `rows + filter_rows - 1` rows. Extents are expressions over the problem's sizes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Convolution {
    /// The rows of an output.
    pub rows: Extent,
    /// The columns of an output.
    pub columns: Extent,
    /// The rows of a filter.
    pub filter_rows: Extent,
    /// The columns of a filter.
    pub filter_columns: Extent,
    /// The number of images.
    #[serde(default = "one")]
    pub images: Extent,
    /// The number of channels (colours) of an image and of a filter.
    #[serde(default = "one")]
    pub channels: Extent,
    /// The number of filters. Each makes an output of each image.
    #[serde(default = "one")]
    pub filters: Extent,
    /// True if the filter is flipped along both axes, as mathematicians define a convolution. False
    /// for a cross-correlation.
    #[serde(default)]
    pub flipped: bool,
}

/// An extent: a number, or an expression over the problem's sizes.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Extent {
    /// A number.
    Number(i64),
    /// An expression.
    Expression(String),
}

fn one() -> Extent {
    Extent::Number(1)
}

/// An operation that a problem states.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a> {
    /// The section `[product]`.
    Product(&'a Product),
    /// The section `[convolution]`.
    Convolution(&'a Convolution),
}

/// A kind of operation. Each library computes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Products of matrices.
    Product,
    /// 2-D convolutions.
    Convolution,
}

/// Prints the section of `about.toml` that states such an operation.
impl fmt::Display for OperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Product => "[product]",
            Self::Convolution => "[convolution]",
        })
    }
}

/// An operation at the sizes of a problem, from two operands to a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The numbers that the C functions of libraries get as macros.
    pub(crate) macros: Vec<(&'static str, i64)>,
    /// The numbers of elements of both operands and of the result.
    pub(crate) elements: [i64; 3],
    /// The number of products that are added to an element of the result.
    pub(crate) terms: i64,
}

impl Operation<'_> {
    /// Returns the kind.
    pub fn kind(&self) -> OperationKind {
        match self {
            Self::Product(_) => OperationKind::Product,
            Self::Convolution(_) => OperationKind::Convolution,
        }
    }

    /// Returns the operation at these sizes.
    ///
    /// # Errors
    /// An extent is not a positive number, or an operand is too large.
    pub(crate) fn shape(&self, sizes: &[(String, Value)]) -> Result<Shape, Error> {
        let kind = self.kind();
        let scope = |name: &str| lookup(sizes, name);
        let at = |name: &str, extent: &Extent| extent.at(&scope, &format!("`{name}` of {kind}"));
        let count = |extents: &[i64]| {
            let product = extents.iter().try_fold(1_i64, |product, extent| product.checked_mul(*extent));
            product.ok_or_else(|| refused(format!("an operand of {kind} is too large"), None))
        };
        match self {
            Self::Product(product) => {
                let (m, n, k) = (at("m", &product.m)?, at("n", &product.n)?, at("k", &product.k)?);
                let flags = [product.a_transposed, product.b_transposed, product.column_major].map(i64::from);
                let macros =
                    vec![("M", m), ("N", n), ("K", k), ("A_T", flags[0]), ("B_T", flags[1]), ("COLUMNS", flags[2])];
                Ok(Shape { macros, elements: [count(&[m, k])?, count(&[k, n])?, count(&[m, n])?], terms: k })
            }
            Self::Convolution(of) => {
                let (height, width) = (at("rows", &of.rows)?, at("columns", &of.columns)?);
                let own = [at("filter_rows", &of.filter_rows)?, at("filter_columns", &of.filter_columns)?];
                let (images, channels) = (at("images", &of.images)?, at("channels", &of.channels)?);
                let filters = at("filters", &of.filters)?;
                let macros = vec![
                    ("IMAGES", images),
                    ("CHANNELS", channels),
                    ("FILTERS", filters),
                    ("HEIGHT", height),
                    ("WIDTH", width),
                    ("FILTER_HEIGHT", own[0]),
                    ("FILTER_WIDTH", own[1]),
                    ("FLIPPED", i64::from(of.flipped)),
                ];
                let image = count(&[images, channels, height + own[0] - 1, width + own[1] - 1])?;
                let filter = count(&[filters, channels, own[0], own[1]])?;
                let output = count(&[images, filters, height, width])?;
                Ok(Shape { macros, elements: [image, filter, output], terms: filter / filters })
            }
        }
    }
}

impl Extent {
    /// Returns the extent, whose names are in `scope`. Messages call it `what`.
    pub(crate) fn at(&self, scope: &dyn Fn(&str) -> Option<Value>, what: &str) -> Result<i64, Error> {
        let value = match self {
            Self::Number(number) => *number,
            Self::Expression(text) => Expr::parse(text)
                .and_then(|expr| expr.evaluate_int(scope))
                .map_err(|error| refused(format!("{what}: {error}"), error.remedy.clone()))?,
        };
        // Libraries take extents as `int`.
        if !(1..=i64::from(i32::MAX)).contains(&value) {
            return Err(refused(format!("{what} is {value}, but must be from 1 to {}", i32::MAX), None));
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convolution(text: &str) -> Convolution {
        toml::from_str(text).unwrap()
    }

    fn sizes() -> Vec<(String, Value)> {
        vec![("X".to_string(), Value::Int(10)), ("HFS".to_string(), Value::Int(2))]
    }

    #[test]
    fn a_convolution_has_one_image_one_channel_and_one_filter_unless_it_says_otherwise() {
        let plain = "rows = 3\ncolumns = \"X\"\nfilter_rows = \"2 * HFS + 1\"\nfilter_columns = 2\n";
        let one = convolution(plain);
        let shape = Operation::Convolution(&one).shape(&sizes()).unwrap();
        assert_eq!((shape.elements, shape.terms), ([7 * 11, 5 * 2, 3 * 10], 10));
        let several = convolution(&format!("{plain}images = 2\nchannels = 3\nfilters = 4\nflipped = true"));
        let shape = Operation::Convolution(&several).shape(&sizes()).unwrap();
        assert_eq!((shape.elements, shape.terms), ([2 * 3 * 7 * 11, 4 * 3 * 5 * 2, 2 * 4 * 3 * 10], 30));
        assert!(shape.macros.contains(&("FLIPPED", 1)));
    }

    #[test]
    fn an_extent_that_is_no_positive_number_is_refused_with_its_section_and_key() {
        let refused = |text: &str| Operation::Convolution(&convolution(text)).shape(&sizes()).unwrap_err().to_string();
        let rest = "columns = 1\nfilter_rows = 1\nfilter_columns = 1\n";
        assert!(refused(&format!("rows = \"X - 10\"\n{rest}")).contains("`rows` of [convolution] is 0, but must be"));
        assert!(refused(&format!("rows = \"Y\"\n{rest}")).contains("`rows` of [convolution]: "));
        let large = format!("rows = 2147483647\nimages = 2147483647\nfilters = 2147483647\n{rest}");
        assert!(refused(&large).contains("an operand of [convolution] is too large"));
    }
}
