//! Turns the values of a builder into the parts of a problem.

use super::texts::Texts;
use std::path::Path;
use tunesmith_core::Refusal;
use tunesmith_space::{Constraint, Expr, Value};
use tunesmith_spec::{Bounds, CompareDraft, Faults, Key, RangeDraft, number_for_truth};

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
            if let Some(doubt) = number_for_truth(meaning, &expr) {
                self.faults.warning(key, doubt.text, doubt.remedy);
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
            let odd = |fault: Refusal| self.faults.error(key.clone(), fault.text, fault.remedy);
            let bounds = Bounds::parse(text, refuse, odd)?;
            Some(RangeDraft { key: key.clone(), text: text.trim().to_string(), bounds })
        };
        CompareDraft {
            output: output.to_string(),
            ranges: RangeDraft::parts(ranges).into_iter().filter_map(range).collect(),
        }
    }
}
