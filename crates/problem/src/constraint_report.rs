//! Reports the effect of constraints and values on a problem's space.

use crate::{Diagnostic, Level, Problem};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};
use tunesmith_space::{Analysis, Constraint, Parameter, Space, Value};

/// The combinations that every constraint removes, and the values that no configuration has.
///
/// Counts are decimal. A count is null if it cannot be had: the constraint fails without the guard
/// of another one, or the diagram is too large.
#[derive(Clone, Debug, Serialize)]
pub struct ConstraintReport {
    /// The constraints in the file's order.
    pub constraints: Vec<ConstraintRow>,
    /// Parameters with values that no configuration has, with these values.
    pub dead_values: Map<String, Json>,
}

/// The combinations that one constraint removes.
#[derive(Clone, Debug, Serialize)]
pub struct ConstraintRow {
    /// Its name.
    pub name: String,
    /// Number of combinations that it removes alone, out of all.
    pub removed_alone: Option<String>,
    /// Number of combinations that it removes from those that the constraints before it leave.
    pub removed_in_order: Option<String>,
    /// True if the space is the same without it.
    pub redundant: Option<bool>,
}

impl ConstraintReport {
    /// Returns the report about `space` from its analysis.
    pub fn new(space: &Space, analysis: &Analysis) -> Self {
        let row = |effect: &tunesmith_space::ConstraintEffect| ConstraintRow {
            name: effect.name.clone(),
            removed_alone: effect.removed_alone.as_ref().map(ToString::to_string),
            removed_in_order: effect.removed_in_order.as_ref().map(ToString::to_string),
            redundant: effect.redundant,
        };
        let dead = |(parameter, dead): (&Parameter, &Vec<u32>)| {
            let values = dead.iter().map(|&index| json!(parameter.values()[index as usize])).collect();
            (!dead.is_empty()).then(|| (parameter.name().to_string(), Json::Array(values)))
        };
        let dead_values = space.parameters().iter().zip(&analysis.dead_values).filter_map(dead).collect();
        Self { constraints: analysis.constraints.iter().map(row).collect(), dead_values }
    }
}

impl Problem {
    /// Returns warnings about values that can be left out of the file, and about constraints
    /// without effect. Constraints are there to choose among the values of an
    /// interval, which get no warning.
    pub fn warn_of(&self, space: &Space, analysis: &Analysis) -> Vec<Diagnostic> {
        let dead = space.parameters().iter().zip(&analysis.dead_values);
        let is_odd = |parameter: &Parameter, dead: &[u32]| !dead.is_empty() && !is_interval(parameter.values());
        let dead = dead.filter(|(parameter, dead)| is_odd(parameter, dead)).map(|(parameter, dead)| {
            let text = |most: usize| {
                let values = dead.iter().map(|&index| parameter.values()[index as usize].to_string());
                format!("no configuration has {} = {}", parameter.name(), abridged(values, most))
            };
            let remedy = "remove these values, or check the constraints that exclude them".to_string();
            let message = self.message(Level::Warning, &self.parameter_key(parameter.name()), text(12), Some(remedy));
            message.in_brief(format!("{}: remove them, or check the constraints", text(4)))
        });
        // A constraint that depends on sizes or on the device may exclude something elsewhere.
        let always =
            |name: &str| self.spec.constraints().iter().any(|known| known.name() == name && !self.varies(known));
        let redundant = analysis.constraints.iter();
        let redundant = redundant.filter(|effect| effect.redundant == Some(true) && always(&effect.name));
        let redundant = redundant.map(|effect| {
            let text = format!("constraint `{}` has no effect: the others exclude all that it excludes", effect.name);
            let remedy = "remove it, or check its expression".to_string();
            let brief = format!("constraint `{}` has no effect: remove or correct it", shortened(&effect.name));
            self.message(Level::Warning, &self.constraint_key(&effect.name), text, Some(remedy)).in_brief(brief)
        });
        dead.chain(redundant).collect()
    }
}

impl Problem {
    /// Returns true if a constraint may exclude other configurations for other sizes or on another
    /// device.
    fn varies(&self, constraint: &Constraint) -> bool {
        let mut names = constraint.expr().names().iter();
        names.any(|name| name.text.starts_with("device.") || self.spec.size(&name.text).is_some())
    }
}

/// Returns true if the values are so many consecutive integers that nobody chose them one by one.
fn is_interval(values: &[Value]) -> bool {
    const FEWEST: usize = 16;
    let follows =
        |pair: &[Value]| matches!(pair, [Value::Int(one), Value::Int(next)] if next.checked_sub(*one) == Some(1));
    values.len() >= FEWEST && values.windows(2).all(follows)
}

/// Returns the first few of many values as text.
fn abridged(values: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let more = values.len().saturating_sub(most);
    let shown: Vec<String> = values.take(most).collect();
    let rest = if more > 0 { format!(" and {more} more values") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}

/// Returns the beginning of a constraint's name. Where nobody named it, that is its expression.
pub(crate) fn shortened(name: &str) -> String {
    const LONGEST: usize = 48;
    let line = name.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} ...", line[..end].trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use crate::Problem;
    use std::path::Path;

    #[test]
    fn dead_values_are_warned_of_where_a_person_chose_them() {
        let warnings = |values: &str| -> Vec<String> {
            let text = format!("[parameters]\nA = {values}\n[constraints]\n\"A divides 32\" = \"32 % A == 0\"\n");
            let problem = Problem::parse(&text, Path::new(".")).unwrap();
            let space = problem.space(&[]).unwrap().space;
            problem.warn_of(&space, &space.analyse()).iter().map(ToString::to_string).collect()
        };
        assert!(warnings("[1, 2, 3, 4]")[0].contains("no configuration has A = 3"));
        assert!(warnings("{ range = \"1..=12\" }")[0].contains("no configuration has A = 3, 5, 6, 7, 9, 10, 11, 12"));
        assert_eq!(warnings("{ range = \"1..=32\" }"), [""; 0]);
    }

    #[test]
    fn the_short_form_of_a_warning_is_one_line_however_long_the_expression_is() {
        let expression = "A % 2 == 0 or ".repeat(40) + "A > 0";
        let text = format!(
            "[parameters]\nA = [1, 2, 3, 4, 5, 6, 7]\n[constraints]\n\"{expression}\" = \"{expression}\"\n\
                            \"only 1\" = \"A == 1\"\n"
        );
        let problem = Problem::parse(&text, Path::new(".")).unwrap();
        let space = problem.space(&[]).unwrap().space;
        let warnings = problem.warn_of(&space, &space.analyse());
        let brief: Vec<&str> = warnings.iter().filter_map(|warning| warning.brief.as_deref()).collect();
        assert_eq!(
            brief[0],
            "no configuration has A = 2, 3, 4, 5 and 2 more values: remove them, or check the constraints"
        );
        assert!(brief[1].starts_with("constraint `A % 2 == 0 or A % 2 == 0"), "{brief:?}");
        assert!(brief[1].ends_with("...` has no effect: remove or correct it"), "{brief:?}");
        assert!(brief[1].len() <= 100 && warnings[1].text.contains(&expression), "{warnings:?}");
    }
}
