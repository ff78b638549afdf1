//! Writes a portfolio as a header for C and C++.

use crate::names::{Names, literal};
use std::fmt::Write as _;
use tunesmith_choose::wisdom::{Node, Portfolio};
use tunesmith_core::Refusal;
use tunesmith_space::{Value, ValueKind};

/// Returns `portfolios` as one header for C and C++: for each a structure of a configuration, an
/// array of its configurations, and a function that returns the index for an input.
///
/// # Errors
/// A portfolio is empty, or its configurations have different parameters.
pub fn c_header(portfolios: &[Portfolio]) -> Result<String, Refusal> {
    let all = Names::of(portfolios)?;
    let guard =
        format!("TUNESMITH_{}_H", all.iter().map(|names| names.prefix.to_uppercase()).collect::<Vec<_>>().join("_"));
    let mut text = String::from("/* Written by tunesmith; tuning again and exporting again replaces it.");
    for names in &all {
        text += "\n *";
        names.about().iter().for_each(|line| text += &format!("\n * {line}"));
    }
    let _ = write!(text, "\n */\n#ifndef {guard}\n#define {guard}\n");
    all.iter().for_each(|names| add(&mut text, names));
    let _ = write!(text, "\n#endif\n");
    Ok(text)
}

fn add(text: &mut String, names: &Names<'_>) {
    let Names { portfolio, prefix, features, fields } = names;
    let _ = write!(text, "\n/* A configuration of {prefix}. */\nstruct {prefix}_config {{\n");
    for (field, kind) in fields {
        let _ = writeln!(text, "    {}{field};", type_of(*kind));
    }
    let count = portfolio.configs.len();
    let _ = write!(text, "}};\n\nstatic const struct {prefix}_config {prefix}_configs[{count}] = {{\n");
    for config in &portfolio.configs {
        let values: Vec<String> =
            names.values(config).zip(fields).map(|(value, (_, kind))| value_of(value, *kind)).collect();
        let _ = writeln!(text, "    {{{}}},", values.join(", "));
    }
    let arguments: Vec<String> = features.iter().map(|feature| format!("double {feature}")).collect();
    let arguments = if arguments.is_empty() { "void".to_string() } else { arguments.join(", ") };
    let _ = write!(text, "}};\n\n/* The number of the configuration for an input. */\n");
    let _ = write!(text, "static inline int {prefix}_choose({arguments})\n{{\n");
    features.iter().for_each(|feature| text.push_str(&format!("    (void){feature};\n")));
    node(text, names, 0, 1);
    text.push_str("}\n");
}

fn node(text: &mut String, names: &Names<'_>, at: usize, level: usize) {
    let indent = "    ".repeat(level);
    match names.portfolio.tree.nodes()[at] {
        Node::Choose(member) => {
            let _ = writeln!(text, "{indent}return {member};");
        }
        Node::Split { feature, below, then, otherwise } => {
            let _ = writeln!(text, "{indent}if ({} < {below:?}) {{", names.features[feature]);
            node(text, names, then, level + 1);
            let _ = writeln!(text, "{indent}}}");
            node(text, names, otherwise, level);
        }
    }
}

fn type_of(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Int => "long long ",
        ValueKind::Float => "double ",
        ValueKind::Bool => "int ",
        ValueKind::Str => "const char *",
    }
}

fn value_of(value: &Value, kind: ValueKind) -> String {
    match value {
        Value::Int(value) if kind == ValueKind::Float => format!("{:?}", *value as f64),
        // The literal of its magnitude does not fit the type.
        Value::Int(i64::MIN) => "(-9223372036854775807LL - 1)".to_string(),
        Value::Int(value) => format!("{value}LL"),
        Value::Str(text) => literal(text),
        other => other.define(),
    }
}
