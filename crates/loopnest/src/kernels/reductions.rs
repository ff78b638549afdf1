//! Kernels whose work-items share sums, and products whose tiles are loaded ahead: local memory and
//! barriers between few operations.

use super::kernel::Extent::Times;
use super::kernel::Role::Added;
use super::kernel::{Groups, Kernel, line, product};

const ROW_SUMS: &str = include_str!("row_sums.nest");
const PIPELINED: &str = include_str!("matmul_pipelined.nest");

/// Returns the sums of rows, each by a work-group of `items` work-items.
const fn row_sums(name: &'static str, items: i64, element: &'static str) -> Kernel {
    Kernel { groups: Groups::Row(items), element, ..line(name, "reduction", Added, ROW_SUMS) }
}

const fn pipelined(name: &'static str, element: &'static str) -> Kernel {
    Kernel { text: PIPELINED, element, ..product(name, "pipelined", Added, &[Times(1), Times(1), Times(1)]) }
}

pub(super) const REDUCTIONS: [Kernel; 8] = [
    row_sums("row_sums_64", 64, "f32"),
    row_sums("row_sums_128", 128, "f32"),
    row_sums("row_sums_256", 256, "f32"),
    row_sums("row_sums_64_f64", 64, "f64"),
    row_sums("row_sums_128_f64", 128, "f64"),
    row_sums("row_sums_256_f64", 256, "f64"),
    pipelined("matmul_pipelined", "f32"),
    pipelined("matmul_pipelined_f64", "f64"),
];
