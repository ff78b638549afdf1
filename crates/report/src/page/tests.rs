use super::*;
use crate::front::Front;
use crate::{FailureLine, TopRow};
use tunesmith_core::{Cuts, Direction, FailureKind, Gain, Objective, Source};

fn run() -> RunSection {
    let top = TopRow {
        time_ms: 1.5,
        ci95_ms: Some((1.4, 1.6)),
        gain: Some(Gain::Ratio(2.0)),
        value: None,
        config: "TILE=16,NAME=<a>".to_string(),
    };
    let failure = FailureLine { kind: FailureKind::Compile, count: 1, message: "error: a < b && \"c\"".to_string() };
    let evaluations = Evaluations {
        values: vec![None, Some(3.0), Some(1.5)],
        clocks: vec![1.0, 2.0, 3.0],
        failures: vec![Some(FailureKind::Compile), None, None],
        cut: [].into(),
        columns: vec![vec![0, 0, 1]],
        kept: vec![0, 1, 2],
        messages: [(0, failure.message.clone())].into(),
    };
    RunSection {
        name: "gemm".to_string(),
        verdict: vec!["1 more is indistinguishable from the best".to_string()],
        parameters: vec![ParameterValues { name: "TILE".to_string(), values: vec!["8".to_string(), "16".to_string()] }],
        evaluations,
        top: vec![top],
        front: Front::default(),
        builds: vec![BuildText { form: "flags".to_string(), text: "-DTILE=16\n".to_string() }],
        spent: Spent { results: vec![("correct".to_string(), 2.0)], activities: Vec::new() },
        failures: vec![failure],
        environment: vec![("device".to_string(), "a & b".to_string())],
        reproduce: vec!["tunesmith tune gemm.toml --seed 7".to_string()],
        ..RunSection::default()
    }
}

fn page(runs: Vec<RunSection>) -> Page {
    Page { title: "gemm".to_string(), runs, written_by: "Tunesmith".to_string() }
}

fn both(page: &Page) -> [String; 2] {
    [Form::Static, Form::Interactive].map(|form| page_html(page, form).unwrap())
}

#[test]
fn everything_that_needs_no_script_is_on_every_page_and_text_is_escaped() {
    let nothing = RunSection { name: "empty".to_string(), ..RunSection::default() };
    let wanted = [
        "1.500 ms",
        "1.400 ms to 1.600 ms",
        "2.000x",
        "TILE=16,NAME=&lt;a&gt;",
        "1 more is indistinguishable from the best.",
        "a &amp; b",
        "No configuration was correct",
        "error: a &lt; b &amp;&amp; &quot;c&quot;",
        "compile",
        "-DTILE=16",
        "tunesmith tune gemm.toml --seed 7",
    ];
    for html in both(&page(vec![run(), nothing])) {
        wanted.iter().for_each(|text| assert!(html.contains(text), "{text}\n{html}"));
        assert!(!html.contains("<a>"));
    }
}

#[test]
fn what_limits_cut_stands_beside_the_failures_and_is_none() {
    let cut = Some(Cuts { count: 2, limit_ms: (20.0, 20.0), factor: 10.0 });
    let without = RunSection { failures: Vec::new(), cut, ..run() };
    for html in [run(), without].into_iter().flat_map(|own| both(&page(vec![RunSection { cut, ..own }]))) {
        let row =
            "<td>cut</td><td class=\"number\">2</td><td>-</td><td>2 configurations were cut at 20.00 ms, ten times";
        assert!(html.contains(row), "{html}");
    }
    assert!(both(&page(vec![run()])).iter().all(|html| !html.contains("<td>cut</td>")));
}

#[test]
fn notes_on_the_device_are_on_every_page_with_their_count() {
    let note = NoteLine { note: "GPU slows down: <hot>; cool it".to_string(), count: 12, first: 3 };
    let noted = RunSection { notes: vec![note.clone()], ..run() };
    let described = Written::new(&[run(), noted.clone()], std::path::Path::new("page.html"));
    assert_eq!((described.runs, described.evaluations), (2, 6));
    assert_eq!(described.notes, [RunNotes { run: "gemm".to_string(), notes: vec![note] }]);
    for html in both(&page(vec![noted])) {
        for text in ["<h2>Notes</h2>", "<td class=\"number\">12</td>", "GPU slows down: &lt;hot&gt;; cool it"] {
            assert!(html.contains(text), "{text}\n{html}");
        }
    }
    assert!(both(&page(vec![run()])).iter().all(|html| !html.contains("<h2>Notes")));
}

