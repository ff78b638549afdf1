//! `bench/choosers/run` from any folder, with a program in the place of tunesmith: slow choices are found, and what
//! nothing compares is never taken for fast.

#![allow(clippy::print_stdout)] // what is skipped is said

use crate::common;

use common::{Folder, Ran, repository};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Exports a header whose only choice is not the default, and answers `tune --json` with the file `answer.json`.
const PROGRAM: &str = r#"#!/bin/sh
case $1 in
export)
    for last; do :; done
    cat > "$last" <<'HEADER'
struct blur_sizes { double W, H; };
struct blur_config { long long TILE_X, TILE_Y, ROWS; int SEPARABLE; const char *OPTIMISE; };
static const struct blur_config blur_configs[] = {{16, 1, 1, 1, "-O2"}};
static int blur_choose(struct blur_sizes sizes) { (void)sizes; return 0; }
static int blur_covers(struct blur_sizes sizes) { return sizes.W < 1300; }
HEADER
    ;;
tune) case "$*" in *--json*) cat "${0%/*}/answer.json" ;; esac ;;
esac
"#;

/// Runs a benchmark in `folder`, if Python is there.
fn run(folder: &Folder, script: &str, arguments: &[&str], program: &str) -> Option<Ran> {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: bench/choosers needs python3");
        return None;
    }
    let mut command = Command::new(repository().join("bench/choosers").join(script));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command.args(arguments).current_dir(folder.path("")).env("TUNESMITH", program);
    Some(Ran::of(command.output().unwrap()))
}

fn folder(answer: &str) -> Folder {
    let folder = Folder::with(&[("program", PROGRAM), ("answer.json", answer)]);
    std::fs::set_permissions(folder.path("program"), Permissions::from_mode(0o755)).unwrap();
    folder
}

#[test]
fn slow_choices_are_found_and_what_nothing_compares_is_not_fast() {
    let slow = r#"{"speedup": null, "contender": {"ratio": 0.5, "ci95": [0.45, 0.55]}}"#;
    let fast = r#"{"speedup": {"ratio": 1.5, "ci95": [1.4, 1.6]}}"#;
    let single = r#"{"speedup": null, "contender": {"ratio": 0.5, "ci95": null}}"#;
    for (answer, code, row) in [
        (slow, 1, "| all | 3 | 0 | 0 | 0.500 | 0.500 | 3 | 3 |"),
        (fast, 0, "| all | 3 | 0 | 0 | 1.500 | 1.500 | 0 | 0 |"),
        (single, 0, "| all | 3 | 0 | 0 | 0.500 | 0.500 | 3 | 0 |"),
        (r#"{"speedup": null}"#, 1, "| all | 3 | 0 | 3 |  |  | 0 | 0 |"),
    ] {
        let folder = folder(answer);
        let Some(ran) = run(&folder, "run", &["out/here", "3"], "./program") else { return };
        assert_eq!((ran.code, ran.stdout.matches(row).count()), (Some(code), 2), "{answer}: {ran:#?}");
        assert!(folder.path("out/here/blur.h").is_file(), "the folder starts from the present one");
    }
}

/// A chooser is no worse than the default if the default ships, or if it does better on inputs held out.
#[test]
fn each_kernel_has_a_line_with_what_ships() {
    let portfolio = |held_out: &str, low: f64| {
        format!(
            r#"{{"kernel": "k", "configurations": 3, "rule": "a tree", "regret_held_out": {held_out}, "regret_fixed": 0.2,
            "regret_default": 0.3, "judgement": {{"failed": 0, "speed": 1.2, "ci95": [{low}, 1.3], "slowest": 0.9,
            "slower": 1, "sizes": 20}}}}"#
        )
    };
    let good = "| k | 10.0 % | 20.0 % | 30.0 % | 1.200 (1.100 to 1.300) | 0.900 | 1 of 20 | 3 configurations, a tree |";
    let default = "| k |  | 20.0 % | 30.0 % | 1.200 (0.900 to 1.300) | 0.900 | 1 of 20 | the default |";
    for (found, code, row) in [
        (portfolio("0.1", 1.1), 0, good),
        (portfolio("null", 0.9), 0, default),
        (portfolio("0.4", 1.1), 1, "| k | 40.0 % |"),
    ] {
        let program = "#!/bin/sh\ncase $1 in export) cat \"${0%/*}/answer.json\" ;; esac\n";
        let folder = folder(&format!("{{\"portfolios\": [{found}]}}"));
        folder.write("program", program);
        folder.write("k.toml", "");
        let Some(ran) = run(&folder, "kernels", &["out", "k.toml"], "./program") else { return };
        assert!(ran.code == Some(code) && ran.stdout.contains(row), "{ran:#?}");
    }
}

#[test]
fn wrong_arguments_of_the_benchmark_give_its_usage() {
    let folder = folder("{}");
    for arguments in [&["out", "many"][..], &["out", "0"], &["out", "3", "more"], &["--quick"]] {
        let Some(ran) = run(&folder, "run", arguments, "./program") else { return };
        let is_usage = ran.stderr.starts_with("usage: bench/choosers/run [FOLDER [SIZES]]");
        assert!(ran.code == Some(1) && is_usage && !ran.stderr.contains("Traceback"), "{ran:#?}");
    }
    let Some(ran) = run(&folder, "kernels", &["out", "no.toml"], "./program") else { return };
    let is_usage = ran.stderr.starts_with("usage: bench/choosers/kernels") && ran.stderr.contains("no.toml");
    assert!(ran.code == Some(1) && is_usage && !ran.stderr.contains("Traceback"), "{ran:#?}");
    let Some(ran) = run(&folder, "run", &["out", "3"], "./missing") else { return };
    assert!(ran.code == Some(1) && ran.stderr.contains("TUNESMITH names `./missing`"), "{ran:#?}");
}
