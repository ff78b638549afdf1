//! Reads and writes models of trees as JSON that people can read.

use super::error::ModelError;
use super::forest::Forest;
use super::tree::{Node, Test, Tree};
use crate::table::{Column, Kind, repeated};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The format. Every such file names it first.
const FORMAT: &str = "tunesmith trees";
/// The version written, and the latest version read.
const VERSION: u64 = 1;

/// A model in its saved form.
#[derive(Serialize, Deserialize)]
pub(crate) struct TreesDocument {
    format: String,
    version: u64,
    kind: String,
    columns: Vec<ColumnEntry>,
    /// The constant added to the answer of the trees.
    base: f64,
    /// The nodes of each tree, as [`NodeEntry`]. They are read one by one, so that an error can
    /// name the node.
    trees: Vec<Vec<Value>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnEntry {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    levels: Option<Vec<String>>,
}

/// A node. The nodes for its answers are given by their places in the tree, counted from 0.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SplitEntry {
    column: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_most: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    one_of: Option<Vec<String>>,
    yes: usize,
    no: usize,
    missing: Way,
    gain: f64,
    rows: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeafEntry {
    value: f64,
    rows: usize,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Way {
    Yes,
    No,
}

impl TreesDocument {
    /// Creates the document of a model of this kind.
    pub(crate) fn new(kind: &str, base: f64, forest: &Forest) -> Self {
        let columns = forest.columns();
        let trees = forest.trees().iter();
        let trees = trees.map(|tree| tree.nodes().iter().map(|node| node_value(node, columns)).collect());
        Self {
            format: FORMAT.to_string(),
            version: VERSION,
            kind: kind.to_string(),
            columns: columns.iter().map(ColumnEntry::new).collect(),
            base,
            trees: trees.collect(),
        }
    }

    /// Reads a document of a model of this kind.
    pub(crate) fn parse(kind: &'static str, text: &str) -> Result<Self, ModelError> {
        let value: Value = serde_json::from_str(text).map_err(ModelError::Json)?;
        match value.get("format") {
            Some(Value::String(format)) if format == FORMAT => {}
            found => {
                let found = found.map_or_else(|| "missing".to_string(), Value::to_string);
                return Err(ModelError::Foreign { found, expected: FORMAT });
            }
        }
        // Checked first, because a later version may have other keys.
        check_version(value.get("version").and_then(Value::as_u64).unwrap_or(0))?;
        let document: Self = serde_json::from_value(value).map_err(|error| damaged(error.to_string()))?;
        document.check_kind(kind)?;
        Ok(document)
    }

    fn check_kind(&self, expected: &'static str) -> Result<(), ModelError> {
        if self.kind == expected { Ok(()) } else { Err(ModelError::Kind { found: self.kind.clone(), expected }) }
    }

    /// Returns the base and the trees of a model of this kind.
    pub(crate) fn into_forest(self, kind: &'static str) -> Result<(f64, Forest), ModelError> {
        if self.format != FORMAT {
            return Err(ModelError::Foreign { found: format!("\"{}\"", self.format), expected: FORMAT });
        }
        check_version(self.version)?;
        self.check_kind(kind)?;
        let columns: Vec<Column> = self.columns.into_iter().map(ColumnEntry::column).collect();
        if let Some(name) = repeated(&columns) {
            return Err(damaged(format!("two columns, or two levels of one, have the name `{name}`")));
        }
        if self.trees.is_empty() {
            return Err(damaged("it has no trees"));
        }
        let read = |(index, nodes)| tree(nodes, &columns).map_err(|what| damaged(format!("tree {index}, {what}")));
        let trees = self.trees.into_iter().enumerate().map(read).collect::<Result<_, _>>()?;
        Ok((self.base, Forest::new(columns, trees)))
    }

    /// Returns the text: a line for each node.
    pub(crate) fn text(&self) -> String {
        let lines = |nodes: &Vec<Value>| {
            let nodes: Vec<String> = nodes.iter().map(|node| format!("      {node}")).collect();
            format!("    [\n{}\n    ]", nodes.join(",\n"))
        };
        let columns: Vec<String> = self.columns.iter().map(|column| format!("    {}", json(column))).collect();
        let trees: Vec<String> = self.trees.iter().map(lines).collect();
        format!(
            "{{\n  \"format\": {},\n  \"version\": {},\n  \"kind\": {},\n  \"columns\": [\n{}\n  ],\n  \"base\": {},\n  \
             \"trees\": [\n{}\n  ]\n}}\n",
            json(&self.format),
            self.version,
            json(&self.kind),
            columns.join(",\n"),
            json(&self.base),
            trees.join(",\n")
        )
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings and numbers make a text")
}

fn check_version(found: u64) -> Result<(), ModelError> {
    match found {
        VERSION => Ok(()),
        0 => Err(damaged("`version` is not a whole number from 1")),
        _ => Err(ModelError::Newer { found, known: VERSION }),
    }
}

fn damaged(what: impl Into<String>) -> ModelError {
    ModelError::Damaged { what: what.into() }
}

impl ColumnEntry {
    fn new(column: &Column) -> Self {
        let levels = match &column.kind {
            Kind::Ordinal => None,
            Kind::Categorical(levels) => Some(levels.clone()),
        };
        Self { name: column.name.clone(), levels }
    }

    fn column(self) -> Column {
        Column { name: self.name, kind: self.levels.map_or(Kind::Ordinal, Kind::Categorical) }
    }
}

fn node_value(node: &Node, columns: &[Column]) -> Value {
    let value = match node {
        Node::Leaf { value, rows } => serde_json::to_value(LeafEntry { value: *value, rows: *rows }),
        Node::Split { column, test, missing, yes, gain, rows } => {
            let column = &columns[*column];
            let (at_most, one_of) = match test {
                Test::AtMost(threshold) => (Some(*threshold), None),
                Test::OneOf(levels) => (None, Some(level_names(column, levels))),
            };
            let missing = if *missing { Way::Yes } else { Way::No };
            let (name, no) = (column.name.clone(), yes + 1);
            let entry = SplitEntry { column: name, at_most, one_of, yes: *yes, no, missing, gain: *gain, rows: *rows };
            serde_json::to_value(entry)
        }
    };
    value.expect("strings and numbers make a value")
}

fn level_names(column: &Column, levels: &[usize]) -> Vec<String> {
    match &column.kind {
        Kind::Categorical(names) => levels.iter().map(|&level| names[level].clone()).collect(),
        Kind::Ordinal => Vec::new(),
    }
}

/// Builds the tree of these nodes, or returns the faulty node with its fault.
fn tree(entries: Vec<Value>, columns: &[Column]) -> Result<Tree, String> {
    let count = entries.len();
    let read = |(index, entry)| node(entry, columns).map_err(|what| format!("node {index}: {what}"));
    let nodes: Vec<Node> = entries.into_iter().enumerate().map(read).collect::<Result<_, _>>()?;
    // The root has no parent. Every other node has exactly one.
    let mut parents = vec![0; count];
    for (index, node) in nodes.iter().enumerate() {
        if let Node::Split { yes, .. } = node {
            if *yes <= index || *yes >= count - 1 {
                return Err(format!("node {index}: `yes` is {yes}, which is not a later pair of nodes"));
            }
            parents[*yes] += 1;
            parents[yes + 1] += 1;
        }
    }
    match parents.iter().enumerate().position(|(index, &parents)| parents != usize::from(index > 0)) {
        Some(index) => Err(format!("node {index}: {} nodes lead to it", parents[index])),
        None if count == 0 => Err("it has no nodes".to_string()),
        None => Ok(Tree { nodes }),
    }
}

fn node(entry: Value, columns: &[Column]) -> Result<Node, String> {
    if entry.get("value").is_some() {
        let LeafEntry { value, rows } = serde_json::from_value(entry).map_err(|error| error.to_string())?;
        return Ok(Node::Leaf { value, rows });
    }
    let entry: SplitEntry = serde_json::from_value(entry).map_err(|error| error.to_string())?;
    let position = columns.iter().position(|column| column.name == entry.column);
    let column = position.ok_or_else(|| format!("there is no column `{}`", entry.column))?;
    if entry.yes.checked_add(1) != Some(entry.no) {
        return Err(format!("`no` is {}; it follows `yes`, which is {}", entry.no, entry.yes));
    }
    let test = test(&columns[column], entry.at_most, entry.one_of)?;
    let missing = entry.missing == Way::Yes;
    Ok(Node::Split { column, test, missing, yes: entry.yes, gain: entry.gain, rows: entry.rows })
}

fn test(column: &Column, at_most: Option<f64>, one_of: Option<Vec<String>>) -> Result<Test, String> {
    match (&column.kind, at_most, one_of) {
        (Kind::Ordinal, Some(threshold), None) => Ok(Test::AtMost(threshold)),
        (Kind::Categorical(levels), None, Some(names)) => {
            let level = |name: &String| {
                let found = levels.iter().position(|level| level == name);
                found.ok_or_else(|| format!("column `{}` has no level `{name}`", column.name))
            };
            let mut levels = names.iter().map(level).collect::<Result<Vec<usize>, _>>()?;
            levels.sort_unstable();
            Ok(Test::OneOf(levels))
        }
        (Kind::Ordinal, ..) => Err(format!("column `{}` needs only `at_most`", column.name)),
        (Kind::Categorical(_), ..) => Err(format!("column `{}` needs only `one_of`", column.name)),
    }
}
