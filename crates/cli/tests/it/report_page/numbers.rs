//! Reads the numbers of every picture in a browser, against the data of the page.

use super::browser::{Browser, SharedBrowser, has_browser};
use super::common::Folder;
use super::journals::Made;
use super::{LOOK, reported};
use serde_json::json;

const NUMBERS: &str = include_str!("numbers.js");

/// The values of `A`, what is optimised, and the device.
type Case = (&'static str, &'static str, &'static str);

/// Scores of any sign, long spans, values that differ in the last digits, and times of all units.
const CASES: [Case; 4] = [
    ("[0.0009, 1000, 1024, -2147, 0, 0.5, -0.25, 1249692]", "maximise score", "synthetic:1"),
    ("[0.0009, 1000, 1024, 20000, 1249692]", "minimise score", "synthetic:1"),
    ("[1249692, 1249700, 1249751]", "minimise score", "synthetic:1"),
    ("[0.0009, 1000, 1024, 0.2, 1249692]", "minimise time", "synthetic:A * B"),
];

/// Returns a folder with the report of a run of all configurations.
fn exhausted((values, objective, device): Case) -> Folder {
    let parameters = format!("[parameters]\nA = {values}\nB = [1, 2, 3]\nC = [1, 2]\n");
    let folder = Folder::with(&[("p.toml", &format!("{parameters}[metrics]\nscore = \"A * B * C\"\n"))]);
    let tune = ["tune", "p.toml", "--device", device, "--objective", objective, "--strategy", "exhaustive", "--quiet"];
    assert_eq!(folder.run(&tune).code, Some(0), "{objective}");
    assert_eq!(folder.run(&["report", "p.jsonl", "-o", "page.html"]).code, Some(0), "{objective}");
    folder
}

/// Asserts that each picture of the page, and its table, shows the numbers of its data.
fn assert_true(browser: &mut Browser, folder: &Folder, case: &str) {
    browser.open(&folder.path("page.html"), 1280, "light");
    browser.evaluate(LOOK);
    let read = browser.evaluate(NUMBERS);
    assert_eq!((&read["wrong"], &browser.errors[..]), (&json!([]), &[][..]), "{case}");
    for picture in
        ["convergence", "evaluations", "importance", "slices", "heatmap", "parallel", "samples", "spent", "table"]
    {
        assert!(read["compared"][picture].as_u64() >= Some(7), "{case}: {picture}: {read:#}");
    }
}

#[test]
fn every_number_of_a_picture_is_that_of_its_data() {
    if !has_browser() {
        return;
    }
    let shared = SharedBrowser::new();
    let mut browser = shared.wait();
    for case in CASES {
        assert_true(&mut browser, &exhausted(case), case.0);
    }
    assert_true(&mut browser, &reported(&[Made::default()]), "times, with failures");
}
