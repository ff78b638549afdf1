//! OpenCL problems from the command line.

use crate::common;

use common::{Folder, entries, has_opencl};

#[test]
fn the_starter_for_opencl_checks_out_and_tunes() {
    let folder = Folder::new();
    if !has_opencl() {
        return;
    }
    assert_eq!(folder.run(&["init", "--backend", "opencl"]).code, Some(0));
    let checked = folder.run(&["check", "problem.toml"]);
    assert_eq!(checked.code, Some(0), "{checked:#?}");
    let ran = folder.run(&["tune", "problem.toml", "--size", "N=256", "--stop", "evaluations 12", "--json", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let outcome = ran.json();
    assert!(outcome["best"]["time_ms"].as_f64().unwrap() > 0.0);
    assert_eq!(outcome["failed"]["correctness"], 0);
    assert_eq!(entries(&folder.path("problem.jsonl")).iter().filter(|entry| entry["status"] == "correct").count(), 12);
    let shown = folder.run(&["run", "problem.toml", "--show-source", "--show-command"]);
    assert!(shown.stdout.contains("kernel void transpose") && shown.stdout.contains("clBuildProgram"), "{shown:#?}");
    assert!(shown.stdout.contains("#define TILE 4\n"), "{shown:#?}");
}

#[test]
fn the_opencl_examples_check_out_and_give_right_results_in_their_default_configuration() {
    let folder = Folder::new();
    if !has_opencl() {
        return;
    }
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let cases = [
        ("gemm/gemm-opencl.toml", "241600"),
        ("conv2d/conv2d-opencl.toml", "3424"),
        ("reduce/reduce-opencl.toml", "700"),
        ("filterbank/filterbank-opencl.toml", "2496"),
        ("images/blur-opencl.toml", "480"),
    ];
    for (example, size) in cases {
        let path = examples.join(example);
        let path = path.to_str().unwrap();
        let checked = folder.run(&["check", path, "--json"]).json();
        assert_eq!((&checked["ok"], checked["space"]["size"].as_str()), (&true.into(), Some(size)), "{checked:#}");
        let ran = folder.run(&["run", path, "--json"]);
        assert_eq!(ran.json()["status"], "correct", "{ran:#?}");
    }
}

#[test]
fn a_device_is_chosen_by_number_or_a_part_of_its_name() {
    let folder = Folder::new();
    if !has_opencl() {
        return;
    }
    folder.run(&["init", "--backend", "opencl"]);
    let devices = folder.run(&["devices", "--json"]).json();
    let device = devices["devices"].as_array().unwrap().iter().find(|device| device["backend"] == "opencl").unwrap();
    let name = device["name"].as_str().unwrap().to_uppercase();
    for choice in ["opencl:0".to_string(), format!("opencl:{name}")] {
        let ran = folder.run(&["run", "problem.toml", "--size", "N=128", "--device", &choice]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
    }
    for choice in ["opencl:77", "opencl:no such name"] {
        let ran = folder.run(&["run", "problem.toml", "--device", choice]);
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        assert!(ran.stderr.contains("opencl:0"), "{ran:#?}");
    }
    let ran = folder.run(&["run", "problem.toml", "--device", "c"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(ran.stderr.contains("OpenCL C"), "{ran:#?}");
}

#[test]
fn mistakes_in_opencl_problems_are_told_with_place_and_remedy() {
    let folder = Folder::new();
    if !has_opencl() {
        return;
    }
    folder.run(&["init", "--backend", "opencl"]);
    let problem = std::fs::read_to_string(folder.path("problem.toml")).unwrap();
    let refused = |wrong: &str, right: &str, words: &[&str]| {
        assert!(problem.contains(right));
        folder.write("wrong.toml", &problem.replacen(right, wrong, 1));
        let ran = folder.run(&["tune", "wrong.toml", "--stop", "evaluations 2"]);
        assert_eq!(ran.code, Some(2), "{wrong}: {ran:#?}");
        for word in words {
            assert!(ran.stderr.contains(word), "`{word}` is not in: {}", ran.stderr);
        }
    };
    refused("glob =", "global =", &["did you mean `global`?", "wrong.toml"]);
    refused("", "global = [\"N // COLUMNS\", \"N // TILE * ROWS\"]", &["number of work-items is missing"]);
    refused("local = [\"TILE\"]", "local = [\"TILE // COLUMNS\", \"ROWS\"]", &["`kernel.local` has 1 dimensions"]);
    refused(
        "function = \"transposed\"",
        "function = \"transpose\"",
        &["has no kernel `transposed`", "did you mean `transpose`?"],
    );
    refused("type = \"f64\"", "type = \"f32\"", &["argument `a`", "global float*", "wrong.toml:"]);
    refused("\"N // COLUMN\"", "\"N // COLUMNS\"", &["did you mean `COLUMNS`?"]);
}

#[test]
fn a_warm_cache_of_the_driver_changes_no_verdict() {
    let folder = Folder::new();
    if !has_opencl() {
        return;
    }
    folder.write(
        "k.cl",
        "#if CASE == 2\n#error not this one\n#endif\n\
         kernel void k(global const float *a, global float *b) {\n\
           size_t i = get_global_id(0);\n\
           b[i] = a[i] * (CASE == 3 ? 2 : 1) + CASE * 0.0f;\n\
         }\n",
    );
    folder.write("r.c", "void r(const float *a, float *b) { for (int i = 0; i < 64; i++) b[i] = a[i]; }\n");
    folder.write(
        "p.toml",
        "[kernel]\nfile = \"k.cl\"\nfunction = \"k\"\nglobal = [64]\nlocal = [8]\n\
         [parameters]\nCASE = [0, 1, 2, 3, 4, 5]\n\
         [[arguments]]\nname = \"a\"\ntype = \"f32\"\nshape = [64]\naccess = \"in\"\nfill = \"random\"\n\
         [[arguments]]\nname = \"b\"\ntype = \"f32\"\nshape = [64]\naccess = \"out\"\n\
         [verify]\nreference = { file = \"r.c\", function = \"r\" }\n",
    );
    let cache = folder.path("cache");
    std::fs::create_dir(&cache).unwrap();
    let statuses = |out: &str| {
        let mut command =
            folder.command(&["tune", "p.toml", "--strategy", "exhaustive", "--seed", "1", "--quiet", "--out", out]);
        let ran = common::Ran::of(command.env("POCL_CACHE_DIR", &cache).output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let told = |entry: &serde_json::Value| {
            (entry["config"].to_string(), entry["status"].clone(), entry["message"].to_string())
        };
        let mut all = entries(&folder.path(out)).iter().map(told).collect::<Vec<_>>();
        // What is compiled first comes first.
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    };
    let cold = statuses("cold.jsonl");
    assert_eq!(cold.iter().filter(|(_, status, _)| status == "correct").count(), 4, "{cold:#?}");
    assert_eq!(cold, statuses("warm.jsonl"));
}
