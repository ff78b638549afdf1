//! Every wrong input is refused with exit code 2 and a message that names file, place, name and
//! remedy.

use crate::common;

use common::{Folder, in_and_out};
use std::fs;

const KERNEL: &str = "void scale(const float *a, float *b, int n)\n{\n    for (int i = 0; i < n; ++i)\n        b[i] = SCALE * a[i];\n}\n";
const REFERENCE: &str =
    "void twice(const float *a, float *b, int n)\n{\n    for (int i = 0; i < n; ++i)\n        b[i] = 2 * a[i];\n}\n";
const PROBLEM: &str = concat!(
    r#"
[problem]
sizes = { N = 64 }

[kernel]
file = "scale.c"
function = "scale"

[parameters]
SCALE = [1, 2]
WIDTH = [4, 8, 16]

[constraints]
"width divides" = "N % WIDTH == 0"

"#,
    in_and_out!(),
    r#"
[[arguments]]
name = "n"
type = "i32"
value = "N"

[verify]
reference = { file = "twice.c", function = "twice" }
"#
);

/// Tunes the problem with `old` replaced by `new`.
#[track_caller]
fn tune_with(old: &str, new: &str) -> common::Ran {
    assert!(PROBLEM.contains(old));
    let folder = folder(&PROBLEM.replacen(old, new, 1));
    folder.run(&["tune", "p.toml", "--quiet"])
}

fn folder(problem: &str) -> Folder {
    Folder::with(&[("p.toml", problem), ("scale.c", KERNEL), ("twice.c", REFERENCE)])
}

#[test]
fn the_unchanged_problem_is_fine() {
    let ran = folder(PROBLEM).run(&["tune", "p.toml", "--quiet", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(ran.json()["best"]["config"]["SCALE"], 2);
}

#[test]
fn a_misspelt_parameter_in_a_constraint() {
    tune_with("N % WIDTH", "N % WIDHT").refused(&["p.toml:14:", "`WIDHT`", "did you mean `WIDTH`?"]);
}

#[test]
fn a_constraint_that_forgot_to_compare_is_warned_of_quiet_or_not() {
    let ran = tune_with("N % WIDTH == 0", "SCALE < 9 and N // WIDTH");
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stderr.contains("p.toml:14:") && ran.stderr.contains("takes a number for a truth"), "{ran:#?}");
    for fine in ["N % WIDTH == 0", "(WIDTH < 9) & (SCALE > 0)", "not WIDTH % 3", "all([WIDTH])", "True"] {
        let ran = tune_with("N % WIDTH == 0", fine);
        assert!(!ran.stderr.contains("for a truth"), "{ran:#?}");
    }
}

#[test]
fn a_misspelt_limit_is_an_error_that_lists_those_that_exist() {
    let parts = ["p.toml:14:", "`device.l1_cach`", "no device has", "did you mean `l1_cache`?", "device.threads"];
    tune_with("N % WIDTH == 0", "WIDTH < device.l1_cach").refused(&parts);
    tune_with("N % WIDTH == 0", "WIDTH < device.sockets").refused(&["`device.sockets`", "this device has device."]);
}

#[test]
fn a_constraint_on_a_limit_of_other_devices_is_left_out_and_said_quiet_or_not() {
    let ran = tune_with("N % WIDTH == 0", "WIDTH < device.warp_size");
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stderr.contains("is left out") && ran.stderr.contains("on devices that have this limit"), "{ran:#?}");
}

#[test]
fn an_expression_cut_short() {
    tune_with("N % WIDTH == 0", "N % WIDTH ==").refused(&["p.toml:14:", "`==`", "N % WIDTH =="]);
}

#[test]
fn a_constraint_that_removes_everything() {
    tune_with("N % WIDTH == 0", "WIDTH > N")
        .refused(&["p.toml:14:", "no configuration satisfies constraint `width divides`"]);
}

