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
    let shown = folder.run(&["run", "twice.toml", "--config", "width=256", "--show-source"]);
    assert!(shown.stdout.contains("lid0 <= nest_min(n - 256 * gid0 - 1, 255)"), "{shown:#?}");
}

#[test]
fn the_example_checks_out_and_its_default_is_right() {
    let path = repository().join("examples/nests/matmul.toml");
    let path = path.to_str().unwrap();
    let checked = Folder::new().run(&["check", path, "--json"]).json();
    assert_eq!(checked["ok"], true, "{checked:#}");
    let ran = Folder::new().run(&["run", path, "--size", "n=50,m=33", "--json"]);
    assert_eq!(ran.json()["status"], "correct", "{ran:#?}");
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
        TWICE,
        &PROBLEM.replace("name = \"by\"", "name = \"bye\""),
        &["no array or argument `bye`", "did you mean `by`"],
    );
}
