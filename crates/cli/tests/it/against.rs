//! `tunesmith suite tune --against` with cuBLAS and cuDNN. The GPU follows a script, and small
//! libraries in C take the place of NVIDIA's (`tests/nvidia`): they compute what they are asked to,
//! and refuse what the real ones would refuse.

use crate::common;

use common::cuda::{library, script};
use common::{COPY_KERNEL, COPY_REFERENCE, Folder, Ran};
use serde_json::Value as Json;
use std::fs;

/// A kernel that copies ones. The libraries compute operations of their own at the problem's sizes.
const PROBLEM: &str = r#"
[problem]
name = "copy"
sizes = { N = 64, M = 5, HFS = 1 }
[kernel]
file = "copy.cu"
function = "copy"
global = ["N"]
local = ["WIDTH"]
[parameters]
WIDTH = [64]
[[arguments]]
name = "a"
type = "f32"
shape = ["N"]
fill = "ones"
[[arguments]]
name = "b"
type = "f32"
shape = ["N"]
access = "out"
[verify]
reference = { file = "reference.c", function = "reference" }
[measure]
min_samples = 3
max_samples = 3
final = false
"#;

const RULES: &str = r#"[{ "times_us": [20], "writes": [{ "to": 1, "from": { "parameter": 0 }, "bytes": 256 }] }]"#;

/// Extents that differ, so that a matrix taken for its transposed one is no longer the same.
const PRODUCT: &str = "against = [\"openblas\", \"cublas\"]\n[product]\nm = \"M\"\nn = 7\nk = \"2 * M + 1\"\n";

const CONVOLUTION: &str = "against = [\"cudnn\"]\n[convolution]\nrows = \"M\"\ncolumns = 9\n\
    filter_rows = \"2 * HFS + 1\"\nfilter_columns = 2\n";

/// The name of a problem, the libraries that it names, and the operation that it states.
const PROBLEMS: [(&str, &str, &str); 6] = [
    ("columns", PRODUCT, "column_major = true\nb_transposed = true\n"),
    ("rows", PRODUCT, ""),
    ("rows-a", PRODUCT, "a_transposed = true\n"),
    ("rows-b", PRODUCT, "b_transposed = true\n"),
    ("image", CONVOLUTION, ""),
    ("images", CONVOLUTION, "images = 2\nchannels = 3\nfilters = 4\nflipped = true\n"),
];

/// Writes a suite of these problems and a script for a GPU, and builds the libraries.
fn suite(problems: &[(&str, &str, &str)]) -> Folder {
    let folder = Folder::with(&[("script.json", &script((9, 0), true, RULES))]);
    for (name, section, more) in problems {
        fs::create_dir_all(folder.path(&format!("suite/{name}"))).unwrap();
        let about = format!("title = \"x\"\nproblems = {{ cuda = \"copy.toml\" }}\n{section}{more}");
        let files = [
            ("about.toml", about.as_str()),
            ("copy.toml", PROBLEM),
            ("copy.cu", COPY_KERNEL),
            ("reference.c", COPY_REFERENCE),
        ];
        files.iter().for_each(|(file, text)| folder.write(&format!("suite/{name}/{file}"), text));
    }
    fs::create_dir_all(folder.path("nvidia")).unwrap();
    // cuDNN has the name of an older version, which is tried when the newest is not there.
    library(&folder, "cudart", "libcudart.so.12", &[]);
    library(&folder, "cublas", "libcublas.so.12", &["libcudart.so.12"]);
    library(&folder, "cudnn", "libcudnn.so.8", &["libcudart.so.12"]);
    folder
}

/// Tunes the suite for the scripted GPU beside cuBLAS and cuDNN. Returns the rows.
fn rows(folder: &Folder, fault: &str) -> Vec<Json> {
    let arguments = ["suite", "tune", "--device", "cuda", "--stop", "evaluations 1", "--out", "table", "--json"];
    let mut command = folder.command(&[&arguments[..], &["--against", "cublas,cudnn"]].concat());
    command.env("TUNESMITH_CUDA_SCRIPT", folder.path("script.json")).env("XDG_CACHE_HOME", folder.path("cache"));
    command.env("LD_LIBRARY_PATH", folder.path("nvidia")).env("FAKE_LOG", folder.path("log")).env("FAKE_FAULT", fault);
    let ran = Ran::of(command.output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    ran.json()["rows"].as_array().unwrap().clone()
}

/// Returns the row of a problem.
fn row<'a>(rows: &'a [Json], name: &str) -> &'a Json {
    rows.iter().find(|row| row["name"] == name).unwrap()
}

