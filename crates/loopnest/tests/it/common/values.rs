//! Random nests with a temporary `v` and the line that computes it ahead.

/// Numbers that choose the parts of a nest.
pub(crate) type Choices = [u8; 12];

/// Returns one of the options.
pub(crate) fn pick<'a>(options: &[&'a str], choice: u8) -> &'a str {
    options[usize::from(choice) % options.len()]
}

/// Returns the names whose bits are set, each followed by a comma.
pub(crate) fn subset(names: &[&str], bits: u8) -> String {
    let chosen = names.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
    chosen.map(|(_, name)| format!("{name}, ")).collect()
}

/// Returns a value that neighbouring points share, tiled and tagged.
pub(crate) fn neighbours(choices: &Choices) -> String {
    const BOUNDS: [&str; 3] = ["0 <= j <= i", "i <= j < m + 2", "0 <= j < min(m, i + 3)"];
    const VALUES: [&str; 7] = [
        "sqrt(two[i + x, j + y]) + 0.5",
        "two[i + x, 2*j + y + 1]",
        "two[i + x, j + y]*one[j]",
        "one[i + x + 1] - one[i + x]**2 + x",
        "two[i + x, j + y + 2] + one[16 - y - j]/(n + 1)",
        "two[i + x, 3]*n + abs(two[i + x + 2, j])",
        "one[i - x + 2] + j - y",
    ];
    const USES: [&str; 4] = [
        "temporary v: f32\nacc = 0.5 @ i, j\nv = {} @ i, j, x, y\nacc = acc + v*0.5 @ i, j, x, y",
        "temporary v: f64\nacc = 0.5 @ i, j\nv = {} @ i, j, x, y\nacc = acc - v*one[x] @ i, j, x, y",
        "temporary v[3, 2]: f32\nv[x, y] = {} @ i, j, x, y\nacc = v[0, 1] + v[2, 0]*v[1, 1] - v[0, 0] @ i, j",
        "temporary v[2, 3]: f32\nv[y, x] = {} @ i, j, x, y\nacc = 1.0 @ i, j\nacc = acc + v[1, x] @ i, j, x",
    ];
    const TAGS: [&str; 4] = ["", "tag ii local.0", "tag ji local.1", "tag io group.0\ntag ji local.0"];
    const RECTANGLE_TAGS: [&str; 4] = [
        "tag io group.0\ntag ii local.0\ntag jo group.1\ntag ji local.1",
        "tag jo group.0\ntag ii local.0",
        "order io, jo, ii, ji\ntag jo group.0\ntag ji local.0",
        "order io, jo, ii, ji",
    ];
    let [bounds, value, uses, length, tags, sweep, memory, indices, ..] = *choices;
    let (bounds, tags) = match bounds % 2 {
        0 => ("0 <= j < m", pick(&RECTANGLE_TAGS, tags)),
        _ => (pick(&BOUNDS, bounds / 2), pick(&TAGS, tags)),
    };
    format!(
        "sizes n, m\nassume n >= 1 and m >= 1
        array one[40]: f32\narray two[40, 60]: f64\narray out[40, 40]: f64\ntemporary acc: f32
        {{[i, j, x, y]: 0 <= i < n and {} and 0 <= x < 3 and 0 <= y < 2}}
        {}
        out[i, j] = acc @ i, j
        split i {} -> io, ii\nsplit j {} -> jo, ji\n{}
        precompute v sweep {}x, y -> {} tile{}",
        bounds,
        pick(&USES, uses).replace("{}", pick(&VALUES, value)),
        length % 4 + 1,
        length / 4 % 4 + 1,
        tags,
        subset(&["ii", "ji"], sweep | sweep >> 2),
        if memory % 3 == 0 { "temporary" } else { "" },
        pick(&["[p]", "[p, q]", "[p, q]", "[p, q, r]"], indices),
    )
}
