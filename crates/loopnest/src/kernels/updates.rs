//! Kernels of atomic updates.

use super::kernel::Role::Added;
use super::kernel::{Kernel, line, of_type};

const ATOMIC: &str = include_str!("atomic.nest");
const HISTOGRAM: &str = include_str!("histogram.nest");

/// Returns a kernel that adds `value` to the cell `at` of an array `h`. `arrays` declares it and those of the
/// value.
const fn update(name: &'static str, arrays: &'static str, at: &'static str, value: &'static str) -> Kernel {
    Kernel { fill: [at, arrays, value], ..line(name, "atomic", Added, ATOMIC) }
}

/// Returns a kernel that adds `value` to cells of an array `h` that data decide.
const fn histogram(name: &'static str, arrays: &'static str, value: &'static str) -> Kernel {
    Kernel { fill: ["", arrays, value], ..line(name, "atomic", Added, HISTOGRAM) }
}

/// Returns kernels that add to one cell, to a cell of each work-item, and to few and many cells that data
/// decide.
macro_rules! updates {
    ($kind:literal) => {
        [
            update(concat!("atomic_one_", $kind), concat!("array h[1]: ", $kind), "0", "1"),
            update(concat!("atomic_sum_", $kind), concat!("array h[1]: ", $kind, "\narray a[n]: ", $kind), "0", "a[i]"),
            update(
                concat!("atomic_product_", $kind),
                concat!("array h[1]: ", $kind, "\narray a[n]: ", $kind, "\narray b[n]: ", $kind),
                "0",
                "a[i]*b[i]",
            ),
            update(concat!("atomic_each_", $kind), concat!("array h[n]: ", $kind), "i", "1"),
            update(
                concat!("atomic_each_sum_", $kind),
                concat!("array h[n]: ", $kind, "\narray a[n]: ", $kind),
                "i",
                "a[i]",
            ),
            update(
                concat!("atomic_each_product_", $kind),
                concat!("array h[n]: ", $kind, "\narray a[n]: ", $kind, "\narray b[n]: ", $kind),
                "i",
                "a[i]*b[i]",
            ),
            update(concat!("atomic_apart_", $kind), concat!("array h[16*n]: ", $kind), "16*i", "1"),
            histogram(concat!("histogram_few_", $kind), concat!("array h[16]: ", $kind), "1"),
            histogram(concat!("histogram_many_", $kind), concat!("array h[n]: ", $kind), "1"),
            histogram(
                concat!("histogram_sum_", $kind),
                concat!("array h[n]: ", $kind, "\narray a[n]: ", $kind),
                "a[i]",
            ),
            of_type(
                $kind,
                Kernel {
                    fill: ["4", "", ""],
                    ..line(concat!("histogram_local_", $kind), "atomic", Added, include_str!("histogram_local.nest"))
                },
            ),
        ]
    };
}

/// Atomic updates.
pub(super) const UPDATES: [[Kernel; 11]; 2] = [updates!("i32"), updates!("f32")];
