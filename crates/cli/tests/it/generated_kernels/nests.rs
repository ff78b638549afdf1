//! The nests beside the kernels of calibrations, and the cases of both by what they do.

use super::{Case, Contents, Sizes};
use tunesmith::loopnest::kernels::{COVERAGE, Kernel};

const SPARSE: &str = include_str!("../../../../../examples/nests/spmv.nest");

/// Updates of every type, by every operation.
const UPDATES: &str = "
    nest updates
    sizes n
    array bins[n]: i32
    array most[16]: i32
    array least[1]: f32
    array wide[16]: i64
    array widest[16]: i64
    array sum[16]: f64
    array greatest[2]: f64
    array a[n]: f32
    array w[n]: i32
    {[i]: 0 <= i < n}
    lookup bin = bins[i]
    atomic most[bin] = max(most[bin], w[i])           @ i
    atomic least[0] = min(least[0], a[i] - 0.5)       @ i
    atomic wide[bin] = wide[bin] + w[i]               @ i
    atomic widest[bin] = min(w[i], widest[bin])       @ i
    atomic sum[bin] = sum[bin] + a[i]                 @ i
    atomic greatest[1] = max(greatest[1], a[i] + 0.5) @ i
    parameter width = 16
    split i width -> io, ii
    tag io group.0
    tag ii local.0
";

/// Returns kernels with cells in half precision, conversions and atomic updates.
pub(super) fn typed() -> Vec<Case> {
    let bins: Contents = ("bins", |cell| cell * 7919 % 16);
    let of_kernel = |kernel: &Kernel| {
        let shape = kernel.groups.shapes()[1];
        let case = Case::new(kernel, shape, Sizes::General);
        let has_bins = case.nest.arrays.iter().any(|array| array.name == bins.0);
        if has_bins { case.with(&bins) } else { case }
    };
    let classes = ["half", "convert", "atomic"];
    let kernels = COVERAGE.iter().filter(|kernel| classes.contains(&kernel.class)).map(of_kernel);
    kernels.chain([1, 32].map(|width| Case::of_data(UPDATES, width, &[401], &[bins]))).collect()
}

/// The cells of rows side by side, with the number of cells in each row.
const SIDE_BY_SIDE: &str = "
    nest side_by_side
    sizes n, most
    array length[n]: i64
    array column[most, n]: i32
    array value[most, n]: f32
    array x[n]: f32
    array y[n]: f32
    temporary acc: f32
    {[i]: 0 <= i < n}
    lookup cells = length[i]
    {[k]: 0 <= k < min(cells, most)}
    lookup at = column[k, i]
    acc = 0.0                      @ i
    acc = acc + value[k, i]*x[at]  @ i, k
    y[i] = acc                     @ i
    parameter width = 16
    split i width -> io, ii
    tag io group.0
    tag ii local.0
";

/// A sparse matrix times a dense one: a work-group for each row, with its work-items along the
/// columns of the result.
const DENSE: &str = "
    nest dense
    sizes n, m, nnz
    array row[n + 1]: i32
    array column[nnz]: i32
    array value[nnz]: f32
    array x[n, m]: f32
    array y[n, m]: f32
    temporary acc: f32
    {[i, j]: 0 <= i < n and 0 <= j < m}
    lookup first = row[i]
    lookup end = row[i + 1]
    {[k]: first <= k < end}
    lookup at = column[k]
    acc = 0.0                         @ i, j
    acc = acc + value[k]*x[at, j]     @ i, j, k
    y[i, j] = acc + 0.5*first         @ i, j
    parameter width = 16
    split j width -> jo, ji
    tag i group.1
    tag jo group.0
    tag ji local.0
";

/// A triangular matrix, whose rows are stored from their first cell on, plus a permutation.
const TRIANGLE: &str = "
    nest triangle
    sizes n, nnz
    array first[n]: i32
    array start[n]: i32
    array from[n]: i32
    array value[nnz]: f64
    array x[n]: f64
    array y[n]: f64
    temporary acc: f64
    {[i]: 0 <= i < n}
    lookup begin = first[i]
    lookup offset = start[i]
    lookup other = from[i]
    {[k]: begin <= k <= i}
    acc = x[other]                               @ i
    acc = acc + value[offset + k - begin]*x[k]   @ i, k
    y[i] = acc + offset                          @ i
    parameter width = 16
    split i width -> io, ii
    tag io group.0
    tag ii local.0
";

/// The distance of the greatest cell of each row from the least one, with several rows for each group.
const DISTANCES: &str = "
    nest distances
    sizes n, m
    array a[n, m]: f32
    array out[n]: f32
    temporary least: f32
    temporary most: f32
    {[i, k]: 0 <= i < n and 0 <= k < m}
    least = 2.0                    @ i
    most = -2.0                    @ i
    least = min(least, a[i, k])    @ i, k
    most = max(a[i, k], most)      @ i, k
    out[i] = most - least          @ i
    parameter width = 16
    split i 3 -> io, ii
    split k width -> ko, ki
    tag io group.0
    tag ii local.1
    reduce least, most over ki -> lows, highs[r] local.0
";

/// Sums in cells of an array, which all work-items of a row read afterwards.
const SHARES: &str = "
    nest shares
    sizes n, m
    array a[n, m]: i16
    array sum[n]: i64
    temporary s: i64
    {[i, k]: 0 <= i < n and 0 <= k < m}
    sum[i] = 3                        @ i
    sum[i] = sum[i] + a[i, k]*a[i, k] @ i, k
    s = sum[i]                        @ i
    sum[i] = sum[i] + s               @ i
    parameter width = 16
    split k width -> ko, ki
    tag i group.0
    reduce sum over ki -> parts[r] local.0
";

/// Returns kernels whose work-items share sums, and products whose tiles are loaded ahead.
pub(super) fn shared_and_ahead() -> Vec<Case> {
    let is_own = |kernel: &&Kernel| matches!(kernel.class, "reduction" | "pipelined");
    let of = |kernel: &Kernel| Case::new(kernel, kernel.groups.shapes()[1], Sizes::General);
    let mut all: Vec<Case> = COVERAGE.iter().filter(is_own).map(of).collect();
    for width in [1, 5, 32] {
        all.extend([DISTANCES, SHARES].map(|text| Case::of_data(text, width, &[20, 77], &[])));
    }
    all
}

/// Returns kernels whose bounds or subscripts depend on data, in work-groups of several widths.
pub(super) fn looked_up() -> Vec<Case> {
    let widths = |text: &str, sizes: &[i64], looked_up: &[Contents]| {
        [1, 8, 32, 128].map(|width| Case::of_data(text, width, sizes, looked_up))
    };
    let row: Contents = ("row", |row| row * row / 10);
    let column: Contents = ("column", |cell| cell * 7919 % 77);
    let triangle: [Contents; 3] =
        [("first", |row| row / 3 * 2), ("start", |row| row * 30), ("from", |row| row * 8 % 77)];
    let mut all = Vec::new();
    all.extend(widths(SPARSE, &[77, 600, 8], &[row, column]));
    all.extend(widths(SIDE_BY_SIDE, &[77, 6], &[("length", |row| row % 9), column]));
    all.extend(widths(DENSE, &[77, 45, 600], &[row, column]));
    all.extend(widths(TRIANGLE, &[77, 77 * 30], &triangle));
    all
}
