//! Cost models from the command line.

use crate::common;

use common::{Folder, entries, repository};

/// A device file as `calibrate` writes it, of two kernels.
const DEVICE: &str = r#"{
  "kind": "device", "version": 6,
  "provenance": {"device": "d", "backend": "C", "program": "p", "measured": 0, "lanes": {"in_rows": 1}, "launch_seconds": 1e-6, "runs": [30, 4], "noise": 0.01},
  "models": [{"form": "overlap", "exponent": 2.0, "rank": 3, "merged": [], "dependent": [], "residuals": {}, "reach": {"coverage": 0.9, "error": 1.0, "near": 0.1, "nests": 20}, "terms": [
    {"property": "const", "weight": 1e-5, "spread": 1e-7, "kernels": 2},
    {"property": "lane:g:32:load:s1", "weight": 3e-9, "spread": 1e-10, "kernels": 2},
    {"property": "lane:g:32:store:s1", "weight": 0.0, "spread": null, "kernels": 1},
    {"property": "chains", "weight": 0.0, "spread": null, "kernels": 1},
    {"property": "groups", "weight": 0.0, "spread": null, "kernels": 1},
    {"property": "rows", "weight": 0.0, "spread": null, "kernels": 1},
    {"property": "rows:cut", "weight": 0.0, "spread": null, "kernels": 1},
    {"property": "cache:first", "weight": 0.0, "spread": null, "kernels": 1},
    {"property": "cache:second", "weight": 0.0, "spread": null, "kernels": 1},
    {"property": "lane:arith:f32:mul", "weight": 4e-9, "spread": null, "kernels": 1}]}],
  "cases": [{"kernel": "k", "class": "c", "sizes": {"n": 1}, "counts": {"lane:g:32:load:s1": 1e6, "lane:arith:f32:mul": 1e6, "touched bytes": 8e6}, "seconds": 5.01e-3}]
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

const PROBLEM: &str = "
    [problem]
    name = \"scale\"
    sizes = { n = 1000000 }
    [kernel]
    file = \"scale.nest\"
    [parameters]
    width = [8, 1, 32, 2, 64, 4, 16]
    [tuning]
    default = { width = 8 }
";

