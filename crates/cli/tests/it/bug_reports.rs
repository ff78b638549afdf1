//! Inputs that users of tuners reported: each gives what its folder's README calls right. The folders are in `bugs` of
//! the shared test data.

use crate::common::{Folder, Ran, reported};
use serde_json::{Value as Json, json};
use std::fs;
use std::process::Command;

/// A recording, the columns to look at, and the rows that are right there.
type Right = (&'static str, &'static str, &'static str, &'static [&'static str]);

const READ: &[Right] = &[
    // A parameter of several types is read by the names of its values.
    ("01-mixed-types", "mixed.json", "A,M,time_ms,status", &["1,t,4,ok", "1,1,3,ok", "2,True,2,ok", "2,2.5,1,ok"]),
    ("01-mixed-types", "intfloat.json", "A,time_ms,status", &["1,4,ok", "0.5,3,ok", "True,2,ok"]),
    ("01-mixed-types", "t4.json", "M,time_ms,status", &["t,2,ok", "2,1,ok"]),
    // The unit of a measurement or of the file.
    ("03-t4-microseconds", "meta_us.json", "A,time_ms,compile_ms", &["1,0.096,5"]),
    ("03-t4-microseconds", "unit_us_time.json", "A,time_ms,compile_ms", &["1,0.096,5"]),
    ("03-t4-microseconds", "us.json", "A,time_ms,compile_ms", &["1,0.096,5"]),
    // A metric that is no number is missing; a time that is none is a failure.
    ("05-nan-in-cache", "nan_metric.json", "A,time_ms,status,energy", &["1,2,ok,1", "2,1,ok,"]),
    ("05-nan-in-cache", "nan_time.json", "A,time_ms,status,energy", &["1,2,ok,1", "2,,runtime,1"]),
    ("05-nan-in-cache", "t4.json", "A,time_ms,status", &["1,2,ok"]),
    ("05-nan-in-cache", "ktt.json", "A,time_ms,status", &["1,0.002,ok"]),
    (
        "05-nan-in-cache",
        "csv_nan.csv",
        "A,time_ms,status,energy",
        &["1,2,ok,", "2,,runtime,1", "3,,runtime,1", "4,1,ok,"],
    ),
    ("36-caches", "full.json", "A,B,time_ms", &["1,x,1", "1,y,1.5", "2,x,2", "2,y,2.5"]),
    ("36-caches", "no_times.json", "A,B,time_ms", &["1,x,1", "1,y,1.5", "2,x,2", "2,y,2.5"]),
    ("36-caches", "problem_size_list.json", "A,B,time_ms", &["1,x,1", "1,y,1.5", "2,x,2", "2,y,2.5"]),
];

#[test]
fn reported_recordings_are_read_as_measured() {
    for (name, file, columns, right) in READ {
        let Some(folder) = reported(name) else { return };
        let ran = convert(&folder, &[file]);
        assert_eq!(ran.code, Some(0), "{name}/{file}: {ran:#?}");
        assert_eq!(rows(&folder, columns), *right, "{name}/{file}");
    }
}

/// Recordings that no reader can know the unit of, and the sentence about what is taken.
const ASSUMED: [(&str, &str); 2] = [
    ("none.json", "the file states no unit of time: milliseconds are taken"),
    ("meta_typo.json", "`miliseconds` in metadata.timeunit is read as milliseconds"),
];

#[test]
fn a_unit_that_is_taken_for_granted_is_told() {
    let Some(folder) = reported("03-t4-microseconds") else { return };
    for (file, sentence) in ASSUMED {
        let ran = convert(&folder, &[file]);
        assert!(ran.code == Some(0) && ran.stderr.contains(sentence), "{file}: {ran:#?}");
        assert_eq!(rows(&folder, "A,time_ms"), ["1,96"], "{file}");
    }
}

/// Files of a folder that are refused, and the words of the message.
type Wrong = (&'static str, &'static [&'static str], &'static [&'static str]);

const REFUSED: &[Wrong] = &[
    ("03-t4-microseconds", &["meta_contra.json"], &["meta_contra.json", "result 1", "Microseconds", "milliseconds"]),
    ("36-caches", &["key_disagrees.json"], &["key_disagrees.json", "entry \"1,x\"", "those of \"2,x\""]),
    ("36-caches", &["time_text.json"], &["time_text.json", "entry \"1,x\"", "`time` is 2.5", "samples are 1"]),
    ("36-caches", &["times_disagree.json"], &["entry \"1,x\"", "`time` is 1", "samples are 5"]),
    ("42-clblast", &["a_1.json", "a_m512.json"], &["`a_1` and `a_m512` differ", "arg_m: `1024` and `512`"]),
    ("42-clblast", &["a_1.json", "prec64.json"], &["`a_1` and `prec64` differ", "precision: `32` and `64`"]),
    ("42-clblast", &["kt1.json", "kt_size.json"], &["problem size: `1024` and `2048`", "--keep-apart"]),
    ("42-clblast", &["kt1.json", "kt_kernel.json"], &["kernel: `k` and `other`", "--keep-apart"]),
];

#[test]
fn reported_contradictions_are_refused_by_name() {
    for (name, files, words) in REFUSED {
        let Some(folder) = reported(name) else { return };
        convert(&folder, files).refused(words);
        assert!(!folder.path("x.csv").exists(), "{name}: {files:?}");
    }
}

/// Recordings of another objective than time: its name, its direction, and the best value of `A`.
const OBJECTIVES: [(&str, &str, &str, u64); 5] = [
    ("score_t4.json", "score", "maximise", 2),
    ("gflops_t4.json", "GFLOP/s", "maximise", 2),
    ("energy_cache.json", "energy", "minimise", 1),
    ("gflops_cache.json", "GFLOP/s", "maximise", 1),
    ("score.json", "score", "maximise", 2),
];

#[test]
fn the_objective_of_a_reported_recording_ranks_in_every_command() {
    let Some(folder) = reported("02-objective-not-time") else { return };
    for (file, name, direction, best) in OBJECTIVES {
        let ran = convert(&folder, &[file]);
        assert!(ran.stdout.contains(&format!("({direction} {name})")), "{file}: {ran:#?}");
        for recording in [file, "x.csv"] {
            assert_eq!(first_hit(&folder, recording, name), best, "{file}: {recording}");
            let outcome = tune(&folder, "p.toml", &["--device", &format!("replay:{recording}"), "--out", "run.jsonl"]);
            assert_eq!(outcome["best"]["config"], json!({"A": best}), "{file}: {outcome:#}");
            let of = |key: &str| outcome["objective"][key].as_str().unwrap_or_default();
            assert_eq!((of("name"), of("direction")), (name, direction), "{file}");
            assert_eq!(first_hit(&folder, "run.jsonl", name), best, "{file}: the journal");
            fs::remove_file(folder.path("run.jsonl")).unwrap();
        }
    }
}

/// Returns the place of the first configuration within a tenth of the best by the objective `name`, counted from 1.
fn first_hit(folder: &Folder, recording: &str, name: &str) -> u64 {
    let ran = folder.run(&["compare", recording, "--strategy", "exhaustive", "--repeats", "1", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let document = ran.json();
    assert_eq!(document["baselines"][0]["objective"]["name"], name, "{document:#}");
    document["results"][0]["first_hit_mean"].as_f64().unwrap() as u64
}

#[test]
fn a_journal_of_a_reported_objective_keeps_it_in_t4() {
    let Some(folder) = reported("02-objective-not-time") else { return };
    tune(&folder, "p.toml", &["--device", "replay:gflops_t4.json", "--out", "run.jsonl"]);
    assert_eq!(folder.run(&["convert", "run.jsonl", "--to", "t4", "-o", "run.json"]).code, Some(0));
    let written: Json = serde_json::from_str(&fs::read_to_string(folder.path("run.json")).unwrap()).unwrap();
    assert_eq!(written["results"][0]["objectives"], json!(["GFLOP/s"]));
    assert_eq!(first_hit(&folder, "run.json", "GFLOP/s"), 2);
}

/// Recordings with a number that has the name of one of Tunesmith's own, or nearly.
const NUMBERS: [(&str, &str); 4] =
    [("energy.json", "energy"), ("edp.csv", "edp"), ("ps_energy.csv", "ps_energy"), ("errors.csv", "errors")];

#[test]
fn a_recorded_number_is_used_whatever_its_name() {
    let Some(folder) = reported("06-recorded-energy") else { return };
    for (file, number) in NUMBERS {
        let objective = format!("minimise {number}");
        let outcome = tune(&folder, "p.toml", &["--device", &format!("replay:{file}"), "--objective", &objective]);
        is_best(&outcome, 1, 1.0, "recorded");
    }
    let limited = tune(&folder, "p3.toml", &["--device", "replay:energy.json"]);
    is_best(&limited, 1, 1.0, "recorded");
    assert_eq!(limited["failed"]["infeasible"], 1, "A=3 takes more than the limit");
}

#[test]
fn a_printed_number_is_used_whatever_its_name() {
    let Some(folder) = reported("06-recorded-energy") else { return };
    is_best(&tune(&folder, "command.toml", &[]), 1, 1.0, "printed");
}

#[track_caller]
fn is_best(outcome: &Json, a: u64, value: f64, source: &str) {
    assert_eq!(outcome["best"]["config"], json!({"A": a}), "{outcome:#}");
    assert_eq!((&outcome["best"]["value"], &outcome["objective"]["source"]), (&json!(value), &json!(source)));
}

/// The names of folders that the reports list. One folder is within the other, so that one kernel is compiled in all.
const FOLDERS: [&str; 25] = [
    "sp ace",
    "br{A}ce",
    "dol$x",
    "ha#sh",
    "am&p",
    "co:lon",
    "back\\slash",
    "quo'te",
    "dq\"x",
    "per%cent",
    "ta\tb",
    "li\nne",
    "ünï",
    "trail ",
    "semi;x",
    "star*",
    "q?",
    "back`tick",
    "-dash",
    "a=b",
    "(p)",
    "comma,x",
    "at@x",
    "~t",
    "ex!",
];

#[test]
fn a_problem_runs_in_folders_of_every_reported_name() {
    use std::os::unix::ffi::OsStrExt;
    let Some(folder) = reported("08-folders") else { return };
    let inner = FOLDERS.iter().fold(folder.path("f"), |path, name| path.join(name));
    let inner = inner.join(std::ffi::OsStr::from_bytes(b"bad\xff"));
    assert!(Command::new("bash").arg(folder.path("make.sh")).arg(&inner).status().unwrap().success());
    let ran = Ran::of(folder.command(&["run", "--json"]).arg(inner.join("p.toml")).output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:#?}");
}

/// The sizes that the report asks for, and the winner of each: the nearest measured size is meant in doublings.
const SIZES: [(f64, i64); 8] =
    [(64.0, 32), (256.0, 64), (1024.0, 128), (4096.0, 256), (128.0, 32), (500.0, 64), (3000.0, 256), (1e5, 256)];

#[test]
fn each_size_of_reported_winners_has_its_own_in_the_header() {
    let Some(folder) = reported("10-winners-only") else { return };
    let ran = folder.run(&["export", "k.wisdom", "--as", "c-header", "-o", "k.h"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("4 of 4 configurations for 4 inputs"), "{ran:#?}");
    let asked = SIZES.map(|(size, _)| format!("\tprint({size:.1});\n")).concat();
    let program = format!(
        "#include <stdio.h>\n#include \"k.h\"\nstatic void print(double x) {{\n\tstruct k_sizes sizes = {{.x = x}};\n\
         \tprintf(\"%lld\\n\", k_configs[k_choose(sizes)].B);\n}}\nint main(void) {{\n{asked}\treturn 0;\n}}\n"
    );
    folder.write("ask.c", &program);
    let (source, binary) = (folder.path("ask.c"), folder.path("ask"));
    assert!(Command::new("cc").arg(source).arg("-o").arg(&binary).status().unwrap().success());
    let printed = String::from_utf8(Command::new(binary).output().unwrap().stdout).unwrap();
    let right: Vec<String> = SIZES.iter().map(|(_, winner)| winner.to_string()).collect();
    assert_eq!(printed.lines().collect::<Vec<_>>(), right);
}

/// Converts `files` of the folder to `x.csv`.
fn convert(folder: &Folder, files: &[&str]) -> Ran {
    folder.run(&[&["convert"], files, &["-o", "x.csv"]].concat())
}

/// Returns these columns of `x.csv`, row by row.
fn rows(folder: &Folder, columns: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.path("x.csv")).unwrap();
    let table: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let place = |column: &str| table[0].iter().position(|name| *name == column).unwrap_or_else(|| panic!("{text}"));
    let places: Vec<usize> = columns.split(',').map(place).collect();
    table[1..].iter().map(|row| places.iter().map(|at| row[*at]).collect::<Vec<_>>().join(",")).collect()
}

/// Tunes the whole space.
fn tune(folder: &Folder, problem: &str, options: &[&str]) -> Json {
    let ran = folder.run(&[&["tune", problem, "--strategy", "exhaustive", "--json"], options].concat());
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    ran.json()
}
