//! Reads the reference data and tolerances of the kernel's results.

use super::arguments::One;
use super::reader::Reader;
use std::ops::Range;
use tunesmith_kernel::{Fill, PartialTolerance};
use tunesmith_spec::ArgumentDraft;

/// Returns the reference data of outputs. Gives the outputs their tolerances.
pub(super) fn read(reader: &Reader<'_>, arguments: &mut [(ArgumentDraft, Range<usize>)]) -> Vec<(String, Fill)> {
    let mut expected = Vec::new();
    for item in reader.item.get("ReferenceArguments").map(|list| list.items()).unwrap_or_default() {
        let name = item.get("TargetName").or_else(|| item.get("Name"));
        let name = name.and_then(|name| name.string()).unwrap_or_default();
        let one = One { reader, item: &item, name };
        let target = arguments.iter_mut().map(|(argument, _)| argument).find(|argument| argument.name == name);
        let Some(target) = target.filter(|target| target.is_output()) else {
            let text = "the reference's target is not an argument that the kernel writes";
            one.obstacle("TargetName", text, "TargetName is the Name of a WriteOnly or ReadWrite argument");
            continue;
        };
        expected.extend(contents(&one, target).map(|fill| (name.to_string(), fill)));
        target.tolerance = Some(tolerance(&one));
    }
    expected
}

/// Returns the correct contents of `target`.
fn contents(one: &One<'_>, target: &ArgumentDraft) -> Option<Fill> {
    match one.string("FillType") {
        None | Some("Random") => {
            let remedy = "\"FillType\" is BinaryRaw with a file, or Generator with an expression of `i`, as DataSource";
            one.obstacle("FillType", "its reference does not say what is correct", remedy);
            None
        }
        Some(_) => one.fill(target.element),
    }
}

/// Returns the tolerance of a result. Parts that the file leaves out depend on the type.
fn tolerance(one: &One<'_>) -> PartialTolerance {
    let by_type = PartialTolerance::default();
    let threshold = one.item.get("ValidationThreshold").and_then(|threshold| threshold.json.as_f64());
    if threshold.is_some_and(|threshold| threshold < 0.0) {
        one.obstacle("ValidationThreshold", "it is below 0", "a threshold is at least 0");
    }
    let each = threshold.map_or(by_type, |_| PartialTolerance { relative: Some(0.0), absolute: threshold });
    match one.string("ValidationMethod") {
        None | Some("SideBySideComparison") => each,
        Some("SideBySideRelativeComparison") => PartialTolerance { relative: threshold, absolute: None },
        Some("AbsoluteDifference") => {
            let text = "its ValidationThreshold bounds every single difference, not their sum";
            one.note("ValidationMethod", text, "use SideBySideComparison and the threshold of one element");
            each
        }
        Some(other) => {
            let remedy = "it is SideBySideComparison, SideBySideRelativeComparison or AbsoluteDifference";
            one.obstacle("ValidationMethod", &format!("there is no ValidationMethod `{other}`"), remedy);
            by_type
        }
    }
}
