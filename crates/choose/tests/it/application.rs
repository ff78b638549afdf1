//! The application of docs/selecting.md: its code is the example's, it runs, and it needs few
//! crates.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The example, compiled as a part of this test.
#[allow(clippy::print_stdout, clippy::print_stderr)] // an application prints
mod example {
    include!("../../../../examples/choose/src/main.rs");

    pub(super) fn run() {
        main();
    }
}

/// Maximum number of crates in its tree: its own, Tunesmith's and all others.
const MOST_CRATES: usize = 25;

/// Crates that a program which only chooses must not depend on.
const NEVER: [&str; 10] =
    ["clap", "cudarc", "libloading", "nalgebra", "nix", "num-bigint", "opencl3", "plotters", "rand", "rayon"];

fn house() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the names of the crates that the example needs to be built.
fn crates() -> BTreeSet<String> {
    let arguments = ["tree", "--offline", "--locked", "--edges=normal,build", "--prefix=none", "--format={p}"];
    let cargo = Command::new(env!("CARGO")).args(arguments).current_dir(house().join("examples/choose")).output();
    let output = cargo.expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("names are text");
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_string).collect()
}

#[test]
fn its_code_is_that_of_the_page() {
    let read = |path: &str| std::fs::read_to_string(house().join(path)).expect(path);
    let (page, example) = (read("docs/selecting.md"), read("examples/choose/src/main.rs"));
    assert!(page.contains(&format!("```rust\n{example}```\n")), "docs/selecting.md has other code than the example");
    let lines = example.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines <= 10, "{lines} lines");
}

#[test]
fn it_needs_few_crates_and_no_drivers_plots_or_command_line() {
    let crates = crates();
    assert!(crates.contains("tunesmith-choose") && crates.len() <= MOST_CRATES, "{}: {crates:?}", crates.len());
    let carried: Vec<&&str> = NEVER.iter().filter(|name| crates.contains(**name)).collect();
    assert!(carried.is_empty(), "{carried:?}");
}

#[test]
fn it_runs_without_its_files() {
    example::run();
}
