//! T1 problems whose kernels are available can be tuned unchanged.

use crate::common;

use common::{Folder, has_opencl};
use serde_json::{Value as Json, json};
use std::fs;

/// y = 2 x + 1 with x[i] = i / 2. Configurations with WRONG = 1 compute something else.
const C_KERNEL: &str = "
void scale(const float *x, float *y, int n)
{
    for (int i = 0; i < n; i += tile)
        for (int t = 0; t < tile; t++)
            if (i + t < n)
                y[i + t] = 2 * x[i + t] + 1 + WRONG;
}
";

const OPENCL_KERNEL: &str = "
#ifndef kernel_tuner
#error this is a tuner
#endif
__kernel void scale(__global const float *x, __global float *y, const int n)
{
    const int first = get_group_id(0) * block_x * tile + get_local_id(0);
    for (int t = 0; t < tile; t++) {
        const int i = first + t * block_x;
        if (i < n)
            y[i] = 2 * x[i] + 1 + WRONG;
    }
}
";

const N: usize = 1000;

/// A T1 problem in `language` with its kernel and the right result.
fn problem(language: &str, file: &str, source: &str) -> Folder {
    let document = json!({
        "General": { "BenchmarkName": "scale" },
        "ConfigurationSpace": {
            "TuningParameters": [
                { "Name": "block_x", "Type": "int", "Values": "[16, 32]", "Default": 32 },
                { "Name": "tile", "Type": "int", "Values": "[2**i for i in range(3)]", "Default": 1 },
                { "Name": "WRONG", "Type": "int", "Values": "[0, 1]", "Default": 0 }
            ],
            "Conditions": [{ "Parameters": ["block_x", "tile"], "Expression": "block_x * tile < 128" }]
        },
        "Search": { "Name": "brute_force" },
        "KernelSpecification": {
            "Language": language,
            "KernelName": "scale",
            "KernelFile": file,
            "ProblemSize": [N],
            "GlobalSizeType": "CUDA",
            "GlobalSize": { "X": "1" },
            "LocalSize": { "X": "block_x" },
            "GridDivX": ["block_x", "tile"],
            "SharedMemory": 0,
            "Stream": null,
            "Arguments": [
                { "Name": "x", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly",
                  "Size": "ProblemSize[0] + max(tile) - 4", "FillType": "Generator", "DataSource": "i * 0.5" },
                { "Name": "y", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly",
                  "Size": "ProblemSize[0]", "FillType": "Constant", "FillValue": 0.0 },
                { "Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": N }
            ],
            "ReferenceArguments": [
                { "Name": "right", "TargetName": "y", "FillType": "BinaryRaw", "DataSource": "right.bin",
                  "ValidationMethod": "SideBySideComparison", "ValidationThreshold": 0.001 }
            ]
        }
    });
    let folder = Folder::with(&[("scale.json", &document.to_string()), (file, source)]);
    let right: Vec<u8> = (0..N).flat_map(|i| (i as f32 + 1.0).to_ne_bytes()).collect();
    fs::write(folder.path("right.bin"), right).unwrap();
    folder
}

#[track_caller]
fn tunes(folder: &Folder) {
    let ran = folder.run(&["check", "scale.json", "--json"]);
    let messages = ran.json()["messages"].as_array().unwrap().clone();
    // In C nothing but a constraint uses the size of a block.
    let is_said = |message: &Json| message["text"].as_str().unwrap().contains("nothing depends on parameter `block_x`");
    assert!(ran.code == Some(0) && messages.iter().all(is_said), "{ran:#?}");
    let ran = folder.run(&["tune", "scale.json", "--json", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let outcome = ran.json();
    assert_eq!(outcome["strategy"], "exhaustive");
    // 2 x 3 x 2 without block_x * tile = 128, half of them wrong.
    assert_eq!((&outcome["evaluations"], &outcome["failed"]["correctness"]), (&10.into(), &5.into()), "{outcome:#}");
    assert_eq!(outcome["best"]["config"]["WRONG"], 0);
    assert_eq!(outcome["default"]["config"], json!({ "block_x": 32, "tile": 1, "WRONG": 0 }));
    let failed: u64 = outcome["failed"].as_object().unwrap().values().filter_map(Json::as_u64).sum();
    assert_eq!(failed, 5, "{outcome:#}");
}

#[test]
fn a_c_problem_tunes_from_its_t1_file() {
    tunes(&problem("C", "scale.c", C_KERNEL));
}

/// The reference is an expression in place of a file, and one of the wrong configurations is found.
#[test]
fn a_problem_whose_reference_is_a_generator_tunes_without_a_file() {
    let folder = problem("C", "scale.c", C_KERNEL);
    let mut document: Json = serde_json::from_str(&fs::read_to_string(folder.path("scale.json")).unwrap()).unwrap();
    let reference = &mut document["KernelSpecification"]["ReferenceArguments"][0];
    reference["FillType"] = "Generator".into();
    reference["DataSource"] = "i + 1".into();
    fs::write(folder.path("scale.json"), document.to_string()).unwrap();
    fs::remove_file(folder.path("right.bin")).unwrap();
    tunes(&folder);
}

#[test]
fn an_opencl_problem_tunes_from_its_t1_file() {
    if has_opencl() {
        tunes(&problem("OpenCL", "scale.opencl", OPENCL_KERNEL));
    }
}

#[test]
fn a_parameter_of_mixed_types_is_refused_with_advice() {
    let folder = problem("C", "scale.c", C_KERNEL);
    let text = fs::read_to_string(folder.path("scale.json")).unwrap();
    for values in [r#"[16, \"auto\"]"#, "[16, 2.5, True]"] {
        folder.write("mixed.json", &text.replace("[16, 32]", values));
        folder.run(&["check", "mixed.json"]).refused(&[
            "mixed.json:1:",
            "parameter `block_x` mixes",
            "help: write all",
        ]);
    }
}
