//! `tunesmith suite`: lists, checks, verifies and tunes a folder of problems.

use crate::common;

use common::cuda::nvidia;
use common::{Folder, Ran, has_opencl, repository};
use std::fs;

const ABOUT: &str = "title = \"Scaling a vector\"\npaper = \"none\"\nproblems = { c = \"scale.toml\" }\n\
    configurations = { \"scale.toml\" = 4 }\nnaive = \"naive.toml\"\n";

/// A kernel that is wrong where WIDTH is 3.
const KERNEL: &str = "void scale(const float *a, float *b, int step)\n{\n\
    for (int i = 0; i < N; i++) b[i] = (WIDTH == 3 && i == 7 ? 3.0f : 2.0f) * a[i] + 0 * step;\n}\n";

const RIGHT: &str = "void scale(const float *a, float *b, int step)\n{\n\
    for (int i = 0; i < N; i++) b[i] = 2.0f * a[i] + 0 * step * WIDTH;\n}\n";

const REFERENCE: &str = "void reference(const float *a, float *b, int step)\n\
    { for (int i = 0; i < N; i++) b[i] = 2.0f * a[i]; }\n";

/// Where WIDTH is 4, the argument `step` has no value: such a configuration is refused.
const PROBLEM: &str = "[problem]\nname = \"scale\"\nsizes = { N = 64 }\nflops = \"N\"\n\
    [kernel]\nfile = \"scale.c\"\nfunction = \"scale\"\n[parameters]\nWIDTH = [1, 2, 3, 4]\n";

const ARGUMENTS: &str = "[[arguments]]\nname = \"a\"\ntype = \"f32\"\nshape = [\"N\"]\n\
    [[arguments]]\nname = \"b\"\ntype = \"f32\"\nshape = [\"N\"]\naccess = \"out\"\n\
    [[arguments]]\nname = \"step\"\ntype = \"i32\"\nvalue = \"STEP\"\n\
    [verify]\nreference = { file = \"reference.c\", function = \"reference\" }\n\
    [measure]\nmin_samples = 3\nmax_samples = 3\nfinal = false\n";

const NAIVE: &str = "[problem]\nname = \"naive\"\nsizes = { N = 64 }\n\
    [kernel]\nfile = \"naive.c\"\nfunction = \"naive\"\n\
    [parameters]\nNAIVE = [1]\n";

/// Returns a folder with a suite of one problem, whose kernel is `kernel`.
fn suite(about: &str, kernel: &str) -> Folder {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("suite/scale")).unwrap();
    fs::create_dir_all(folder.path("suite/common")).unwrap();
    let files = [
        ("about.toml", about.to_string()),
        ("scale.toml", PROBLEM.to_string() + &ARGUMENTS.replace("STEP", "12 // (4 - WIDTH)")),
        ("scale.c", kernel.to_string()),
        ("reference.c", REFERENCE.to_string()),
        ("naive.toml", NAIVE.to_string() + &ARGUMENTS.replace("STEP", "1")),
        ("naive.c", REFERENCE.replace("reference", "naive")),
    ];
    files.iter().for_each(|(name, text)| folder.write(&format!("suite/scale/{name}"), text));
    folder
}

