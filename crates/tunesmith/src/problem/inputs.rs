//! The `[inputs]` of a problem: the sizes that it is tuned for by `tune --inputs`.

use super::diagnostic::Messages;
use super::parameters::read_values;
use super::tree::{Located, Node, Section};
use super::{Problem, ProblemError, lookup};
use crate::suggest::did_you_mean;
use rand::SeedableRng as _;
use rand::seq::index;
use serde_json::{Map, Value as Json};
use std::ops::Range;
use tunesmith_core::Rng;
use tunesmith_space::{Constraint, Expr, Value};

/// Values of the sizes that make one input.
pub type Input = Vec<(String, Value)>;

/// The inputs of a problem, and what each is tuned by.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Sizes with the values they take; all combinations are inputs.
    values: Vec<(String, Vec<Value>)>,
    /// Sizes that follow from those before them, where an input does not name them.
    derived: Vec<(String, Located<Expr>)>,
    /// Inputs one by one.
    list: Vec<Input>,
    filter: Option<Located<Expr>>,
    count: Option<usize>,
    seed: u64,
    /// What models know of an input besides its sizes: names and expressions over sizes.
    pub features: Vec<(String, Expr)>,
    /// How each input is tuned, in this order.
    pub runs: Vec<InputRun>,
    place: Range<usize>,
}

/// One tuning run of every input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRun {
    /// The strategy, as users write it.
    pub strategy: String,
    /// Its stop condition, where it has its own.
    pub stop: Option<String>,
}

/// More combinations are not walked through.
const MOST: usize = 1 << 20;

pub(super) fn read(root: &Section<'_>, sizes: &[(String, Value)], messages: &Messages) -> Option<Inputs> {
    let section = root.get("inputs")?.section()?;
    section.allow(&["sizes", "list", "filter", "count", "seed", "features", "runs"]);
    let mut inputs = Inputs { place: section.span.clone(), ..Inputs::default() };
    if let Some(values) = section.get("sizes").and_then(|node| node.section()) {
        values.entries().for_each(|entry| inputs.read_size(entry, sizes, messages));
    }
    let list = section.get("list").map(|node| node.items()).unwrap_or_default();
    inputs.list = list.iter().filter_map(|node| read_input(node, sizes, messages)).collect();
    inputs.filter = section.get("filter").and_then(|node| node.expression());
    inputs.count = section.get("count").and_then(|node| node.count()).and_then(|count| usize::try_from(count).ok());
    inputs.seed = section.get("seed").and_then(|node| node.count()).unwrap_or(0);
    inputs.features = read_features(&section, sizes, messages);
    let runs = section.get("runs").map(|node| node.items()).unwrap_or_default();
    inputs.runs = runs.iter().filter_map(read_run).collect();
    if inputs.values.is_empty() && inputs.list.is_empty() {
        let remedy = "write [inputs.sizes] with N = [64, 128], or list = [{ N = 64 }]".to_string();
        messages.error(section.span.clone(), "`inputs` names no size", Some(remedy));
    }
    Some(inputs)
}

/// Reports a name that is no size of the problem.
fn is_size(name: &Located<&str>, sizes: &[(String, Value)], messages: &Messages) -> bool {
    let is_known = lookup(sizes, name.value).is_some();
    if !is_known {
        let names: Vec<&str> = sizes.iter().map(|(name, _)| name.as_str()).collect();
        let remedy = did_you_mean(name.value, names.iter().copied())
            .unwrap_or_else(|| format!("sizes are those of [problem] sizes: {}", names.join(", ")));
        messages.error(name.span.clone(), format!("the problem has no size `{}`", name.value), Some(remedy));
    }
    is_known
}

fn read_input(node: &Node<'_>, sizes: &[(String, Value)], messages: &Messages) -> Option<Input> {
    let pair = |(name, node): (Located<&str>, Node<'_>)| {
        is_size(&name, sizes, messages).then_some(())?;
        Some((name.value.to_string(), node.required_scalar()?))
    };
    Some(node.section()?.entries().filter_map(pair).collect())
}

fn read_features(section: &Section<'_>, sizes: &[(String, Value)], messages: &Messages) -> Vec<(String, Expr)> {
    let Some(features) = section.get("features").and_then(|node| node.section()) else { return Vec::new() };
    let feature = |(name, node): (Located<&str>, Node<'_>)| {
        if lookup(sizes, name.value).is_some() {
            messages.error(name.span, format!("`{}` is a size already", name.value), None);
            return None;
        }
        let expr = node.expression()?;
        // What cannot be computed for the problem's own sizes is a mistake.
        if let Err(error) = number(&expr.value, sizes) {
            messages.error(expr.span.clone(), format!("in `{}`: {error}", expr.value.text()), None);
        }
        Some((name.value.to_string(), expr.value))
    };
    features.entries().filter_map(feature).collect()
}

