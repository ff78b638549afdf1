//! CUDA problems from the command line, on a driver that follows a script.

use crate::common;

use common::cuda::{run_scripted, script};
use common::{Folder, entries};
use serde_json::Value as Json;

/// Rules for the starter. Some tiles fail, each in its way. For all others `b` is equal to `a`,
/// which is correct while all elements are the same.
const RULES: &str = r#"[
    { "defines": { "TILE": "8" }, "end": "CUDA_ERROR_ILLEGAL_ADDRESS" },
    { "defines": { "TILE": "16" }, "launch": "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" },
    { "defines": { "TILE": "32" }, "compile": "kernel.cu(7): error: expected a `;`" },
    { "defines": { "TILE": "64", "SHARED": "1" }, "load": "CUDA_ERROR_OUT_OF_MEMORY" },
    { "defines": { "COLUMNS": "2" }, "times_us": [20], "attributes": { "NUM_REGS": 24 },
      "writes": [{ "to": 1, "from": { "parameter": 0 }, "bytes": 65536 }] },
    { "times_us": [30], "attributes": { "NUM_REGS": 16 },
      "writes": [{ "to": 1, "from": { "parameter": 0 }, "bytes": 65536 }] }
]"#;

/// The starter with a matrix of ones, and a script.
fn starter() -> Folder {
    let folder = Folder::with(&[("script.json", &script((9, 0), true, RULES))]);
    assert_eq!(folder.run(&["init", "--backend", "cuda"]).code, Some(0));
    let problem = std::fs::read_to_string(folder.path("problem.toml")).unwrap();
    folder.write("problem.toml", &problem.replace("fill = \"random\" ", "fill = \"ones\" "));
    folder
}

#[test]
fn a_search_goes_on_over_every_kind_of_failure_and_finds_the_fastest() {
    let folder = starter();
    let checked = run_scripted(&folder, &["check", "problem.toml", "--json"]);
    assert_eq!(checked.json()["ok"], true, "{checked:#?}");
    let ran = run_scripted(
        &folder,
        &["tune", "problem.toml", "--size", "N=128", "--stop", "fraction 1", "--json", "--quiet"],
    );
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let outcome = ran.json();
    assert_eq!(outcome["device"], "Scripted GPU");
    assert_eq!(outcome["best"]["config"]["COLUMNS"], 2);
    assert!((outcome["best"]["time_ms"].as_f64().unwrap() - 0.02).abs() < 1e-9, "{outcome:#}");
    let entries = entries(&folder.path("problem.jsonl"));
    assert_eq!(entries.len() as u64, outcome["evaluations"]);
    for entry in &entries {
        let config = &entry["config"];
        let expected = match (config["TILE"].as_u64().unwrap(), config["SHARED"].as_bool().unwrap()) {
            (8, _) => "runtime",
            (16, _) | (64, true) => "constraints",
            (32, _) => "compile",
            _ => "correct",
        };
        assert_eq!(entry["status"], expected, "{entry:#}");
        if expected == "correct" {
            let registers = if config["COLUMNS"] == 2 { 24.0 } else { 16.0 };
            assert_eq!(entry["compile"]["resources"]["registers"], registers, "{entry:#}");
        }
    }
    let failed = |kind: &str| outcome["failed"][kind].as_u64().unwrap();
    assert!(failed("runtime") > 5 && failed("compile") > 5 && failed("constraints") > 5, "{outcome:#}");
    assert_eq!((failed("correctness"), failed("timeout")), (0, 0));
}

