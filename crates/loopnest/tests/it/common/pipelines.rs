//! Random tiled products whose tiles are loaded one iteration ahead.

use super::values::{Choices, pick};

/// Returns a tiled product whose tiles are filled in loops with various tags and layouts. The lines
/// that load them ahead follow.
pub(crate) fn tiled(choices: &Choices) -> String {
    const BOUNDS: [&str; 5] =
        ["0 <= k < m", "0 <= k < m", "2 <= k < m + 2", "n - 3 <= k < m", "0 <= k < m and k <= n and k <= 7"];
    const TAGS: [&str; 6] = [
        "tag jo group.0\ntag io group.1\ntag ji local.0\ntag ii local.1",
        "tag jo group.0\ntag io group.1\ntag ji local.0\ntag ii local.1",
        "tag io group.0\ntag jo group.1\ntag ji local.1\ntag ii local.0",
        "tag jo group.1\ntag io group.0\ntag ji local.1\ntag ii local.2",
        "tag jo group.0\ntag io group.1\ntag ji local.0",
        "tag jo group.0\ntag ji local.0",
    ];
    const FILLS: [&str; 6] = [
        "tag a0 local.1\ntag a1 local.0",
        "split a1 2 -> a1o, a1i\ntag a1i local.0\ntag a0 local.1",
        "split a0 3 -> a0o, a0i\ntag a0i local.1\nsplit a1 3 -> a1o, a1i\ntag a1i local.0",
        "",
        "tag a1 local.0\nlayout a_tile column",
        "tag a0 local.0\ntag a1 unroll\nlayout a_tile pad 0, 1",
    ];
    const VALUES: [&str; 3] = ["a[i, k]", "(a[i, k] + a[i + 1, k])", "a[i, k + 1]*x"];
    const AHEAD: [&str; 5] = [
        "pipeline a_tile over ko -> a_next",
        "pipeline a_tile over ko -> a_next\npipeline b_tile over ko -> b_next",
        "pipeline b_tile over ko -> b_next\npipeline a_tile over ko -> a_next",
        "pipeline b_tile over ko -> b_next",
        "pipeline a_tile over ko -> a_next\nlayout b_tile column",
    ];
    let [bounds, tags, fill, value, ahead, rows, columns, depth, other, ..] = *choices;
    let tags = pick(&TAGS, tags);
    // Rows that run one after the other have a tile each. The tile of `b` would not change.
    let tiles = match tags.contains("ii local") {
        true => format!(
            "prefetch a sweep ii, ki -> a_tile[a0, a1]\n{}\nprefetch b sweep ki, ji -> b_tile[b0, b1]\n{}\n{}",
            pick(&FILLS, fill),
            pick(&["tag b0 local.1\ntag b1 local.0", "tag b1 local.0", ""], other),
            pick(&AHEAD, ahead)
        ),
        false => {
            let tag = pick(&["", "tag a1 local.0"], fill);
            format!("prefetch a sweep ki, x -> a_tile[a1]\n{tag}\n{}", AHEAD[0])
        }
    };
    format!(
        "sizes n, m\nassume n >= 1 and m >= 1
        array a[24, 24]: f32\narray b[24, 24]: f64\narray c[24, 24]: f64\ntemporary s: f64
        {{[i, j, k, x]: 0 <= i < n and 0 <= j < n and {} and 1 <= x < 3}}
        s = 0.5 @ i, j
        s = s + {}*b[k, j] @ i, j, k, x
        c[i, j] = s @ i, j
        split i {} -> io, ii\nsplit j {} -> jo, ji\nsplit k {} -> ko, ki\n{tags}\n{tiles}",
        pick(&BOUNDS, bounds),
        pick(&VALUES, value),
        pick(&["2", "3", "4", "5"], rows),
        pick(&["2", "3", "4", "5"], columns),
        pick(&["2", "3", "4", "7"], depth),
    )
}