/// Returns `DEVICE` with a cost of every work-group.
fn device_with_groups() -> String {
    DEVICE.replace(r#"{"property": "groups", "weight": 0.0"#, r#"{"property": "groups", "weight": 1e-8"#)
}

fn problem_folder() -> Folder {
    let device = device_with_groups();
    Folder::with(&[("scale.nest", NEST), ("scale.toml", PROBLEM), ("d.json", &device)])
}

fn folder() -> Folder {
    Folder::with(&[("scale.nest", NEST), ("d.json", DEVICE)])
}

#[test]
fn an_estimate_is_the_sum_of_the_shares_of_what_the_nest_does() {
    let ran = folder().run(&["estimate", "scale.nest", "--on", "d.json", "--size", "n=1000000", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let estimated = ran.json();
    // 3 ms of loads and 4 ms of products overlap to 5 ms. The launch is added.
    let time = estimated["time_ms"].as_f64().unwrap();
    assert!((time - 5.01).abs() < 1e-9, "{estimated:#}");
    let terms = estimated["terms"].as_array().unwrap();
    let shares: f64 = terms.iter().map(|term| term["time_ms"].as_f64().unwrap()).sum();
    assert!((shares - time).abs() < 1e-9);
    assert_eq!((&terms[0]["property"], &terms[0]["count"]), (&"lane:arith:f32:mul".into(), &1e6.into()));
    // At no distance from what was measured, nine of ten errors are below a factor of e^0.1.
    let interval = &estimated["interval"];
    assert_eq!((&interval["coverage"], &estimated["outside"]), (&0.9.into(), &serde_json::json!([])), "{estimated:#}");
    let ends = ["low_ms", "high_ms"].map(|end| interval[end].as_f64().unwrap());
    assert!((ends[1] / time - 0.1_f64.exp()).abs() < 1e-3 && (ends[0] * ends[1] / time / time - 1.0).abs() < 1e-9);
    assert_eq!(ran.stderr, "");
}

/// The nest in double precision. The device file knows only single precision.
fn double_folder() -> Folder {
    let (nest, device) = (NEST.replace("f32", "f64"), device_with_groups());
    Folder::with(&[("scale.nest", &nest), ("scale.toml", PROBLEM), ("d.json", &device)])
}

#[test]
fn an_operation_that_was_never_measured_opens_the_interval_and_is_named() {
    let arguments = ["estimate", "scale.nest", "--on", "d.json", "--size", "n=1000000"];
    let ran = double_folder().run(&[&arguments[..], &["--json"]].concat());
    let estimated = ran.json();
    let outside = estimated["outside"].as_array().unwrap();
    let unmeasured: Vec<&str> =
        outside.iter().filter(|own| own["kind"] == "unmeasured").map(|own| own["property"].as_str().unwrap()).collect();
    assert_eq!(unmeasured, ["lane:arith:f64:mul", "lane:g:64:load:s1", "lane:g:64:store:s1"], "{estimated:#}");
    assert!(estimated["interval"]["high_ms"].is_null() && estimated["interval"]["low_ms"].is_number());
    assert!(ran.stderr.contains("no measured kernel has `lane:arith:f64:mul`"), "{}", ran.stderr);
    assert!(double_folder().run(&arguments).stdout.starts_with("more than "));
}

#[test]
fn variants_with_an_unmeasured_operation_have_no_rank_and_no_prior_and_their_traffic_is_their_limit() {
    let folder = double_folder();
    let ran = folder.run(&["estimate", "scale.toml", "--on", "d.json", "--json"]);
    let ranked = ran.json();
    assert_eq!((&ranked["estimated"], &ranked["unmeasured"]), (&0.into(), &7.into()), "{ranked:#}");
    assert_eq!(ranked["best"], serde_json::json!([]));
    // 16 MB at the rate of the 8 MB that the measured kernel touches.
    assert!((ranked["limit_ms"].as_f64().unwrap() - 10.02).abs() < 1e-9, "{ranked:#}");
    assert_eq!((&ranked["limit_bound"]["kind"], &ranked["limit_bound"]["bytes"]), (&"traffic".into(), &16e6.into()));
    assert!(ran.stderr.contains("7 configurations have no estimate: no measured kernel has"), "{}", ran.stderr);
    let ended = tuned(&folder, "random", "evaluations 7", "all.jsonl");
    let notes = ended["notes"].to_string();
    assert!(notes.contains("the device file lacks the cost of their operations"), "{notes}");
    // A calibration that counted no bytes, or an empty kernel alone.
    folder.write("d.json", &device_with_groups().replace(", \"touched bytes\": 8e6", ""));
    let ran = folder.run(&["estimate", "scale.toml", "--on", "d.json", "--json"]);
    assert_eq!(ran.json()["limit_ms"], serde_json::Value::Null);
    assert!(ran.stderr.contains("the nest has no modelled limit: no measured kernel"), "{}", ran.stderr);
    let limited = ["tune", "scale.toml", "--model", "d.json", "--device", "synthetic:1", "--stop", "limit 90%"];
    folder.run(&limited).refused(&["cannot be used", "no measured kernel touches memory", "calibrate"]);
    folder.run(&["estimate", "scale.toml", "--on", "d.json", "-o", "x.csv"]).refused(&["no measured kernel has"]);
}

#[test]
fn variants_outside_of_what_was_measured_say_so_wherever_they_are_used() {
    let folder = problem_folder();
    let large = ["estimate", "scale.toml", "--on", "d.json", "--size", "n=50000"];
    let ran = folder.run(&[&large[..], &["--json"]].concat());
    for config in ran.json()["best"].as_array().unwrap() {
        let kinds: Vec<&str> =
            config["outside"].as_array().unwrap().iter().map(|own| own["kind"].as_str().unwrap()).collect();
        assert!(kinds.contains(&"time"), "{config:#}");
    }
    let note = "7 of 7 estimates lie outside of what the calibration measured";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    let ran = folder.run(&large);
    assert!(ran.stdout.lines().skip(2).all(|line| line.ends_with("(outside of what was measured)")), "{ran:#?}");
    let tune = ["tune", "scale.toml", "--model", "d.json", "--device", "synthetic:1", "--stop", "evaluations 2"];
    let ended = folder.run(&[&tune[..], &["--size", "n=50000", "--json", "--quiet"]].concat()).json();
    assert!(ended["notes"].to_string().contains(note), "{ended:#}");
    let ran = folder.run(&large[..4]);
    let limit = ran.stdout.lines().nth(1).unwrap();
    assert!(limit.contains("5.010 ms  modelled limit: no configuration does 8.000 MB at 1.6 GB/s faster"), "{limit}");
    let marked: Vec<bool> = ran.stdout.lines().skip(2).map(|line| line.contains("outside")).collect();
    assert_eq!(marked, [false, false, true, true, true, true, true], "many small groups were never measured: {ran:#?}");
    assert!(ran.stderr.contains("5 of 7 estimates lie outside") && !ran.stderr.contains("limit"), "{ran:#?}");
}

#[test]
fn estimates_that_are_all_the_same_are_no_prior() {
    let folder = Folder::with(&[("scale.nest", NEST), ("scale.toml", PROBLEM), ("d.json", DEVICE)]);
    let ended = tuned(&folder, "default", "evaluations 2", "same.jsonl");
    let notes = ended["notes"].to_string();
    assert!(notes.contains("does not tell the configurations apart"), "{notes}");
}

#[test]
fn explain_names_the_resource_that_bounds_the_best_and_its_share_of_the_modelled_limit() {
    let folder = problem_folder();
    tuned(&folder, "random", "evaluations 7", "scale.jsonl");
    // The run had the device file: nobody names it again.
    let roof = folder.run(&["explain", "scale.jsonl", "--json"]).json()["roof"].clone();
    let used = &roof["modelled"];
    assert_eq!((&used["bound"], &used["device"], &used["backend"]), (&"compute".into(), &"d".into(), &"C".into()));
    // 3 ms of loads and 4 ms of products overlap to 5 ms: 3/5 of the loads and 4/5 of the products count.
    let time = 5.01 + 0.15625;
    assert!((used["time_ms"].as_f64().unwrap() - time).abs() < 1e-9, "{roof:#}");
    for (resource, ms) in [("compute", 3.2), ("memory", 1.8), ("overhead", 0.16625)] {
        let shares = used["resources"].as_array().unwrap();
        let share = shares.iter().find(|own| own["resource"] == resource).unwrap()["share"].as_f64().unwrap();
        assert!((share - ms / time).abs() < 1e-9, "{resource}: {roof:#}");
    }
    // The best took 6.5 ms. A million products, and a million cells of two arrays.
    assert!((roof["limit"]["share"].as_f64().unwrap() - 5.01 / 6.5).abs() < 1e-9, "{roof:#}");
    assert_eq!((&roof["work"]["operations"], &roof["work"]["bytes"]), (&1e6.into(), &8e6.into()));
    assert!((roof["work"]["gbytes"].as_f64().unwrap() - 8.0 / 6.5).abs() < 1e-9, "{roof:#}");
    let notes = roof["notes"].to_string();
    assert!(notes.contains("the measured time is longer than the interval of the modelled one (90 %)"), "{notes}");
    let page = folder.run(&["explain", "scale.jsonl"]).stdout;
    for line in ["bound by  arithmetic: 62 % of the modelled time; memory 35 %", "77 % of the modelled limit, 5.010 ms"]
    {
        assert!(page.contains(line), "`{line}` is missing:\n{page}");
    }
}

#[test]
fn explain_names_no_resource_while_an_operation_has_no_cost() {
    let folder = double_folder();
    tuned(&folder, "random", "evaluations 7", "scale.jsonl");
    let roof = folder.run(&["explain", "scale.jsonl", "--on", "d.json", "--json"]).json()["roof"].clone();
    assert_eq!((&roof["modelled"], &roof["limit"]), (&serde_json::Value::Null, &serde_json::Value::Null));
    assert_eq!((&roof["work"]["operations"], &roof["work"]["bytes"]), (&1e6.into(), &16e6.into()), "{roof:#}");
    let page = folder.run(&["explain", "scale.jsonl"]).stdout;
    assert!(page.contains("no measured kernel has `lane:arith:f64:mul`"), "{page}");
    assert!(!page.contains("of the modelled limit") && !page.contains("bound by"), "{page}");
}

#[test]
fn explain_counts_a_nest_without_a_device_file_and_refuses_what_is_no_nest_or_another() {
    let folder = problem_folder();
    let tune = ["tune", "scale.toml", "--device", "synthetic:6.0 + 32 / width", "--quiet"];
    assert_eq!(folder.run(&tune).code, Some(0));
    let roof = folder.run(&["explain", "scale.jsonl", "--json"]).json()["roof"].clone();
    assert_eq!((&roof["work"]["operations"], &roof["limit"]), (&1e6.into(), &serde_json::Value::Null), "{roof:#}");
    let on = ["explain", "scale.jsonl", "--on", "d.json"];
    // The size is that of the run, but the tolerance is another.
    folder.write("other.toml", &(PROBLEM.replace("1000000", "1000") + "[verify]\nrelative = 0.5\n"));
    folder.run(&[&on[..], &["--problem", "other.toml"]].concat()).refused(&["is not the problem of", "--problem FILE"]);
    folder.run(&["explain", "scale.jsonl", "--on", "scale.toml"]).refused(&["scale.toml", "tunesmith calibrate"]);
    let formula = "[parameters]\nwidth = [1, 2]\n";
    folder.write("plain.toml", formula);
    assert_eq!(folder.run(&["tune", "plain.toml", "--device", "synthetic:width", "--quiet"]).code, Some(0));
    assert!(folder.run(&["explain", "plain.jsonl", "--json"]).json().get("roof").is_none());
    folder.run(&["explain", "plain.jsonl", "--on", "d.json"]).refused(&["is not a loop nest"]);
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

/// Adds times of the kernels that a model needs to what a calibration keeps, as if it had measured them.
fn remember(folder: &Folder, part: &str) {
    use tunesmith::loopnest::kernels::{KERNELS, Role};
    let needed = KERNELS.iter().filter(|kernel| kernel.role == Role::Measure);
    let line = |(at, kernel): (usize, &tunesmith::loopnest::kernels::Kernel)| {
        let (x, y) = kernel.groups.shapes()[0];
        let summed = if kernel.class == "arithmetic" { " k256" } else { "" };
        let (name, seconds) = (format!("{} {x}x{y}{summed}", kernel.name), 1e-3 + 1e-5 * at as f64);
        format!("{{\"kernel\":\"{name}\",\"size\":64,\"seconds\":{seconds},\"noise\":0.01}}\n")
    };
    let lines: String = needed.enumerate().map(line).collect();
    let known = std::fs::read_to_string(folder.path(part)).unwrap();
    std::fs::write(folder.path(part), known + &lines).unwrap();
}

#[test]
fn a_calibration_writes_models_of_every_form_and_estimates_with_them() {
    let folder = folder();
    let calibrate = ["calibrate", "-o", "own.json", "--minutes", "0.001", "--json", "--quiet"];
    let why = ["minutes were too short", "of the 24 kernels that a model needs", "own.json.part", "--minutes"];
    folder.run(&calibrate).refused(&why);
    assert!(!folder.path("own.json").exists(), "models of the empty kernel");
    remember(&folder, "own.json.part");
    let ran = folder.run(&calibrate);
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

#[test]
fn a_calibration_measures_the_users_kernels_and_counts_their_properties() {
    let folder = folder();
    let own = "[[calibrate.kernels]]\nnest = \"scale.nest\"\nconfig = { width = 32 }\nsizes = [{ n = 4096 }]\n\
               [[calibrate.properties]]\nname = \"tiles\"\nresource = \"overhead\"\ncount = \"groups // 2\"\n";
    folder.write("mine.toml", own);
    let calibrate = ["calibrate", "mine.toml", "-o", "own.json", "--minutes", "0.001", "--json", "--quiet"];
    folder.run(&calibrate).refused(&["minutes were too short"]);
    remember(&folder, "own.json.part");
    let ran = folder.run(&calibrate);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let text = std::fs::read_to_string(folder.path("own.json")).unwrap();
    let file: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(file["own"][0], serde_json::json!({ "name": "tiles", "resource": "overhead", "count": "groups // 2" }));
    let cases = file["cases"].as_array().unwrap();
    let mine: Vec<_> = cases.iter().filter(|case| case["kernel"] == "scale width=32").collect();
    assert!(mine.iter().any(|case| case["counts"]["own:overhead:tiles"] == 64.0), "{mine:#?}");
    let arguments = ["estimate", "scale.nest", "--on", "own.json", "--size", "n=4096,width=32", "--json"];
    let estimated = folder.run(&arguments).json();
    let terms = estimated["terms"].as_array().unwrap();
    assert!(terms.iter().any(|term| term["property"] == "own:overhead:tiles"), "{estimated:#}");
    folder.write("mine.toml", &own.replace("groups // 2", "grups"));
    folder.run(&["calibrate", "mine.toml", "-o", "x.json"]).refused(&["`grups`", "did you mean `groups`"]);
    folder.write("mine.toml", &own.replace("[[calibrate.kernels]]", "[[calibrate.kernel]]"));
    folder.run(&["calibrate", "mine.toml", "-o", "x.json"]).refused(&["unknown field `kernel`", "docs/costmodel.md"]);
}

#[test]
fn the_configurations_of_a_problem_are_ranked_without_running_one() {
    let folder = problem_folder();
    let ran = folder.run(&["estimate", "scale.toml", "--on", "d.json", "-n", "3", "-o", "all.csv", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let ranked = ran.json();
    let widths: Vec<i64> =
        ranked["best"].as_array().unwrap().iter().map(|b| b["config"]["width"].as_i64().unwrap()).collect();
    assert_eq!(widths, [64, 32, 16], "the fewest work-groups first");
    // 15625 work-groups of 10 ns beside 5.01 ms.
    let best = ranked["best"][0]["time_ms"].as_f64().unwrap();
    assert!((best - 5.01 - 0.15625).abs() < 1e-9, "{ranked:#}");
    assert!((ranked["limit_ms"].as_f64().unwrap() - 5.01).abs() < 1e-9, "{ranked:#}");
    assert_eq!(ranked["estimated"], 7);
    // The file is a recording like any other.
    let compared = folder.run(&["compare", "all.csv", "--strategy", "exhaustive", "--repeats", "1", "--json"]);
    assert_eq!(compared.code, Some(0), "{compared:#?}");
}

#[test]
fn measurements_of_the_same_kernel_correct_its_estimates_and_are_named() {
    let folder = problem_folder();
    // Half as many cells take half of twice the modelled time.
    let tune = |size: &str, device: &str, stop: &str, out: &str| {
        let fixed = ["tune", "scale.toml", "--strategy", "random", "--quiet", "--size", size, "--device", device];
        let ran = folder.run(&[&fixed[..], &["--stop", stop, "--out", out]].concat());
        assert_eq!(ran.code, Some(0), "{ran:#?}");
    };
    tune("n=500000", "synthetic:5.01 + 2.5 / width", "evaluations 1", "half.jsonl");
    let nest = ["estimate", "scale.nest", "--on", "d.json", "--size", "n=1000000,width=8", "--json"];
    let (plain, scaled) =
        (folder.run(&nest).json(), folder.run(&[&nest[..], &["--measured", "half.jsonl"]].concat()).json());
    let time = |estimated: &serde_json::Value| estimated["time_ms"].as_f64().unwrap();
    let half = ["estimate", "scale.nest", "--on", "d.json", "--size", "n=500000,width=8", "--json"];
    let factor = (5.01 + 2.5 / 8.0) / time(&folder.run(&half).json());
    assert!((time(&scaled) / time(&plain) - factor).abs() < 1e-9, "{scaled:#}");
    let basis = &scaled["measured"];
    assert_eq!((&basis["measurements"], &basis["kind"]), (&1.into(), &"factor".into()), "{scaled:#}");
    assert!((basis["factor"].as_f64().unwrap() - factor).abs() < 1e-9 && plain["measured"].is_null());
    // A configuration that was measured at these sizes has its measured time, and five fit the others.
    tune("n=1000000", "synthetic:9.0 + 32 / width", "evaluations 5", "five.jsonl");
    let space = ["estimate", "scale.toml", "--on", "d.json", "--measured", "five.jsonl"];
    let ranked = folder.run(&[&space[..], &["--json"]].concat()).json();
    assert_eq!((&ranked["measured"]["kind"], &ranked["measured"]["measurements"]), (&"fit".into(), &5.into()));
    let known = entries(&folder.path("five.jsonl"));
    for config in ranked["best"].as_array().unwrap() {
        let measured = known.iter().find(|line| line["config"] == config["config"] && line["times_ms"].is_array());
        let expected = 9.0 + 32.0 / config["config"]["width"].as_f64().unwrap();
        let most = if measured.is_some() { 1e-9 } else { 0.25 };
        assert!((config["time_ms"].as_f64().unwrap() / expected - 1.0).abs() < most, "{config:#}");
    }
    let text = folder.run(&space).stdout;
    assert!(text.contains("corrected, as their counts tell, from 5 measurements in `five.jsonl`"), "{text}");
    folder.write("other.csv", "tile,time_ms\n4,1.0\n");
    folder
        .run(&["estimate", "scale.toml", "--on", "d.json", "--measured", "other.csv"])
        .refused(&["other.csv", "same kernel"]);
    folder.run(&["estimate", "scale.toml", "--on", "d.json", "--measured", "no.jsonl"]).refused(&["no.jsonl"]);
}

/// Returns the widths of a run in the order in which they were evaluated.
fn widths(folder: &Folder, journal: &str) -> Vec<i64> {
    let text = std::fs::read_to_string(folder.path(journal)).unwrap();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    lines.filter_map(|line| line["config"]["width"].as_i64()).collect()
}

/// Tunes the problem with the estimates of the device file.
fn tuned(folder: &Folder, strategy: &str, stop: &str, out: &str) -> serde_json::Value {
    let ran = folder.run(&[
        "tune",
        "scale.toml",
        "--device",
        "synthetic:6.0 + 32 / width",
        "--model",
        "d.json",
        "--strategy",
        strategy,
        "--stop",
        stop,
        "--out",
        out,
        "--json",
        "--quiet",
    ]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    ran.json()
}

#[test]
fn a_search_begins_with_the_best_estimates_and_ends_near_the_modelled_limit() {
    let folder = problem_folder();
    for strategy in ["default", "random", "profile_guided"] {
        let out = format!("{strategy}.jsonl");
        tuned(&folder, strategy, "evaluations 2", &out);
        assert_eq!(widths(&folder, &out), [8, 64], "{strategy}: the default, then the best estimate");
    }
    let ended = tuned(&folder, "random", "limit 75%", "near.jsonl");
    assert_eq!((&ended["stop_reason"], &ended["evaluations"]), (&"limit 75%".into(), &2.into()), "{ended:#}");
    let (limit, share) = (ended["limit"]["time_ms"].as_f64().unwrap(), ended["limit"]["share"].as_f64().unwrap());
    assert!((limit - 5.01).abs() < 1e-9 && (share - 5.01 / 6.5).abs() < 1e-9, "{ended:#}");
    let ended = tuned(&folder, "random", "limit 80%", "far.jsonl");
    assert_eq!(ended["stop_reason"], "space exhausted", "{ended:#}");
}

#[test]
fn a_measurement_below_the_limit_withdraws_it_and_then_it_stops_nothing() {
    // The best takes 6.5 ms, and the bytes in double precision 10.02 ms.
    let folder = double_folder();
    let ended = tuned(&folder, "random", "limit 90%", "scale.jsonl");
    assert_eq!((&ended["stop_reason"], &ended["evaluations"]), (&"space exhausted".into(), &7.into()), "{ended:#}");
    let limit = &ended["limit"];
    assert_eq!(limit["share"], serde_json::Value::Null, "{ended:#}");
    let why =
        "limit of 10.0200 ms is withdrawn, because 6.5000 ms was measured: the calibration saw no more than 16.000 MB";
    assert!(limit["withdrawal"].as_str().unwrap().contains(why), "{ended:#}");
    let page = folder.run(&["explain", "scale.jsonl"]).stdout;
    let is_withdrawn = page.contains("the modelled limit of 10.0200 ms is withdrawn");
    assert!(is_withdrawn && !page.contains("of the modelled limit,"), "{page}");
    let tune = ["tune", "scale.toml", "--device", "synthetic:6.0 + 32 / width", "--model", "d.json", "--jobs", "1"];
    let ran = folder.run(&[&tune[..], &["--out", "again.jsonl"]].concat());
    assert!(ran.stdout.contains("limit") && ran.stdout.contains(why), "{ran:#?}");
}

#[test]
fn a_guided_search_reads_symbolic_counts_where_the_device_has_no_counters() {
    let folder = problem_folder();
    let outcome = tuned(&folder, "profile_guided", "evaluations 200", "guided.jsonl");
    assert_eq!((&outcome["evaluations"], &outcome["best"]["config"]["width"]), (&7.into(), &64.into()), "{outcome:#}");
    let text = std::fs::read_to_string(folder.path("guided.jsonl")).unwrap();
    let profiled = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let profiled: Vec<_> = profiled.filter(|line| line["depth"] == "profiled").collect();
    assert!(!profiled.is_empty(), "{text}");
    for line in profiled {
        assert_eq!(line["counters"]["instructions.f32"], 1e6, "{line:#}");
        assert_eq!(line["counters"]["instructions.memory"], 2e6, "{line:#}");
    }
    // The written estimates also have them, so that a counter model can be trained without a run.
    folder.run(&["estimate", "scale.toml", "--on", "d.json", "-o", "all.csv", "--json"]);
    let trained = folder.run(&["train", "counters", "all.csv", "-o", "scale.counters.json", "--method", "exact"]);
    assert_eq!(trained.code, Some(0), "{trained:#?}");
}

#[test]
fn a_device_file_of_another_device_orders_the_configurations_and_tells_no_limit() {
    let folder = problem_folder();
    let tune = |more: &[&str]| {
        let fixed = ["tune", "scale.toml", "--model", "d.json", "--strategy", "random", "--jobs", "1", "--stop"];
        folder.run(&[&fixed[..], more].concat())
    };
    let ran = tune(&["evaluations 2", "--json", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.json().get("limit").is_none() && ran.json()["notes"][0].as_str().unwrap().contains("measured on `d`"));
    assert!(ran.stderr.contains("only order the configurations"), "{ran:#?}");
    let widths: Vec<_> =
        entries(&folder.path("scale.jsonl")).iter().map(|line| line["config"]["width"].as_i64()).collect();
    assert_eq!(widths, [Some(8), Some(64)], "the default, then the best estimate");
    tune(&["limit 90%"]).refused(&["needs a model"]);
    folder.write("d.json", &device_with_groups().replace("\"backend\": \"C\"", "\"backend\": \"OpenCL C\""));
    tune(&["evaluations 2"]).refused(&["kernels in OpenCL C on `d`", "run in C on", "calibrate --device c -o"]);
    let estimated = folder.run(&["estimate", "scale.toml", "--on", "d.json"]);
    assert!(estimated.stdout.contains("for d in OpenCL C"), "{estimated:#?}");
}

#[test]
fn a_device_file_or_a_limit_that_does_not_fit_is_refused_with_a_remedy() {
    let folder = problem_folder();
    let gemm = repository().join("examples/gemm/gemm.toml");
    folder.run(&["tune", gemm.to_str().unwrap(), "--model", "d.json"]).refused(&[
        "device file",
        "is not a loop nest",
        ".nest",
    ]);
    folder.run(&["tune", "scale.toml", "--stop", "limit 90%"]).refused(&["needs a model", "tunesmith calibrate"]);
    let energy = ["tune", "scale.toml", "--model", "d.json", "--device", "synthetic:1", "--stop", "limit 90%"];
    folder.run(&[&energy[..], &["--objective", "maximise width"]].concat()).refused(&["is about times"]);
    folder.run(&["estimate", "gemm.toml", "--on", "d.json"]).refused(&["gemm.toml"]);
    folder.run(&["estimate", gemm.to_str().unwrap(), "--on", "d.json"]).refused(&["device file", "is not a loop nest"]);
    folder.run(&["estimate", "scale.toml", "--on", "d.json", "-o", "x.txt"]).refused(&["x.txt", ".csv"]);
    folder
        .run(&["estimate", "scale.nest", "--on", "d.json", "--size", "n=8", "-o", "x.csv"])
        .refused(&["this is a nest alone"]);
}
