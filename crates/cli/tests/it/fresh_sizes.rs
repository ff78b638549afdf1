//! Choosers are judged at sizes that nobody measured, before they ship.

use crate::common;

use common::{Folder, Ran};
use serde_json::Value as Json;

const PROBLEM: &str = "[problem]\nname = \"step\"\nsizes = { N = 16, M = 3 }\n[parameters]\nX = [1, 2]\n\
    [tuning]\ndefault = { X = 2 }\nstrategy = \"exhaustive\"\n";

/// X = 1 takes half of the time of the default at every size.
const FASTER: &str = "synthetic:X * N / 16";

/// X = 1 takes half of the time of the default at the measured sizes, and twice as long at most others.
const SLOWER: &str = "synthetic:X * N / 16 if N % 16 == 0 else N / 16 / X";

/// X = 1 fails at sizes that were not measured.
const FAILING: &str = "synthetic:X * N / 16 if N % 16 == 0 else (N / 16 if X == 2 else 0)";

/// Tunes three sizes on a device.
fn tuned(device: &str) -> Folder {
    let folder = Folder::with(&[("step.toml", PROBLEM)]);
    for n in [16, 64, 1024] {
        let (size, out) = (format!("N={n}"), format!("{n}.jsonl"));
        let ran = folder.run(&["tune", "step.toml", "--device", device, "--size", &size, "--out", &out, "--quiet"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
    }
    folder
}

fn export(folder: &Folder, form: &str, more: &[&str]) -> Ran {
    folder.run(&[&["export", "16.jsonl", "64.jsonl", "1024.jsonl", "--as", form], more].concat())
}

fn judging(device: &str) -> [&str; 5] {
    ["--judge", "--problem", "step.toml", "--device", device]
}

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).unwrap()
}

#[test]
fn a_chooser_that_is_faster_at_fresh_sizes_ships_and_says_so() {
    let folder = tuned(FASTER);
    let ran = export(&folder, "c-header", &judging(FASTER));
    assert!(ran.code == Some(0) && ran.stdout.contains("  judged   faster than the default; at 20 fresh"), "{ran:#?}");
    let header = read(&folder, "step.h");
    assert!(
        header.contains("Judged: faster than the default; at 20 fresh sizes, 2.000 times") && header.contains("{1LL}")
    );
    let judgement = export(&folder, "rust", &[&judging(FASTER)[..], &["--json", "--seed", "3"]].concat()).json()
        ["portfolios"][0]["judgement"]
        .clone();
    assert_eq!((&judgement["sizes"], &judgement["slower"], &judgement["failed"]), (&20.into(), &0.into(), &0.into()));
    assert!((judgement["speed"].as_f64().unwrap() - 2.0).abs() < 1e-9, "{judgement:#}");
    assert!(judgement["ci95"][0].as_f64() > Some(1.0) && judgement["seed"] == 3, "{judgement:#}");
    let n = judgement["slowest_at"]["N"].as_f64().unwrap();
    assert!((16.0..=1024.0).contains(&n) && ![16.0, 64.0, 1024.0].contains(&n), "{judgement:#}");
    assert_eq!(judgement["slowest_at"]["M"], 3.0);
}

#[test]
fn the_default_ships_for_all_sizes_if_the_choices_are_not_faster_at_fresh_ones() {
    for (device, failed) in [(SLOWER, 0), (FAILING, 20)] {
        let folder = tuned(device);
        let ran = export(&folder, "c-header", &[&judging(device)[..], &["--json"]].concat());
        let portfolio = &ran.json()["portfolios"][0];
        let judgement = &portfolio["judgement"];
        let sizes = judgement["sizes"].as_u64().map(|sizes| sizes + failed);
        assert_eq!((&judgement["failed"], sizes), (&failed.into(), Some(20)), "{ran:#?}");
        assert!(judgement["speed"].as_f64() <= Some(0.5), "{ran:#?}");
        assert_eq!((&portfolio["configurations"], &portfolio["rule"]), (&1.into(), &"the same for all inputs".into()));
        let header = read(&folder, "step.h");
        assert!(header.contains("Judged: not faster: the default answers") && header.contains("{2LL}"), "{header}");
        assert!(!header.contains("{1LL}"), "{header}");
        export(&folder, "flags", &judging(device));
        assert!(read(&folder, "step.flags").ends_with("-DX=2\n"));
        export(&folder, "json", &judging(device));
        let all: Json = serde_json::from_str(&read(&folder, "step.wisdom.json")).unwrap();
        assert_eq!((&all["best"]["config"]["X"], &all["portfolios"][0]["configs"][0]["X"]), (&2.into(), &2.into()));
        assert!(all["portfolios"][0]["judgement"]["sizes"].as_u64().is_some(), "{all:#}");
    }
}

