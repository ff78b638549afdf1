//! Reads `[parameters]` and `[constraints]`.

use super::tree::{Node, Section};
use tunesmith_space::{Constraint, ExprError};
use tunesmith_spec::{Bounds, Located, Messages, ParameterDraft, ValuesDraft, number_for_truth};

/// Returns the tuning parameters of `[parameters]`. Reports that there are none, unless
/// `may_be_absent`.
pub(super) fn read(root: &Section<'_>, may_be_absent: bool, messages: &Messages) -> Vec<ParameterDraft> {
    const EXAMPLE: &str = "[parameters]\nTILE = [8, 16, 32]";
    if may_be_absent && root.get("parameters").is_none() {
        return Vec::new();
    }
    let Some(section) = root.require("parameters", EXAMPLE).and_then(|node| node.section()) else { return Vec::new() };
    if section.entries().next().is_none() && !may_be_absent {
        messages.error(section.span.clone(), "there is no tuning parameter", Some(format!("write `{EXAMPLE}`")));
    }
    read_section(&section, messages)
}

/// Returns the tuning parameters of a table.
pub(super) fn read_section(section: &Section<'_>, messages: &Messages) -> Vec<ParameterDraft> {
    let parameter = |(name, node): (Located<&str>, Node<'_>)| {
        Some(ParameterDraft { name: name.value.to_string(), values: read_values(&node, messages)? })
    };
    section.entries().filter_map(parameter).collect()
}

/// Returns the constraints of the whole problem.
pub(super) fn read_constraints(root: &Section<'_>, messages: &Messages) -> Vec<Constraint> {
    let tables = ["constraints", "restrictions"].into_iter().filter_map(|key| root.get(key)?.section());
    tables.flat_map(|section| read_constraints_of(&section, messages)).collect()
}

/// Returns the constraints of a table. Warns of each that lacks a comparison.
pub(super) fn read_constraints_of(section: &Section<'_>, messages: &Messages) -> Vec<Constraint> {
    let constraint = |(name, node): (Located<&str>, Node<'_>)| {
        let Located { value, span } = node.expression()?;
        if let Some(doubt) = number_for_truth(name.value, &value) {
            messages.warning(span, doubt.text, doubt.remedy);
        }
        Some(Constraint::new(name.value, value))
    };
    section.entries().filter_map(constraint).collect()
}

/// Returns the values of a parameter: a list, or a table that generates one.
pub(super) fn read_values(node: &Node<'_>, messages: &Messages) -> Option<ValuesDraft> {
    if !node.is_table() {
        return list(node);
    }
    let section = node.section()?;
    section.allow(&["values", "range", "step", "pow2", "divisors_of"]);
    let step = match section.get("step") {
        Some(step) => Some(step.expression()?.value),
        None => None,
    };
    if let Some(values) = section.get("values") {
        list(&values)
    } else if let Some(range) = section.get("range") {
        Some(ValuesDraft::Range { bounds: bounds(range.string()?, &range, messages)?, step })
    } else if let Some(pow2) = section.get("pow2") {
        bounds(pow2.string()?, &pow2, messages).map(ValuesDraft::PowersOfTwo)
    } else if let Some(number) = section.get("divisors_of") {
        Some(ValuesDraft::DivisorsOf(number.expression()?.value))
    } else {
        let remedy = "write one of values = [..], range = \"1..=8\", pow2 = \"1..=1024\", divisors_of = \"N\"";
        node.error(format!("`{}` has no values", node.name()), Some(remedy.to_string()));
        None
    }
}

fn list(node: &Node<'_>) -> Option<ValuesDraft> {
    node.items().iter().map(Node::required_scalar).collect::<Option<_>>().map(ValuesDraft::List)
}

/// Returns both ends of the range `text`, such as `1..=N / 2`, which stands at `node`.
pub(super) fn bounds(text: &str, node: &Node<'_>, messages: &Messages) -> Option<Bounds> {
    let refuse = |text: &str, error: &ExprError| messages.expression(&node.span(), text, error);
    Bounds::parse(text, refuse, |fault| node.error(fault.text, fault.remedy))
}