#[test]
fn constraints_that_remove_everything_together_are_all_named() {
    let two = "\"width divides\" = \"WIDTH > 8\"\n\"narrow\" = \"WIDTH * SCALE < 16\"\n\"idle\" = \"SCALE > 0\"";
    let ran = tune_with("\"width divides\" = \"N % WIDTH == 0\"", two);
    ran.refused(&["no configuration satisfies constraints `width divides`, `narrow` together"]);
    assert!(!ran.stderr.contains("`idle`"));
}

#[test]
fn a_function_that_is_not_there() {
    tune_with("function = \"scale\"", "function = \"scael\"").refused(&["p.toml:7:", "`scael`", "`scale`"]);
}

#[test]
fn an_argument_too_few() {
    let last = "[[arguments]]\nname = \"n\"\ntype = \"i32\"\nvalue = \"N\"\n";
    tune_with(last, "").refused(&["p.toml:7:", "2 arguments", "3"]);
}

#[test]
fn an_argument_too_many() {
    let more = "[[arguments]]\nname = \"m\"\ntype = \"i32\"\nvalue = \"N\"\n\n[verify]";
    tune_with("[verify]", more).refused(&["p.toml:7:", "4 arguments", "3"]);
}

#[test]
fn an_argument_of_another_type_is_named() {
    let ran = tune_with("name = \"b\"\ntype = \"f32\"", "name = \"b\"\ntype = \"f64\"");
    ran.refused(&["p.toml:21:", "`b`", "f64*", "float *"]);
}

#[test]
fn a_scalar_that_would_lose_digits_is_named() {
    tune_with("type = \"i32\"", "type = \"f32\"").refused(&["`n`"]);
}

#[test]
fn a_missing_problem_file() {
    let ran = Folder::new().run(&["tune", "absent.toml"]);
    ran.refused(&["absent.toml", "No such file", "tunesmith init"]);
}

#[test]
fn a_missing_or_foreign_journal_and_a_folder_that_is_not_there() {
    let folder = folder(PROBLEM);
    folder.run(&["top", "absent.jsonl"]).refused(&["absent.jsonl", "No such file"]);
    folder.run(&["report", "absent.jsonl", "-o", "x.html"]).refused(&["absent.jsonl", "No such file"]);
    folder.run(&["top", "scale.c"]).refused(&["scale.c", "no journal", "`tunesmith tune` writes"]);
    folder.run(&["tune", "p.toml", "--out", "absent/run.jsonl"]).refused(&["absent/run.jsonl", "No such file"]);
}

#[test]
fn a_model_that_is_none_and_the_kinds_there_are() {
    let folder = folder(PROBLEM);
    folder.write("other.json", "{\"kind\": \"portfolio\"}");
    folder.write("bare.json", "{}");
    let kinds = ["train counters", "train timing", "calibrate", "`exact`"];
    let refused = |file: &str, why: &str| {
        folder.run(&["tune", "p.toml", "--model", file]).refused(&[&[file, "is no model", why], &kinds[..]].concat());
    };
    refused("absent.json", "No such file");
    refused("scale.c", "not readable as JSON");
    refused("bare.json", "it has no `kind`");
    refused("other.json", "it is of kind `portfolio`");
}

#[test]
fn a_missing_kernel_file() {
    tune_with("scale.c", "sclae.c").refused(&["p.toml:6:", "no file `./sclae.c`", "paths are relative"]);
}

#[test]
fn a_missing_reference_file() {
    tune_with("twice.c", "thrice.c").refused(&["p.toml:33:", "no file `./thrice.c`"]);
}

#[test]
fn a_missing_data_file() {
    tune_with("shape = [\"N\"]\n\n", "shape = [\"N\"]\nfill = \"file\"\npath = \"a.npy\"\n\n").refused(&["a.npy"]);
}

#[test]
fn an_unknown_strategy_and_an_unknown_option_of_one() {
    let folder = folder(PROBLEM);
    let tune = |strategy: &str| folder.run(&["tune", "p.toml", "--strategy", strategy]);
    tune("anealing").refused(&["no strategy `anealing`", "did you mean `annealing`?", "exhaustive"]);
    tune("annealing(temprature=2)").refused(&["no option `temprature`", "did you mean `temperature`?"]);
}