#[test]
fn the_workers_of_a_fleet_have_a_time_line_without_a_script() {
    let parts = vec![0.0, 1.0, 1.0, 0.5, 0.0];
    let measures = WorkerLine {
        name: "worker 1 (<n1>)".to_string(),
        measurements: 7,
        failed: 2,
        busy: 1.5,
        parts,
        ..WorkerLine::default()
    };
    let compiles = WorkerLine { name: "worker 2 (n2)".to_string(), compiled: Some(9), ..WorkerLine::default() };
    for html in both(&page(vec![RunSection { workers: vec![measures, compiles], ..run() }])) {
        for text in [
            "<h2>Workers</h2>",
            "worker 1 (&lt;n1&gt;)",
            "1 worker did 1.5 s of work in 3.0 s, 0.5 times one device. 1 further worker only compiled.",
            "only compiles: 9 configurations for the others",
            "viewBox=\"0 0 5 10\"",
            "<rect x=\"1\" y=\"0\" width=\"2\" height=\"10\" fill-opacity=\"1\"></rect>",
            "<rect x=\"3\" y=\"0\" width=\"1\" height=\"10\" fill-opacity=\"0.5\"></rect>",
        ] {
            assert!(html.contains(text), "{text}\n{html}");
        }
        assert_eq!(html.matches("height=\"10\" fill-opacity").count(), 2);
    }
    assert!(both(&page(vec![run()])).iter().all(|html| !html.contains("<h2>Workers")));
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let [still, interactive] = both(&page(vec![run()]));
    for text in ["src=", "href=", "@import", "url("] {
        assert!(!still.contains(text) && !interactive.contains(text), "{text}");
    }
    assert!(!still.contains("<script") && !still.contains("data-runs"), "{still}");
    assert_eq!(interactive.matches("<script").count(), if embedded::IS_PRESENT { 3 } else { 0 });
}

#[cfg(feature = "plots")]
#[test]
fn an_interactive_page_has_a_place_for_every_picture_and_stays_small() {
    let html = page_html(&page(vec![run()]), Form::Interactive).unwrap();
    for picture in ["convergence", "evaluations", "slices", "spent"] {
        assert!(html.contains(&format!("data-picture=\"{picture}\"")), "{picture}");
    }
    assert!(html.contains("data-table=\"0\"") && html.len() < 800 << 10, "{}", html.len());
}

#[cfg(feature = "plots")]
#[test]
fn runs_of_one_subject_share_axes_and_others_do_not() {
    let metric = Objective::new("energy", Direction::Minimise, Some("mJ"), Source::Metric);
    let other = RunSection { subject: Subject { objective: metric, ..Subject::default() }, ..run() };
    let html = page_html(&page(vec![run(), other, run()]), Form::Interactive).unwrap();
    let of = |runs: &str| html.matches(&format!("data-picture=\"convergence\" data-runs=\"{runs}\"")).count();
    assert_eq!((of("0 2"), of("1"), of("0 1 2")), (1, 1, 0), "{html}");
    let still = page_html(&page(vec![run(), run()]), Form::Static).unwrap();
    assert_eq!(still.matches("<svg").count(), 1, "one picture of both runs");
}

#[test]
fn hostile_texts_end_no_element_and_make_no_page_long() {
    let hostile = format!("</script><script>alert(1)</script>\u{1b}[2J\u{202e}{}", "x".repeat(1_000_000));
    let mut hostile_run = run();
    hostile_run.name = hostile.clone();
    hostile_run.subject.problem = hostile.clone();
    hostile_run.top[0].config = hostile.clone();
    hostile_run.failures[0].message = hostile.clone();
    hostile_run.builds[0].text = hostile.clone();
    hostile_run.reproduce = vec![hostile.clone()];
    hostile_run.environment = vec![(hostile.clone(), hostile.clone())];
    hostile_run.parameters[0] = ParameterValues { name: hostile.clone(), values: vec![hostile.clone(); 2] };
    hostile_run.evaluations.messages = [(0, hostile.clone())].into();
    let fine = both(&page(vec![run(), run()])).map(|html| (html.len(), html.matches("<script").count()));
    let pages = both(&Page { title: hostile, ..page(vec![hostile_run, run()]) });
    for (html, (length, scripts)) in pages.iter().zip(fine) {
        assert_eq!(html.matches("<script").count(), scripts, "no text begins a script");
        assert!(!html.contains(['\u{1b}', '\u{202e}']) && html.contains("\\u{1b}[2J"), "{html}");
        assert!(html.len() < length + 40_000, "{} bytes more", html.len() - length);
    }
}
