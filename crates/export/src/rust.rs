//! Writes a portfolio as a Rust module without dependencies, which `include!` can also take.

use crate::names::{Names, literal};
use std::fmt::Write as _;
use tunesmith_choose::wisdom::{Node, Portfolio};
use tunesmith_core::Refusal;
use tunesmith_space::{Value, ValueKind};

/// Returns `portfolios` as Rust, a module for each: a structure of a configuration, an array of its
/// configurations, and a function that returns the index for an input.
///
/// # Errors
/// A portfolio is empty, or its configurations have different parameters.
pub fn rust(portfolios: &[Portfolio]) -> Result<String, Refusal> {
    let mut text = String::from("// Written by tunesmith; tuning again and exporting again replaces it.\n");
    Names::of(portfolios)?.iter().for_each(|names| add(&mut text, names));
    Ok(text)
}

fn add(text: &mut String, names: &Names<'_>) {
    let Names { portfolio, prefix, features, fields } = names;
    text.push('\n');
    names.about().iter().for_each(|line| text.push_str(&format!("/// {line}\n")));
    let _ = write!(text, "#[allow(dead_code, non_snake_case, unused_variables)]\npub mod {prefix} {{\n");
    text.push_str("    /// A configuration.\n    #[derive(Clone, Copy, Debug, PartialEq)]\n    pub struct Config {\n");
    for (field, kind) in fields {
        let _ = writeln!(text, "        pub {field}: {},", type_of(*kind));
    }
    let _ = write!(text, "    }}\n\n    pub const CONFIGS: [Config; {}] = [\n", portfolio.configs.len());
    for config in &portfolio.configs {
        let value =
            |(value, (field, kind)): (&Value, &(String, ValueKind))| format!("{field}: {}", value_of(value, *kind));
        let values: Vec<String> = names.values(config).zip(fields).map(value).collect();
        let _ = writeln!(text, "        Config {{ {} }},", values.join(", "));
    }
    let arguments: Vec<String> = features.iter().map(|feature| format!("{feature}: f64")).collect();
    text.push_str("    ];\n\n    /// The number of the configuration for an input.\n");
    let _ = writeln!(text, "    pub fn choose({}) -> usize {{", arguments.join(", "));
    node(text, names, 0, 2);
    text.push_str("    }\n}\n");
}

fn node(text: &mut String, names: &Names<'_>, at: usize, level: usize) {
    let indent = "    ".repeat(level);
    match names.portfolio.tree.nodes()[at] {
        Node::Choose(member) => {
            let _ = writeln!(text, "{indent}{member}");
        }
        Node::Split { feature, below, then, otherwise } => {
            let _ = writeln!(text, "{indent}if {} < {below:?} {{", names.features[feature]);
            node(text, names, then, level + 1);
            let _ = writeln!(text, "{indent}}} else {{");
            node(text, names, otherwise, level + 1);
            let _ = writeln!(text, "{indent}}}");
        }
    }
}

fn type_of(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Int => "i64",
        ValueKind::Float => "f64",
        ValueKind::Bool => "bool",
        ValueKind::Str => "&'static str",
    }
}

fn value_of(value: &Value, kind: ValueKind) -> String {
    match value {
        Value::Int(value) if kind == ValueKind::Float => format!("{:?}", *value as f64),
        Value::Str(text) => literal(text),
        other => other.to_string(),
    }
}
