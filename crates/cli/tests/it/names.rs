//! Names of numbers: those of recordings, of programs, of metrics, and predefined ones.

use crate::common::{Folder, Ran};

const SPACE: &str = "[parameters]\nA = [1, 2, 3]\n";

/// Replays a recording whose column `name` is least where the time is greatest.
fn replay(name: &str, problem: &str, options: &[&str]) -> Ran {
    let rows = format!("A,time_ms,status,{name}\n1,3,ok,1\n2,2,ok,2\n3,1,ok,9\n");
    let folder = Folder::with(&[("p.toml", problem), ("r.csv", &rows)]);
    folder.run(&[&["tune", "p.toml", "--device", "replay:r.csv", "--quiet", "--json"], options].concat())
}

#[test]
fn a_recorded_number_keeps_its_name() {
    let work = format!("[problem]\nflops = \"1e9 / A\"\nbytes = \"A\"\n{SPACE}");
    for (name, problem) in
        ["energy", "edp", "gflops", "gbytes", "gflops_per_w", "flops", "ps_energy", "errors", "error", "energies"]
            .into_iter()
            .flat_map(|name| [(name, SPACE), (name, work.as_str())])
    {
        let outcome = replay(name, problem, &["--objective", &format!("minimise {name}")]).json();
        let best = (&outcome["best"]["config"]["A"], &outcome["best"]["value"]);
        assert_eq!(best, (&1.into(), &1.0.into()), "{name}: {outcome:#}");
    }
    let limited = replay("energy", &format!("{SPACE}[limits]\ncool = \"energy <= 5\"\n"), &[]).json();
    assert_eq!((&limited["best"]["config"]["A"], &limited["failed"]["infeasible"]), (&2.into(), &1.into()));
    let product = replay("energy", SPACE, &["--objective", "edp"]).json();
    assert_eq!(product["best"]["value"], 3.0, "of the recorded energy: {product:#}");
}

#[test]
fn a_number_that_is_neither_recorded_nor_predefined_is_refused() {
    replay("energy", SPACE, &["--objective", "enregy"]).refused(&["`enregy`", "did you mean `energy`?"]);
    replay("joules", SPACE, &["--objective", "energy"]).refused(&["needs `energy_mj`", "a run yields", "joules"]);
    replay("energy", &format!("[problem]\nflops = \"A\"\n{SPACE}"), &["--objective", "gflops_per_w"])
        .refused(&["needs `energy_mj`"]);
}

#[test]
fn a_printed_number_keeps_its_name() {
    let kernel = "[kernel]\ncommand = [\"sh\", \"-c\", \"echo energy $A\"]\nvalues = { energy = \"energy (.*)\" }\n";
    let measure = "[measure]\nmin_samples = 1\nmax_samples = 1\n";
    let folder = Folder::with(&[("p.toml", &format!("{kernel}{SPACE}{measure}"))]);
    let outcome = folder.run(&["tune", "p.toml", "--objective", "energy", "--quiet", "--json"]).json();
    assert_eq!(outcome["best"]["config"]["A"], 1, "{outcome:#}");
    for (name, other) in [("A", "a tuning parameter"), ("N", "a size"), ("time", "what a run costs")] {
        let problem =
            format!("[problem]\nsizes = {{ N = 3 }}\n{kernel}{SPACE}").replace("{ energy", &format!("{{ {name}"));
        folder.write("q.toml", &problem);
        folder.run(&["check", "q.toml"]).refused(&["q.toml:5:", &format!("the value `{name}` is called like {other}")]);
    }
}

#[track_caller]
fn refused(metrics: &str, words: &[&str]) {
    let kernel = "[kernel]\ncommand = [\"true\"]\nvalues = { loss = \"loss (.*)\" }\n";
    let problem = format!("[problem]\nsizes = {{ N = 3 }}\n{kernel}{SPACE}[metrics]\n{metrics}");
    let folder = Folder::with(&[("p.toml", &problem)]);
    for command in [&["check", "p.toml"][..], &["tune", "p.toml", "--device", "synthetic:A", "--quiet"]] {
        folder.run(command).refused(words);
    }
}

#[test]
fn a_metric_has_a_name_of_its_own() {
    let predefined =
        ["time", "time_ms", "compile_ms", "energy", "energy_mj", "edp", "gflops", "gbytes", "flops", "error"];
    for name in predefined.into_iter().chain(["gflops_per_w", "registers"]) {
        let text = format!("the metric `{name}` is called like a number that Tunesmith defines or measures itself");
        refused(
            &format!("a = \"A\"\n{name} = \"10 - A + 0 * time_ms\"\n"),
            &["p.toml:10:", &text, "choose another name"],
        );
    }
    for (name, other) in [("A", "a tuning parameter"), ("N", "a size"), ("loss", "a value that the command prints")] {
        refused(
            &format!("{name} = \"time_ms\"\n"),
            &["p.toml:9:", &format!("the metric `{name}` is called like {other}")],
        );
    }
}

