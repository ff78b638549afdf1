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

mod conversions;
mod coverage;
mod kernel;
mod maps;
mod reductions;
mod updates;

pub use coverage::COVERAGE;
pub use kernel::{Extent, Groups, Kernel, Role};

use Extent::Times;
use Role::{Added, Judge, Measure};
use kernel::{
    INDEPENDENT_PRODUCTS, INDEPENDENT_QUOTIENTS, INDEPENDENT_ROOTS, PRODUCTS, QUOTIENTS, SUMS, arithmetic, line,
    local_stride, product, rectangle, strided,
};

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
}
