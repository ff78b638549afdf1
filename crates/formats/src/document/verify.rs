//! Reads `[verify]`.

use super::kernels;
use super::parameters::bounds;
use super::tree::{Node, Section};
use tunesmith_kernel::{Fill, PartialTolerance};
use tunesmith_spec::{CompareDraft, FurtherDraft, Located, Messages, RangeDraft, VerifyDraft};

const KEYS: &[&str] = &["reference", "expected", "relative", "absolute", "compare", "sizes"];

const REFERENCE_KEYS: &[&str] =
    &["file", "function", "language", "sources", "include", "options", "arguments", "global", "local", "grid"];

/// Returns the rules for verifying outputs.
pub(super) fn read(section: &Section<'_>, messages: &Messages) -> VerifyDraft {
    section.allow(KEYS);
    let folder = messages.source.folder();
    let table = |key: &str| section.get(key).and_then(|node| node.section());
    let expected = |(name, node): (Located<&str>, Node<'_>)| {
        Some((name.value.to_string(), Fill::from(folder.join(node.string()?))))
    };
    let compare = |(name, node): (Located<&str>, Node<'_>)| CompareDraft {
        output: name.value.to_string(),
        ranges: read_ranges(&node, messages),
    };
    let reference = table("reference").and_then(|section| {
        section.allow(REFERENCE_KEYS);
        // One function computes the reference, in one language.
        if let Some(languages) = section.get("language").filter(Node::is_list) {
            languages.string()?;
        }
        kernels::read_one(&section, ["file = \"reference.c\"", "function = \"reference\""], messages)
    });
    VerifyDraft {
        reference,
        expected: table("expected").iter().flat_map(Section::entries).filter_map(expected).collect(),
        tolerance: PartialTolerance {
            relative: tolerance(section, "relative"),
            absolute: tolerance(section, "absolute"),
        },
        compare: table("compare").iter().flat_map(Section::entries).map(compare).collect(),
        sizes: read_sizes(section),
    }
}

/// Returns the ranges of a text such as `0..n, m..2 * m`, or of a list of such texts.
fn read_ranges(node: &Node<'_>, messages: &Messages) -> Vec<RangeDraft> {
    let range = |item: &Node<'_>, part: &str| {
        Some(RangeDraft { key: item.key.clone(), text: part.trim().to_string(), bounds: bounds(part, item, messages)? })
    };
    let texts = node.items();
    let texts = texts.iter().filter_map(|item| Some((item, item.string()?)));
    texts
        .flat_map(|(item, text)| RangeDraft::parts(text).into_iter().filter_map(move |part| range(item, part)))
        .collect()
}

/// Returns the further sizes at which a winner is verified.
fn read_sizes(section: &Section<'_>) -> Vec<FurtherDraft> {
    let entries = section.get("sizes").map(|node| node.items()).unwrap_or_default();
    let size = |(name, node): (Located<&str>, Node<'_>)| Some((name.value.to_string(), node.required_scalar()?));
    let entry = |node: &Node<'_>| {
        let sizes = node.section()?.entries().map(size).collect::<Option<_>>()?;
        Some(FurtherDraft { key: node.key.clone(), sizes })
    };
    entries.iter().filter_map(entry).collect()
}

/// Returns a tolerance as the section states it.
pub(super) fn tolerance(section: &Section<'_>, key: &str) -> Option<f64> {
    section.get(key)?.number()
}
