//! The page that `report` writes, read in a browser.

use crate::common;

mod browser;
mod journals;
mod numbers;

use base64::Engine as _;
use browser::{Browser, SharedBrowser, has_browser};
use common::Folder;
use common::served::{PROBLEM, Served};
use journals::Made;
use serde_json::{Value as Json, json};
use std::path::Path;
use std::process::Command;

const LOOK: &str = include_str!("look.js");
const CAPTURED: &str = include_str!("captured.js");

/// Returns a folder with a report about these runs, `page.html`.
fn reported(runs: &[Made]) -> Folder {
    let folder = Folder::new();
    let names: Vec<String> = (0..runs.len()).map(|at| format!("run{at}.jsonl")).collect();
    for (name, run) in names.iter().zip(runs) {
        folder.write(name, &run.journal());
        folder.write(&name.replace(".jsonl", ".fleet.json"), &Made::fleet());
    }
    let arguments: Vec<&str> =
        ["report", "-o", "page.html"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let ran = folder.run(&arguments);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    folder
}

fn size(folder: &Folder) -> u64 {
    std::fs::metadata(folder.path("page.html")).unwrap().len()
}

/// A width in pixels and a mode.
type View = (u32, &'static str);

const VIEWS: [View; 6] =
    [(360, "light"), (360, "dark"), (768, "light"), (768, "dark"), (1280, "light"), (1280, "dark")];
/// The narrow and the wide page, each in one mode.
const EDGES: [View; 2] = [(360, "dark"), (1280, "light")];

/// Looks at a page in all `views`. Returns what was seen last.
fn looked_at(browser: &mut Browser, page: &Path, views: &[View]) -> Json {
    let mut seen = Json::Null;
    for (width, mode) in views.iter().copied() {
        browser.open(page, width, mode);
        seen = browser.evaluate(LOOK);
        let at = format!("{width} px, {mode}: {seen:#}");
        assert_eq!((&browser.errors[..], &seen["overflow"], &seen["faint"]), (&[][..], &json!(0), &json!([])), "{at}");
        assert!(seen["texts"].as_u64() > Some(100), "{at}");
        let states = seen["states"].as_array().unwrap();
        assert!(states.iter().all(|state| state.as_str().unwrap().ends_with(" drawn")), "{at}");
    }
    seen
}

/// Opens the report of one run in a browser, and waits until it is drawn.
fn opened(browser: &mut Browser) -> Folder {
    let folder = reported(&[Made::default()]);
    browser.open(&folder.path("page.html"), 1280, "light");
    browser.evaluate(LOOK);
    folder
}

#[test]
fn a_report_has_every_picture_and_no_error_no_overflow_and_enough_contrast() {
    if !has_browser() {
        return;
    }
    let folder = reported(&[Made::default()]);
    let shared = SharedBrowser::new();
    let mut browser = shared.wait();
    let seen = looked_at(&mut browser, &folder.path("page.html"), &VIEWS);
    let states = seen["states"].to_string();
    for picture in ["convergence", "evaluations", "importance", "slices", "heatmap", "parallel", "samples", "spent"] {
        assert!(states.contains(&format!("{picture} drawn")), "{picture}: {states}");
    }
    let text = browser.evaluate("document.body.innerText").to_string();
    for part in
        ["Workers", "3 workers did", "2 further workers only compiled", "only compiles: 40", "Notes", "ran at 955 MHz"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn runs_of_one_problem_stand_side_by_side_and_others_apart() {
    if !has_browser() {
        return;
    }
    let other = Made { problem: "transpose", evaluations: 40, ..Made::default() };
    let folder = reported(&[Made::default(), other, Made { seed: 3, ..Made::default() }]);
    let shared = SharedBrowser::new();
    let mut browser = shared.wait();
    looked_at(&mut browser, &folder.path("page.html"), &VIEWS);
    let curves = "[...document.querySelectorAll('[data-picture=convergence] .plot')].map((plot) => plot.data.length)";
    assert_eq!(browser.evaluate(curves), json!([2, 1]));
}

#[test]
fn another_objective_is_drawn_in_its_unit_and_direction() {
    if !has_browser() {
        return;
    }
    let problem = "[parameters]\nX = { range = \"1..=12\" }\nY = [1, 2]\n[metrics]\nsize = \"X * 10 - Y\"\n";
    let folder = Folder::with(&[("p.toml", problem)]);
    let tune = ["tune", "p.toml", "--device", "synthetic:1 + X", "--objective", "maximise size", "--quiet"];
    assert_eq!(folder.run(&tune).code, Some(0));
    assert_eq!(folder.run(&["report", "p.jsonl", "-o", "page.html"]).code, Some(0));
    let shared = SharedBrowser::new();
    let mut browser = shared.wait();
    looked_at(&mut browser, &folder.path("page.html"), &EDGES);
    let curve = "(() => { const { data: [{ y }], layout } = document.querySelector('[data-picture=convergence] .plot');
        return [layout.yaxis.title.text, y.at(-1), y.every((value, at) => at === 0 || value >= y[at - 1])]; })()";
    assert_eq!(browser.evaluate(curve), json!(["size", 119, true]));
    let first = browser.evaluate("document.querySelector('[data-table] tbody tr').cells[1].textContent");
    assert_eq!(first, "119", "the greatest is the best");
}

#[test]
fn hostile_texts_are_text() {
    if !has_browser() {
        return;
    }
    let text = format!("</script><img src=x onerror=alert(1)><b>\u{1b}[2J\u{202e}{}", "x".repeat(1_000_000));
    let folder = reported(&[Made { text, evaluations: 60, ..Made::default() }]);
    assert!(size(&folder) < 1 << 20, "{}", size(&folder));
    let shared = SharedBrowser::new();
    let mut browser = shared.wait();
    looked_at(&mut browser, &folder.path("page.html"), &EDGES);
    assert_eq!(browser.evaluate("document.querySelectorAll('img, .plot b').length"), json!(0));
}

#[test]
fn pointing_at_an_evaluation_shows_its_configuration() {
    if !has_browser() {
        return;
    }
    let shared = SharedBrowser::new();
    let mut browser = shared.wait();
    let _folder = opened(&mut browser);
    let hover = "(() => { const plot = document.querySelector('[data-picture=evaluations] .plot');
        Plotly.Fx.hover(plot, [{ curveNumber: 0, pointNumber: 0 }]);
        return plot.querySelector('.hoverlayer').textContent; })()";
    let shown = browser.evaluate(hover).to_string();
    assert!(shown.contains("#1: ") && shown.contains("TILE_I=4") && shown.contains("PREFETCH=false"), "{shown}");
}