#[test]
fn what_was_not_judged_says_so_on_the_screen_in_json_and_in_the_files() {
    let folder = tuned(SLOWER);
    let ran = export(&folder, "c-header", &[]);
    assert!(ran.stdout.contains("  judged   no: --judge measures the choices"), "{ran:#?}");
    assert!(read(&folder, "step.h").contains("{1LL}") && read(&folder, "step.h").contains("Not judged: "));
    let json = export(&folder, "wisdom", &["--json"]).json();
    assert_eq!(json["portfolios"][0].get("judgement"), Some(&Json::Null), "{json:#}");
    assert!(read(&folder, "step.wisdom").contains("\"judgement\":null"));
    // One input has nothing to be judged for.
    folder.run(&["export", "16.jsonl", "--as", "c-header", "-o", "one.h"]);
    assert!(!read(&folder, "one.h").contains("udged"), "{}", read(&folder, "one.h"));
}

#[test]
fn a_timing_model_answers_with_the_reference_where_its_choices_are_not_faster() {
    for (device, is_faster) in [(FASTER, true), (SLOWER, false)] {
        let folder = Folder::with(&[(
            "step.toml",
            &format!(
                "{PROBLEM}[inputs]\nsizes = {{ N = [16, 32, 64, 128, 256, 512, 1024] }}\nruns = [\"exhaustive\"]\n"
            ),
        )]);
        let ran = folder.run(&["tune", "step.toml", "--inputs", "--device", device, "--quiet"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let journals: Vec<String> = std::fs::read_dir(folder.path("step.inputs"))
            .unwrap()
            .map(|entry| format!("step.inputs/{}", entry.unwrap().file_name().to_str().unwrap()))
            .filter(|name| name.contains('='))
            .collect();
        let train = |out: &str, more: &[&str]| {
            let fixed = ["train", "timing", "-o", out, "--rounds", "20", "--hold-out", "0.3"];
            let files: Vec<&str> = journals.iter().map(String::as_str).collect();
            folder.run(&[&fixed[..], more, &files].concat())
        };
        let ran = train("plain.json", &[]);
        assert!(ran.stdout.contains("not judged: --judge measures"), "{ran:#?}");
        assert!(read(&folder, "plain.json").contains("\"judgement\": null"));
        // The problem is found beside the folder of the journals.
        let ran = train("judged.json", &["--judge", "--device", device, "--json"]);
        let judgement = &ran.json()["judgement"];
        assert_eq!(judgement["sizes"], 20, "{ran:#?}");
        assert_eq!(judgement["ci95"][0].as_f64() > Some(1.0), is_faster, "{judgement:#}");
        let answer = |model: &str| folder.run(&["predict", model, "--input", "N=100", "--json"]).json();
        assert_eq!(answer("plain.json")["config"]["X"], 1);
        let judged = answer("judged.json");
        assert_eq!(
            (&judged["config"]["X"], judged["source"] == "reference"),
            (&(2 - i64::from(is_faster)).into(), !is_faster)
        );
    }
}

#[test]
fn wrong_requests_for_a_judgement_are_refused_with_what_to_do() {
    let folder = tuned(FASTER);
    let one = |more: &[&str]| folder.run(&[&["export", "16.jsonl", "--as", "rust"], more].concat());
    one(&judging(FASTER)).refused(&["no fresh sizes", "tune --inputs"]);
    one(&["--seed", "3"]).refused(&["--judge"]);
    one(&["--device", FASTER]).refused(&["--guard", "--judge"]);
    one(&["--judge"]).refused(&["16.toml"]);
    export(&folder, "kernel-launcher", &judging(FASTER)).refused(&["no choice for others to judge", "--as wisdom"]);
    export(&folder, "rust", &judging("synthetic:X")).refused(&["the runs were made on", "--device"]);
    folder.write("other.toml", &PROBLEM.replace("default = { X = 2 }", "default = { X = 1 }"));
    let other = ["--judge", "--problem", "other.toml", "--device", FASTER];
    export(&folder, "rust", &other).refused(&["X=2", "the default of the problem is X=1", "--problem"]);
    folder.write("odd.toml", &format!("{PROBLEM}[constraints]\n\"none\" = \"N < 16 or X == 7\"\n"));
    let odd = ["--judge", "--problem", "odd.toml", "--device", FASTER];
    export(&folder, "rust", &odd).refused(&["odd.toml"]);
    folder.run(&["train", "timing", "16.jsonl", "-o", "m.json", "--device", FASTER]).refused(&["--judge"]);
    let train =
        ["train", "timing", "16.jsonl", "-o", "m.json", "--judge", "--problem", "step.toml", "--device", FASTER];
    folder.run(&train).refused(&["no fresh sizes"]);
}
