//! Kernels with cells in half precision, and kernels that convert values between types.

use super::kernel::Role::Added;
use super::kernel::{Extent, Kernel, line, of_type, rectangle, strided};

const CONVERT_CELLS: &str = include_str!("convert_cells.nest");
const CONVERT_VALUES: &str = include_str!("convert_values.nest");

const fn half(kernel: Kernel) -> Kernel {
    Kernel { class: "half", ..of_type("f16", kernel) }
}

/// Returns a kernel that stores `value`, computed from cells of type `from`, in cells of type `to`.
const fn cells(name: &'static str, from: &'static str, to: &'static str, value: &'static str) -> Kernel {
    Kernel { fill: [from, value, to], ..line(name, "convert", Added, CONVERT_CELLS) }
}

/// Returns a kernel that converts values between types in a loop.
const fn values(name: &'static str, from: &'static str, to: &'static str, body: &'static str) -> Kernel {
    let sizes = &[Extent::Times(1), Extent::Summands];
    Kernel { fill: [from, body, to], sizes, ..rectangle(name, "convert", Added, CONVERT_VALUES) }
}

/// Cells in half precision.
pub(super) const HALVES: [Kernel; 4] = [
    half(line("copy_f16", "half", Added, include_str!("copy.nest"))),
    half(line("sum4_f16", "half", Added, include_str!("sum4.nest"))),
    half(line("triad_f16", "half", Added, include_str!("triad.nest"))),
    half(strided("strided_2of2_f16", "2", "2")),
];

/// Converts values of the loops' indices, and adds them.
const OF_INDICES: &str = "one = i + j + k    @ i, j, k
two = i + k + 1    @ i, j, k
three = j + k + 2    @ i, j, k
four = k + 3    @ i, j, k
acc = acc + one + two + three + four    @ i, j, k";
/// Converts the sum so far into another type, and back.
const OF_SUMS: &str = "one = acc + 1.0    @ i, j, k
two = acc + 2.0    @ i, j, k
three = acc + 3.0    @ i, j, k
four = acc + 4.0    @ i, j, k
acc = 0.125*(one + two + three + four)    @ i, j, k";
/// Converts integers into a narrower type, and back.
const OF_INTEGERS: &str = "one = acc + i    @ i, j, k
two = acc + j    @ i, j, k
three = acc + k    @ i, j, k
four = acc + 3    @ i, j, k
acc = one + two - three - four + k    @ i, j, k";

/// Conversions, in each direction by at least three kernels, those of other classes included.
pub(super) const CONVERSIONS: [Kernel; 19] = [
    cells("f32_to_f64", "f32", "f64", "a[i]"),
    cells("f64_to_f32", "f64", "f32", "a[i]"),
    cells("f32_to_i32", "f32", "i32", "a[i]"),
    cells("u8_to_f32", "u8", "f32", "a[i]"),
    cells("i32_to_i64", "i32", "i64", "a[i]"),
    cells("i64_to_i32", "i64", "i32", "a[i]"),
    cells("add_f32_to_f64", "f32", "f64", "b[i] + a[i]"),
    cells("add_f64_to_f32", "f64", "f32", "b[i] + a[i]"),
    cells("add_f32_to_i32", "f32", "i32", "b[i] + a[i]"),
    cells("add_u8_to_f32", "u8", "f32", "b[i] + a[i]"),
    cells("add_i32_to_i64", "i32", "i64", "b[i] + a[i]"),
    cells("add_i64_to_i32", "i64", "i32", "b[i] + a[i]"),
    values("indices_f32_in_f64", "f32", "f64", OF_INDICES),
    values("indices_u8_in_f32", "u8", "f32", OF_INDICES),
    values("sums_f16_in_f32", "f16", "f32", OF_SUMS),
    values("sums_f32_in_f64", "f32", "f64", OF_SUMS),
    values("sums_i32_in_f32", "i32", "f32", OF_SUMS),
    values("integers_i32_in_i64", "i32", "i64", OF_INTEGERS),
    values("integers_u8_in_i32", "u8", "i32", OF_INTEGERS),
];