#[test]
fn the_table_sorts_filters_and_has_a_column_for_every_parameter() {
    if !has_browser() {
        return;
    }
    let shared = SharedBrowser::new();
    let mut browser = shared.wait();
    let folder = opened(&mut browser);
    let table = "(() => { const place = document.querySelector('[data-table]');
        const cells = (row) => [...row.cells].map((cell) => cell.textContent);
        return { head: cells(place.querySelector('tr')), rows: [...place.querySelectorAll('tbody tr')].map(cells),
                 count: place.firstElementChild.textContent }; })()";
    let all = browser.evaluate(table);
    let expected =
        ["#", "time ▲", "status", "after", "TILE_I", "TILE_J", "UNROLL", "VECTOR", "ORDER", "PREFETCH", "message"];
    assert_eq!((&all["head"], &all["count"]), (&json!(expected), &json!("300 of 300 evaluations")));
    let top = folder.run(&["top", "run0.jsonl", "--json"]).json();
    let searched = top["configs"][0]["config"]["TILE_J"].to_string();
    assert_eq!(all["rows"][0][5], searched, "the fastest comes first: {all:#}");

    let filter = "(() => { const place = document.querySelector('[data-table]');
        const status = place.querySelectorAll('thead select')[0];
        status.selectedIndex = [...status.options].findIndex(({ text }) => text === 'timeout');
        status.dispatchEvent(new Event('input', { bubbles: true }));
        place.querySelectorAll('thead button')[4].click(); place.querySelectorAll('thead button')[4].click(); })()";
    browser.evaluate(filter);
    let some = browser.evaluate(table);
    let rows = some["rows"].as_array().unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|row| row[2] == "timeout" && row[5] == "128"), "{some:#}");
    let tiles: Vec<u64> = rows.iter().map(|row| row[4].as_str().unwrap().parse().unwrap()).collect();
    assert!(tiles.is_sorted_by(|a, b| a >= b) && tiles.first() > tiles.last(), "{tiles:?}");
    assert_eq!(browser.errors, [""; 0]);
}

