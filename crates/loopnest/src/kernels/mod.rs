//! The kernels of the cost model's paper: nine classes that measure a device, and four that judge
//! the model.
//!
//! Stevens and Klöckner, "A Unified, Hardware-Fitted, Cross-GPU Performance Model", sections 4.1
//! and 5. Where the paper's description of a kernel is ambiguous, both readings are included.
//!
//! Further kernels are not in the paper. They measure operations that its kernels use too little to
//! tell their cost: loads of neighbouring cells at a stride, local memory at strides, and sums in
//! small work-groups. Others run arithmetic on independent values beside the paper's arithmetic on
//! dependent values. [`COVERAGE`] has those for other types and functions.

mod coverage;

pub use coverage::COVERAGE;

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
}

impl Groups {
    /// Returns the shapes of work-groups that every device can run. Lines have the paper's sizes up
    /// to 256. Rectangles are its set "2-D Med".
    pub const fn shapes(self) -> [(i64, i64); 3] {
        match self {
            Groups::Line => [(128, 1), (192, 1), (256, 1)],
            Groups::Rectangle => [(16, 12), (16, 16), (32, 16)],
            Groups::Narrow => [(16, 1), (16, 2), (16, 4)],
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
    text: &'static str,
    /// The type of its floating-point arrays and temporaries, instead of the text's `f32`.
    element: &'static str,
    /// The parts that the text leaves open: a word or number, a body, and a stride.
    fill: [&'static str; 3],
}

const ONE: &[Extent] = &[Extent::Times(1)];
const NONE: [&str; 3] = [""; 3];
const ARITHMETIC: &str = include_str!("arithmetic.nest");
const STRIDED: &str = include_str!("strided.nest");
const LOCAL_STRIDE: &str = include_str!("local_stride.nest");
const TILED: &str = include_str!("matmul_tiled.nest");

/// The bodies of arithmetic kernels that are measured in both precisions.
const SUMS: &str = "value = i + j + k + 1    @ i, j, k
acc = acc + value + 0.5 + -1.25 + 0.75 + -0.125 + 2.5 + -0.375 + 1.5 + -0.25    @ i, j, k";
const PRODUCTS: &str = "value = i + j + k + 1    @ i, j, k
acc = acc + value*1.25*0.75*1.5*0.625*1.125*0.875*1.0625*0.9375    @ i, j, k";
const QUOTIENTS: &str = "value = i + j + k + 1    @ i, j, k
acc = acc + 3.1/(2.9/(2.7/(2.5/(2.3/(2.1/(1.9/(1.7/value)))))))    @ i, j, k";
const INDEPENDENT_PRODUCTS: &str = "value = i + j + k + 1    @ i, j, k
acc = value*(value + 1.0) + value*(value + 1.25) + value*(value + 1.5) + value*(value + 1.75) + value*(value + 2.0) + value*(value + 2.25) + acc    @ i, j, k";
const INDEPENDENT_QUOTIENTS: &str = "value = i + j + k + 1    @ i, j, k
acc = 1.0/(value + 1.0) + 1.25/(value + 1.25) + 1.5/(value + 1.5) + 1.75/(value + 1.75) + 2.0/(value + 2.0) + 2.25/(value + 2.25) + acc    @ i, j, k";
const INDEPENDENT_ROOTS: &str = "value = i + j + k + 1    @ i, j, k
acc = rsqrt(value + 1.0) + rsqrt(value + 1.25) + rsqrt(value + 1.5) + rsqrt(value + 1.75) + rsqrt(value + 2.0) + rsqrt(value + 2.25) + acc    @ i, j, k";

const fn line(name: &'static str, class: &'static str, role: Role, text: &'static str) -> Kernel {
    Kernel { name, class, role, groups: Groups::Line, sizes: ONE, text, element: "f32", fill: NONE }
}

const fn rectangle(name: &'static str, class: &'static str, role: Role, text: &'static str) -> Kernel {
    Kernel { name, class, role, groups: Groups::Rectangle, sizes: ONE, text, element: "f32", fill: NONE }
}

const fn product(name: &'static str, class: &'static str, role: Role, sizes: &'static [Extent]) -> Kernel {
    Kernel { name, class, role, groups: Groups::Rectangle, sizes, text: TILED, element: "f32", fill: NONE }
}

/// Returns a kernel that loads `used` neighbouring cells of every `stride`.
const fn strided(name: &'static str, used: &'static str, stride: &'static str) -> Kernel {
    Kernel { fill: [used, "", stride], ..line(name, "strided", Added, STRIDED) }
}

const fn local_stride(name: &'static str, stride: &'static str) -> Kernel {
    Kernel { fill: [stride, "", ""], ..line(name, "local", Added, LOCAL_STRIDE) }
}

const fn arithmetic(name: &'static str, role: Role, what: &'static str, body: &'static str) -> Kernel {
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

use Extent::Times;
use Role::{Added, Judge, Measure};

/// Every kernel. The sizes of a matrix product are rows, inner extent and columns.
pub const KERNELS: [Kernel; 46] = [
    product("matmul_square", "matmul_tiled", Measure, &[Times(1), Times(1), Times(1)]),
    product("matmul_few_rows", "matmul_tiled", Measure, &[Times(1), Times(2), Times(2)]),
    product("matmul_short_sums", "matmul_tiled", Measure, &[Times(2), Times(1), Times(2)]),
    product("matmul_few_columns", "matmul_tiled", Measure, &[Times(2), Times(2), Times(1)]),
    rectangle("matmul_naive", "matmul_naive", Measure, include_str!("matmul_naive.nest")),
    line("vector_stride1", "vector_scale_add", Measure, include_str!("vector_stride1.nest")),
    line("vector_stride2", "vector_scale_add", Measure, include_str!("vector_stride2.nest")),
    line("vector_stride3", "vector_scale_add", Measure, include_str!("vector_stride3.nest")),
    rectangle("transpose_tiled", "transpose", Measure, include_str!("transpose_tiled.nest")),
    rectangle("transpose_writes", "transpose", Measure, include_str!("transpose_writes.nest")),
    rectangle("transpose_reads", "transpose", Measure, include_str!("transpose_reads.nest")),
    line("copy", "stride1", Measure, include_str!("copy.nest")),
    line("sum4", "stride1", Measure, include_str!("sum4.nest")),
    line("index", "stride1", Measure, include_str!("index.nest")),
    line("filled_stride2", "stride2_filled", Measure, include_str!("filled_stride2.nest")),
    line("filled_stride3", "stride3_filled", Measure, include_str!("filled_stride3.nest")),
    line("filled_sliding_stride2", "stride2_filled", Measure, include_str!("filled_sliding_stride2.nest")),
    line("filled_sliding_stride3", "stride3_filled", Measure, include_str!("filled_sliding_stride3.nest")),
    arithmetic("arithmetic_add", Measure, "sums", SUMS),
    arithmetic("arithmetic_mul", Measure, "products", PRODUCTS),
    arithmetic("arithmetic_div", Measure, "quotients", QUOTIENTS),
    arithmetic(
        "arithmetic_pow",
        Measure,
        "powers",
        "value = i + j + k + 1    @ i, j, k
acc = acc + (((((value**0.9)**1.1)**0.95)**1.05)**0.97)**1.03    @ i, j, k",
    ),
    arithmetic(
        "arithmetic_square",
        Measure,
        "squares of squares",
        "value = 1.0 + 0.000001*(i + j + k + 1)    @ i, j, k
value = value**2    @ i, j, k
value = value**2    @ i, j, k
value = value**2    @ i, j, k
value = value**2    @ i, j, k
value = value**2    @ i, j, k
value = value**2    @ i, j, k
acc = acc + value   @ i, j, k",
    ),
    arithmetic(
        "arithmetic_rsqrt",
        Measure,
        "inverse roots",
        "value = i + j + k + 1    @ i, j, k
acc = acc + rsqrt(rsqrt(rsqrt(rsqrt(rsqrt(rsqrt(value))))))    @ i, j, k",
    ),
    rectangle("empty", "empty", Measure, include_str!("empty.nest")),
    rectangle("finite_differences", "finite_differences", Judge, include_str!("finite_differences.nest")),
    product("matmul_skinny", "matmul_skinny", Judge, &[Times(1), Times(8), Times(1)]),
    rectangle("convolution", "convolution", Judge, include_str!("convolution.nest")),
    rectangle("convolution_tiled", "convolution", Judge, include_str!("convolution_tiled.nest")),
    line("nbody", "nbody", Judge, include_str!("nbody.nest")),
    arithmetic("independent_mul", Added, "independent products", INDEPENDENT_PRODUCTS),
    arithmetic("independent_div", Added, "independent quotients", INDEPENDENT_QUOTIENTS),
    arithmetic(
        "independent_square",
        Added,
        "independent squares",
        "value = i + j + k + 1    @ i, j, k
acc = (value + 1.0)**2 + (value + 1.25)**2 + (value + 1.5)**2 + (value + 1.75)**2 + (value + 2.0)**2 + (value + 2.25)**2 + acc    @ i, j, k",
    ),
    arithmetic("independent_rsqrt", Added, "independent inverse roots", INDEPENDENT_ROOTS),
    Kernel {
        groups: Groups::Narrow,
        ..rectangle("matmul_narrow", "narrow", Added, include_str!("matmul_naive.nest"))
    },
    strided("strided_2of2", "2", "2"),
    strided("strided_2of3", "2", "3"),
    strided("strided_3of3", "3", "3"),
    strided("strided_1of4", "1", "4"),
    strided("strided_2of4", "2", "4"),
    strided("strided_3of4", "3", "4"),
    strided("strided_4of4", "4", "4"),
    local_stride("local_stride1", "1"),
    local_stride("local_stride2", "2"),
    local_stride("local_stride3", "3"),
    local_stride("local_stride4", "4"),
];

impl Kernel {
    /// Returns the kernel of that name.
    pub fn named(name: &str) -> Option<&'static Kernel> {
        KERNELS.iter().chain(&COVERAGE).find(|kernel| kernel.name == name)
    }

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
            Times(factor) => factor * main,
            Extent::Summands => summands,
        };
        self.sizes.iter().map(value).collect()
    }
}
