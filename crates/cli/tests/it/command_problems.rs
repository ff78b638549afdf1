//! Problems whose kernel is a command, from the command line.

use crate::common;

use common::{Folder, Ran, entries};
use serde_json::json;
use std::process::{Command, Stdio};

/// A program whose cost is a function of its parameters. `WAY = "wrong"` prints a wrong result,
/// `"broken"` fails to build, and `"crash"` crashes.
const PROGRAM: &str = r#"#!/bin/sh
. "$OUT/settings"
test "$WAY" = crash && kill -SEGV $$
echo "answer $answer"
echo "cost $((10 + (TILE - 4) * (TILE - 4))) us"
echo "loss 0.$TILE"
"#;

const BUILD: &str = r#"#!/bin/sh
echo built >> "$2/built"
test "$WAY" = broken && { echo "settings:1: error: no such way" >&2; exit 1; }
if test "$WAY" = wrong; then echo answer=41; else echo answer=42; fi > "$1/settings"
"#;

const PROBLEM: &str = r#"
[problem]
sizes = { SIZE = 100 }

[kernel]
command = ["sh", "program.sh", "{TILE}"]
build = ["sh", "build.sh", "{OUT}", "@HERE@"]
cost = "cost ([0-9]+) us"
unit = "us"
values = { loss = "loss ([-+0-9.eE]+)" }

[parameters]
TILE = [1, 2, 3, 4, 5]
WAY = ["right", "wrong", "broken", "crash"]

[constraints]
"tiles are small" = "TILE * 10 <= SIZE"

[verify]
output = "^answer 42$"

[tuning]
strategy = "exhaustive"
"#;

fn folder(problem: &str) -> Folder {
    let folder = Folder::with(&[("program.sh", PROGRAM), ("build.sh", BUILD)]);
    write_problem(&folder, problem);
    folder
}

/// Writes a problem, with the path of its folder for `@HERE@`: its commands run in a copy.
fn write_problem(folder: &Folder, problem: &str) {
    folder.write("p.toml", &problem.replace("@HERE@", folder.path("").to_str().unwrap().trim_end_matches('/')));
}

/// Tunes the problem with `old` replaced by `new`.
#[track_caller]
fn tune_with(old: &str, new: &str) -> Ran {
    assert!(PROBLEM.contains(old));
    folder(&PROBLEM.replacen(old, new, 1)).run(&["tune", "p.toml", "--quiet"])
}

