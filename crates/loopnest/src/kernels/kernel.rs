//! A kernel that measures a device, and the parts of which kernels are made.

use crate::error::NestError;
use crate::ir::{Congruence, Nest, SizeId};
use crate::number::lcm;
use crate::transform::Recipe;

/// The purpose of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Measures: weights are fitted to its times.
    Measure,
    /// Judges: the fitted model is judged by its times. No fit sees them.
    Judge,
    /// Measures something that the paper's kernels leave open. Not in the paper.
    Added,
}

/// The shape of work-groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// `x` work-items.
    Line,
    /// `x` times `y` work-items.
    Rectangle,
    /// So few work-items that they wait for the results of their operations.
    Narrow,
    /// This many work-items, which share a row of data.
    Row(i64),
}

impl Groups {
    /// Returns the shapes of work-groups that every device can run. Lines have the paper's sizes up
    /// to 256. Rectangles are its set "2-D Med". A row has one shape.
    pub const fn shapes(self) -> [(i64, i64); 3] {
        match self {
            Groups::Line => [(128, 1), (192, 1), (256, 1)],
            Groups::Rectangle => [(16, 12), (16, 16), (32, 16)],
            Groups::Narrow => [(16, 1), (16, 2), (16, 4)],
            Groups::Row(items) => [(items, 1); 3],
        }
    }
}

/// The rule that gives a size of the nest in a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// This many times the main size.
    Times(i64),
    /// The number of summands of an arithmetic kernel.
    Summands,
}

/// A kernel that measures a device or judges the model.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: &'static str,
    /// The class of kernels it belongs to.
    pub class: &'static str,
    /// Its purpose.
    pub role: Role,
    /// The shape of its work-groups.
    pub groups: Groups,
    /// The rule for each of its sizes, in their order.
    pub sizes: &'static [Extent],
    pub(super) text: &'static str,
    /// The type of its floating-point arrays and temporaries, instead of the text's `f32`.
    pub(super) element: &'static str,
    /// The parts that the text leaves open: a word or number, a body, and a stride.
    pub(super) fill: [&'static str; 3],
}

pub(super) const ONE: &[Extent] = &[Extent::Times(1)];
pub(super) const NONE: [&str; 3] = [""; 3];
pub(super) const ARITHMETIC: &str = include_str!("arithmetic.nest");
pub(super) const STRIDED: &str = include_str!("strided.nest");
pub(super) const LOCAL_STRIDE: &str = include_str!("local_stride.nest");
pub(super) const TILED: &str = include_str!("matmul_tiled.nest");

/// The bodies of arithmetic kernels that are measured in both precisions.
pub(super) const SUMS: &str = "value = i + j + k + 1    @ i, j, k
acc = acc + value + 0.5 + -1.25 + 0.75 + -0.125 + 2.5 + -0.375 + 1.5 + -0.25    @ i, j, k";
pub(super) const PRODUCTS: &str = "value = i + j + k + 1    @ i, j, k
acc = acc + value*1.25*0.75*1.5*0.625*1.125*0.875*1.0625*0.9375    @ i, j, k";
pub(super) const QUOTIENTS: &str = "value = i + j + k + 1    @ i, j, k
acc = acc + 3.1/(2.9/(2.7/(2.5/(2.3/(2.1/(1.9/(1.7/value)))))))    @ i, j, k";
pub(super) const INDEPENDENT_PRODUCTS: &str = "value = i + j + k + 1    @ i, j, k
acc = value*(value + 1.0) + value*(value + 1.25) + value*(value + 1.5) + value*(value + 1.75) + value*(value + 2.0) + value*(value + 2.25) + acc    @ i, j, k";
pub(super) const INDEPENDENT_QUOTIENTS: &str = "value = i + j + k + 1    @ i, j, k
acc = 1.0/(value + 1.0) + 1.25/(value + 1.25) + 1.5/(value + 1.5) + 1.75/(value + 1.75) + 2.0/(value + 2.0) + 2.25/(value + 2.25) + acc    @ i, j, k";
pub(super) const INDEPENDENT_ROOTS: &str = "value = i + j + k + 1    @ i, j, k
acc = rsqrt(value + 1.0) + rsqrt(value + 1.25) + rsqrt(value + 1.5) + rsqrt(value + 1.75) + rsqrt(value + 2.0) + rsqrt(value + 2.25) + acc    @ i, j, k";