/// Every form of a product and of a convolution has the right result, because the libraries compute
/// what they are asked to and the results are compared.
#[test]
fn products_and_convolutions_are_timed_beside_the_kernel_and_compared_with_a_reference() {
    let folder = suite(&PROBLEMS);
    let rows = rows(&folder, "");
    assert_eq!(rows.len(), PROBLEMS.len());
    for (name, section, _) in PROBLEMS {
        let row = row(&rows, name);
        let library = if section == PRODUCT { "cublas" } else { "cudnn" };
        assert_eq!(row["notes"], Json::Array(Vec::new()), "{row:#}");
        let timed = row["against_ms"].as_object().unwrap();
        assert_eq!(timed.keys().collect::<Vec<_>>(), [library], "{row:#}");
        assert!(timed[library].as_f64().is_some_and(|time| time > 0.0), "{row:#}");
    }
    let log = fs::read_to_string(folder.path("log")).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    let count = |line: &str| lines.iter().filter(|other| **other == line).count();
    assert!(count("search") > 0 && count("sgemm") > count("search"));
    // A process opens everything once, and its end closes it: a handle, and memory for A, B and C. cuDNN, which
    // searches once, also has four descriptors and a workspace.
    let processes = count("device");
    assert_eq!(count("create"), processes + 4 * count("search"));
    assert_eq!(count("malloc"), 3 * processes + count("search"));
    // The time ends when the device is done, and holds no copy.
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| ["sgemm", "convolve"].contains(*line)) {
        assert_eq!(lines[at - 2..at], ["fill", "synchronize"], "before {line}");
        assert_eq!(lines[at + 1..at + 3], ["synchronize", "to host"], "after {line}");
    }
    // Operands are copied for the first launch, and once more to where they lie for those that count.
    assert_eq!(count("to device"), 4 * processes);
    assert!(count("to host") > 2 * processes);
}

#[test]
fn a_library_with_a_wrong_result_is_not_timed() {
    let folder = suite(&PROBLEMS[3..5]);
    let rows = rows(&folder, "product");
    let (product, convolution) = (row(&rows, "rows-b"), row(&rows, "image"));
    assert!(product["against_ms"].as_object().unwrap().is_empty(), "{product:#}");
    let note = product["notes"][0].as_str().unwrap();
    assert!(note.starts_with("cublas: ") && note.contains('c') && product["tuned_ms"].is_f64(), "{product:#}");
    assert!(convolution["against_ms"]["cudnn"].is_f64(), "{convolution:#}");
}

#[test]
fn a_library_that_is_not_there_is_named_with_what_to_install() {
    let folder = suite(&PROBLEMS[3..5]);
    fs::remove_file(folder.path("nvidia/libcublas.so.12")).unwrap();
    // A library that is there, but that needs another one which is not.
    library(&folder, "cublas", "libgone.so.1", &["libcudart.so.12"]);
    library(&folder, "cudnn", "libcudnn.so.9", &["libcudart.so.12", "libgone.so.1"]);
    fs::remove_file(folder.path("nvidia/libgone.so.1")).unwrap();
    let rows = rows(&folder, "");
    let note = |name: &str| row(&rows, name)["notes"][0].as_str().unwrap_or_default().to_string();
    let (product, convolution) = (note("rows-b"), note("image"));
    assert!(product.starts_with("cublas: cuBLAS cannot be opened: libcublas.so"), "{product}");
    assert!(product.ends_with("install CUDA's runtime and cuBLAS, and name their folders in LD_LIBRARY_PATH"));
    assert!(convolution.starts_with("cudnn: cuDNN cannot be opened: libgone.so.1: "), "{convolution}");
}

#[test]
fn a_library_and_an_operation_that_do_not_belong_together_are_refused() {
    let about = |text: &str| {
        let folder = suite(&[("one", text, "")]);
        folder.run(&["suite", "list"])
    };
    about(&PRODUCT.replace("cublas", "cudnn")).refused(&["one/about.toml", "names cudnn", "libraries for a [product]"]);
    about(&CONVOLUTION.replace("cudnn", "cudn")).refused(&["`cudn` is no library", "did you mean `cudnn`?"]);
    about(&CONVOLUTION.replace("columns", "colums")).refused(&["unknown field `colums`", "docs/suite.md"]);
    about("against = [\"cublas\"]\n").refused(&["nothing says what it computes", "[product]"]);
    let folder = suite(&PROBLEMS[3..4]);
    let ran = folder.run(&["suite", "tune", "--device", "c", "--against", "cudnn"]);
    assert!(ran.stderr.contains("nothing is compared with cudnn: no chosen problem names it"), "{ran:#?}");
}