#[test]
fn a_command_tunes_end_to_end() {
    let folder = folder(PROBLEM);
    let ran = folder.run(&["tune", "p.toml", "--json", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let outcome = ran.json();
    assert_eq!(outcome["best"]["config"], json!({"TILE": 4, "WAY": "right"}));
    assert_eq!(outcome["best"]["time_ms"], 0.01);
    assert_eq!(outcome["default"]["time_ms"], 0.019);
    assert_eq!(outcome["evaluations"], 20);
    let failed = json!({"compile": 5, "runtime": 5, "timeout": 0, "correctness": 5, "constraints": 0, "infeasible": 0});
    assert_eq!(outcome["failed"], failed);
    assert!(outcome["device"].as_str().unwrap().starts_with("command ("), "{outcome:#}");
    let is_it = |entry: &serde_json::Value| entry["config"] == json!({"TILE": 3, "WAY": "right"});
    let best = entries(&folder.path("p.jsonl")).into_iter().find(is_it).unwrap();
    assert_eq!(best["values"]["loss"][0], 0.3, "{best:#}");
}

#[test]
fn a_command_is_named_by_its_device_as_well() {
    let folder = folder(PROBLEM);
    let tune = |device: &str| folder.run(&["tune", "p.toml", "--quiet", "--device", device, "--stop", "evaluations 1"]);
    assert_eq!(tune("command").code, Some(0));
    tune("comand").refused(&["no device `comand`", "did you mean `command`?"]);
    tune("c").refused(&["is a command, which the device `c` does not run", "--device command"]);
    assert_eq!(tune("synthetic:TILE").code, Some(0));
}

#[test]
fn a_resumed_run_measures_nothing_twice_and_another_program_is_noticed() {
    // A final re-measurement of the leaders would build them again.
    let folder = folder(&format!("{PROBLEM}\n[measure]\nfinal = false\ndrift = false\n"));
    let tune = |more: &[&str]| folder.run(&[&["tune", "p.toml", "--json", "--quiet"], more].concat());
    assert_eq!(tune(&["--stop", "evaluations 5"]).code, Some(0));
    let ran = tune(&["--resume"]);
    assert_eq!((ran.json()["resumed"].as_u64(), ran.json()["evaluations"].as_u64()), (Some(5), Some(20)), "{ran:#?}");
    // One build for each evaluation, and one before the resumed ones to check the programs.
    let built = std::fs::read_to_string(folder.path("built")).unwrap();
    assert_eq!(built.lines().count(), 21);
    folder.write("program.sh", &format!("{PROGRAM}# changed\n"));
    tune(&["--resume"]).refused(&["cannot be resumed", "command"]);
}

#[test]
fn a_resumed_run_has_the_threads_and_the_compiler_of_its_beginning() {
    let problem = format!("{PROBLEM}\n[measure]\nfinal = false\ndrift = false\n");
    let compiler = |version: &str| format!("#!/bin/sh\necho {version}\n");
    let begin = |variables: &[(&str, &str)]| {
        let folder = folder(&problem);
        folder.write("mycc", &compiler("mycc 1.0"));
        assert!(Command::new("chmod").arg("+x").arg(folder.path("mycc")).status().unwrap().success());
        assert_eq!(Ran::of(tune(&folder, "3", variables).output().unwrap()).code, Some(0));
        folder
    };
    let tune_again = |folder: &Folder, variables: &[(&str, &str)]| {
        Ran::of(tune(folder, "4", variables).arg("--resume").output().unwrap())
    };
    let folder = begin(&[("OMP_NUM_THREADS", "2")]);
    let now = "environment: OMP_NUM_THREADS=2 in the journal";
    tune_again(&folder, &[("OMP_NUM_THREADS", "3")]).refused(&["cannot be resumed", now, "OMP_NUM_THREADS=3 now"]);
    tune_again(&folder, &[]).refused(&[now, "nothing now"]);
    assert_eq!(tune_again(&folder, &[("OMP_NUM_THREADS", "2"), ("EDITOR", "ed")]).code, Some(0));

    let folder = begin(&[]);
    tune_again(&folder, &[("CFLAGS", "-O1")]).refused(&["environment: nothing in the journal, CFLAGS=-O1 now"]);

    let folder = begin(&[("CC", "./mycc")]);
    folder.write("mycc", &compiler("mycc 2.0"));
    tune_again(&folder, &[("CC", "./mycc")]).refused(&["CC=./mycc (mycc 1.0) in the journal", "CC=./mycc (mycc 2.0)"]);
}

/// Returns a command that tunes the folder's problem until `count` evaluations, with these variables alone of those that
/// belong to a run's identity.
fn tune(folder: &Folder, count: &str, variables: &[(&str, &str)]) -> Command {
    let mut command = folder.command(&["tune", "p.toml", "--quiet", "--stop", &format!("evaluations {count}")]);
    for name in ["OMP_NUM_THREADS", "CC", "CXX", "CFLAGS"] {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    command
}

#[test]
fn run_runs_one_configuration_and_prints_the_script_for_it() {
    let folder = folder(PROBLEM);
    let ran = folder.run(&["run", "p.toml", "--config", "TILE=2", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(ran.json()["time_ms"], 0.014);
    let ran = folder.run(&["run", "p.toml", "--config", "WAY=wrong"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("correctness") && ran.stdout.contains("answer 41"), "{ran:#?}");
    let ran = folder.run(&["run", "p.toml", "--config", "TILE=3", "--show-command"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    for part in ["export TILE=3\n", "sh build.sh", "sh program.sh 3\n"] {
        assert!(ran.stdout.contains(part), "`{part}` is missing: {}", ran.stdout);
    }
}

#[test]
fn check_builds_and_looks_for_programs() {
    let checked = folder(PROBLEM).run(&["check", "p.toml"]);
    assert_eq!(checked.code, Some(0), "{checked:#?}");
    let folder = folder(&PROBLEM.replace("\"sh\", \"program.sh\"", "\"./progarm.sh\""));
    folder.run(&["check", "p.toml"]).refused(&[
        "p.toml:6:",
        "`./progarm.sh` does not exist",
        "did you mean `./program.sh`?",
    ]);
}

#[test]
fn devices_lists_command() {
    let report = Folder::new().run(&["devices", "--json"]).json();
    let devices = report["devices"].as_array().unwrap();
    let device = devices.iter().find(|device| device["id"] == "command").unwrap();
    assert!(device["limits"]["threads"].as_f64() >= Some(1.0), "{report:#}");
}

#[test]
fn the_starter_for_commands_tunes_at_once() {
    let folder = Folder::new();
    let ran = folder.run(&["init", "--backend", "command", "--out", "first"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let ran = folder.run(&["check", "first/problem.toml"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let ran = folder.run(&["tune", "first/problem.toml", "--stop", "evaluations 4", "--json", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.json()["default"]["time_ms"].as_f64() > Some(0.0), "{ran:#?}");
    folder.run(&["init", "--backend", "comand"]).refused(&["no starter", "did you mean `command`?"]);
    folder.run(&["init", "--backend", "fortran"]).refused(&["there are starters for c, command, cuda, hip"]);
}

#[test]
fn wrong_words_are_refused_where_they_stand() {
    tune_with("[\"sh\", \"program.sh\", \"{TILE}\"]", "\"./program.sh {TILE}\"")
        .refused(&["p.toml:6:", "list of words"]);
    tune_with("[\"sh\", \"program.sh\", \"{TILE}\"]", "[]").refused(&["p.toml:6:", "no words"]);
    tune_with("{TILE}", "{TIEL}").refused(&["p.toml:6:", "`{TIEL}`", "did you mean `TILE`?"]);
    tune_with("{TILE}", "{TILE").refused(&["p.toml:6:", "without its partner"]);
    tune_with("{OUT}", "{OUTPUT}").refused(&["p.toml:7:", "`{OUTPUT}`", "OUT, the folder of a configuration"]);
    tune_with("[\"sh\", \"build.sh\", \"{OUT}\", \"@HERE@\"]", "[[\"sh\"], \"build.sh\"]")
        .refused(&["p.toml:7:", "mixes words"]);
    tune_with("[\"sh\", \"build.sh\"", "[\"no-such-compiler\"")
        .refused(&["p.toml:7:", "`no-such-compiler` is not among the installed programs"]);
}

#[test]
fn wrong_costs_are_refused_where_they_stand() {
    tune_with("cost ([0-9]+) us", "cost [0-9]+ us").refused(&["p.toml:8:", "has 0 groups", "one group is the number"]);
    tune_with("cost ([0-9]+) us", "cost ([0-9+ us").refused(&["p.toml:8:", "no regular expression"]);
    tune_with("unit = \"us\"", "unit = \"hours\"").refused(&["p.toml:9:", "cannot be `hours`", "s, ms, us, ns"]);
    tune_with("cost = \"cost ([0-9]+) us\"\n", "").refused(&["p.toml:8:", "there is none"]);
    tune_with("unit = \"us\"", "time = \"user\"").refused(&["p.toml:9:", "`kernel.cost` both say"]);
    tune_with("unit = \"us\"", "time = \"usr\"").refused(&["did you mean `user`?"]);
    tune_with("loss ([-+0-9.eE]+)", "loss").refused(&["p.toml:10:", "kernel.values.loss", "0 groups"]);
    tune_with("unit = \"us\"", "memory_limit = \"2GIG\"").refused(&["p.toml:9:", "no amount of memory", "\"2GiB\""]);
    tune_with("unit = \"us\"", "warmup = 1").refused(&["p.toml:9:", "true or false"]);
    let both = "unit = \"us\"\nwarmup = false\n[measure]\nwarmups = 3";
    tune_with("unit = \"us\"", both).refused(&["p.toml:12:", "counts the first run", "remove one"]);
    tune_with("unit = \"us\"", "untis = \"us\"").refused(&["p.toml:9:", "did you mean `unit`?"]);
}

#[test]
fn wrong_checks_and_names_are_refused_where_they_stand() {
    tune_with("^answer 42$", "(").refused(&["p.toml:20:", "no regular expression"]);
    tune_with("output = \"^answer 42$\"", "expected_output = \"a.txt\"").refused(&["p.toml:20:", "no file `./a.txt`"]);
    tune_with("output = \"^answer 42$\"", "check = [\"./chekc\"]").refused(&["p.toml:20:", "`./chekc` does not exist"]);
    tune_with("output = \"^answer 42$\"", "relative = 0.1").refused(&["p.toml:20:", "expected_output"]);
    tune_with("SIZE = 100", "SIZE = 100, PATH = 1").refused(&["where programs are looked for under the name `PATH`"]);
    tune_with("WAY = [", "OUT = [").refused(&["p.toml:14:", "the folder of a configuration under the name `OUT`"]);
    tune_with("[verify]", "[[arguments]]\nname = \"a\"\n\n[verify]").refused(&["a command has no `[[arguments]]`"]);
}

/// Returns the cost of every configuration, and the kinds of failures.
fn costs(folder: &Folder, problem: &str) -> Vec<(String, String)> {
    let ran = folder.run(&["tune", problem, "--quiet", "--json", "--strategy", "exhaustive"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let journal = folder.path(ran.json()["out"].as_str().unwrap());
    let words = |entry: serde_json::Value| (entry["config"].to_string(), entry["status"].as_str().unwrap().to_owned());
    entries(&journal).into_iter().map(words).collect()
}

/// `check` looks at the file that `writes` names.
const LEFTOVER: &str = r#"
[kernel]
command = ["sh", "-c", "[ {WAY} = wrong ] || echo 42 > result.txt"]
writes = ["result.txt"]
[parameters]
WAY = ["right", "wrong"]
[verify]
check = ["grep", "-q", "42", "result.txt"]
"#;

#[test]
fn a_result_of_another_run_makes_no_configuration_correct() {
    let other = LEFTOVER.replace(r#""right", "wrong""#, r#""wrong", "right""#);
    let folder = Folder::with(&[("a.toml", LEFTOVER), ("b.toml", &other), ("result.txt", "42 of yesterday")]);
    for problem in ["a.toml", "a.toml", "b.toml"] {
        let mut found = costs(&folder, problem);
        found.sort();
        let expected = [(r#"{"WAY":"right"}"#, "correct"), (r#"{"WAY":"wrong"}"#, "correctness")];
        assert_eq!(found, expected.map(|(config, status)| (config.to_owned(), status.to_owned())), "{problem}");
    }
}

/// Prints `MIB` MiB, between numbers.
const LONG: &str = r#"
[kernel]
command = ["sh", "-c", "echo cost 12; head -c $((MIB << 20)) /dev/zero | tr '\\0' 7; echo; echo cost 34"]
cost = "cost ([0-9]+)"
[parameters]
MIB = [1, 3]
[verify]
check = ["grep", "-q", "cost 34"]
"#;

#[test]
fn an_output_that_was_cut_is_not_checked_as_if_it_were_whole() {
    let folder = Folder::with(&[("p.toml", LONG)]);
    let mut found = costs(&folder, "p.toml");
    found.sort();
    let expected = [(r#"{"MIB":1}"#, "correct"), (r#"{"MIB":3}"#, "correctness")];
    assert_eq!(found, expected.map(|(config, status)| (config.to_owned(), status.to_owned())));
}

/// Compiled by `make`, whose program does not depend on the parameter for all it knows.
const MAKE: &str = r#"
[kernel]
build = ["make", "COST={COST}"]
command = ["./prog"]
cost = "cost ([0-9]+)"
[parameters]
COST = [20, 1, 5, 10]
"#;

#[test]
fn a_program_that_was_made_before_the_run_is_made_for_each_configuration() {
    let files = [
        ("p.toml", MAKE),
        ("Makefile", "prog: m.o\n\tcc -o prog m.o\nm.o: m.c\n\tcc -DCOST=$(COST) -c m.c\n"),
        ("m.c", "#include <stdio.h>\nint main(void) { printf(\"cost %d\\n\", COST); }\n"),
    ];
    let folder = Folder::with(&files);
    let made = Command::new("make").arg("COST=7").current_dir(folder.path("")).output();
    if !made.is_ok_and(|output| output.status.success()) {
        return;
    }
    let outcome = folder.run(&["tune", "p.toml", "--quiet", "--json", "--strategy", "exhaustive"]).json();
    assert_eq!((&outcome["best"]["config"]["COST"], &outcome["best"]["time_ms"]), (&json!(1), &json!(1.0)));
    for entry in entries(&folder.path("p.jsonl")).iter().filter(|entry| entry["times_ms"].is_array()) {
        let cost = entry["config"]["COST"].as_f64();
        assert_eq!(entry["times_ms"][0].as_f64(), cost, "{entry}");
    }
}

#[test]
fn a_build_whose_words_have_no_effect_is_told_once() {
    let files = [
        ("p.toml", MAKE),
        ("Makefile", "prog: gen.c\n\tcc -o prog gen.c\ngen.c: m.in\n\tsed s/COST/$(COST)/ m.in > gen.c\n"),
        ("m.in", "#include <stdio.h>\nint main(void) { printf(\"cost %d\\n\", COST); }\n"),
    ];
    let folder = Folder::with(&files);
    let made = Command::new("make").args(["gen.c", "COST=7"]).current_dir(folder.path("")).output();
    if !made.is_ok_and(|output| output.status.success()) {
        return;
    }
    let tuned = || folder.run(&["tune", "p.toml", "--strategy", "exhaustive", "--jobs", "1"]).stderr;
    let told = tuned();
    assert!(told.contains("the builds `make COST=1` and `make COST=5` made the same files"), "{told}");
    assert_eq!(told.matches("made the same files").count(), 1, "{told}");
    std::fs::remove_file(folder.path("gen.c")).unwrap();
    let told = tuned();
    assert!(!told.contains("made the same files"), "{told}");
}

#[test]
fn the_last_line_of_the_standard_error_stands_in_the_summary() {
    let problem = "[kernel]\ncommand = [\"sh\", \"run.sh\", \"{N}\"]\n[parameters]\nN = [1, 2, 3]\n";
    let script = "test $1 = 1 && exit; echo 'line 1' >&2; echo 'no device of this kind' >&2; echo result; exit 3";
    let folder = Folder::with(&[("p.toml", problem), ("run.sh", script)]);
    let ran = folder.run(&["tune", "p.toml", "--quiet", "--strategy", "exhaustive"]);
    assert!(
        ran.stdout.contains("2 runtime, commonly: the command ended with status 3: no device of this kind"),
        "{ran:#?}"
    );
    let explained = folder.run(&["explain", "p.jsonl"]);
    assert!(explained.stdout.contains("no device of this kind"), "{explained:#?}");
}

#[test]
fn check_warns_of_words_that_mean_something_else() {
    let warned = |old: &str, new: &str, parts: &[&str]| {
        let checked = folder(&PROBLEM.replacen(old, new, 1)).run(&["check", "p.toml"]);
        for part in parts {
            assert!(
                checked.stdout.contains(part) || checked.stderr.contains(part),
                "`{part}` is missing: {checked:#?}"
            );
        }
    };
    let build = r#"build = ["sh", "build.sh", "{OUT}", "@HERE@"]"#;
    let without = r#"build = ["true", "{TILE}"]"#;
    warned(build, without, &["p.toml:7:9", "the build does not name `{OUT}`", "-o {OUT}/prog"]);
    let command = r#""program.sh", "{TILE}""#;
    warned(command, r#""program.sh", "{TILE}", "|", "tee""#, &["p.toml:6:", "`|` is passed to the program"]);
    warned(command, r#""program.sh", "$TILE""#, &["`$TILE` is passed", "write `{TILE}` for a parameter"]);
    warned(command, r#""program.sh", "'{TILE} x'""#, &["the quotes of `'{TILE} x'` are passed"]);
    warned(command, r#""-c", "sh program.sh ${TILE}""#, &["`${TILE}` becomes `$` and the value of `TILE`"]);
    warned(command, r#""program.sh", "{print}""#, &["write `{{print}}` if the braces stand for themselves"]);
    let checked = folder(PROBLEM).run(&["check", "p.toml", "--json"]).json();
    assert_eq!(checked["messages"], json!([]), "{checked:#}");
}

const ENDLESS: &str = r#"
[kernel]
command = ["sh", "-c", "sleep 1000 & echo $$ $! > @HERE@/running; wait"]

[parameters]
N = [1, 2, 3]

[measure]
first_limit = 1000
"#;

/// Returns the process numbers of the shell and of its children, once it runs.
fn running(folder: &Folder) -> Vec<String> {
    loop {
        let text = std::fs::read_to_string(folder.path("running")).unwrap_or_default();
        if text.ends_with('\n') {
            return text.split_whitespace().map(str::to_owned).collect();
        }
        std::thread::yield_now();
    }
}

/// Waits until a process is gone; a test that never sees that does not end.
fn wait_until_gone(number: &str) {
    let is_alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        // A zombie has ended. Its new parent collects it at some time.
        stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
    };
    while is_alive() {
        std::thread::yield_now();
    }
}

#[test]
fn nothing_outlives_a_tuner_that_is_killed_or_interrupted() {
    for (signal, code) in [("-KILL", None), ("-INT", Some(130))] {
        let folder = Folder::with(&[]);
        write_problem(&folder, ENDLESS);
        let mut tuner = folder.command(&["tune", "p.toml", "--quiet"]).stdout(Stdio::null()).spawn().unwrap();
        let started = running(&folder);
        assert_eq!(started.len(), 2);
        let killed = Command::new("kill").args([signal, &tuner.id().to_string()]).status().unwrap();
        assert!(killed.success());
        assert_eq!(tuner.wait().unwrap().code(), code);
        started.iter().for_each(|number| wait_until_gone(number));
    }
}
