//! A decision tree as nested JSON: `{"if": "N", "below": 96, "then": ..., "else": ...}` and
//! `{"choose": 0}`. It asks for sizes and for the products and ratios of them, such as `W / H`.

use crate::wisdom::{DecisionTree, Measure, Node};
use serde_json::{Value as Json, json};
use tunesmith_space::Value;

pub(super) fn json(tree: &DecisionTree, sizes: &[String]) -> Json {
    let features = texts(sizes);
    // From the last node to the first, since a node leads to later ones.
    let mut written: Vec<Json> = vec![Json::Null; tree.nodes().len()];
    for (at, node) in tree.nodes().iter().enumerate().rev() {
        written[at] = match *node {
            Node::Choose(member) => json!({ "choose": member }),
            Node::Split { feature, below, then, otherwise } => json!({
                "if": features[feature], "below": Value::of_number(below), "then": written[then], "else": written[otherwise],
            }),
        };
    }
    written.swap_remove(0)
}

/// Returns all that a tree can ask for about these sizes.
fn texts(sizes: &[String]) -> Vec<String> {
    Measure::all(sizes.len()).map(|measure| measure.text(sizes)).collect()
}

/// Reads the tree over `sizes` that chooses one of `members`. `serde_json` limits its depth to 128
/// levels.
pub(super) fn read(json: &Json, sizes: &[String], members: usize) -> Result<DecisionTree, String> {
    let features = texts(sizes);
    let mut nodes = Vec::new();
    add(json, &features, &mut nodes)?;
    DecisionTree::new(nodes, features.len(), members).map_err(|error| error.to_string())
}

fn add(json: &Json, features: &[String], nodes: &mut Vec<Node>) -> Result<usize, String> {
    let at = nodes.len();
    if let Some(member) = json.get("choose").and_then(Json::as_u64) {
        nodes.push(Node::Choose(member as usize));
        return Ok(at);
    }
    let name = json.get("if").and_then(Json::as_str).ok_or("a node of the tree has neither `if` nor `choose`")?;
    let feature = features.iter().position(|feature| feature == name);
    let feature = feature.ok_or_else(|| format!("the tree asks for `{name}`, which is not a feature"))?;
    let below = json.get("below").and_then(Json::as_f64).ok_or("a node of the tree has no number `below`")?;
    let child = |key: &str| json.get(key).ok_or_else(|| format!("a node of the tree has no `{key}`"));
    nodes.push(Node::Choose(0));
    let then = add(child("then")?, features, nodes)?;
    let otherwise = add(child("else")?, features, nodes)?;
    nodes[at] = Node::Split { feature, below, then, otherwise };
    Ok(at)
}
