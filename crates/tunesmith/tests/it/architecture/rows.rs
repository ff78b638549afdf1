//! The rows of the house: a crate uses crates of lower rows alone.

use crate::architecture::house::{Crate, House};
use crate::architecture::paths::paths;

/// Packages by row, as ARCHITECTURE.md has them; the top row first.
pub(crate) const ROWS: [&[&str]; 14] = [
    &["tunesmith-python"],
    &["tunesmith-cli", "tunesmith-capi"],
    &["tunesmith-suite", "tunesmith-fleet"],
    &["tunesmith"],
    &["tunesmith-study"],
    &[
        "tunesmith-timing",
        "tunesmith-cost",
        "tunesmith-export",
        "tunesmith-explore",
        "tunesmith-propose",
        "tunesmith-watch",
    ],
    &["tunesmith-problem"],
    &["tunesmith-formats"],
    &["tunesmith-spec"],
    &["tunesmith-search", "tunesmith-device", "tunesmith-store", "tunesmith-report", "tunesmith-choose"],
    &["tunesmith-backend", "tunesmith-explain"],
    &["tunesmith-kernel"],
    &["tunesmith-core", "tunesmith-model", "tunesmith-import", "tunesmith-power"],
    &["tunesmith-space", "tunesmith-loopnest", "tunesmith-time", "tunesmith-files"],
];

/// Returns the row of `package`.
pub(crate) fn row(package: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.contains(&package))
}

/// Returns the packages that stand in no row, and every use of a crate that is not of a lower row.
pub(crate) fn faults(house: &House) -> Vec<String> {
    house.crates.iter().flat_map(|one| of_crate(house, one)).collect()
}

fn of_crate(house: &House, one: &Crate) -> Vec<String> {
    let Some(own) = row(&one.name) else {
        return vec![format!("{} stands in no row", one.name)];
    };
    let manifest = one.uses.iter().map(|used| (used.clone(), "Cargo.toml".to_string()));
    let uses = manifest.chain(written(house, one)).filter(|(used, _)| *used != one.name);
    let upward = uses.filter(|(used, _)| row(used).is_some_and(|below| below <= own));
    upward.map(|(used, place)| format!("{} may not use {used}: {place}", one.name)).collect()
}

/// Returns the packages that the code of `one` names, with the places.
fn written(house: &House, one: &Crate) -> Vec<(String, String)> {
    let of_source = |source: &crate::architecture::source::Source| {
        let place = house.short(&source.path);
        let named = paths(source).into_iter().filter(|path| path.segments.len() > 1);
        named.map(|path| (path.segments[0].replace('_', "-"), format!("{place}:{}", path.line))).collect::<Vec<_>>()
    };
    one.sources().iter().flat_map(of_source).collect()
}