#[test]
fn the_list_has_title_paper_backends_and_the_size_of_each_space() {
    let ran = suite(ABOUT, RIGHT).run(&["suite", "list", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let problem = &ran.json()["problems"][0];
    assert_eq!((&problem["name"], &problem["title"]), (&"scale".into(), &"Scaling a vector".into()));
    assert_eq!((&problem["paper"], &problem["backends"]), (&"none".into(), &serde_json::json!(["c"])));
    let file = &problem["files"][0];
    assert_eq!((&file["parameters"], &file["configurations"]), (&1.into(), &"4".into()));
    assert!(suite(ABOUT, RIGHT).run(&["suite", "list"]).stdout.contains("scale/scale.toml: Scaling a vector (none)"));
}

#[test]
fn a_wrong_name_folder_or_key_is_refused() {
    let folder = suite(ABOUT, RIGHT);
    folder.run(&["suite", "list", "scal"]).refused(&["has no problem `scal`", "did you mean `scale`?"]);
    folder.run(&["suite", "list", "--suite", "sweet"]).refused(&["cannot read the suite `sweet`", "--suite FOLDER"]);
    folder.run(&["suite", "verify", "--device", "command"]).refused(&["a suite runs kernels"]);
    let folder = suite(&format!("{ABOUT}papr = \"x\"\n"), RIGHT);
    folder.run(&["suite", "list"]).refused(&["unknown field `papr`", "docs/suite.md"]);
    let folder = suite(&ABOUT.replace("{ c =", "{ vulkan ="), RIGHT);
    folder.run(&["suite", "list"]).refused(&["no backend `vulkan`"]);
}

#[test]
fn a_check_compares_the_sizes_of_spaces_with_the_stated_ones() {
    let good = suite(ABOUT, RIGHT).run(&["suite", "check", "--json"]);
    assert_eq!(good.code, Some(0), "{good:#?}");
    let files = good.json()["files"].clone();
    assert_eq!((&files[0]["file"], &files[0]["configurations"]), (&"scale.toml".into(), &"4".into()));
    assert_eq!((&files[1]["file"], &files[1]["configurations"]), (&"naive.toml".into(), &"1".into()));
    let fault = |about: &str, kernel: &str| {
        let ran = suite(about, kernel).run(&["suite", "check"]);
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        ran.stdout
    };
    assert!(fault(&ABOUT.replace("= 4", "= 5"), RIGHT).contains("has 4 configurations, but about.toml states 5"));
    assert!(fault(&ABOUT.replace("\"scale.toml\" = 4", ""), RIGHT).contains("does not state the number"));
    // What `check` says of a file counts as well.
    assert!(fault(ABOUT, &RIGHT.replace("scale(", "stale(")).contains("scale"));
}

#[test]
fn a_wrong_configuration_is_found_and_the_printed_command_shows_it_again() {
    let folder = suite(ABOUT, KERNEL);
    let ran = folder.run(&["suite", "verify", "--samples", "10", "--device", "c", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    let found = &ran.json()["problems"][0];
    assert_eq!((&found["name"], &found["device"]), (&"scale".into(), &"c".into()));
    let counts = ["sampled", "correct", "refused", "wrong"].map(|key| found[key].as_u64().unwrap());
    assert_eq!(counts, [4, 2, 1, 1], "{found:#}");
    assert_eq!(found["first_wrong"]["config"], "WIDTH=3");
    assert_eq!(found["first_wrong"]["status"], "correctness");
    assert!(found["reasons"][0]["reason"].as_str().unwrap().contains("step"), "{found:#}");
    let again = ran.stderr.lines().find_map(|line| line.trim().strip_prefix("again: tunesmith ")).unwrap();
    let again = folder.run(&shlex::split(again).unwrap().iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(again.code, Some(1), "{again:#?}");
    assert!(again.stdout.contains("correctness"), "{again:#?}");
}

#[test]
fn a_sample_of_right_configurations_is_correct_and_repeats_with_its_seed() {
    let folder = suite(ABOUT, RIGHT);
    let verified = |seed: &str| {
        let head = ["suite", "verify", "scale", "--samples", "2", "--device", "c"];
        let ran = folder.run(&[&head[..], &["--seed", seed, "--json"]].concat());
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        ran.json()["problems"][0].clone()
    };
    for seed in ["0", "1", "2"] {
        let found = verified(seed);
        assert_eq!(found["sampled"], 2);
        assert_eq!(found["correct"].as_u64().unwrap() + found["refused"].as_u64().unwrap(), 2);
        assert_eq!(found, verified(seed));
    }
}

#[test]
fn a_problem_that_verifies_nothing_or_cannot_be_loaded_is_an_error_of_its_own() {
    let folder = suite(ABOUT, RIGHT);
    let problem = fs::read_to_string(folder.path("suite/scale/scale.toml")).unwrap();
    let (unverified, _) = problem.split_once("[verify]").unwrap();
    for (text, words) in [(unverified, "compares no output"), ("[kernel]\nfil = 1\n", "`parameters` is missing")] {
        folder.write("suite/scale/scale.toml", text);
        let ran = folder.run(&["suite", "verify", "--device", "c", "--json"]);
        assert_eq!(ran.code, Some(1), "{ran:#?}");
        assert!(ran.json()["problems"][0]["error"].as_str().unwrap().contains(words), "{ran:#?}");
    }
}

/// Tunes the suite in `folder` and returns its table.
fn tuned(folder: &Folder, more: &[&str]) -> (Ran, serde_json::Value) {
    let head = ["suite", "tune", "--device", "c", "--stop", "evaluations 4", "--strategy", "random", "--out", "table"];
    let ran = folder.run(&[&head[..], &["--json"], more].concat());
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let table = ran.json();
    (ran, table)
}

#[test]
fn a_complete_row_is_not_made_again_and_other_settings_make_it_anew() {
    let folder = suite(ABOUT, RIGHT);
    let (first, table) = tuned(&folder, &[]);
    assert!(first.stderr.contains("scale on c: "), "{first:#?}");
    let row = &table["rows"][0];
    assert_eq!((&row["name"], &row["evaluations"]), (&"scale".into(), &4.into()));
    for key in ["naive_ms", "tuned_ms", "speedup", "gflops"] {
        assert!(row[key].as_f64().is_some_and(|number| number > 0.0), "{key}: {row:#}");
    }
    let journal = fs::read(folder.path("table/scale-c.jsonl")).unwrap();
    let (second, again) = tuned(&folder, &[]);
    assert!(!second.stderr.contains("scale on c: "), "{second:#?}");
    assert_eq!(table, again);
    assert_eq!(journal, fs::read(folder.path("table/scale-c.jsonl")).unwrap());
    // A line that was cut short belongs to a row that is made again, from its journal.
    let rows = fs::read_to_string(folder.path("table/rows.jsonl")).unwrap();
    fs::write(folder.path("table/rows.jsonl"), &rows[..rows.len() / 2]).unwrap();
    let (third, table) = tuned(&folder, &[]);
    assert!(third.stderr.contains("scale on c: "), "{third:#?}");
    assert_eq!(table["rows"][0]["evaluations"], 4);
    let evaluated = |text: &[u8]| String::from_utf8_lossy(text).matches("\"times_ms\"").count();
    assert_eq!(evaluated(&journal), evaluated(&fs::read(folder.path("table/scale-c.jsonl")).unwrap()));
    // Another naive loop leaves the journal as it is, but the row is another.
    folder.write("suite/scale/naive.c", &REFERENCE.replace("reference", "naive").replace("{ for", "{\n for"));
    assert!(tuned(&folder, &[]).0.stderr.contains("scale on c: "));
}

#[test]
fn a_table_shows_the_time_of_one_call_where_a_launch_makes_several() {
    let folder = suite(&format!("steps = \"2 * WIDTH + 1\"\n{ABOUT}"), RIGHT);
    let row = tuned(&folder, &[]).1["rows"][0].clone();
    let number = |key: &str| row[key].as_f64().unwrap();
    let steps = 2.0 * row["config"]["WIDTH"].as_f64().unwrap() + 1.0;
    let sizes = |name: &str| row["sizes"][name].as_f64().unwrap();
    // The rate counts the operations of the whole launch.
    let operations = number("gflops") * number("tuned_ms") * steps * 1e6;
    assert!((operations - sizes("N")).abs() < 1e-6 * sizes("N"), "{operations} operations: {row:#}");
    assert!((number("speedup") - number("naive_ms") / number("tuned_ms")).abs() < 1e-9);
    let folder = suite(&format!("steps = \"HEIGHT\"\n{ABOUT}"), RIGHT);
    let ran = folder.run(&["suite", "tune", "--device", "c", "--stop", "evaluations 2", "--out", "table"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("`steps` in about.toml: `HEIGHT`"), "{ran:#?}");
}

#[test]
fn a_table_over_inputs_has_a_row_for_each_and_is_completed_by_the_missing_ones() {
    let folder = suite(ABOUT, RIGHT);
    let inputs = |list: &str| {
        let text = PROBLEM.to_string() + &ARGUMENTS.replace("STEP", "1") + &format!("[inputs]\nlist = [{list}]\n");
        folder.write("suite/scale/scale.toml", &text);
    };
    inputs("{ N = 32 }, { N = 96 }");
    let (_, table) = tuned(&folder, &["--inputs"]);
    let named = |table: &serde_json::Value| -> Vec<String> {
        let rows = table["rows"].as_array().unwrap().iter();
        rows.map(|row| format!("{} {}", row["input"].as_str().unwrap_or("-"), row["sizes"]["N"])).collect()
    };
    assert_eq!(named(&table), ["N=32 32", "N=96 96"]);
    let rows = fs::read_to_string(folder.path("table/rows.jsonl")).unwrap();
    let first = rows.lines().next().unwrap().len() + 1;
    fs::write(folder.path("table/rows.jsonl"), &rows[..first]).unwrap();
    let (again, table) = tuned(&folder, &["--inputs"]);
    assert!(again.stderr.contains("scale N=96 on c: ") && !again.stderr.contains("scale N=32 on c: "), "{again:#?}");
    assert_eq!(named(&table), ["N=32 32", "N=96 96"]);
    assert_eq!(named(&tuned(&folder, &[]).1), ["- 64"]);
}

#[test]
fn a_problem_that_cannot_be_tuned_leaves_the_others_alone() {
    let folder = suite(ABOUT, RIGHT);
    fs::create_dir_all(folder.path("suite/broken")).unwrap();
    folder.write("suite/broken/about.toml", "title = \"x\"\nproblems = { c = \"none.toml\" }\n");
    let head = ["suite", "tune", "--device", "c", "--stop", "evaluations 2", "--out", "table"];
    let ran = folder.run(&head);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(ran.stdout.contains("| scale | c |") && ran.stdout.contains("broken on c: "), "{ran:#?}");
    folder.run(&[&head[..], &["--against", "openblass"]].concat()).refused(&["`openblass` is no library", "openblas"]);
}

/// A product of matrices that is tuned in C.
const PRODUCT: &str = "title = \"Product\"\nproblems = { c = \"product.toml\" }\nagainst = [\"openblas\"]\n\
    [product]\nm = \"M\"\nn = 24\nk = \"M * 2\"\nb_transposed = true\n";

#[test]
fn a_product_is_compared_with_a_library_or_says_what_is_missing() {
    let folder = suite(ABOUT, RIGHT);
    fs::create_dir_all(folder.path("suite/product")).unwrap();
    folder.write("suite/product/about.toml", PRODUCT);
    let problem = PROBLEM.replace("{ N = 64 }", "{ N = 64, M = 16 }") + &ARGUMENTS.replace("STEP", "1");
    for (name, text) in [("product.toml", problem.as_str()), ("scale.c", RIGHT), ("reference.c", REFERENCE)] {
        folder.write(&format!("suite/product/{name}"), text);
    }
    let (_, table) = tuned(&folder, &["--against", "openblas", "product"]);
    let row = &table["rows"][0];
    let note = row["notes"][0].as_str().unwrap_or_default();
    let timed = row["against_ms"]["openblas"].as_f64();
    let missing = note.starts_with("openblas: OpenBLAS cannot be opened: ") && note.contains("install libopenblas0");
    assert!(timed.map_or(missing, |time| time > 0.0 && note.is_empty()), "{row:#}");
}

#[test]
fn cuda_configurations_are_compiled_without_a_gpu() {
    let Some(nvidia) = nvidia() else { return };
    let about = "title = \"x\"\nproblems = { opencl = \"scale.toml\", cuda = \"scale.toml\" }\n";
    let folder = suite(about, RIGHT);
    let source = "#include \"one_source.h\"\n\
        __kernel void scale(__global const float *a, __global float *b, int step)\n{\n\
        __local float tile[WIDTH == 4 ? 1 << 20 : 64];\n tile[step] = a[0];\n b[WIDTH] = 2 * tile[2 * step] BREAK;\n}\n";
    let header = repository().join("suite/common/one_source.h");
    fs::copy(header, folder.path("suite/scale/one_source.h")).unwrap();
    let kernel = "scale.cl\"\nlanguage = [\"opencl\", \"cuda\"]\nglobal = [\"N\"]\nlocal = [64]";
    let problem = PROBLEM.replace("scale.c\"", kernel);
    folder.write("suite/scale/scale.toml", &(problem + &ARGUMENTS.replace("STEP", "1")));
    let compiled = |source: &str, architectures: &str| {
        folder.write("suite/scale/scale.cl", source);
        let mut command = folder.command(&["suite", "verify", "--compile-only", architectures, "--json"]);
        command.env("TUNESMITH_NVIDIA", &nvidia).env("XDG_CACHE_HOME", folder.path("cache"));
        Ran::of(command.output().unwrap())
    };
    let good = compiled(&source.replace(" BREAK", ""), "sm_80,sm_90");
    assert_eq!(good.code, Some(0), "{good:#?}");
    for (number, architecture) in ["sm_80", "sm_90"].into_iter().enumerate() {
        let found = &good.json()["problems"][number];
        assert_eq!((&found["device"], &found["compile_only"]), (&architecture.into(), &true.into()));
        let counts = ["sampled", "correct", "refused", "wrong"].map(|key| found[key].as_u64().unwrap());
        assert_eq!(counts, [4, 3, 1, 0], "{found:#}");
        assert!(found["reasons"][0]["reason"].as_str().unwrap().contains("too much shared data"), "{found:#}");
    }
    let bad = compiled(&source.replace("BREAK", "+ broken"), "sm_90");
    assert_eq!((bad.code, &bad.json()["problems"][0]["first_wrong"]["status"]), (Some(1), &"compile".into()));
    let unknown = compiled(source, "sm_42");
    assert!(unknown.code != Some(0) && unknown.stderr.contains("sm_90"), "{unknown:#?}");
}

/// Verifies a configuration of each problem of the repository that has the device. A test for each device, as they run
/// beside each other.
fn a_sample_of_this_repository_is_correct_on(device: &str) {
    let suite = repository().join("suite").display().to_string();
    let folder = Folder::new();
    let checked = folder.run(&["suite", "check", "--suite", &suite, "--json"]);
    assert_eq!(checked.code, Some(0), "the stated sizes: {checked:#?}");
    let head = ["suite", "verify", "--suite", &suite, "--samples", "1", "--seed", "1", "--json"];
    let verified = folder.run(&[&head[..], &["--device", device]].concat());
    assert_eq!(verified.code, Some(0), "{verified:#?}");
    let problems = verified.json()["problems"].as_array().unwrap().clone();
    for problem in &problems {
        assert!(problem["sampled"].as_u64() >= Some(1) && problem["correct"].as_u64() >= Some(1), "{problem:#}");
    }
    let files = checked.json()["files"].as_array().unwrap().clone();
    // `naive.toml` is what a tuned problem is compared with, and no problem of its own.
    for stated in files.iter().filter(|stated| stated["device"] == device && stated["file"] != "naive.toml") {
        assert!(problems.iter().any(|problem| problem["name"] == stated["name"]), "{stated:#}");
    }
}

/// Verifies a configuration of three small problems. The tests after it, for all problems, take minutes.
fn three_problems_of_this_repository_are_correct_on(device: &str) {
    let suite = repository().join("suite").display().to_string();
    for name in ["conv2d", "pnpoly", "transpose"] {
        let more = ["--suite", &suite, "--samples", "1", "--seed", "1", "--json", "--device", device];
        let verified = Folder::new().run(&[&["suite", "verify", name], &more[..]].concat());
        assert_eq!(verified.code, Some(0), "{verified:#?}");
        let problem = &verified.json()["problems"][0];
        assert!(problem["sampled"].as_u64() >= Some(1) && problem["correct"].as_u64() >= Some(1), "{problem:#}");
    }
}

#[test]
fn three_problems_of_this_repository_are_correct_in_c() {
    three_problems_of_this_repository_are_correct_on("c");
}

#[test]
fn three_problems_of_this_repository_are_correct_in_opencl() {
    if has_opencl() {
        three_problems_of_this_repository_are_correct_on("opencl");
    }
}

#[test]
fn a_sample_of_this_repository_is_correct_in_c() {
    a_sample_of_this_repository_is_correct_on("c");
}

#[test]
fn a_sample_of_this_repository_is_correct_in_opencl() {
    if has_opencl() {
        a_sample_of_this_repository_is_correct_on("opencl");
    }
}
