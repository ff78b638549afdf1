//! Random nests with a cell that a loop updates, and the line that lets work-items share the loop.
//! All sums and products are exact, so that their order does not matter.

use super::values::{Choices, pick};

/// Updates of `s` and `c[i]`. The last ones are no reductions, or are used too early.
const UPDATES: [&str; 22] = [
    "s = s + a[i, k] @ i, k",
    "s = a[i, k] + (s - k) @ i, k",
    "s = s - a[i, k]*x + 3 @ i, k, x",
    "s = s + a[i, k] @ i, k\ns = k + s @ i, k",
    "t = a[i, k] + 1 @ i, k\ns = s + t @ i, k",
    "s = s*(1 + x) @ i, k, x",
    "s = max(s, a[i, k]) @ i, k",
    "s = min(a[i, k] - k, s) @ i, k",
    "s = max(a[i, k], max(s, 7)) @ i, k",
    "c[i] = c[i] + a[i, k] @ i, k\ns = c[i] @ i",
    "c[i] = max(a[i, k]*x, c[i]) @ i, k, x\ns = c[i] @ i",
    "s = s - a[i, k] @ i, k\nt = max(t, a[i, k] + k) @ i, k",
    "s = s + a[i, k] @ i, k\nt = t*2 @ i, k, x",
    "s = s + a[i, k] @ i, k\nb[i, 0] = s @ i\nt = t + a[i, k] @ i, k",
    "s = max(s, a[i, k]) @ i, k\nt = t + s @ i, k",
    "s = s*2 + a[i, k] @ i, k",
    "s = a[i, k] - s @ i, k",
    "s = max(s + a[i, k], 3) @ i, k",
    "s = s + a[i, k]*s @ i, k",
    "s = s + a[i, k] @ i, k\nb[i, k] = s @ i, k",
    "s = s + a[i, k] @ i, k\ns = max(s, k) @ i, k",
    "s = min(s, a[i, k]) @ i, k\nt = s @ i, x, k",
];

/// Returns a reduction in rows, tiled and tagged, which work-items are to share.
pub(crate) fn shared_rows(choices: &Choices) -> String {
    const BOUNDS: [&str; 4] = ["0 <= k < m", "0 <= k < m", "0 <= k <= i", "i <= k < m + 2"];
    const TYPES: [&str; 6] = ["f64", "i64", "i32", "f32", "f64", "u8"];
    const BEFORE: [&str; 4] = ["s = 0", "s = a[i, 0]", "c[i] = c[i]*2 @ i\ns = 1", "s = 5*i"];
    const AFTER: [&str; 5] = [
        "out[i] = s @ i",
        "out[i] = out[i] + s + t @ i",
        "t = s + t @ i\nout[i] = t + s @ i",
        "b[i, k] = a[i, k] + s @ i, k\nout[i] = s @ i",
        "b[i, l] = a[l, i] + s @ i, l\nout[i] = b[i, 0] @ i",
    ];
    const ROWS: [&str; 5] = [
        "tag io group.0\ntag ii local.1",
        "tag ii local.1",
        "tag io group.0",
        "",
        "split l 3 -> lo, li\ntag li local.1",
    ];
    const LATER: [&str; 4] = ["", "", "\nsplit l 3 -> l1, l2\ntag l2 local.0", "\nsplit l 9 -> l1, l2\ntag l2 local.0"];
    let [update, kind, bounds, before, after, rows, items, tags, lanes, order, later, _] = *choices;
    let (update, kind) = (pick(&UPDATES, update), pick(&TYPES, kind));
    let (cell, kind) = match update.contains("c[i] = ") {
        true => ("c", if kind == "f32" { "f64" } else { kind }),
        false => ("s", kind),
    };
    let (cells, sums) = match update.contains("\nt = ") {
        true => (format!("{cell}, t"), "sums, more"),
        false => (cell.to_string(), "sums"),
    };
    format!(
        "sizes n, m\nassume n >= 1 and m >= 1
        array a[20, 20]: i16\narray b[20, 20]: {kind}\narray c[20]: {kind}\narray out[20]: {kind}
        temporary s: {kind}\ntemporary t: {kind}
        {{[i, k, l, x]: 0 <= i < n and {} and 0 <= l < 6 and 0 <= x < 2}}
        t = 1 @ i\n{} @ i\n{update}\n{}
        split i {} -> io, ii\nsplit k {} -> ko, ki\n{}{}
        reduce {cells} over ki -> {sums}[r] {}{}",
        pick(&BOUNDS, bounds),
        pick(&BEFORE, before),
        pick(&AFTER, after),
        rows % 4 + 1,
        pick(&["1", "2", "3", "4", "5", "7", "8"], items),
        pick(&ROWS, tags),
        if order % 16 == 0 { "\norder ki, ko" } else { "" },
        pick(&["local.0", "local.0", "local.0", "local.1", "local.2"], lanes),
        pick(&LATER, later),
    )
}
