//! Writes a portfolio as a header for C and C++.

mod sizes;

use crate::names::{Names, literal};
use std::fmt::Write as _;
use tunesmith_choose::wisdom::{DecisionTree, Measure, Neighbours, Node, Portfolio, Rule};
use tunesmith_core::Refusal;
use tunesmith_space::{Value, ValueKind};

/// Returns `portfolios` as one header for C and C++: for each a structure of a configuration, an
/// array of its configurations, and a function that returns the index for an input. The function
/// takes the sizes as a structure of its own, whose members have to be named.
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
    let Names { portfolio, prefix, features, fields, .. } = names;
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
    text.push_str("};\n");
    let (argument, uses) = match names.sizes.is_empty() {
        true => ("void".to_string(), ""),
        false => (format!("struct {prefix}_sizes sizes"), "    (void)sizes;\n"),
    };
    sizes::add(text, names);
    text.push_str("\n/* 1 if the input lies within what was measured; otherwise the choice is a guess. */\n");
    let _ = write!(text, "static inline int {prefix}_covers({argument})\n{{\n{uses}");
    let _ = write!(text, "    return {};\n}}\n", names.within().unwrap_or_else(|| "1".to_string()));
    if let Rule::Near(near) = &portfolio.chooser.rule {
        add_neighbours(text, names, near);
    }
    let _ = write!(text, "\n/* The number of the configuration for an input.\n * {} */\n", names.worst());
    let _ = write!(text, "static inline int {prefix}_choose({argument})\n{{\n{uses}");
    if let (Some(robust), Some(near)) = (portfolio.chooser.other_for_far(), names.near()) {
        text.push_str("    /* Far from what was measured: the most robust configuration. */\n");
        let _ = writeln!(text, "    if (!({near}))\n        return {robust};");
    }
    match &portfolio.chooser.rule {
        Rule::Tree(tree) => node(text, &texts(names), tree, 0, 1),
        Rule::Near(near) => {
            let points: Vec<String> = near
                .axes()
                .measures(features.len())
                .map(|measure| format!("{prefix}_logarithm({})", measure.text(features)))
                .collect();
            let _ = writeln!(text, "    const double at[] = {{{}}};", points.join(", "));
            let _ = writeln!(text, "    return {prefix}_nearby(at);");
        }
    }
    text.push_str("}\n");
}

/// Returns all that a tree can ask for, as expressions.
fn texts(names: &Names<'_>) -> Vec<String> {
    Measure::all(names.features.len()).map(|measure| measure.text(&names.features)).collect()
}

/// Adds the measured inputs, and the function that chooses by them.
fn add_neighbours(text: &mut String, names: &Names<'_>, near: &Neighbours) {
    let prefix = &names.prefix;
    let (inputs, axes, members) = (near.points().len(), near.points()[0].len(), near.members());
    let table = |rows: &[Vec<f64>]| -> String {
        let row = |row: &Vec<f64>| row.iter().map(|number| format!("{number:?}")).collect::<Vec<_>>().join(", ");
        rows.iter().map(|numbers| format!("    {{{}}},\n", row(numbers))).collect()
    };
    let (points, costs, reach) = (table(near.points()), table(near.costs()), near.reach());
    let _ = write!(
        text,
        "
/* The measured inputs: logarithms of the numbers that distances are taken over. */
static const double {prefix}_points[{inputs}][{axes}] = {{
{points}}};

/* The time of each configuration for them, relative to the best known. */
static const double {prefix}_costs[{inputs}][{members}] = {{
{costs}}};

/* The logarithm to base 2, with straight lines between the powers of two. */
static inline double {prefix}_logarithm(double number)
{{
    double whole = 0.0;
    for (; number >= 2.0 && whole < 1024.0; number /= 2.0)
        whole += 1.0;
    for (; number < 1.0 && whole > -1080.0; number *= 2.0)
        whole -= 1.0;
    return whole + (number - 1.0);
}}

/* The configuration of the least mean cost, where inputs weigh the more the nearer they are. */
static inline int {prefix}_nearby(const double *at)
{{
    int best = 0;
    double least = 0.0;
    for (int config = 0; config < {members}; config++) {{
        double cost = 0.0;
        for (int input = 0; input < {inputs}; input++) {{
            double weight = {squared:?};
            for (int axis = 0; axis < {axes}; axis++) {{
                double difference = at[axis] - {prefix}_points[input][axis];
                weight += difference * difference;
            }}
            weight = 1.0 / weight;
            cost += weight * weight * {prefix}_costs[input][config];
        }}
        if (config == 0 || cost < least) {{
            best = config;
            least = cost;
        }}
    }}
    return best;
}}
",
        squared = reach * reach
    );
}

fn node(text: &mut String, asked: &[String], tree: &DecisionTree, at: usize, level: usize) {
    let indent = "    ".repeat(level);
    match tree.nodes()[at] {
        Node::Choose(member) => {
            let _ = writeln!(text, "{indent}return {member};");
        }
        Node::Split { feature, below, then, otherwise } => {
            let _ = writeln!(text, "{indent}if ({} < {below:?}) {{", asked[feature]);
            node(text, asked, tree, then, level + 1);
            let _ = writeln!(text, "{indent}}}");
            node(text, asked, tree, otherwise, level);
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
