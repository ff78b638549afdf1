//! Writes a portfolio as a Rust module without dependencies, which `include!` can also take.

use crate::names::{Names, literal};
use std::fmt::Write as _;
use tunesmith_choose::wisdom::{DecisionTree, Measure, Neighbours, Node, Portfolio, Rule};
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
    let Names { portfolio, prefix, features, fields, .. } = names;
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
    text.push_str("    ];\n");
    add_sizes(text, names);
    let argument = if names.sizes.is_empty() { "" } else { "sizes: Sizes" };
    text.push_str("\n    /// True if the input lies within what was measured; otherwise the choice is a guess.\n");
    let within = names.within().unwrap_or_else(|| "true".to_string());
    let _ = write!(text, "    pub fn covers({argument}) -> bool {{\n        {within}\n    }}\n");
    if let Rule::Near(near) = &portfolio.chooser.rule {
        add_neighbours(text, near);
    }
    let _ = write!(text, "\n    /// The number of the configuration for an input.\n    /// {}\n", names.worst());
    let _ = writeln!(text, "    pub fn choose({argument}) -> usize {{");
    if let (Some(robust), Some(near)) = (portfolio.chooser.other_for_far(), names.near()) {
        text.push_str("        // Far from what was measured: the most robust configuration.\n");
        let _ = writeln!(text, "        if !({near}) {{\n            return {robust};\n        }}");
    }
    match &portfolio.chooser.rule {
        Rule::Tree(tree) => {
            let asked: Vec<String> = Measure::all(features.len()).map(|measure| measure.text(features)).collect();
            node(text, &asked, tree, 0, 2);
        }
        Rule::Near(near) => {
            let measures = near.axes().measures(features.len());
            let points: Vec<String> =
                measures.map(|measure| format!("logarithm({})", measure.text(features))).collect();
            let _ = writeln!(text, "        nearby(&[{}])", points.join(", "));
        }
    }
    text.push_str("    }\n}\n");
}

/// Adds the structure of the sizes, if there are any.
fn add_sizes(text: &mut String, names: &Names<'_>) {
    if names.sizes.is_empty() {
        return;
    }
    text.push_str("\n    /// The sizes of an input, in the order of the problem file.\n");
    text.push_str("    #[derive(Clone, Copy, Debug, PartialEq)]\n    pub struct Sizes {\n");
    names.sizes.iter().for_each(|size| _ = writeln!(text, "        pub {size}: f64,"));
    text.push_str("    }\n");
}

/// Adds the measured inputs, and the function that chooses by them.
fn add_neighbours(text: &mut String, near: &Neighbours) {
    let (inputs, axes, members) = (near.points().len(), near.points()[0].len(), near.members());
    let table = |rows: &[Vec<f64>]| -> String {
        let row = |row: &Vec<f64>| row.iter().map(|number| format!("{number:?}")).collect::<Vec<_>>().join(", ");
        rows.iter().map(|numbers| format!("        [{}],\n", row(numbers))).collect()
    };
    let (points, costs, squared) = (table(near.points()), table(near.costs()), near.reach() * near.reach());
    let _ = write!(
        text,
        "
    /// The measured inputs: logarithms of the numbers that distances are taken over.
    const POINTS: [[f64; {axes}]; {inputs}] = [
{points}    ];

    /// The time of each configuration for them, relative to the best known.
    const COSTS: [[f64; {members}]; {inputs}] = [
{costs}    ];

    /// The logarithm to base 2, with straight lines between the powers of two.
    fn logarithm(mut number: f64) -> f64 {{
        let mut whole = 0.0;
        while number >= 2.0 && whole < 1024.0 {{
            number /= 2.0;
            whole += 1.0;
        }}
        while number < 1.0 && whole > -1080.0 {{
            number *= 2.0;
            whole -= 1.0;
        }}
        whole + (number - 1.0)
    }}

    /// The configuration of the least mean cost, where inputs weigh the more the nearer they are.
    fn nearby(at: &[f64; {axes}]) -> usize {{
        let (mut best, mut least) = (0, f64::INFINITY);
        for config in 0..{members} {{
            let mut cost = 0.0;
            for (point, costs) in POINTS.iter().zip(&COSTS) {{
                let mut weight = {squared:?};
                for (own, other) in at.iter().zip(point) {{
                    weight += (own - other) * (own - other);
                }}
                weight = 1.0 / weight;
                cost += weight * weight * costs[config];
            }}
            if cost < least {{
                (best, least) = (config, cost);
            }}
        }}
        best
    }}
"
    );
}

fn node(text: &mut String, asked: &[String], tree: &DecisionTree, at: usize, level: usize) {
    let indent = "    ".repeat(level);
    match tree.nodes()[at] {
        Node::Choose(member) => {
            let _ = writeln!(text, "{indent}{member}");
        }
        Node::Split { feature, below, then, otherwise } => {
            let _ = writeln!(text, "{indent}if {} < {below:?} {{", asked[feature]);
            node(text, asked, tree, then, level + 1);
            let _ = writeln!(text, "{indent}}} else {{");
            node(text, asked, tree, otherwise, level + 1);
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
