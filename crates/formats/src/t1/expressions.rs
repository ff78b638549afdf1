//! Reads expressions of T1 files. Besides the tuning parameters, they may use `ProblemSize[0]`, and
//! `max(p)` of a single parameter: the largest of all its values.

use super::findings::Findings;
use super::json::Item;
use tunesmith_space::{Expr, Parameter, Value, did_you_mean};

/// The meaning of names in expressions.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms<'p> {
    parameters: Vec<&'p Parameter>,
    /// The entries of `ProblemSize`, each a number or an expression over the parameters.
    problem_size: Vec<String>,
}

impl<'p> Terms<'p> {
    /// Creates terms of the parameters alone, for conditions.
    pub(super) fn of(parameters: Vec<&'p Parameter>) -> Self {
        Self { parameters, problem_size: Vec::new() }
    }

    /// Takes `ProblemSize` from the kernel's specification.
    pub(super) fn new(parameters: Vec<&'p Parameter>, spec: &Item<'_>, findings: &Findings<'_>) -> Self {
        let mut terms = Self::of(parameters);
        let entries = spec.get("ProblemSize").map(|item| item.items()).unwrap_or_default();
        let entry = |item: &Item<'_>| terms.expression(item, "ProblemSize", findings);
        let texts: Vec<Option<Expr>> = entries.iter().map(entry).collect();
        // Faults were reported. They keep their place, so that no other entry moves to it.
        terms.problem_size =
            texts.iter().map(|expr| expr.as_ref().map_or("1".into(), |expr| expr.text().into())).collect();
        terms
    }

    /// Returns an entry of `ProblemSize` as the text of an expression.
    pub(super) fn problem_size(&self, dimension: usize) -> Option<&str> {
        self.problem_size.get(dimension).map(String::as_str)
    }

    /// Returns the expression in `item`, over the tuning parameters alone. Reports a fault, and
    /// calls the expression `what`.
    pub(super) fn expression(&self, item: &Item<'_>, what: &str, findings: &Findings<'_>) -> Option<Expr> {
        let expr = self.parse(item, what, findings)?;
        let known = || self.parameters.iter().map(|parameter| parameter.name());
        for name in expr.names() {
            if !known().any(|known| known == name.text) {
                let names = || format!("the tuning parameters are {}", known().collect::<Vec<_>>().join(", "));
                let remedy = did_you_mean(&name.text, known()).unwrap_or_else(names);
                let place = findings.place_inside(&item.span, expr.text(), &name.span);
                findings.obstacle(place, format!("`{}` in {what} is no tuning parameter", name.text), Some(remedy));
                return None;
            }
        }
        Some(expr)
    }

    /// Returns the expression as [`expression`](Self::expression) does, with any names.
    pub(super) fn parse(&self, item: &Item<'_>, what: &str, findings: &Findings<'_>) -> Option<Expr> {
        let Some(text) = item.expression() else {
            let remedy = "write a number or a string with an expression".to_string();
            findings.obstacle(item.span.clone(), format!("{what} is not an expression"), Some(remedy));
            return None;
        };
        let resolved = self.resolve(&text).map_err(|problem| {
            let remedy = "ProblemSize is a list, one number for each dimension".to_string();
            findings.obstacle(item.span.clone(), format!("in `{text}` of {what}: {problem}"), Some(remedy));
        });
        let resolved = resolved.ok()?;
        let parsed = Expr::parse(&resolved).map_err(|error| {
            let place = findings.place_inside(&item.span, &resolved, &error.span);
            let remedy = error.remedy.clone().unwrap_or_else(|| "write an expression in Python's syntax".to_string());
            findings.obstacle(place, format!("in `{text}` of {what}: {error}"), Some(remedy));
        });
        parsed.ok()
    }