/// A strategy, or a table of a strategy and when it stops.
fn read_run(node: &Node<'_>) -> Option<InputRun> {
    if !node.value.get_ref().is_table() {
        return Some(InputRun { strategy: node.string()?.to_string(), stop: None });
    }
    let section = node.section()?;
    section.allow(&["strategy", "stop"]);
    let strategy = section.require("strategy", "strategy = \"grid\"")?.string()?.to_string();
    let stop = section.get("stop").and_then(|node| node.string()).map(str::to_string);
    Some(InputRun { strategy, stop })
}

/// The number that an expression over sizes gives.
pub(crate) fn number(expr: &Expr, sizes: &[(String, Value)]) -> Result<f64, String> {
    let value = expr.evaluate(&|name| lookup(sizes, name)).map_err(|error| error.to_string())?;
    value.as_float().filter(|number| number.is_finite()).ok_or_else(|| format!("must give a number, gives {value}"))
}

impl Inputs {
    /// A list or a table of values, or an expression over the sizes before it.
    fn read_size(&mut self, (name, node): (Located<&str>, Node<'_>), sizes: &[(String, Value)], messages: &Messages) {
        if !is_size(&name, sizes, messages) {
            return;
        }
        let name = name.value.to_string();
        match node.scalar() {
            Some(Value::Str(_)) => self.derived.extend(node.expression().map(|expr| (name, expr))),
            _ => self.values.extend(read_values(&node, sizes, messages).map(|values| (name, values))),
        }
    }

    fn combinations(&self) -> Option<usize> {
        if self.values.is_empty() {
            return Some(0);
        }
        let product = self.values.iter().try_fold(1_usize, |all, (_, values)| all.checked_mul(values.len()));
        product.filter(|all| *all <= MOST)
    }

    /// The combination with this number, the last size counting fastest.
    fn combination(&self, mut index: usize) -> Input {
        let mut input: Input = Vec::with_capacity(self.values.len());
        for (name, values) in self.values.iter().rev() {
            input.push((name.clone(), values[index % values.len()].clone()));
            index /= values.len();
        }
        input.reverse();
        input
    }
}

impl Problem {
    /// The inputs of `[inputs]`: those listed, then the combinations of its sizes, of these as many as `count` says drawn at
    /// random with its seed; each with all sizes of the problem. Costs an evaluation of the filter for each combination.
    ///
    /// # Errors
    /// There is no `[inputs]`, there are too many combinations, or none is left; an expression that cannot be evaluated.
    pub fn input_sizes(&self) -> Result<Vec<Input>, ProblemError> {
        let Some(inputs) = &self.inputs else {
            let remedy = "write [inputs] with sizes or a list; see docs/predictive.md".to_string();
            return Err(self.error(0..0, "the problem has no `[inputs]`".to_string(), Some(remedy)));
        };
        let refuse = |text: String, remedy: &str| self.error(inputs.place.clone(), text, Some(remedy.to_string()));
        let Some(combinations) = inputs.combinations() else {
            return Err(refuse(format!("there are more than {MOST} combinations of sizes"), "name fewer values"));
        };
        let listed = inputs.list.iter().map(|input| self.completed(inputs, input.clone()));
        let mut all = listed.collect::<Result<Vec<_>, _>>()?;
        let mut drawn = Vec::new();
        for index in 0..combinations {
            let input = self.completed(inputs, inputs.combination(index))?;
            if self.passes(inputs, &input)? {
                drawn.push(input);
            }
        }
        if let Some(count) = inputs.count.filter(|count| *count < drawn.len()) {
            let chosen = index::sample(&mut Rng::seed_from_u64(inputs.seed), drawn.len(), count);
            let mut chosen = chosen.into_vec();
            chosen.sort_unstable();
            drawn = chosen.into_iter().map(|index| drawn[index].clone()).collect();
        }
        drawn.retain(|input| !all.contains(input));
        all.extend(drawn);
        if all.is_empty() {
            return Err(refuse("`filter` leaves no input".to_string(), "widen the sizes or weaken the filter"));
        }
        Ok(all)
    }

