//! The `[inputs]` of a problem: the sizes that `tune --inputs` tunes it for.

use crate::diagnostic::Messages;
use crate::parameters::read_values;
use crate::tree::{Located, Node, Section};
use std::ops::Range;
use tunesmith_core::Stop;
use tunesmith_search::StrategySpec;
use tunesmith_space::did_you_mean;
use tunesmith_space::lookup;
use tunesmith_space::{Expr, Value};

/// An input: the values of its sizes.
pub type Input = Vec<(String, Value)>;

/// The inputs of a problem, and the runs that tune each.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Sizes with their values. All combinations are inputs.
    pub(crate) values: Vec<(String, Vec<Value>)>,
    /// Sizes computed from those before them, unless an input names them.
    pub(crate) derived: Vec<(String, Located<Expr>)>,
    /// Inputs that are listed one by one.
    pub(crate) list: Vec<Input>,
    pub(crate) filter: Option<Located<Expr>>,
    pub(crate) count: Option<usize>,
    pub(crate) seed: u64,
    /// Features of an input besides its sizes, for models: names and expressions over sizes.
    pub features: Vec<(String, Expr)>,
    /// The runs that tune each input, in this order.
    pub runs: Vec<InputRun>,
    pub(crate) place: Range<usize>,
}

/// One tuning run of every input.
#[derive(Clone, Debug, PartialEq)]
pub struct InputRun {
    /// The strategy.
    pub strategy: StrategySpec,
    /// Its own stop condition, if it has one.
    pub stop: Option<Stop>,
}

/// Maximum number of combinations.
pub(crate) const MOST: usize = 1 << 20;

pub(crate) fn read(root: &Section<'_>, sizes: &[(String, Value)], messages: &Messages) -> Option<Inputs> {
    let section = root.get("inputs")?.section()?;
    section.allow(&["sizes", "list", "filter", "count", "seed", "features", "runs"]);
    let mut inputs = Inputs { place: section.span.clone(), ..Inputs::default() };
    if let Some(values) = section.get("sizes").and_then(|node| node.section()) {
        values.entries().for_each(|entry| inputs.read_size(entry, sizes, messages));
    }
    let list = section.get("list").map(|node| node.items()).unwrap_or_default();
    inputs.list = list.iter().filter_map(|node| read_input(node, sizes, messages)).collect();
    inputs.filter = section.get("filter").and_then(|node| node.expression());
    inputs.count = section.get("count").and_then(|node| node.whole(1..=MOST));
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

/// Returns true if a name is a size of the problem. Reports it otherwise.
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
        // An expression that fails for the problem's own sizes is a mistake.
        if let Err(error) = number(&expr.value, sizes) {
            messages.error(expr.span.clone(), format!("in `{}`: {error}", expr.value.text()), None);
        }
        Some((name.value.to_string(), expr.value))
    };
    features.entries().filter_map(feature).collect()
}

/// Reads a strategy, or a table of a strategy and a stop condition.
fn read_run(node: &Node<'_>) -> Option<InputRun> {
    if !node.is_table() {
        return Some(InputRun { strategy: node.parsed(|_| None)?, stop: None });
    }
    let section = node.section()?;
    section.allow(&["strategy", "stop"]);
    let strategy = section.require("strategy", "strategy = \"grid\"")?.parsed(|_| None)?;
    let stop = section.get("stop").and_then(|node| node.parsed(|_| None));
    Some(InputRun { strategy, stop })
}

/// Returns the number that an expression over sizes evaluates to.
pub(crate) fn number(expr: &Expr, sizes: &[(String, Value)]) -> Result<f64, String> {
    let value = expr.evaluate(&|name| lookup(sizes, name)).map_err(|error| error.to_string())?;
    value.as_float().filter(|number| number.is_finite()).ok_or_else(|| format!("must give a number, but gives {value}"))
}

impl Inputs {
    /// Reads a list or a table of values, or an expression over the sizes before it.
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

    pub(crate) fn combinations(&self) -> Option<usize> {
        if self.values.is_empty() {
            return Some(0);
        }
        let product = self.values.iter().try_fold(1_usize, |all, (_, values)| all.checked_mul(values.len()));
        product.filter(|all| *all <= MOST)
    }

    /// Returns the combination with this number. The last size counts fastest.
    pub(crate) fn combination(&self, mut index: usize) -> Input {
        let mut input: Input = Vec::with_capacity(self.values.len());
        for (name, values) in self.values.iter().rev() {
            input.push((name.clone(), values[index % values.len()].clone()));
            index /= values.len();
        }
        input.reverse();
        input
    }
}