#[test]
fn an_unknown_command_line_option() {
    folder(PROBLEM).run(&["tune", "p.toml", "--sede", "3"]).refused(&["--sede", "--seed"]);
}

#[test]
fn an_unknown_stop_condition() {
    folder(PROBLEM)
        .run(&["tune", "p.toml", "--stop", "evals 3"])
        .refused(&["`evals` is not a condition", "evaluations 200"]);
}

#[test]
fn checking_on_an_unknown_device_says_so_among_the_messages() {
    let ran = folder(PROBLEM).run(&["check", "p.toml", "--device", "opencll", "--json"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    let checked = ran.json();
    let errors = checked["messages"].as_array().unwrap().iter().filter(|own| own["level"] == "error");
    let texts: Vec<&str> = errors.filter_map(|own| own["text"].as_str()).collect();
    assert_eq!((checked["ok"].as_bool(), texts), (Some(false), vec!["there is no device `opencll`"]));
    assert_eq!(checked["space"]["size"], "6");
}

#[test]
fn an_unknown_device() {
    folder(PROBLEM)
        .run(&["tune", "p.toml", "--device", "sinthetic:1"])
        .refused(&["no device", "did you mean `synthetic`?"]);
}

#[test]
fn a_size_expression_that_is_no_integer() {
    tune_with("shape = [\"N\"]\n\n", "shape = [\"N / 3\"]\n\n").refused(&["p.toml:19:", "N / 3", "integer", "`//`"]);
}

#[test]
fn a_size_that_the_problem_lacks() {
    folder(PROBLEM).run(&["tune", "p.toml", "--size", "M=3"]).refused(&["no size `M`", "N"]);
}

#[test]
fn an_unknown_key_and_an_unknown_section() {
    tune_with("function =", "funktion =").refused(&["p.toml:7:1", "no `funktion`", "did you mean `function`?"]);
    tune_with("[verify]", "[verfy]").refused(&["p.toml:", "no `verfy`", "did you mean `verify`?"]);
}

#[test]
fn an_unknown_type_and_an_unknown_word() {
    tune_with("type = \"i32\"", "type = \"int\"").refused(&["p.toml:29:", "`int`", "i32"]);
    tune_with("access = \"out\"", "access = \"output\"").refused(&[
        "p.toml:25:",
        "cannot be `output`",
        "did you mean `out`?",
    ]);
}

#[test]
fn a_default_that_a_constraint_excludes() {
    let ran = tune_with("[verify]", "[tuning]\ndefault = { WIDTH = 16 }\n\n[constraints2]\n\n[verify]");
    ran.refused(&["no `constraints2`"]);
    let excluded = PROBLEM.replace("N % WIDTH == 0", "WIDTH < 16") + "\n[tuning]\ndefault = { WIDTH = 16 }\n";
    folder(&excluded).run(&["tune", "p.toml"]).refused(&["default configuration violates `width divides`"]);
}

#[test]
fn a_configuration_with_an_unknown_parameter_or_value() {
    let folder = folder(PROBLEM);
    let run = |config: &str| folder.run(&["run", "p.toml", "--config", config]);
    run("WITDH=4").refused(&["no parameter `WITDH`", "did you mean `WIDTH`?"]);
    run("WIDTH=5").refused(&["`WIDTH` does not take 5", "4, 8, 16"]);
    run("WIDTH").refused(&["not of the form NAME=VALUE"]);
}

#[test]
fn text_that_is_no_toml() {
    tune_with("[kernel]", "[kernel").refused(&["p.toml:5:"]);
}

#[test]
fn everything_wrong_with_a_file_is_said_at_once() {
    let ran = tune_with("type = \"i32\"\nvalue = \"N\"", "type = \"int\"\nvalue = \"N +\"");
    ran.refused(&["p.toml:29:", "p.toml:30:"]);
}

#[test]
fn check_says_the_same_as_json_with_places() {
    let folder = folder(&PROBLEM.replace("N % WIDTH", "N % WIDHT"));
    let ran = folder.run(&["check", "p.toml", "--json"]);
    assert_eq!(ran.code, Some(2));
    let report = ran.json();
    assert_eq!(report["ok"], false);
    let message = &report["messages"][0];
    assert_eq!((&message["line"], &message["column"]), (&14.into(), &24.into()), "{report:#}");
    assert!(message["remedy"].as_str().is_some(), "{report:#}");
    assert_eq!(report["messages"].as_array().unwrap().len(), 1, "one mistake, one message: {report:#}");
}

#[test]
fn a_damaged_journal_and_one_of_another_problem() {
    let folder = folder(PROBLEM);
    folder.write("damaged.jsonl", "not a journal\n");
    folder.run(&["top", "damaged.jsonl"]).refused(&["damaged.jsonl", "line 1"]);
    assert_eq!(folder.run(&["tune", "p.toml", "--quiet"]).code, Some(0));
    folder.write("scale.c", &KERNEL.replace("SCALE *", "SCALE * 1.0f *"));
    folder.run(&["tune", "p.toml", "--resume"]).refused(&["cannot be resumed", "kernel"]);
}

#[test]
fn a_reference_that_is_not_there_or_crashes() {
    tune_with("function = \"twice\"", "function = \"thrice\"").refused(&["p.toml:33:", "`thrice`", "twice.c"]);
    let crash = REFERENCE.replace("b[i] = 2 * a[i]", "*(volatile int *)8 = n");
    let folder = folder(PROBLEM);
    folder.write("twice.c", &crash);
    folder.run(&["tune", "p.toml"]).refused(&["p.toml:33:", "`twice`", "SIGSEGV"]);
    assert!(!folder.path("p.jsonl").exists(), "nothing was measured, so there is no journal");
}

#[test]
fn a_name_is_checked_as_well_when_a_run_is_resumed() {
    let folder = folder(PROBLEM);
    let begun = folder.run(&["tune", "p.toml", "--quiet", "--stop", "evaluations 2", "--start", "SCALE=2"]);
    assert_eq!(begun.code, Some(0), "{begun:#?}");
    let journal = fs::read(folder.path("p.jsonl")).unwrap();
    let cases: [(&[&str], &[&str]); 12] = [
        (&["--out", "q.jsonl"], &["there is no journal `q.jsonl`", "did you mean `p.jsonl`?", "leave out --resume"]),
        (&["--out", "nowhere/p.jsonl"], &["there is no journal `nowhere/p.jsonl`", "leave out --resume"]),
        (&["p.jsonl"], &["unexpected argument 'p.jsonl'", "write `--resume --out p.jsonl`"]),
        (&["--size", "n=5"], &["no size `n`", "did you mean `N`?"]),
        (&["--start", "SCALES=1"], &["`SCALES`", "did you mean `SCALE`?"]),
        (&["--strategy", "randm"], &["no strategy `randm`", "did you mean `random`?"]),
        (&["--strategy", "annealing(temprature=1)"], &["`temprature`", "did you mean `temperature`?"]),
        (&["--objective", "tim"], &["`tim`", "did you mean `time`?"]),
        (&["--device", "opencll"], &["`opencll`", "did you mean `opencl`?"]),
        (&["--stop", "evaluatons 5"], &["`evaluatons` is not a condition"]),
        (&["--model", "exakt"], &["`exakt` is no model", "did you mean `exact`?"]),
        (&["--history", "nofile.jsonl"], &["nofile.jsonl"]),
    ];
    for (arguments, words) in cases {
        folder.run(&[&["tune", "p.toml", "--quiet", "--resume"], arguments].concat()).refused(words);
        if !matches!(arguments[0], "--out") {
            let words: Vec<&str> = words.iter().filter(|word| !word.contains("--resume")).copied().collect();
            folder.run(&[&["tune", "p.toml", "--quiet", "--out", "new.jsonl"], arguments].concat()).refused(&words);
        }
    }
    folder.run(&["tune", "p.toml", "--resume=p.jsonl"]).refused(&["write `--resume --out p.jsonl`"]);
    assert_eq!(fs::read(folder.path("p.jsonl")).unwrap(), journal, "nothing was measured");
    assert!(!folder.path("q.jsonl").exists() && !folder.path("new.jsonl").exists());
}
