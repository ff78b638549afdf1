//! The rows of the house, top to bottom: a crate uses only crates of lower rows.

use std::process::Command;

/// Packages by row, as ARCHITECTURE.md has them; the top row first.
const ROWS: [&[&str]; 5] = [
    &["tunesmith-cli"],
    &["tunesmith"],
    &["tunesmith-search", "tunesmith-device", "tunesmith-store", "tunesmith-report"],
    &["tunesmith-core", "tunesmith-model"],
    &["tunesmith-space", "tunesmith-loopnest"],
];

fn row(package: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.contains(&package))
}

fn workspace() -> serde_json::Value {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
    let arguments = ["metadata", "--format-version=1", "--no-deps", "--offline", "--manifest-path", manifest];
    let output = Command::new(env!("CARGO")).args(arguments).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}

#[test]
fn crates_use_only_crates_of_lower_rows() {
    let metadata = workspace();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() >= 8);
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let own = row(name).unwrap_or_else(|| panic!("{name} stands in no row of the architecture"));
        let normal = |dependency: &&serde_json::Value| dependency["kind"].is_null();
        for dependency in package["dependencies"].as_array().unwrap().iter().filter(normal) {
            let used = dependency["name"].as_str().unwrap();
            if let Some(below) = row(used) {
                assert!(below > own, "{name} may not use {used}: rows {own} and {below}");
            }
        }
    }
}

#[test]
fn the_command_line_uses_the_facade_alone() {
    let metadata = workspace();
    let cli = metadata["packages"].as_array().unwrap().iter().find(|package| package["name"] == "tunesmith-cli");
    let dependencies = cli.unwrap()["dependencies"].as_array().unwrap();
    let ours: Vec<&str> = dependencies
        .iter()
        .filter_map(|dependency| dependency["name"].as_str())
        .filter(|name| row(name).is_some())
        .collect();
    assert_eq!(ours, ["tunesmith"]);
}