    /// All sizes of the problem with those of `input`, and what follows from them.
    fn completed(&self, inputs: &Inputs, input: Input) -> Result<Input, ProblemError> {
        let mut sizes = self.sizes.clone();
        for (name, value) in &input {
            replace(&mut sizes, name, value.clone());
        }
        for (name, expr) in inputs.derived.iter().filter(|(name, _)| lookup(&input, name).is_none()) {
            let value = expr.value.evaluate_int(&|name| lookup(&sizes, name));
            let value = value.map_err(|error| self.in_expression(expr, &error.to_string(), error.remedy.clone()))?;
            replace(&mut sizes, name, Value::Int(value));
        }
        Ok(sizes)
    }

    /// The features of inputs as journals write them.
    pub(crate) fn input_features(&self) -> Map<String, Json> {
        let features = self.inputs.iter().flat_map(|inputs| &inputs.features);
        features.map(|(name, expr)| (name.clone(), Json::from(expr.text()))).collect()
    }

    /// The constraints as journals write them.
    pub(crate) fn named_constraints(&self) -> Map<String, Json> {
        let text = |constraint: &Constraint| Json::from(constraint.expr().text());
        // What a closure excludes cannot be written down.
        let written = self.constraints.iter().filter(|constraint| constraint.closure_version().is_none());
        written.map(|constraint| (constraint.name().to_string(), text(constraint))).collect()
    }

    fn passes(&self, inputs: &Inputs, input: &Input) -> Result<bool, ProblemError> {
        let Some(filter) = &inputs.filter else { return Ok(true) };
        let value = filter.value.evaluate(&|name| lookup(input, name));
        let value = value.map_err(|error| self.in_expression(filter, &error.to_string(), error.remedy.clone()))?;
        match value.as_float() {
            Some(number) => Ok(number != 0.0),
            None => Err(self.in_expression(filter, &format!("must be true or false, is {value}"), None)),
        }
    }

    fn in_expression(&self, expr: &Located<Expr>, error: &str, remedy: Option<String>) -> ProblemError {
        self.error(expr.span.clone(), format!("in `{}`: {error}", expr.value.text()), remedy)
    }
}

fn replace(sizes: &mut Input, name: &str, value: Value) {
    sizes.iter_mut().filter(|(known, _)| known == name).for_each(|(_, old)| *old = value.clone());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of `names` in each input of a problem with these `[inputs]`.
    fn inputs(text: &str, names: &[&str]) -> Vec<Vec<i64>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.toml");
        let head = "[problem]\nsizes = { M = 1, N = 2, K = 3 }\n[parameters]\nX = [1]\n[inputs]\n";
        std::fs::write(&path, format!("{head}{text}")).unwrap();
        let all = Problem::load(&path, &[]).unwrap().input_sizes().unwrap();
        let value = |input: &Input, name: &str| lookup(input, name).and_then(|value| value.as_int()).unwrap();
        all.iter().map(|input| names.iter().map(|name| value(input, name)).collect()).collect()
    }

    #[test]
    fn combinations_come_in_order_with_what_follows_from_them_and_other_sizes_as_they_are() {
        let found =
            inputs("filter = \"M * N <= 40\"\nsizes = { M = [4, 8], N = [5, 6], K = \"M + N\" }\n", &["M", "N", "K"]);
        assert_eq!(found, [[4, 5, 9], [4, 6, 10], [8, 5, 13]]);
        assert_eq!(inputs("sizes = { M = [4] }\n", &["M", "N", "K"]), [[4, 2, 3]]);
    }

    #[test]
    fn a_listed_input_keeps_what_it_names_and_is_not_drawn_again() {
        let text = "list = [{ M = 4 }, { M = 4, K = 9 }]\nsizes = { M = [4, 5], K = \"2 * M\" }\n";
        assert_eq!(inputs(text, &["M", "K"]), [[4, 8], [4, 9], [5, 10]]);
    }

    #[test]
    fn as_many_as_wanted_are_drawn_without_repeats_and_a_seed_draws_the_same() {
        let of_seed = |seed: u64| {
            let text = format!("count = 10\nseed = {seed}\nsizes = {{ M = {{ range = \"1..=20\" }}, N = [1, 2] }}\n");
            inputs(&text, &["M", "N"])
        };
        let found = of_seed(1);
        let distinct: std::collections::BTreeSet<_> = found.iter().collect();
        assert_eq!((found.len(), distinct.len()), (10, 10));
        assert_eq!(found, of_seed(1));
        assert_ne!(found, of_seed(2));
    }
}