#[test]
fn without_scripts_the_result_the_winner_and_the_best_are_there() {
    if !has_browser() {
        return;
    }
    let folder = reported(&[Made::default()]);
    let shared = SharedBrowser::new();
    let mut browser = shared.wait();
    browser.allow_scripts(false);
    browser.open(&folder.path("page.html"), 768, "light");
    let text = browser.evaluate("document.body.innerText").as_str().unwrap().to_string();
    for wanted in ["Result", "need JavaScript", "-DTILE_I=", "The best configurations", "Failures", "AMD EPYC <9>"] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let visible =
        "[...document.querySelectorAll('.drawn, .script-only')].filter((one) => one.checkVisibility()).length";
    assert_eq!(browser.evaluate(visible), json!(0));
}

#[test]
#[allow(clippy::print_stderr)]
fn every_script_is_a_module_that_parses() {
    let folder = common::repository().join("crates/report/src/page/script");
    for script in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(script.unwrap().path()).unwrap();
        let module = Folder::with(&[("script.mjs", &text)]);
        let Ok(output) = Command::new("node").arg("--check").arg(module.path("script.mjs")).output() else {
            return eprintln!("skipped: no node; the browser's tests read the scripts");
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Returns what a reader sees of the table of all evaluations, and where, once it is there.
const SEEN: &str = "(() => {
    const place = document.querySelector('[data-table]');
    if (!place?.querySelector('tbody tr')) return false;
    const cells = (row, at) => row.cells[at].textContent;
    const section = place.closest('section');
    return {
        total: Number(place.firstElementChild.textContent.match(/of ([0-9]+)/)[1]),
        filter: place.querySelector('[aria-label$=Y]').selectedOptions[0].text,
        sorted: [...place.querySelectorAll('th[aria-sort=descending]')].map(({ textContent }) => textContent),
        rows: [...place.querySelectorAll('tbody tr')].map((row) => [cells(row, 4), cells(row, 5)]),
        top: section.getBoundingClientRect().top,
        folded: [...document.querySelectorAll('details')].map(({ open }) => open),
        isNew: !globalThis.isOld,
    };
})()";

#[test]
fn the_page_of_a_running_run_follows_it_and_keeps_what_its_reader_chose() {
    if !has_browser() {
        return;
    }
    let folder = Folder::with(&[("p.toml", PROBLEM)]);
    let served = Served::start(&folder);
    while served.revision() < 1 {}
    let shared = SharedBrowser::new();
    let mut browser = shared.wait();
    browser.open_address(&format!("http://{}/", served.own()), 1280, "light");
    let enough = format!("(() => {{ const seen = {SEEN}; return seen.total > 30 && seen; }})()");
    browser.wait_for(&enough);
    let choose = "(() => {
        const place = document.querySelector('[data-table]');
        const y = place?.querySelector('[aria-label$=Y]');
        // A page that loads itself again has no table yet.
        if (!y || !place.querySelector('thead button')) return false;
        globalThis.isOld = true;
        y.selectedIndex = [...y.options].findIndex(({ text }) => text === '2');
        y.dispatchEvent(new Event('input'));
        const x = place.querySelectorAll('thead button')[4];
        x.click();
        x.click();
        document.querySelectorAll('details').forEach((part, at) => (part.open = at % 2 === 1));
        place.closest('section').scrollIntoView();
        scrollBy(0, 40);
        return true;
    })()";
    browser.wait_for(choose);
    let before = browser.wait_for(SEEN);
    let newer = format!("(() => {{ const seen = {SEEN}; return seen.isNew && seen; }})()");
    let after = browser.wait_for(&newer);
    let total = |seen: &Json| seen["total"].as_u64().unwrap();
    assert!(total(&after) > total(&before), "{before:#} {after:#}");
    for key in ["filter", "sorted", "folded"] {
        assert_eq!(before[key], after[key], "{key}: {before:#} {after:#}");
    }
    assert_eq!((&after["filter"], &after["sorted"]), (&json!("2"), &json!(["X ▼"])));
    assert!(after["rows"].as_array().unwrap().iter().all(|row| row[1] == "2"), "{after:#}");
    let tops = [&before, &after].map(|seen| seen["top"].as_f64().unwrap());
    assert!((tops[0] - tops[1]).abs() < 200.0, "the place of the reader: {tops:?}");
    assert_eq!(browser.errors, [""; 0]);
}