#[test]
fn metrics_that_are_defined_by_themselves_are_refused() {
    refused("x = \"y\"\ny = \"x\"\n", &["p.toml:9:", "the metric `x` is defined by itself: `x` -> `y` -> `x`"]);
    refused("x = \"x + 1\"\n", &["p.toml:9:", "`x` -> `x`", "define one of them by numbers that a run yields"]);
    refused(
        "w = \"x\"\nx = \"y * time_ms\"\ny = \"edp + z\"\nz = \"2 * x\"\n",
        &["p.toml:10:", "`x` -> `y` -> `z` -> `x`"],
    );
    let chain: String = (0..40).map(|at| format!("m{at} = \"m{} + 1\"\n", at + 1)).collect();
    refused(&format!("{chain}m40 = \"time_ms\"\n"), &["p.toml:9:", "the metric `m0` depends on more than 31 others"]);
}

/// A T1 problem with these tuning parameters.
fn t1(parameters: &str) -> String {
    format!(
        "{{\"ConfigurationSpace\": {{\"TuningParameters\": [\n{parameters}]}},\n\"KernelSpecification\": \
         {{\"Language\": \"C\", \"KernelName\": \"k\", \"KernelFile\": \"k.c\", \"Arguments\": []}}}}"
    )
}

/// A Kernel Tuner cache with these entries.
fn cache(entries: &str) -> String {
    format!(
        "{{\"device_name\": \"d\", \"kernel_name\": \"k\", \"tune_params_keys\": [\"A\"],\n\"tune_params\": \
         {{\"A\": [1, 2]}}, \"cache\": {{\n{entries}}}}}"
    )
}

#[test]
fn a_name_that_is_given_twice_has_its_place() {
    let folder = Folder::with(&[
        ("k.c", "void k(void) { (void)A; }"),
        ("list.json", &t1("{\"Name\": \"A\", \"Values\": \"[1]\"},\n{\"Name\": \"A\", \"Values\": \"[2]\"}")),
        ("member.json", &t1("{\"Name\": \"A\", \"Values\": \"[1]\",\n\"Values\": \"[2]\"}")),
        ("entry.json", &cache("\"1\": {\"A\": 1, \"time\": 1.0},\n\"1\": {\"A\": 1, \"time\": 2.0}")),
        ("time.json", &cache("\"1\": {\"A\": 1, \"time\": NaN,\n\"time\": 2.0}")),
        ("same.json", &cache("\"1\": {\"A\": 1, \"time\": 1.0},\n\"1\": {\"A\": 1, \"time\": 1.0}")),
        ("sizes.nest", "nest k\nsizes n, n\narray a[n]: f32\n{[i]: 0 <= i < n}\na[i] = 1.0 @ i\n"),
        ("names.nest", "nest k\nnest l\nsizes n\narray a[n]: f32\n{[i]: 0 <= i < n}\na[i] = 1.0 @ i\n"),
    ]);
    let convert = |file: &str| folder.run(&["convert", file, "-o", "out.csv"]);
    folder.run(&["check", "list.json"]).refused(&["another parameter `A`", "list.json:3:"]);
    folder
        .run(&["check", "member.json"])
        .refused(&["`Values` is there twice, as \"[1]\" and as \"[2]\"", "member.json:3:"]);
    convert("entry.json").refused(&["line 4", "`1` is there twice"]);
    convert("time.json").refused(&["line 4", "`time` is there twice, as \"NaN\" and as 2.0"]);
    assert_eq!(convert("same.json").code, Some(0), "a repeat contradicts nothing");
    folder.run(&["count", "sizes.nest", "--size", "n=4"]).refused(&["line 2, column 10: there are two sizes `n`"]);
    folder
        .run(&["count", "names.nest", "--size", "n=4"])
        .refused(&["line 2, column 1: the nest is called `k` already"]);
    folder
        .run(&["count", "sizes.nest", "--size", "n=4,n=5"])
        .refused(&["--size", "`n` is there twice, as `4` and as `5`"]);
    let metrics = ["--objective", "minimise a", "--metric", "a=time_ms", "--metric", "a=2"];
    let compare = ["compare", "same.json", "--strategy", "random"];
    folder.run(&[&compare[..], &metrics].concat()).refused(&["`a` is there twice, as `time_ms` and as `2`"]);
}

#[test]
fn an_import_of_a_nest_is_no_stream() {
    let folder = Folder::with(&[("k.c", "")]);
    folder.run(&["nest", "import", "k.c", "--function", "k", "-o", "-"]).refused(&["three files", "name the nest"]);
}
