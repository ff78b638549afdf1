//! Loop nests from the command line.

use crate::common;

use common::{Folder, has_opencl, repository};

const TWICE: &str = "
    nest double
    sizes n
    assume n > 0
    array a[n]: f32
    array out[n]: f32
    argument by: f32
    {[i]: 0 <= i < n}
    out[i] = by*a[i]
    parameter width = 64
    split i width -> block, lane
    tag block group.0
    tag lane local.0
";

const PROBLEM: &str = "
    [problem]
    sizes = { n = 1000 }
    [kernel]
    file = \"twice.nest\"
    [parameters]
    width = [16, 64, 256]
    [[arguments]]
    name = \"by\"
    type = \"f32\"
    value = \"3\"
";

fn folder(nest: &str, problem: &str) -> Folder {
    Folder::with(&[("twice.nest", nest), ("twice.toml", problem)])
}

#[test]
fn a_nest_is_tuned_on_every_device_and_compared_with_itself_untransformed() {
    let folder = folder(TWICE, PROBLEM);
    let devices: &[&str] = if has_opencl() { &["c", "opencl"] } else { &["c"] };
    for device in devices {
        let out = format!("{device}.jsonl");
        let ran = folder.run(&[
            "tune",
            "twice.toml",
            "--device",
            device,
            "--strategy",
            "exhaustive",
            "--out",
            &out,
            "--json",
            "--quiet",
        ]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let outcome = ran.json();
        assert_eq!((&outcome["evaluations"], &outcome["failed"]["correctness"]), (&3.into(), &0.into()), "{outcome:#}");
    }
    let default = folder.run(&["run", "twice.toml", "--json"]).json();
    assert_eq!(default["config"]["width"], 64, "what the nest states: {default:#}");
    let shown = folder.run(&["run", "twice.toml", "--config", "width=256", "--show-source"]);
    assert!(shown.stdout.contains("lid0 <= nest_min(n - 256 * gid0 - 1, 255)"), "{shown:#?}");
}

#[test]
fn the_examples_check_out_and_their_variants_are_right() {
    let variants = [
        ("matmul", "n=50,m=33", "copy_a=1,copy_b=1,b_column=1"),
        ("matmul", "n=50,m=33", "copy_a=0,copy_b=1"),
        ("matmul", "n=50,m=33", "rows=1,copy_a=1,copy_b=1"),
        ("finite_differences", "n=70", "copy=1"),
        ("finite_differences", "n=70", "rows=4,copy=0"),
        ("convolution", "n=19", "copy_img=1,copy_f=1"),
        ("convolution", "n=19", "copy_img=0,copy_f=0,unrolled=1"),
        ("nbody", "n=300", "width=64,copy=1"),
        ("nbody", "n=300", "depth=16,copy=0"),
        ("blur", "n=70", "ahead=1,unrolled=1"),
        ("blur", "n=70", "rows=4,ahead=0"),
        ("row_sums", "n=77,m=300", "rows=4,items=64,shared=1"),
        ("row_sums", "n=77,m=301", "rows=16,shared=0"),
        ("pipelined", "n=50,m=33", "rows=8,columns=16,depth=32,ahead=1"),
        ("pipelined", "n=50,m=33", "ahead=0"),
        ("spmv", "n=300,nnz=5000,per_row=17", "width=8"),
        ("spmv", "n=1000,nnz=1000,per_row=1", "width=256"),
        ("histogram", "n=3000", "width=16,block=256"),
        ("histogram", "n=70000", "width=256,block=1024"),
    ];
    for (example, size, config) in variants {
        let path = repository().join(format!("examples/nests/{example}.toml"));
        let path = path.to_str().unwrap();
        let checked = Folder::new().run(&["check", path, "--json"]).json();
        assert_eq!(checked["ok"], true, "{checked:#}");
        let ran = Folder::new().run(&["run", path, "--device", "c", "--size", size, "--config", config, "--json"]);
        assert_eq!(ran.json()["status"], "correct", "{ran:#?}");
    }
}

#[test]
fn a_nest_with_bounds_that_are_looked_up_is_tuned_on_every_device() {
    let example = repository().join("examples/nests/spmv.toml");
    let devices: &[&str] = if has_opencl() { &["c", "opencl"] } else { &["c"] };
    for device in devices {
        let folder = Folder::new();
        let arguments = ["tune", example.to_str().unwrap(), "--device", device, "--strategy", "exhaustive"];
        let sizes = ["--size", "n=1000,nnz=8000,per_row=8", "--out", "run.jsonl", "--json", "--quiet"];
        let outcome = folder.run(&[&arguments[..], &sizes].concat()).json();
        let failed = outcome["failed"].as_object().unwrap();
        assert_eq!(outcome["evaluations"], 8, "{outcome:#}");
        // Devices whose work-groups are smaller refuse some widths.
        assert!(failed.iter().all(|(kind, times)| kind == "constraints" || *times == 0), "{outcome:#}");
        assert!(outcome["best"]["time_ms"].as_f64().unwrap() > 0.0, "{outcome:#}");
    }
}

fn spmv() -> String {
    std::fs::read_to_string(repository().join("examples/nests/spmv.nest")).unwrap()
}

#[test]
fn data_that_lead_out_of_arrays_are_refused_before_anything_runs() {
    let problem = std::fs::read_to_string(repository().join("examples/nests/spmv.toml")).unwrap();
    let problem = problem.replace("n = 16384, nnz = 262144, per_row = 16", "n = 100, nnz = 1600, per_row = 16");
    let check = |nest: &str, from: &str, to: &str| {
        assert!(problem.contains(from), "{from}");
        Folder::with(&[("spmv.nest", nest), ("spmv.toml", &problem.replace(from, to))]).run(&["check", "spmv.toml"])
    };
    let refused = |from: &str, to: &str, parts: &[&str]| check(&spmv(), from, to).refused(parts);
    refused(
        "i * 7919 % n",
        "i * 7919 % (n + 1)",
        &[
            "line 18, column 22: x[at] is at 100 of axis 0, which has 100 cells, where i =",
            "k = ",
            "make the array larger",
        ],
    );
    refused(
        "nnz * i * i // (n * n)",
        "17 * i",
        &["line 16, column 8: column[k] is at 1600 of axis 0, which has 1600 cells"],
    );
    refused("nnz * i * i // (n * n)", "i - 1", &["column[k] is at -1 of axis 0"]);
    refused("nnz * i * i // (n * n)", "nzz * i", &["`nzz` in the generator is not known", "did you mean `nnz`"]);
    refused("i * 7919 % n", "i / 2", &["`column`", "where i = 1: it is 0.5, which i32 cannot hold"]);
    refused("generator = \"i * 7919 % n\"", "", &["generator = "]);
    refused(
        "fill = \"generator\"\ngenerator = \"i * 7919 % n\"",
        "fill = \"file\"\npath = \"none.npy\"",
        &["none.npy", "cannot be read"],
    );
    refused("shape = [\"nnz\"]", "shape = [\"nnz + 1\"]", &["`column` is declared otherwise in the nest"]);
    let warned = check(&spmv(), "per_row = 16", "per_row = 12");
    assert_eq!(warned.code, Some(0), "{warned:#?}");
    let shown = format!("{}{}", warned.stdout, warned.stderr);
    assert!(shown.contains("the data give loop `k` 16.0 iterations on average, its statistic 12"), "{warned:#?}");
    // Faults that do not depend on data are found by counting.
    let nest = spmv().replace("row[i + 1]", "row[i + 2]");
    check(&nest, "per_row = 16", "per_row = 16")
        .refused(&["line 13, column 8: row[i + 2] is beyond the end of axis 0 of `row` once"]);
}

#[test]
fn what_depends_on_data_is_counted_by_its_statistic_or_refused() {
    let count = |nest: &str, more: &[&str]| {
        let sizes = ["count", "spmv.nest", "--size", "n=100,nnz=1600,per_row=16", "--json"];
        Folder::with(&[("spmv.nest", nest)]).run(&[&sizes[..], more].concat())
    };
    let counted = count(&spmv(), &[]).json();
    let properties = counted["properties"].as_array().unwrap();
    let times = |name: &str| properties.iter().find(|own| own["property"] == name).map(|own| own["count"].clone());
    assert_eq!(times("g:32:load:s1"), Some(200.into()), "{counted:#}");
    assert_eq!(times("g:32:load:data"), Some(4800.into()), "{counted:#}");
    assert_eq!(counted["footprints"][0], serde_json::json!({ "array": "row", "bytes": 404, "formula": "4*n + 4" }));
    assert!(counted["footprints"][1]["reason"].as_str().unwrap().contains("depends on data"), "{counted:#}");
    let line = "statistic k = per_row";
    let refused = |to: &str, parts: &[&str]| count(&spmv().replace(line, to), &[]).refused(parts);
    refused("", &["line 14, column 3: the number of iterations of `k` depends on data", "`statistic k = 16`"]);
    refused("statistic k", &["line 15", "expected"]);
    refused("statistic k =", &["line 15"]);
    refused("statistic k = per_rwo", &["line 15, column 15", "`per_rwo`", "did you mean `per_row`"]);
    refused("statistic k = i", &["line 15, column 11: a statistic is a sum of sizes and numbers"]);
    refused("statistic k = -2", &["line 15, column 11: `k` cannot have -2 iterations"]);
    refused(
        "statistic i = 100",
        &["line 15, column 11: the bounds of `i` do not depend on data", "leave the statistic out"],
    );
    refused("statistic kk = 100", &["line 15, column 11: there is no loop `kk`", "did you mean `k`"]);
    refused(&format!("{line}\n{line}"), &["line 16, column 11: there are two statistics of `k`"]);
}

#[test]
fn arrays_that_bounds_are_looked_up_in_are_given_by_the_problem() {
    let nest = spmv();
    let problem = "
        [problem]
        sizes = { n = 300, nnz = 300, per_row = 1 }
        [kernel]
        file = \"spmv.nest\"
        [parameters]
        width = [32, 64]
    ";
    let row = "
        [[arguments]]
        name = \"row\"
        type = \"i32\"
        shape = [301]
        fill = \"iota\"
    ";
    let column = row.replace("row", "column").replace("301", "300");
    let folder = Folder::with(&[
        ("spmv.nest", &nest),
        ("random.toml", problem),
        ("spmv.toml", &format!("{problem}{row}{column}")),
    ]);
    folder.run(&["check", "random.toml"]).refused(&["looked up in `row`", "filled at random", "row.npy"]);
    let ran = folder.run(&["run", "spmv.toml", "--device", "c", "--json"]);
    assert_eq!(ran.json()["status"], "correct", "{ran:#?}");
}

#[test]
fn count_says_what_a_nest_does_without_running_it() {
    let nest = folder(TWICE, PROBLEM);
    let counted = nest.run(&["count", "twice.nest", "--size", "n=1000", "--config", "width=128", "--json"]).json();
    let count = |name: &str| {
        let properties = counted["properties"].as_array().unwrap();
        properties.iter().find(|own| own["property"] == name).map(|own| own["count"].clone())
    };
    assert_eq!(count("op:f32:mul"), Some(1000.into()), "{counted:#}");
    assert_eq!(count("g:32:load:s1"), Some(1000.into()), "{counted:#}");
    assert_eq!(count("groups"), Some(8.into()), "{counted:#}");
    assert_eq!(counted["footprints"][1], serde_json::json!({ "array": "out", "bytes": 4000, "formula": "4*n" }));
    assert_eq!((&counted["sizes"]["n"], &counted["config"]["width"]), (&1000.into(), &128.into()));
    let properties = counted["properties"].as_array().unwrap();
    let formula = |name: &str| properties.iter().find(|own| own["property"] == name).map(|own| own["formula"].clone());
    assert_eq!(formula("op:f32:mul"), Some("n".into()), "{counted:#}");
    assert_eq!(formula("groups"), Some("floor((n + 127)/128)".into()), "{counted:#}");

    let shown = nest.run(&["count", "twice.nest", "--size", "n=1000000"]);
    assert!(shown.stdout.starts_with("double  n=1000000 width=64\n"), "{shown:#?}");
    let touched = shown.stdout.lines().find(|line| line.trim_start().starts_with("touched of `a`"));
    assert!(touched.is_some_and(|line| line.ends_with(" 4,000,000 bytes")), "{shown:#?}");
    let (_, formulas) = shown.stdout.split_once("formulas, for all sizes with the same strides\n").unwrap();
    assert!(formulas.lines().any(|line| line.starts_with("  touched of `a`") && line.ends_with(" 4*n")), "{formulas}");
    assert!(!formulas.contains("launch"), "a count without sizes needs no formula: {formulas}");
}

#[test]
fn count_shows_what_the_paper_leaves_out_where_it_is_asked_for() {
    let nest = folder(TWICE, PROBLEM);
    let arguments = ["count", "twice.nest", "--size", "n=1000", "--config", "width=48"];
    assert_eq!(nest.run(&[&arguments[..], &["--json"]].concat()).json()["modern"], serde_json::Value::Null);
    let counted = nest.run(&[&arguments[..], &["--modern", "--json"]].concat()).json();
    let properties = counted["modern"]["properties"].as_array().unwrap();
    let count = |name: &str| properties.iter().find(|own| own["property"] == name).map(|own| own["count"].clone());
    // 20 whole groups of a whole sub-group and a half one, and 40 work-items.
    assert_eq!(count("sub:op:f32:mul"), Some(42.into()), "{counted:#}");
    assert_eq!(count("chain"), Some(1.into()), "{counted:#}");
    let shown = nest.run(&[&arguments[..], &["--modern"]].concat());
    assert!(shown.stdout.contains("  sub:g:32:load"), "{shown:#?}");
    let passed = "sizes n\nassume n > 1\narray a[n]: f32\n{[i]: 1 <= i < n}\na[i] = a[i] + a[i - 1]";
    let shown = folder(passed, PROBLEM).run(&["count", "twice.nest", "--size", "n=9", "--modern"]);
    assert!(shown.stdout.contains("not counted: line 5, column 8: results pass through"), "{shown:#?}");
}

#[test]
fn what_cannot_be_counted_is_refused_by_name() {
    let refused = |nest: &str, arguments: &[&str], parts: &[&str]| {
        folder(nest, PROBLEM).run(&[&["count"], arguments].concat()).refused(parts);
    };
    refused(TWICE, &["missing.nest"], &["`missing.nest`", "loop nest"]);
    refused(TWICE, &["twice.nest"], &["`twice.nest`", "size `n` has no value", "--size n=1024"]);
    refused(TWICE, &["twice.nest", "--size", "N=4"], &["no size `N`", "`n`"]);
    refused(TWICE, &["twice.nest", "--size", "n=4.5"], &["`n=4.5` is not an integer"]);
    refused(TWICE, &["twice.nest", "--size", "n=0"], &["break an assumption"]);
    let with_config = &["twice.nest", "--size", "n=4", "--config", "withd=8"];
    refused(TWICE, with_config, &["no parameter `withd`", "did you mean `width`"]);
    let zero = &["twice.nest", "--size", "n=4", "--config", "width=0"];
    refused(TWICE, zero, &["`twice.nest`: line 11, column 5", "a block of 0 iterations"]);
    refused(&TWICE.replace("a[i]\n", "a[i*i]\n"), &["twice.nest", "--size", "n=4"], &["`twice.nest`: line 9"]);
    refused(
        &TWICE.replace("a[i]\n", "a[i + 1]\n"),
        &["twice.nest", "--size", "n=4"],
        &["`twice.nest`: line 9, column 17: a[i + 1] is beyond the end of axis 0 of `a` once", "from 0 to n - 1"],
    );
    refused(
        "sizes n\nassume n > 0\narray a[n]: f32\narray b[80*n]: f32\n{[i, j, k]: 0 <= i < n and 0 <= j and 7*j <= 3*i + n and 0 <= k \
         and 5*k <= 4*j + n}\nb[6*i + 10*j + 15*k] = a[i]",
        &["twice.nest", "--size", "n=4"],
        &["the footprint of `b` cannot be counted"],
    );
}

#[test]
fn what_is_wrong_with_a_nest_is_said_with_its_place() {
    let refused =
        |nest: &str, problem: &str, parts: &[&str]| folder(nest, problem).run(&["check", "twice.toml"]).refused(parts);
    refused(
        &TWICE.replace("by*a[i]", "by*b[i]"),
        PROBLEM,
        &["twice.nest", "line 9, column 17: there is no size, loop or array `b`"],
    );
    refused(TWICE, &PROBLEM.replace("width = [", "withd = ["), &["takes a parameter `withd`", "did you mean `width`"]);
    refused(TWICE, &PROBLEM.replace("n = 1000", "m = 1000"), &["size `n` has no integer value"]);
    refused(TWICE, &PROBLEM.replace("n = 1000", "n = 0"), &["break an assumption"]);
    refused(
        &TWICE.replace("by*a[i]", "by*a[i - 2]"),
        PROBLEM,
        &["line 9, column 17: a[i - 2] is before the start of axis 0 of `a` 2 times"],
    );
    refused(
        TWICE,
        &PROBLEM.replace("name = \"by\"", "name = \"bye\""),
        &["no array or argument `bye`", "did you mean `by`"],
    );
}