    /// Returns `text` with `ProblemSize`, `max` and `min` of T1 files replaced by their meaning.
    pub(super) fn resolve(&self, text: &str) -> Result<String, String> {
        let mut resolved = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(first) = text[at..].chars().next() {
            let word = word(&text[at..]);
            let (replaced, length) = match word {
                "ProblemSize" => self.indexed(&text[at..])?,
                "max" | "min" => self.extreme(&text[at..]).unwrap_or((word.to_string(), word.len())),
                "" => (first.to_string(), first.len_utf8()),
                _ => (word.to_string(), word.len()),
            };
            resolved.push_str(&replaced);
            at += length;
        }
        Ok(resolved)
    }

    /// Returns the meaning and the length of the `ProblemSize[N]` at the beginning of `text`.
    fn indexed(&self, text: &str) -> Result<(String, usize), String> {
        let index = text["ProblemSize".len()..].trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (index, rest) = index.ok_or("`ProblemSize` needs an index, as in `ProblemSize[0]`")?;
        let number = index.trim().parse().ok().and_then(|index: usize| self.problem_size.get(index));
        let number = number.ok_or_else(|| {
            format!("there is no `ProblemSize[{}]`: ProblemSize has {} entries", index.trim(), self.problem_size.len())
        })?;
        Ok((in_parentheses(number), text.len() - rest.len()))
    }

    /// Returns the meaning and the length of the `max(NAME)` or `min(NAME)` at the beginning of
    /// `text`. Returns `None` unless exactly one parameter stands in the parentheses.
    fn extreme(&self, text: &str) -> Option<(String, usize)> {
        let (function, rest) = text.split_at(3);
        let (name, rest) = rest.trim_start().strip_prefix('(')?.split_once(')')?;
        let parameter = self.parameters.iter().find(|parameter| parameter.name() == name.trim())?;
        let values = parameter.values().iter();
        let value = if function == "max" { values.max_by(numerically) } else { values.min_by(numerically) };
        let value = value.filter(|value| matches!(value, Value::Int(_) | Value::Float(_)))?;
        Some((in_parentheses(&value.to_string()), text.len() - rest.len()))
    }
}

fn numerically(a: &&Value, b: &&Value) -> std::cmp::Ordering {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
        // All values of one parameter have one type.
        _ => std::cmp::Ordering::Equal,
    }
}

/// Returns a plain number as it is, and anything else such that operators around it take it as a
/// whole.
pub(super) fn in_parentheses(text: &str) -> String {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_number { text.to_string() } else { format!("({text})") }
}

/// Returns the name, dots included, or the quoted string at the beginning of `text`. Empty if there
/// is neither.
fn word(text: &str) -> &str {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''));
    let end = match quote {
        Some(quote) => text[1..].find(quote).map_or(text.len(), |end| end + 2),
        None => text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(text.len()),
    };
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(text: &str) -> Result<String, String> {
        let width = Parameter::new("width", [3, 15, -7].map(Value::Int)).unwrap();
        let word = Parameter::new("word", ["a", "b"].map(|text| Value::Str(text.into()))).unwrap();
        let problem_size = vec!["4096".to_string(), "width * 2".to_string()];
        Terms { parameters: vec![&width, &word], problem_size }.resolve(text)
    }

    #[test]
    fn problem_sizes_are_put_in_by_number() {
        assert_eq!(resolve("ProblemSize[0]*ProblemSize [ 1 ]").unwrap(), "4096*(width * 2)");
        assert!(resolve("ProblemSize[2]").unwrap_err().contains("2 entries"));
        assert!(resolve("2 * ProblemSize").unwrap_err().contains("ProblemSize[0]"));
    }

    #[test]
    fn the_extreme_of_one_parameter_is_that_of_all_its_values() {
        assert_eq!(resolve("(4096+max(width)-1) - min( width )").unwrap(), "(4096+15-1) - (-7)");
        for other in ["max(width, 2)", "max(height)", "max(word)", "tomax(width)", "'max(width)'", "max"] {
            assert_eq!(resolve(other).unwrap(), other);
        }
    }
}