#[test]
fn pages_stay_small_and_hold_some_of_many_evaluations() {
    let folder = reported(&[Made { evaluations: 5000, ..Made::default() }]);
    assert!(size(&folder) < 2 << 20, "{}", size(&folder));
    let many = reported(&[Made { evaluations: 20_000, ..Made::default() }]);
    assert!(size(&many) < size(&folder) + (100 << 10), "{} and {}", size(&many), size(&folder));
    let page = std::fs::read_to_string(many.path("page.html")).unwrap();
    assert!(page.contains("of 20,000 evaluations"), "the page says what it leaves out");
}

/// Measures how long a page of 5,000 evaluations takes until its first pictures are drawn.
#[test]
#[ignore = "a measurement, for a quiet machine"]
#[allow(clippy::print_stdout)]
fn opening() {
    let folder = reported(&[Made { evaluations: 5000, ..Made::default() }]);
    let shared = SharedBrowser::new();
    let mut browser = shared.wait();
    let drawn = "(async () => { const picture = document.querySelector('[data-picture=evaluations]');
        while (picture.dataset.state !== 'drawn') await new Promise((resolve) => setTimeout(resolve, 1));
        return performance.now(); })()";
    for _ in 0..5 {
        browser.open(&folder.path("page.html"), 1280, "light");
        println!("{} bytes, drawn after {:.0} ms", size(&folder), browser.evaluate(drawn).as_f64().unwrap());
    }
}

/// Returns a picture of the page from `top` on, in base64, and what `captured.js` says about it.
fn captured(browser: &mut Browser, top: f64, size: (f64, f64), scale: f64) -> (String, Json) {
    let picture = browser.screenshot(top, size, scale);
    let seen = browser.evaluate(&format!("({CAPTURED})({}, {top}, {scale})", json!(picture)));
    (picture, seen)
}

#[test]
fn a_capture_shows_every_picture_in_both_modes() {
    if !has_browser() {
        return;
    }
    let folder = reported(&[Made::default()]);
    let shared = SharedBrowser::new();
    let mut browser = shared.wait();
    let mut height = 0.0;
    for (width, mode) in [(1280, "dark"), (1280, "light"), (360, "dark")] {
        browser.open(&folder.path("page.html"), width, mode);
        browser.evaluate(LOOK);
        height = browser.evaluate("document.documentElement.scrollHeight").as_f64().unwrap();
        let all = browser.evaluate("document.querySelectorAll('[data-picture]').length");
        let (_, seen) = captured(&mut browser, 0.0, (f64::from(width), height), 0.5);
        assert_eq!(seen, json!({ "inside": all, "blank": [] }), "{width} px, {mode}");
    }
    browser.evaluate("document.querySelector('[data-picture=importance] .plot').style.visibility = 'hidden'");
    let (_, seen) = captured(&mut browser, 0.0, (360.0, height), 0.5);
    assert_eq!(seen["blank"], json!(["importance"]), "what is planted is found");
}

/// Takes the pictures of the guide.
#[test]
#[ignore = "writes docs/guide/report-*.png"]
fn screenshots() {
    let folder = reported(&[Made::default(), Made { seed: 3, ..Made::default() }]);
    let shared = SharedBrowser::new();
    let mut browser = shared.wait();
    let views = [
        ("light", 1280, "light", 0.6, "body"),
        ("dark", 1280, "dark", 0.6, ".slices"),
        ("phone", 360, "light", 0.9, "body"),
    ];
    for (name, width, mode, scale, first) in views {
        browser.open(&folder.path("page.html"), width, mode);
        browser.evaluate(LOOK);
        let close = "document.querySelectorAll('details').forEach((one) => {
            one.open = one.previousElementSibling?.matches('h3') ?? false; }); scrollTo(0, 0)";
        browser.evaluate(close);
        let top = format!("document.querySelector('{first}').getBoundingClientRect().top");
        let top = browser.evaluate(&top).as_f64().unwrap();
        let (picture, seen) = captured(&mut browser, top, (f64::from(width), 1400.0), scale);
        assert!(seen["inside"].as_u64() > Some(0) && seen["blank"] == json!([]), "{name}: {seen:#}");
        let bytes = base64::engine::general_purpose::STANDARD.decode(picture).unwrap();
        std::fs::write(common::repository().join(format!("docs/guide/report-{name}.png")), bytes).unwrap();
    }
}