pub(super) const fn line(name: &'static str, class: &'static str, role: Role, text: &'static str) -> Kernel {
    Kernel { name, class, role, groups: Groups::Line, sizes: ONE, text, element: "f32", fill: NONE }
}

pub(super) const fn rectangle(name: &'static str, class: &'static str, role: Role, text: &'static str) -> Kernel {
    Kernel { name, class, role, groups: Groups::Rectangle, sizes: ONE, text, element: "f32", fill: NONE }
}

pub(super) const fn product(name: &'static str, class: &'static str, role: Role, sizes: &'static [Extent]) -> Kernel {
    Kernel { name, class, role, groups: Groups::Rectangle, sizes, text: TILED, element: "f32", fill: NONE }
}

/// Returns a kernel that loads `used` neighbouring cells of every `stride`.
pub(super) const fn strided(name: &'static str, used: &'static str, stride: &'static str) -> Kernel {
    Kernel { fill: [used, "", stride], ..line(name, "strided", Role::Added, STRIDED) }
}

pub(super) const fn local_stride(name: &'static str, stride: &'static str) -> Kernel {
    Kernel { fill: [stride, "", ""], ..line(name, "local", Role::Added, LOCAL_STRIDE) }
}

pub(super) const fn arithmetic(name: &'static str, role: Role, what: &'static str, body: &'static str) -> Kernel {
    let sizes = &[Extent::Times(1), Extent::Summands];
    let class = "arithmetic";
    Kernel {
        name,
        class,
        role,
        groups: Groups::Rectangle,
        sizes,
        text: ARITHMETIC,
        element: "f32",
        fill: [what, body, ""],
    }
}

/// Returns the kernel with cells of another type.
pub(super) const fn of_type(element: &'static str, kernel: Kernel) -> Kernel {
    Kernel { element, ..kernel }
}

impl Kernel {
    /// Returns the text of the kernel for work-groups of `x` work-items in a row.
    pub fn text(&self, x: i64) -> String {
        let [what, body, stride] = self.fill;
        let name = self.name.strip_prefix("arithmetic_").unwrap_or(self.name);
        let filled = self.text.replace("f32", self.element).replace("{x}", &x.to_string()).replace("{what}", what);
        filled.replace("{name}", name).replace("{body}", body).replace("{stride}", stride)
    }

    /// Returns the kernel for work-groups of `x` times `y` work-items, where `y` is 1 for lines.
    /// With `whole_groups`, the sizes are assumed to be multiples of both.
    ///
    /// # Errors
    ///
    /// Fails if work-groups of that shape cannot run the kernel.
    pub fn nest(&self, x: i64, y: i64, whole_groups: bool) -> Result<Nest, NestError> {
        let mut recipe = self.text(x).parse::<Recipe>()?;
        if whole_groups {
            let modulus = lcm(x.into(), y.into());
            let mains = self.sizes.iter().enumerate().filter(|(_, extent)| **extent != Extent::Summands);
            let multiple = |(at, _)| Congruence { size: SizeId(at), modulus, remainder: 0 };
            recipe.nest.assumptions.congruences.extend(mains.map(multiple));
        }
        let known = |name: &str| recipe.parameters.iter().any(|parameter| parameter.name == name);
        let given = [("x", x), ("y", y)].into_iter().filter(|(name, _)| known(name)).collect::<Vec<_>>();
        recipe.apply(&given)
    }

    /// Returns the values of the nest's sizes for a main size and a number of summands.
    pub fn size_values(&self, main: i64, summands: i64) -> Vec<i64> {
        let value = |extent: &Extent| match extent {
            Extent::Times(factor) => factor * main,
            Extent::Summands => summands,
        };
        self.sizes.iter().map(value).collect()
    }
}
