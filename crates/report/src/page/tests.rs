use super::*;
use tunesmith_core::FailureKind;

fn page() -> Page {
    let top = TopRow {
        time_ms: 1.5,
        ci95_ms: (1.4, 1.6),
        speedup: Some(2.0),
        value: None,
        config: "TILE=16,NAME=<a>".to_string(),
    };
    let value =
        ValueLine { value: "16".to_string(), evaluated: 2, correct: 1, best_ms: Some(1.5), median_ms: Some(1.5) };
    let parameter =
        ParameterSection { name: "TILE".to_string(), explained: Some(0.25), values: vec![value], left_out: 0 };
    let failure = FailureLine { kind: FailureKind::Compile, count: 1, message: "error: a < b && \"c\"".to_string() };
    let run = RunSection {
        name: "gemm".to_string(),
        facts: vec![("device".to_string(), "a & b".to_string())],
        by_time: true,
        evaluations: [None, Some(3.0), Some(1.5)].to_vec(),
        top: vec![top],
        front: Front::default(),
        failures: vec![failure],
        parameters: vec![parameter],
    };
    let nothing = RunSection { name: "empty".to_string(), ..RunSection::default() };
    Page { title: "gemm".to_string(), runs: vec![run, nothing], written_by: "Tunesmith".to_string() }
}

#[test]
fn everything_measured_is_on_the_page_and_text_is_escaped() {
    let html = page_html(&page()).unwrap();
    let wanted = [
        "1.500 ms",
        "1.400 ms to 1.600 ms",
        "2.000x",
        "TILE=16,NAME=&lt;a&gt;",
        "25 %",
        "a &amp; b",
        "No configuration was correct",
    ];
    for text in wanted.iter().chain(&["error: a &lt; b &amp;&amp; &quot;c&quot;", "compile"]) {
        assert!(html.contains(text), "{text}\n{html}");
    }
    assert!(!html.contains("<a>"));
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let html = page_html(&page()).unwrap();
    assert!(["<script", "src=", "href=", "@import", "url("].iter().all(|text| !html.contains(text)), "{html}");
}

#[cfg(feature = "plots")]
#[test]
fn the_picture_has_a_dot_for_each_correct_evaluation_and_none_without() {
    let picture = progress::svg(&page().runs).unwrap();
    let document = roxmltree::Document::parse(&picture).unwrap();
    assert_eq!(document.descendants().filter(|node| node.has_tag_name("circle")).count(), 2);
    assert_eq!(progress::svg(&page().runs[1..]).unwrap(), "");
}
