//! The rules for verifying outputs.

use crate::draft::{CompareDraft, RangeDraft, VerifyDraft};
use crate::fault::{Faults, Key};
use crate::kernels;
use crate::values::Sizes;
use std::ops::Range;
use tunesmith_kernel::{Argument, PartialTolerance, Verify};
use tunesmith_space::did_you_mean;

/// Returns the rules for outputs among `arguments`, but for the tolerances of single arguments and the further sizes.
pub(crate) fn verify(draft: &VerifyDraft, arguments: &[Argument], sizes: Sizes<'_>) -> Verify {
    let reference = draft.reference.as_ref();
    let mut verify = Verify {
        reference: reference.and_then(|draft| kernels::reference(draft, arguments, sizes.faults)),
        expected: draft.expected.clone(),
        relative: draft.tolerance.relative,
        absolute: draft.tolerance.absolute,
        ..Verify::default()
    };
    check_tolerance(&draft.tolerance, &Key::of("verify"), sizes.faults);
    for CompareDraft { output, ranges } in &draft.compare {
        let key = Key::of("verify").field("compare").field(output);
        if !arguments.iter().any(|argument| argument.name == *output && argument.is_output()) {
            let outputs = arguments.iter().filter(|argument| argument.is_output());
            let remedy = did_you_mean(output, outputs.map(|argument| argument.name.as_str()));
            sizes.faults.error(key, format!("there is no output `{output}` to compare"), remedy);
        }
        let ranges = ranges.iter().filter_map(|range| elements(range, sizes)).collect();
        verify.compare.insert(output.clone(), ranges);
    }
    verify
}

/// Checks the tolerance that the part `key` states. A relative one above 1 would take zeros for any result.
pub(crate) fn check_tolerance(tolerance: &PartialTolerance, key: &Key, faults: &Faults) {
    let parts = [
        ("relative", tolerance.relative, 1.0, " and at most 1"),
        ("absolute", tolerance.absolute, f64::MAX, ", and finite"),
    ];
    for (name, value, most, bound) in parts {
        if value.is_some_and(|value| !(0.0..=most).contains(&value)) {
            faults.named(key.field(name), "", format!(" must be at least 0{bound}"), None);
        }
    }
}

/// Returns a range of elements.
fn elements(range: &RangeDraft, sizes: Sizes<'_>) -> Option<Range<u64>> {
    let (first, last) = sizes.bounds(&range.bounds, &range.key)?;
    match (u64::try_from(first), u64::try_from(last + 1)) {
        (Ok(first), Ok(end)) if first < end => Some(first..end),
        _ => {
            let remedy = "write first..end with 0 <= first < end".to_string();
            sizes.faults.error(range.key.clone(), format!("`{}` is no range of elements", range.text), Some(remedy));
            None
        }
    }
}
