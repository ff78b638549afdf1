//! Reads `[inputs]`.

use super::parameters::read_values;
use super::tree::{Node, Section};
use tunesmith_space::Value;
use tunesmith_spec::{Input, InputRun, InputSizeDraft, InputsDraft, Located, MOST_INPUTS, Messages};

/// Returns the inputs, if the document has any.
pub(super) fn read(root: &Section<'_>, messages: &Messages) -> Option<InputsDraft> {
    let section = root.get("inputs")?.section()?;
    section.allow(&["sizes", "list", "filter", "count", "seed", "features", "runs"]);
    let sizes = section.get("sizes").and_then(|node| node.section());
    let items = |key: &str| section.get(key).map(|node| node.items()).unwrap_or_default();
    let size = |(name, node): (Located<&str>, Node<'_>)| Some((name.value.to_string(), read_size(&node, messages)?));
    let feature = |(name, node): (Located<&str>, Node<'_>)| Some((name.value.to_string(), node.expression()?.value));
    let features = section.get("features").and_then(|node| node.section());
    Some(InputsDraft {
        sizes: sizes.iter().flat_map(Section::entries).filter_map(size).collect(),
        list: items("list").iter().filter_map(read_input).collect(),
        filter: section.get("filter").and_then(|node| node.expression()).map(|located| located.value),
        count: section.get("count").and_then(|node| node.whole(1..=MOST_INPUTS)),
        seed: section.get("seed").and_then(|node| node.count()).unwrap_or(0),
        features: features.iter().flat_map(Section::entries).filter_map(feature).collect(),
        runs: items("runs").iter().filter_map(read_run).collect(),
    })
}

/// Reads a list or a table of values, or an expression over the sizes before it.
fn read_size(node: &Node<'_>, messages: &Messages) -> Option<InputSizeDraft> {
    match node.scalar() {
        Some(Value::Str(_)) => node.expression().map(|expr| InputSizeDraft::Derived(expr.value)),
        _ => read_values(node, messages).map(InputSizeDraft::Values),
    }
}

fn read_input(node: &Node<'_>) -> Option<Input> {
    let pair = |(name, node): (Located<&str>, Node<'_>)| Some((name.value.to_string(), node.required_scalar()?));
    Some(node.section()?.entries().filter_map(pair).collect())
}

/// Reads a strategy, or a table of a strategy and a stop condition.
fn read_run(node: &Node<'_>) -> Option<InputRun> {
    if !node.is_table() {
        return Some(InputRun { strategy: node.parsed(|_| None)?, stop: None });
    }
    let section = node.section()?;
    section.allow(&["strategy", "stop"]);
    let strategy = section.require("strategy", "strategy = \"grid\"")?.parsed(|_| None)?;
    let stop = section.get("stop").and_then(|node| node.parsed(|_| None));
    Some(InputRun { strategy, stop })
}
