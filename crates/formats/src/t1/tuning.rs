//! Reads the search, the budget and the default configuration.

use super::json::Item;
use std::ops::Range;
use tunesmith_core::{Stop, StopParseError};
use tunesmith_search::StrategySpec;
use tunesmith_space::{Constraint, Parameter, Value};
use tunesmith_spec::{Messages, Tuning};

/// Parameters and values, as [`Tuning::default`] has them.
type Pairs = Vec<(String, Value)>;

/// Names of strategies in Kernel Tuner and KTT, in lower case without separators, each with our
/// name.
const STRATEGIES: &[(&str, &str)] = &[
    ("deterministic", "exhaustive"),
    ("bruteforce", "exhaustive"),
    ("exhaustive", "exhaustive"),
    ("random", "random"),
    ("randomsample", "random"),
    ("minimize", "nelder_mead"),
    ("bayesopt", "gaussian_process"),
    ("skopt", "gaussian_process"),
    ("annealing", "annealing"),
    ("simulatedannealing", "annealing"),
    ("swarm", "swarm"),
    ("pso", "swarm"),
    ("particleswarm", "swarm"),
    ("geneticalgorithm", "genetic"),
    ("genetic", "genetic"),
    ("diffevo", "differential_evolution"),
    ("differentialevolution", "differential_evolution"),
    ("basinhopping", "basin_hopping"),
    ("greedyils", "iterated_local_search"),
    ("greedymls", "hill_climbing"),
    ("orderedgreedymls", "hill_climbing"),
    ("mls", "hill_climbing"),
    ("hillclimbing", "hill_climbing"),
    ("profilebased", "profile_guided"),
];

/// Strategies of Kernel Tuner that we lack, in the same form, each with the nearest of ours.
const NEAREST: &[(&str, &str)] = &[
    ("dualannealing", "annealing"),
    ("fireflyalgorithm", "swarm"),
    ("pyatfstrategies", "round_robin"),
    ("hybridvndx", "iterated_local_search"),
    ("adaptivetabugreywolf", "tabu"),
    ("nsga2", "genetic"),
    ("nsga3", "genetic"),
];

/// Reads the search and the budget.
pub(super) fn read(root: &Item<'_>, default: Option<Pairs>, messages: &Messages) -> Tuning {
    Tuning { strategy: strategy(root, messages), stop: stop(root, messages), default, ..Tuning::default() }
}

