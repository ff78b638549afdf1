//! Refuses metrics that hide another number, and metrics that refer to themselves.

use crate::definitions::{Definitions, MAX_DEPTH, Yielded, is_predefined, printed};
use crate::problem_spec::ProblemSpec;
use std::collections::BTreeMap;
use tunesmith_core::Refusal;
use tunesmith_space::Expr;

/// The length of the chains that are followed. A cycle that is longer is refused as a chain that is too
/// long, and does not exhaust the stack.
const DEEPEST: usize = 1000;

/// Finds the metrics of `problem` that are called like another number, and cycles of metrics. Returns
/// the name of each faulty metric with the reason.
pub fn check_metrics(problem: &ProblemSpec) -> Vec<(String, Refusal)> {
    let hiding = problem.measure.metrics.iter().filter_map(|(name, _)| {
        let text = format!("the metric `{name}` is called like {}", namesake(problem, name)?);
        let remedy = "choose another name, and use it in the objective and in limits".to_string();
        Some((name.clone(), Refusal::new(text, Some(remedy))))
    });
    let hiding: Vec<(String, Refusal)> = hiding.collect();
    // A metric that hides the number it is computed from looks like a cycle.
    if hiding.is_empty() { circular(problem) } else { hiding }
}

/// Returns the reason if the problem's command may not print a value called `name`.
pub(crate) fn check_value(problem: &ProblemSpec, name: &str) -> Option<String> {
    let other = if problem.space.parameters.iter().any(|parameter| parameter.name() == name) {
        "a tuning parameter"
    } else if problem.sizes.iter().any(|(size, _)| size == name) {
        "a size"
    } else if ["time", "time_ms"].contains(&name) {
        "what a run costs, which `cost` reads"
    } else {
        return None;
    };
    Some(format!("the value `{name}` is called like {other}"))
}

/// Returns the other number that `name` stands for.
fn namesake(problem: &ProblemSpec, name: &str) -> Option<&'static str> {
    if problem.space.parameters.iter().any(|parameter| parameter.name() == name) {
        return Some("a tuning parameter");
    }
    if problem.sizes.iter().any(|(size, _)| size == name) {
        return Some("a size");
    }
    if printed(problem).any(|value| value == name) {
        return Some("a value that the command prints");
    }
    is_predefined(name).then_some("a number that Tunesmith defines or measures itself")
}

/// Finds cycles, each reported once, at one of its metrics, and chains that are too long.
fn circular(problem: &ProblemSpec) -> Vec<(String, Refusal)> {
    let definitions = Definitions::of(problem, &Yielded::default());
    let names = |text: &str| -> Vec<String> {
        Expr::parse(text).iter().flat_map(|expr| expr.names().iter().map(|name| name.text.clone())).collect()
    };
    let references = definitions.metrics.iter().map(|(name, text)| (name.as_str(), names(text))).collect();
    let mut walk = Walk { references, depths: BTreeMap::new(), path: Vec::new() };
    let mut faults: Vec<(String, Refusal)> = Vec::new();
    for (name, _) in &definitions.metrics {
        match walk.depth(name) {
            Ok(depth) if depth < MAX_DEPTH => {}
            Ok(_) => {
                let text = format!("the metric `{name}` depends on more than {} others in a row", MAX_DEPTH - 1);
                faults.push((name.clone(), Refusal::new(text, Some("write some of them out".to_string()))));
                break;
            }
            Err(cycle) => {
                let spelt = cycle.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" -> ");
                let text = format!("the metric `{}` is defined by itself: {spelt}", cycle[0]);
                let remedy = "define one of them by numbers that a run yields".to_string();
                faults.push((cycle[0].clone(), Refusal::new(text, Some(remedy))));
            }
        }
    }
    faults
}

/// A search for cycles in depth first order.
struct Walk<'a> {
    /// The names that each metric uses.
    references: BTreeMap<&'a str, Vec<String>>,
    /// The number of metrics in the longest chain from each metric that was left, itself included.
    /// Those on a cycle and those that depend on one count as 0: the cycle was reported.
    depths: BTreeMap<String, usize>,
    /// The metrics from the first to the present one.
    path: Vec<String>,
}

impl Walk<'_> {
    /// Returns the number of metrics in the longest chain from `name`, or the cycle that it is in or
    /// leads to, closed by its first metric. Descends at most [`DEEPEST`] metrics.
    fn depth(&mut self, name: &str) -> Result<usize, Vec<String>> {
        if let Some(depth) = self.depths.get(name) {
            return Ok(*depth);
        }
        let Some(references) = self.references.get(name).cloned() else { return Ok(0) };
        if self.path.len() == DEEPEST {
            return Ok(1);
        }
        if let Some(start) = self.path.iter().position(|earlier| earlier == name) {
            let cycle: Vec<String> = self.path[start..].iter().cloned().chain([name.to_string()]).collect();
            self.depths.extend(cycle.iter().map(|name| (name.clone(), 0)));
            return Err(cycle);
        }
        self.path.push(name.to_string());
        let deepest: Result<usize, Vec<String>> =
            references.iter().try_fold(0, |deepest, next| Ok(self.depth(next)?.max(deepest)));
        self.path.pop();
        let depth = deepest.as_ref().map_or(0, |deepest| deepest + 1);
        self.depths.insert(name.to_string(), depth);
        deepest.map(|_| depth)
    }
}