#[test]
fn one_configuration_tells_what_it_uses_and_how_it_is_compiled() {
    let folder = starter();
    let ran = run_scripted(&folder, &["run", "problem.toml", "--size", "N=128", "--config", "COLUMNS=2"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stdout.contains("20.00 us") && ran.stdout.contains("registers = 24"), "{ran:#?}");
    let shown = run_scripted(&folder, &["run", "problem.toml", "--show-source", "--show-command"]);
    for words in ["void transpose(", "decltype(&transpose<float>)", "--gpu-architecture=sm_90", "--define-macro=TILE=4"]
    {
        assert!(shown.stdout.contains(words), "`{words}` is not in {}", shown.stdout);
    }
    let devices = run_scripted(&folder, &["devices", "--json"]).json();
    let device = devices["devices"].as_array().unwrap().iter().find(|device| device["backend"] == "cuda").unwrap();
    assert_eq!((&device["id"], &device["limits"]["compute_capability"]), (&Json::from("cuda:0"), &Json::from(9.0)));
}

#[test]
fn an_interrupted_run_is_resumed_without_asking_twice() {
    let folder = starter();
    let tune = |more: &[&str]| {
        let arguments = ["tune", "problem.toml", "--size", "N=128", "--strategy", "random", "--json", "--quiet"];
        run_scripted(&folder, &[&arguments, more].concat()).json()
    };
    assert_eq!(tune(&["--stop", "evaluations 10"])["evaluations"], 10);
    let outcome = tune(&["--stop", "evaluations 15", "--resume"]);
    assert_eq!((&outcome["evaluations"], &outcome["resumed"]), (&Json::from(15), &Json::from(10)));
}

#[test]
fn without_a_gpu_devices_and_tune_say_what_is_missing_and_how_to_get_it() {
    let folder = starter();
    let absent = |folder: &Folder, words: &[&str]| {
        let devices = run_scripted(folder, &["devices", "--json"]).json();
        let missing = devices["missing"].as_array().unwrap().iter().find(|missing| missing["backend"] == "cuda");
        let missing = missing.unwrap_or_else(|| panic!("{devices:#}"));
        let line = format!("{} {}", missing["reason"].as_str().unwrap(), missing["remedy"].as_str().unwrap());
        let ran = run_scripted(folder, &["tune", "problem.toml"]);
        assert_eq!(ran.code, Some(3), "{ran:#?}");
        let said = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "");
        for word in words {
            assert!(line.contains(word) && said.contains(word), "`{word}` is not in `{line}` and {said}");
        }
    };
    folder.write("script.json", r#"{ "devices": [] }"#);
    absent(&folder, &["finds no GPU", "nvidia-smi"]);
    folder.write("script.json", "nonsense");
    absent(&folder, &["cannot be read", "mend the script"]);
}

#[test]
fn the_machine_itself_has_a_gpu_or_says_what_is_missing() {
    let devices = Folder::new().run(&["devices", "--json"]).json();
    let of_cuda = |list: &str| devices[list].as_array().unwrap().iter().filter(|one| one["backend"] == "cuda").count();
    assert!((of_cuda("devices") > 0) != (of_cuda("missing") > 0), "{devices:#}");
}

#[test]
fn mistakes_in_cuda_problems_are_told_with_place_and_remedy() {
    let folder = starter();
    let problem = std::fs::read_to_string(folder.path("problem.toml")).unwrap();
    let refused = |wrong: &str, right: &str, words: &[&str]| {
        assert!(problem.contains(right), "{right}");
        folder.write("wrong.toml", &problem.replacen(right, wrong, 1));
        run_scripted(&folder, &["tune", "wrong.toml", "--stop", "evaluations 2"]).refused(words);
    };
    refused("", "local = [\"TILE // COLUMNS\", \"ROWS\"]", &["number of threads in a block is missing", "wrong.toml"]);
    refused(
        "access = \"in\"\nsymbol = \"table\"",
        "access = \"in\"",
        &["`table` is a variable in constant memory", "memory = \"constant\""],
    );
    run_scripted(&folder, &["tune", "problem.toml", "--device", "cuda:7"])
        .refused(&["there is no CUDA device `7`", "cuda:0 (Scripted GPU)"]);
    run_scripted(&folder, &["tune", "problem.toml", "--device", "c"]).refused(&["CUDA C++", "choose `--device cuda`"]);
}
