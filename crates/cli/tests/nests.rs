//! Loop nests from the command line.

mod common;

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
fn arrays_that_bounds_are_looked_up_in_are_given_by_the_problem() {
    let nest = std::fs::read_to_string(repository().join("examples/nests/spmv.nest")).unwrap();
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
    assert_eq!(counted["footprints"][1], serde_json::json!({ "array": "out", "bytes": 4000 }));
    assert_eq!((&counted["sizes"]["n"], &counted["config"]["width"]), (&1000.into(), &128.into()));

    let shown = nest.run(&["count", "twice.nest", "--size", "n=1000000"]);
    assert!(shown.stdout.starts_with("double  n=1000000 width=64\n"), "{shown:#?}");
    let touched = shown.stdout.lines().find(|line| line.trim_start().starts_with("touched of `a`"));
    assert!(touched.is_some_and(|line| line.ends_with(" 4,000,000 bytes")), "{shown:#?}");
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
        "sizes n\narray a[n]: f32\narray b[8*n]: f32\n{[i, j]: 0 <= i < n and 0 <= j < n}\nb[3*i + 5*j] = a[i]",
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
