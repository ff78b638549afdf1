//! Random nests whose work-items add up in loops, mostly in ways that suit vectors.

use super::values::{Choices, pick};

/// Returns a tiled sum over `k` with one or several temporaries. They live across the barriers
/// where `b` is copied.
pub(crate) fn tiled(choices: &Choices) -> String {
    const SUMS: [&str; 10] = [
        "s = s + a[i, k]*b[k, j] @ i, j, k",
        "s = s - b[k, j] + 2 @ i, j, k",
        "s = k*b[k, j] - s @ i, j, k",
        "t = s - b[k, j] @ i, j, k\ns = -t + a[i, k] @ i, j, k",
        "pair[0] = pair[1] + b[k, j] @ i, j, k\npair[1] = pair[0] - a[i, k]*n @ i, j, k\ns = pair[1] @ i, j, k",
        "pair[x] = pair[x] + b[k, j]*(x + 1) @ i, j, k, x\ns = s + pair[1] @ i, j, k",
        "s = s + u[k] @ i, j, k\nt = b[k, j]*u[k] @ i, j, k",
        "s = s + b[k, j]**2 @ i, j, k",
        "s = s + b[k, j] + j @ i, j, k",
        "s = s + a[i, k]*b[k, j] @ i, j, k\nout[i, j] = s @ i, j, k",
    ];
    const TYPES: [&str; 6] = ["f32", "f32", "f64", "f64", "i32", "i64"];
    const BEFORE: [&str; 3] = ["s = 0", "s = n - 3", "s = out[i, j]"];
    const AFTER: [&str; 4] = ["s", "s*2 - t", "t", "pair[1] + out[i, j] - s"];
    let [sum, kind, other, before, after, rows, columns, depth, copy, split, layout, order] = *choices;
    let kind = pick(&TYPES, kind);
    let (rows, columns) =
        (pick(&["1", "2", "3", "4", "6", "16"], rows), pick(&["2", "4", "8", "12", "16", "48"], columns));
    let mut text = format!(
        "sizes n, m\nassume n >= 1 and m >= 1
        array a[n, m]: {kind}\narray b[m, n]: {kind}{}\narray u[m]: {}\narray out[n, n]: {kind}
        temporary s: {kind}\ntemporary t: {kind}\ntemporary pair[2]: {kind}
        {{[i, j, k, x]: 0 <= i < n and 0 <= j < n and 0 <= k < m and 0 <= x < 2}}
        t = 1 @ i, j\npair[x] = 3*x @ i, j, x\n{} @ i, j
        {}
        out[i, j] = {} @ i, j
        split i {rows} -> io, ii\nsplit j {columns} -> jo, ji
        tag jo group.0\ntag io group.1\ntag ji local.0\ntag ii local.1\n",
        pick(&["", "", "", " column"], layout),
        pick(&[kind, "f32", "i32"], other),
        pick(&BEFORE, before),
        pick(&SUMS, sum),
        pick(&AFTER, after),
    );
    if split % 3 > 0 {
        text += &format!("split k {} -> ko, ki\n", depth % 5 + 1);
        if copy % 2 > 0 {
            text += &format!(
                "prefetch b sweep ki, ji -> tile[p, q]\nsplit p {rows} -> po, pi\ntag pi local.1\ntag q local.0\n"
            );
        }
        text += pick(&["", "", "tag ki unroll\n"], order);
    }
    text
}
