//! examples/export: each form of `export` in a build of C, C++, Make or CMake.
#![allow(clippy::disallowed_methods, clippy::print_stderr, reason = "compilers and CI are read from the environment")]

use crate::common;

use common::Folder;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// The sizes of the runs. The best TILE is COLS / 64.
const COLS: [&str; 6] = ["256", "264", "512", "520", "1024", "1032"];

const FORMS: [&str; 9] = ["flags", "defines", "cmake", "make", "env", "json", "source", "c-header", "x-macro"];

/// Returns a folder with the examples and every export.
fn exported() -> &'static Folder {
    static EXPORTED: OnceLock<Folder> = OnceLock::new();
    EXPORTED.get_or_init(|| {
        let folder = Folder::new();
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/export");
        for entry in std::fs::read_dir(examples).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), folder.path(entry.file_name().to_str().unwrap())).unwrap();
        }
        let done = |arguments: &[&str]| {
            let ran = folder.run(arguments);
            assert_eq!(ran.code, Some(0), "{arguments:?} {ran:#?}");
        };
        for cols in COLS {
            let (size, out) = (format!("COLS={cols}"), format!("{cols}.jsonl"));
            let device = "synthetic:1 + abs(TILE - COLS / 64) + 1 / UNROLL";
            let options = ["--strategy", "exhaustive", "--quiet", "--device", device, "--size", &size, "--out", &out];
            done(&[&["tune", "scale.toml"], &options[..]].concat());
        }
        for form in FORMS {
            // One configuration is that of a single run; a chooser is made of all.
            let is_chooser = ["c-header", "x-macro"].contains(&form);
            let runs: Vec<String> = COLS.iter().map(|cols| format!("{cols}.jsonl")).collect();
            let runs: Vec<&str> = if is_chooser { runs.iter().map(String::as_str).collect() } else { vec![&runs[4]] };
            let force: &[&str] = if is_chooser { &["--force"] } else { &[] };
            done(&[&["export"], runs.as_slice(), &["--as", form, "--problem", "scale.toml"], force].concat());
        }
        folder
    })
}

fn cc() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".to_string())
}

/// Runs a program in the folder, which must end well, and returns what it prints.
fn run(program: &str, arguments: &[&str]) -> String {
    let folder = exported().path(".");
    let path = if program.starts_with("./") { folder.join(program) } else { program.into() };
    let ran = Command::new(path).args(arguments).current_dir(&folder).output().unwrap();
    let (out, error) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{program} {arguments:?}: {out}{error}");
    out.into_owned()
}

/// Returns true if a program is there. In continuous integration it has to be.
fn has(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    assert!(is_there || std::env::var_os("CI").is_none(), "{program} is missing");
    if !is_there {
        eprintln!("left out: {program} is missing (apt install {program})");
    }
    is_there
}

const STRICT: [&str; 5] = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"];

#[test]
fn flags_macros_and_the_tuned_source_build_the_application() {
    exported();
    for (name, arguments) in [
        ("app-flags", &["@scale.flags", "scale.c", "app.c"][..]),
        ("app-defines", &["-include", "scale.defines.h", "scale.c", "app.c"]),
        ("app-source", &["scale.tuned.c", "app.c"]),
    ] {
        run(&cc(), &[&STRICT, arguments, &["-o", name]].concat());
        assert_eq!(run(&format!("./{name}"), &[]), "TILE=16\n");
    }
    run(&cc(), &[&STRICT[..], &["scale.c", "app.c", "-o", "app-untuned"]].concat());
    assert_eq!(run("./app-untuned", &[]), "TILE=8\n");
}

#[test]
fn a_shell_and_make_build_the_application() {
    exported();
    run("sh", &["build.sh"]);
    assert_eq!(run("./app-env", &[]), "TILE=16\n");
    if has("make") {
        run("make", &["--quiet"]);
        assert_eq!(run("./app-make", &[]), "TILE=16\n");
    }
}

#[test]
fn programs_in_c_and_cpp_choose_among_configurations() {
    exported();
    let cxx = std::env::var("CXX").unwrap_or_else(|_| "c++".to_string());
    run(&cc(), &[&STRICT[..], &["choose.c", "-o", "choose-c"]].concat());
    run(&cc(), &[&STRICT[..], &["instances.c", "-o", "instances-c"]].concat());
    run(&cxx, &["-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "templates.cpp", "-o", "templates-cpp"]);
    for program in ["./choose-c", "./instances-c", "./templates-cpp"] {
        let tile = |cols| run(program, &["64", cols]).trim().to_string();
        assert_eq!(["256", "512", "1024"].map(tile), ["TILE=4", "TILE=8", "TILE=16"], "{program}");
    }
    assert_eq!(run("./choose-c", &["64", "999999"]).matches("a guess").count(), 1);
    assert_eq!(run("./choose-c", &["65", "512"]).trim(), "TILE=8, a guess", "ROWS was 64 in all runs");
}

#[test]
fn cmake_builds_all_of_them() {
    exported();
    if !has("cmake") {
        return;
    }
    run("cmake", &["-S", ".", "-B", "build"]);
    run("cmake", &["--build", "build"]);
    for (program, arguments) in [
        ("app-cmake", &[][..]),
        ("app-json", &[]),
        ("choose", &["64", "1024"]),
        ("instances", &["64", "1024"]),
        ("templates", &["64", "1024"]),
    ] {
        assert_eq!(run(&format!("./build/{program}"), arguments), "TILE=16\n", "{program}");
    }
}
