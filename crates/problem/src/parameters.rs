//! Reads the `[parameters]` and `[constraints]` of a problem.

use crate::diagnostic::Messages;
use crate::tree::{Located, Node, Section, report_expression};
use std::ops::Range;
use tunesmith_space::lookup;
use tunesmith_space::{Constraint, Expr, ExprError, Parameter, SpaceError, Value, Values, did_you_mean};

/// A tuning parameter with its place in the file.
pub(crate) type ReadParameter = (Parameter, Range<usize>);

/// A constraint with the place of its expression.
pub(crate) type ReadConstraint = (Constraint, Range<usize>);

/// Returns the tuning parameters of `[parameters]`. Reports that there are none, unless
/// `may_be_absent`.
pub(crate) fn read(
    root: &Section<'_>,
    sizes: &[(String, Value)],
    may_be_absent: bool,
    messages: &Messages,
) -> Vec<ReadParameter> {
    if may_be_absent && root.get("parameters").is_none() {
        return Vec::new();
    }
    let is_code = messages.source.calls.is_some();
    let example = if is_code { ".parameter(\"TILE\", [8, 16, 32])" } else { "[parameters]\nTILE = [8, 16, 32]" };
    let Some(section) = root.require("parameters", example).and_then(|node| node.section()) else { return Vec::new() };
    if section.entries().next().is_none() && !may_be_absent {
        messages.error(section.span.clone(), "there is no tuning parameter", Some(format!("write `{example}`")));
    }
    read_section(&section, sizes, messages)
}

/// Returns the tuning parameters of a table.
pub(crate) fn read_section(
    section: &Section<'_>,
    sizes: &[(String, Value)],
    messages: &Messages,
) -> Vec<ReadParameter> {
    let mut parameters = Vec::new();
    for (name, node) in section.entries() {
        let Some(values) = read_values(&node, sizes, messages) else { continue };
        match Parameter::new(name.value, values) {
            Ok(parameter) => parameters.push((parameter, name.span)),
            Err(error) => node.error(error.to_string(), remedy(&error)),
        }
    }
    parameters
}

/// Returns the advice about values that a parameter cannot have.
pub(crate) fn remedy(error: &SpaceError) -> Option<String> {
    let remedy = match error {
        SpaceError::NoValues { .. } => "write at least one value, as in [1, 2, 4]",
        SpaceError::DuplicateValue { .. } => "write each value once",
        SpaceError::MixedKinds { .. } => "write all of them as numbers, or all of them as texts",
        _ => return None,
    };
    Some(remedy.to_string())
}

/// Returns the constraints of the whole problem.
pub(crate) fn read_constraints(root: &Section<'_>, messages: &Messages) -> Vec<ReadConstraint> {
    let tables = ["constraints", "restrictions"].into_iter().filter_map(|key| root.get(key)?.section());
    tables.flat_map(|section| read_constraints_of(&section, messages)).collect()
}

/// Returns the constraints of a table. Warns of each that lacks a comparison.
pub(crate) fn read_constraints_of(section: &Section<'_>, messages: &Messages) -> Vec<ReadConstraint> {
    let mut constraints = Vec::new();
    for (name, node) in section.entries() {
        if let Some(Located { value, span }) = node.expression() {
            if value.takes_number_for_truth() {
                let text =
                    format!("constraint `{}` takes a number for a truth: it excludes what makes it 0", name.value);
                messages.warning(span.clone(), text, Some("compare the number: `N % TILE == 0`".to_string()));
            }
            constraints.push((Constraint::new(name.value, value), span));
        }
    }
    constraints
}

/// Returns the values of a parameter: a list, or a table that generates one.
pub(crate) fn read_values(node: &Node<'_>, sizes: &[(String, Value)], messages: &Messages) -> Option<Vec<Value>> {
    if !node.is_table() {
        return node.items().iter().map(Node::required_scalar).collect();
    }
    let section = node.section()?;
    section.allow(&["values", "range", "step", "pow2", "divisors_of"]);
    let step = match section.get("step") {
        Some(step) => integer(&step.expression()?, sizes, messages)?,
        None => 1,
    };
    let generated = if let Some(values) = section.get("values") {
        return values.items().iter().map(Node::required_scalar).collect();
    } else if let Some(range) = section.get("range") {
        let (first, last) = bounds(&range, sizes, messages)?;
        Values::range(first, last, step)
    } else if let Some(pow2) = section.get("pow2") {
        let (low, high) = bounds(&pow2, sizes, messages)?;
        Values::pow2(low, high)
    } else if let Some(number) = section.get("divisors_of") {
        Values::divisors_of(integer(&number.expression()?, sizes, messages)?)
    } else {
        let remedy = "write one of values = [..], range = \"1..=8\", pow2 = \"1..=1024\", divisors_of = \"N\"";
        node.error(format!("`{}` has no values", node.name), Some(remedy.to_string()));
        return None;
    };
    generated.map_err(|error: SpaceError| node.error(error.to_string(), None)).ok()
}

/// Returns both ends, included, of a range such as `1..=N / 2`.
fn bounds(node: &Node<'_>, sizes: &[(String, Value)], messages: &Messages) -> Option<(i64, i64)> {
    bounds_of(node.string()?, node, sizes, messages)
}

/// Returns both ends, included, of the range `text`, which stands at `node`.
pub(crate) fn bounds_of(
    text: &str,
    node: &Node<'_>,
    sizes: &[(String, Value)],
    messages: &Messages,
) -> Option<(i64, i64)> {
    let Some((first, last)) = text.split_once("..") else {
        node.error(format!("`{text}` is not a range"), Some("write `1..=8`, or `1..8` to leave out the 8".to_string()));
        return None;
    };
    let (last, last_is_excluded) = match last.strip_prefix('=') {
        Some(last) => (last, false),
        None => (last, true),
    };
    let bound = |text: &str| {
        let parsed =
            Expr::parse(text.trim()).map_err(|error| report_expression(messages, &node.span(), text.trim(), &error));
        integer(&Located { value: parsed.ok()?, span: node.span() }, sizes, messages)
    };
    Some((bound(first)?, bound(last)? - i64::from(last_is_excluded)))
}

/// Returns the integer that an expression over sizes evaluates to. Reports any other result.
pub(crate) fn integer(expr: &Located<Expr>, sizes: &[(String, Value)], messages: &Messages) -> Option<i64> {
    expr.value
        .evaluate_int(&|name| lookup(sizes, name))
        .map_err(|error| {
            let known = error.remedy.clone().or_else(|| known_sizes(&expr.value, sizes));
            let error = ExprError { remedy: known, ..error };
            report_expression(messages, &expr.span, expr.value.text(), &error);
        })
        .ok()
}

/// Returns the advice about a name in `expr` that is no size.
fn known_sizes(expr: &Expr, sizes: &[(String, Value)]) -> Option<String> {
    let known = || sizes.iter().map(|(name, _)| name.as_str());
    let unknown = expr.names().iter().find(|name| lookup(sizes, &name.text).is_none())?.text.clone();
    let all = match known().collect::<Vec<_>>()[..] {
        [] => format!("write `sizes = {{ {unknown} = 1024 }}` in [problem]"),
        ref names => format!("sizes are {}; [problem] may have more", names.join(", ")),
    };
    Some(did_you_mean(&unknown, known()).unwrap_or(all))
}
