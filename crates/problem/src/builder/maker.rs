//! Turns the values of a builder into the parts of a problem.

use super::texts::Texts;
use crate::spec::{Bounds, CompareDraft, Faults, Key, RangeDraft};
use std::path::Path;
use tunesmith_space::{Constraint, Expr, Value};

/// The context of the parts of one problem.
pub(super) struct Maker<'a> {
    /// The folder that relative paths start from.
    pub(super) folder: &'a Path,
    /// The files of the sources and data that were given as values.
    pub(super) texts: &'a Texts,
    pub(super) faults: &'a Faults,
}

impl Maker<'_> {
    /// Returns an expression: a text that holds one, or a number.
    pub(super) fn expression(&self, value: &Value, key: &Key) -> Option<Expr> {
        let text = match value {
            Value::Bool(_) => {
                self.faults.named(key.clone(), "", " must be an expression, not a boolean", None);
                return None;
            }
            Value::Str(text) => text.to_string(),
            number => number.to_string(),
        };
        Expr::parse(&text).map_err(|error| self.faults.expression(key.clone(), &text, &error)).ok()
    }

    /// Returns the expressions of a list. `None` if one of them is none.
    pub(super) fn expressions(&self, values: &[Value], key: &Key) -> Option<Vec<Expr>> {
        values.iter().enumerate().map(|(at, value)| self.expression(value, &key.at(at))).collect()
    }

    /// Returns the constraints of the section `key`.
    pub(super) fn constraints(&self, stated: &[(String, String)], section: &Key) -> Vec<Constraint> {
        let constraint = |(meaning, text): &(String, String)| {
            let key = section.field(meaning);
            let expr = self.expression(&Value::Str(text.as_str().into()), &key)?;
            if expr.takes_number_for_truth() {
                let text = format!("constraint `{meaning}` takes a number for a truth: it excludes what makes it 0");
                self.faults.warning(key, text, Some("compare the number: `N % TILE == 0`".to_string()));
            }
            Some(Constraint::new(meaning.as_str(), expr))
        };
        stated.iter().filter_map(constraint).collect()
    }

    /// Returns the ranges of an output that are compared, such as `0..n, m..2 * m`.
    pub(super) fn compared(&self, output: &str, ranges: &str) -> CompareDraft {
        let key = Key::of("verify").field("compare").field(output);
        let range = |text: &str| {
            let refuse = |text: &str, error: &_| self.faults.expression(key.clone(), text, error);
            let bounds = Bounds::parse(text, refuse);
            if bounds.is_none() && !text.contains("..") {
                let remedy = "write `1..=8`, or `1..8` to leave out the 8".to_string();
                self.faults.error(key.clone(), format!("`{text}` is not a range"), Some(remedy));
            }
            Some(RangeDraft { key: key.clone(), text: text.trim().to_string(), bounds: bounds? })
        };
        CompareDraft {
            output: output.to_string(),
            ranges: RangeDraft::parts(ranges).into_iter().filter_map(range).collect(),
        }
    }
}
