//! Kernels that compute a function of each cell, and kernels whose tiles are larger than their work-groups.

use super::kernel::Groups::Narrow;
use super::kernel::Role::Added;
use super::kernel::{Kernel, line, of_type, rectangle};

const MAP: &str = include_str!("map.nest");
const HALO_LINE: &str = include_str!("halo_line.nest");
const HALO_ROWS: &str = include_str!("halo_rows.nest");

/// Returns kernels that compute a function of each cell, in both precisions.
macro_rules! maps {
    ($name:literal, $what:literal, $value:literal) => {{
        let single = Kernel { fill: [$what, $value, ""], ..line(concat!("map_", $name), "map", Added, MAP) };
        [single, of_type("f64", Kernel { name: concat!("map_", $name, "_f64"), ..single })]
    }};
}

/// Returns the kernel with tiles that reach `reach` cells beyond the work-group on both sides.
const fn halo(reach: &'static str, kernel: Kernel) -> Kernel {
    Kernel { fill: [reach, "", ""], class: "halo", ..kernel }
}

/// Functions of each cell: a third kernel for each function, beside those in chains and side by side.
pub(super) const MAPS: [[Kernel; 2]; 13] = [
    maps!("div", "quotients", "1.5/(a[i] + 3.0)"),
    maps!("sqrt", "square roots", "sqrt(a[i] + 2.0)"),
    maps!("rsqrt", "inverse roots", "rsqrt(a[i] + 2.0)"),
    maps!("exp", "exponentials", "exp(a[i])"),
    maps!("log", "logarithms", "log(a[i] + 3.0)"),
    maps!("sin", "sines", "sin(a[i])"),
    maps!("cos", "cosines", "cos(a[i])"),
    maps!("tanh", "hyperbolic tangents", "tanh(a[i])"),
    maps!("pow", "powers", "(a[i] + 3.0)**1.3"),
    maps!("abs", "absolute values", "abs(a[i] - 0.25)"),
    maps!("min", "lesser values", "min(a[i], 0.5)"),
    maps!("max", "greater values", "max(a[i], 0.5)"),
    maps!("select", "selections", "select(a[i] < 0.5, a[i], 0.25)"),
];

/// Tiles with rows that are cut off: those beside the work-group.
pub(super) const HALOS: [Kernel; 6] = [
    halo("1", line("halo_line_1", "halo", Added, HALO_LINE)),
    halo("5", line("halo_line_5", "halo", Added, HALO_LINE)),
    halo("1", rectangle("halo_rows_1", "halo", Added, HALO_ROWS)),
    halo("3", rectangle("halo_rows_3", "halo", Added, HALO_ROWS)),
    halo("1", Kernel { groups: Narrow, ..rectangle("halo_narrow_1", "halo", Added, HALO_ROWS) }),
    halo("1", of_type("f64", rectangle("halo_rows_f64", "halo", Added, HALO_ROWS))),
];
