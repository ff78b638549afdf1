//! Cost models from the command line.

mod common;

use common::{Folder, repository};

/// A device file as `calibrate` writes it, of two kernels.
const DEVICE: &str = r#"{
  "kind": "device", "version": 1,
  "provenance": {"device": "d", "backend": "C", "program": "p", "measured": 0, "launch_seconds": 1e-6, "runs": [30, 4], "noise": 0.01},
  "models": [{"form": "overlap", "exponent": 2.0, "rank": 3, "merged": [], "dependent": [], "residuals": {}, "terms": [
    {"property": "const", "weight": 1e-5, "spread": 1e-7, "kernels": 2},
    {"property": "g:32:load:s1", "weight": 3e-9, "spread": 1e-10, "kernels": 2},
    {"property": "op:f32:mul", "weight": 4e-9, "spread": null, "kernels": 1}]}],
  "cases": [{"kernel": "k", "class": "c", "sizes": {"n": 1}, "counts": {"g:32:load:s1": 1000.0, "op:f32:mul": 1000.0}, "seconds": 1.5e-5}]
}"#;

const NEST: &str = "
    nest scale
    sizes n
    assume n > 0
    array a[n]: f32
    array out[n]: f32
    {[i]: 0 <= i < n}
    out[i] = 2*a[i]
    parameter width = 64
    split i width -> block, lane
    tag block group.0
    tag lane local.0
";

fn folder() -> Folder {
    Folder::with(&[("scale.nest", NEST), ("d.json", DEVICE)])
}

#[test]
fn an_estimate_is_the_sum_of_the_shares_of_what_the_nest_does() {
    let ran = folder().run(&["estimate", "scale.nest", "--on", "d.json", "--size", "n=1000000", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let estimated = ran.json();
    // 3 ms of loads and 4 ms of products overlap to 5 ms, and the launch comes to it.
    let time = estimated["time_ms"].as_f64().unwrap();
    assert!((time - 5.01).abs() < 1e-9, "{estimated:#}");
    let terms = estimated["terms"].as_array().unwrap();
    let shares: f64 = terms.iter().map(|term| term["time_ms"].as_f64().unwrap()).sum();
    assert!((shares - time).abs() < 1e-9);
    assert_eq!((&terms[0]["property"], &terms[0]["count"]), (&"op:f32:mul".into(), &1e6.into()));
    // No measured kernel stores.
    assert!(ran.stderr.contains("no measured kernel has `g:32:store:s1`"), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_estimated_is_refused_with_a_remedy() {
    let refused = |arguments: &[&str], parts: &[&str]| {
        let all: Vec<&str> = [&["estimate", "scale.nest"], arguments].concat();
        folder().run(&all).refused(parts);
    };
    refused(&["--on", "d.json"], &["the size `n` of the nest is missing", "--size n=1024"]);
    refused(&["--on", "d.json", "--size", "m=3"], &["no size or parameter `m`", "it has n, width"]);
    refused(&["--on", "d.json", "--size", "n=0"], &["break an assumption"]);
    refused(&["--on", "d.json", "--size", "n=8", "--form", "overlaps"], &["did you mean `overlap`"]);
    refused(&["--on", "d.json", "--size", "n=8", "--form", "nnls"], &["has no model `nnls`", "calibrate"]);
    refused(&["--on", "scale.nest", "--size", "n=8"], &["not readable as JSON", "tunesmith calibrate"]);
}

#[test]
fn a_calibration_writes_models_of_every_form_and_estimates_with_them() {
    let folder = folder();
    // Some kernels alone; that others are missing is said.
    let ran = folder.run(&["calibrate", "-o", "own.json", "--minutes", "0.1", "--json", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let calibrated = ran.json();
    assert_eq!(calibrated["models"].as_array().unwrap().len(), 3);
    assert!(calibrated["cases"].as_u64().unwrap() > 0);
    assert!(!folder.path("own.json.part").exists());
    let nest = repository().join("examples/nests/matmul.nest");
    let nest = nest.to_str().unwrap();
    for form in ["paper", "nnls", "overlap"] {
        let arguments =
            ["estimate", nest, "--on", "own.json", "--size", "n=64,m=64,l=64,rows=8", "--form", form, "--json"];
        let estimated = folder.run(&arguments);
        assert_eq!(estimated.code, Some(0), "{estimated:#?}");
    }
    folder.run(&["calibrate", "--device", "synthetic:1", "-o", "x.json"]).refused(&["runs no kernels that measure it"]);
}