/// Returns our name of the search: of the same strategy, or of the nearest with a warning.
fn strategy(root: &Item<'_>, messages: &Messages) -> Option<StrategySpec> {
    let search = root.get("Search")?;
    let name = search.get("Name")?;
    let plain: String = name.string()?.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    let known = || tunesmith_search::catalogue().iter().map(|strategy| strategy.name);
    let of = |table: &[(&str, &'static str)]| table.iter().find(|(theirs, _)| *theirs == plain).map(|(_, ours)| *ours);
    let nearest = of(NEAREST);
    let own = || known().find(|name| name.replace('_', "") == plain);
    let ours = of(STRATEGIES).or(nearest).or_else(own).filter(|ours| known().any(|name| name == *ours));
    if ours.is_none() || nearest.is_some() {
        let names: Vec<&str> = known().collect();
        let remedy = format!("choose with --strategy; there are {}", names.join(", "));
        let missing = if nearest.is_some() { "not here: the nearest strategy" } else { "not known:" };
        let text =
            format!("the search `{}` is {missing} `{}` is used instead", name.string()?, ours.unwrap_or("default"));
        messages.warning(name.span, text, Some(remedy));
    }
    if let Some(attributes) = search.get("Attributes").filter(|list| list.json.as_array() != Some(&Vec::new())) {
        let remedy = "give a strategy's options with --strategy \"NAME(option=value)\"".to_string();
        messages.warning(attributes.span, "the search's Attributes are not read", Some(remedy));
    }
    ours.and_then(|ours| ours.parse().ok())
}

/// Returns the budget as a stop condition. With several entries, the first that is used up ends the
/// run.
fn stop(root: &Item<'_>, messages: &Messages) -> Option<Stop> {
    let budget = root.get("Budget")?;
    let conditions: Vec<String> = budget.items().iter().filter_map(|entry| condition(entry, messages)).collect();
    let refuse = |error: StopParseError| messages.error(budget.span.clone(), error.to_string(), None);
    let parsed = (!conditions.is_empty()).then(|| conditions.join(" or ").parse().map_err(refuse));
    parsed?.ok()
}

fn condition(entry: &Item<'_>, messages: &Messages) -> Option<String> {
    let value = entry.get("BudgetValue").and_then(|value| value.json.as_f64());
    let kind = entry.get("Type").and_then(|kind| kind.string());
    match (kind, value) {
        (Some("ConfigurationCount"), Some(value)) => Some(format!("evaluations {value}")),
        (Some("ConfigurationFraction"), Some(value)) => Some(format!("fraction {}", value / 100.0)),
        (Some("TuningDuration"), Some(value)) => Some(format!("time {value}s")),
        (kind, _) => {
            let text = format!("the budget `{}` is not known: it is ignored", kind.unwrap_or_default());
            let remedy = "Type is ConfigurationCount, ConfigurationFraction or TuningDuration, with a BudgetValue; or \
                          say it with --stop";
            messages.warning(entry.span.clone(), text, Some(remedy.to_string()));
            None
        }
    }
}

/// Returns the default configuration with the place of its first value. If it is not in the space,
/// warns and returns `None`: some published files have such defaults, and their spaces are still
/// valid.
pub(super) fn default(
    root: &Item<'_>,
    parameters: &[(Parameter, Range<usize>)],
    constraints: &[(Constraint, Range<usize>)],
    messages: &Messages,
) -> Option<(Pairs, Range<usize>)> {
    let list = root.get("ConfigurationSpace").and_then(|space| space.get("TuningParameters"))?;
    let given = |entry: &Item<'_>| {
        let item = entry.get("Default")?;
        let value = item.items().first()?.scalar()?;
        Some((entry.get("Name")?.string()?.to_string(), value, item.span))
    };
    let given: Vec<(String, Value, Range<usize>)> = list.items().iter().filter_map(given).collect();
    let place = given.first()?.2.clone();
    let remedy = Some("the default is the first value of every parameter instead".to_string());
    let mut pairs = Pairs::new();
    for (name, value, span) in given {
        let parameter = parameters.iter().map(|(parameter, _)| parameter).find(|parameter| parameter.name() == name);
        let Some(known) = parameter.and_then(|parameter| parameter.values().iter().find(|known| same(known, &value)))
        else {
            let text = format!("the default configuration is left out: {value} is not a value of `{name}`");
            messages.warning(span, text, remedy);
            return None;
        };
        pairs.push((name, known.clone()));
    }
    if let Some(violated) = violated(&pairs, parameters, constraints) {
        let text = format!("the default configuration is left out: it violates `{}`", violated.name());
        messages.warning(place, text, remedy);
        return None;
    }
    Some((pairs, place))
}

/// Returns true if two values are equal, even if one is written as `1` and the other as `1.0`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(int), Value::Float(float)) | (Value::Float(float), Value::Int(int)) => *int as f64 == *float,
        _ => a == b,
    }
}

/// Returns the first condition that the configuration violates. Skips conditions that cannot be
/// computed, for example on a device's limits: they are checked when the space is built.
fn violated<'c>(
    pairs: &Pairs,
    parameters: &[(Parameter, Range<usize>)],
    constraints: &'c [(Constraint, Range<usize>)],
) -> Option<&'c Constraint> {
    let value = |name: &str| {
        let given = pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let first = || parameters.iter().find(|(known, _)| known.name() == name)?.0.values().first().cloned();
        given.or_else(first)
    };
    let is_false = |constraint: &&Constraint| match constraint.expr().evaluate(&value) {
        Ok(Value::Bool(truth)) => !truth,
        Ok(Value::Int(number)) => number == 0,
        _ => false,
    };
    constraints.iter().map(|(constraint, _)| constraint).find(is_false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_spec::SourceFile;

    /// Returns our strategy for a search of this name, and the texts of the warnings.
    fn read_search(name: &str) -> (Option<String>, Vec<String>) {
        let text = format!("{{\"Search\": {{\"Name\": \"{name}\"}}}}");
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let messages = Messages::new(SourceFile::new("t1.json", text.as_str()));
        let found = strategy(&Item::root(&json, &text), &messages).map(|spec| spec.to_string());
        (found, messages.into_list().iter().map(|message| message.text.clone()).collect())
    }

    #[test]
    fn every_search_of_kernel_tuner_has_a_strategy() {
        for (theirs, ours) in
            [("brute_force", "exhaustive"), ("bayes_opt", "gaussian_process"), ("mls", "hill_climbing")]
        {
            assert_eq!(read_search(theirs), (Some(ours.to_string()), vec![]));
        }
        assert_eq!(read_search("regression_tree").0.as_deref(), Some("regression_tree"), "one of ours");
        for (theirs, ours) in [("firefly_algorithm", "swarm"), ("nsga2", "genetic"), ("adaptive_tabu_greywolf", "tabu")]
        {
            let warning = format!("the search `{theirs}` is not here: the nearest strategy `{ours}` is used instead");
            assert_eq!(read_search(theirs), (Some(ours.to_string()), vec![warning]));
        }
        let warning = "the search `nothing` is not known: `default` is used instead".to_string();
        assert_eq!(read_search("nothing"), (None, vec![warning]));
    }
}
