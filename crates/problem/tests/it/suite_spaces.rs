//! ATF's case studies in the suite have exactly the published spaces.

#![allow(clippy::print_stderr)] // skipped tests say why

use std::fs;
use std::path::{Path, PathBuf};
use tunesmith_problem::Problem;
use tunesmith_space::{Space, Value};

/// A size of a problem, by its name.
type Size = (&'static str, i64);

/// A problem of the suite, the sizes of the paper, and the published space.
const PROBLEMS: [(&str, &[Size], &str); 4] = [
    ("atf-gemm", &[], "atf_gemm_10x500x64"),
    ("atf-conv", &[("OUT_1", 4092), ("OUT_2", 4092)], "atf_conv_4092"),
    ("atf-ccsdt", &CCSDT, "atf_ccsdt"),
    ("atf-prl", &[], "atf_prl_1024"),
];

const CCSDT: [Size; 7] =
    [("SIZE_A", 24), ("SIZE_B", 16), ("SIZE_C", 16), ("SIZE_D", 24), ("SIZE_E", 16), ("SIZE_F", 16), ("SIZE_G", 24)];

fn suite() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suite")
}

/// Returns the folder of published spaces. Without one, prints the reason and returns `None`.
#[allow(clippy::disallowed_methods)] // the environment names the test data
fn published() -> Option<PathBuf> {
    let named = std::env::var_os("TUNESMITH_SHARED").map(PathBuf::from);
    let shared = named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
    let spaces = shared.join("spaces");
    if spaces.is_dir() {
        return Some(spaces);
    }
    eprintln!("skipped: no test data in {}; set TUNESMITH_SHARED", spaces.display());
    None
}

fn values(numbers: &[(&str, i64)]) -> Vec<(String, Value)> {
    numbers.iter().map(|&(name, number)| (name.to_string(), Value::Int(number))).collect()
}

fn space(path: &Path, sizes: &[(&str, i64)], limits: &[(&str, i64)]) -> Space {
    let problem = Problem::load(path, &values(sizes)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    problem.space(&values(limits)).unwrap().space
}

/// Checks that both spaces have the same parameters, values and configurations.
#[track_caller]
fn assert_same(ours: &Space, theirs: &Space, name: &str) {
    assert_eq!(ours.size(), theirs.size(), "{name}");
    // Ranks all over the space, of different ends.
    let step: u128 = ours.size().to_string().parse::<u128>().unwrap() / 200;
    for (from, to) in [(ours, theirs), (theirs, ours)] {
        for part in 0..200 {
            let configuration = from.unrank(from.id(step * part + part * 7919 % step).unwrap());
            assert!(to.violated(&configuration).is_empty(), "{name}: {configuration:?}");
        }
    }
    assert_eq!(ours.digest(), theirs.digest(), "{name}");
}

#[test]
fn the_suites_spaces_of_atf_are_the_published_ones() {
    let Some(published) = published() else { return };
    for (problem, sizes, name) in PROBLEMS {
        let ours = space(&suite().join(problem).join(format!("{problem}.toml")), sizes, &[]);
        let theirs = space(&published.join(format!("{name}.json")), &[], &[]);
        assert_same(&ours, &theirs, name);
        let meta = fs::read_to_string(published.join(format!("{name}.meta.json"))).unwrap();
        assert!(meta.contains(&format!("\"true_size\": {},", ours.size())), "{name} has {}", ours.size());
    }
}

#[test]
fn with_the_limits_of_a_device_they_are_the_published_ones_with_limits() {
    let Some(published) = published() else { return };
    // The published spaces count work-items alone, not local memory.
    let limits = [("max_work_group_size", 1024), ("max_work_item_size_2", 64)];
    for (problem, sizes, name) in PROBLEMS {
        let ours = space(&suite().join(problem).join(format!("{problem}-devlimit.toml")), sizes, &limits);
        assert_same(&ours, &space(&published.join(format!("{name}_devlimit.json")), &[], &[]), name);
    }
}

#[test]
fn problems_with_the_limits_of_a_device_differ_in_nothing_else() {
    for (problem, ..) in PROBLEMS {
        let read = |suffix| fs::read_to_string(suite().join(problem).join(format!("{problem}{suffix}.toml"))).unwrap();
        let (plain, limited) = (read(""), read("-devlimit"));
        let (before, rest) = limited.split_once("# The limits of the device.\n").unwrap();
        let (limits, after) = rest.split_once("\n\n").unwrap();
        assert!(limits.contains("device.max_work_group_size"), "{problem}");
        assert_eq!(format!("{before}\n{after}").replacen("-devlimit\"", "\"", 1), plain, "{problem}");
    }
}
