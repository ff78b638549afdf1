//! Conditions of C: choices between values.

use crate::Finding;
use crate::body::Body;
use crate::index::inner;
use crate::source::parts;
use crate::value::Value;
use tree_sitter::Node;

/// Maximum length of a value in the nest. Each `&&` and `||` may double the values that it chooses from.
const LONGEST: usize = 1 << 16;

/// The operators that compare in C and in nests.
const COMPARISONS: [&str; 6] = ["<", "<=", ">", ">=", "==", "!="];

impl<'a> Body<'a> {
    /// Returns `yes` if a condition holds, and `no` otherwise. Both are computed.
    ///
    /// # Errors
    ///
    /// Fails with the place of the part that nests do not have.
    pub(crate) fn choice(&mut self, condition: Node<'_>, yes: &Value, no: &Value) -> Result<Value, Finding> {
        let condition = inner(condition);
        let field = |name: &str| condition.child_by_field_name(name);
        let operator = self.source.field(condition, "operator").to_string();
        match (condition.kind(), operator.as_str(), field("left"), field("right"), field("argument")) {
            ("unary_expression", "!", _, _, Some(own)) => self.choice(own, no, yes),
            ("binary_expression", "&&", Some(left), Some(right), _) => {
                let both = self.choice(right, yes, no)?;
                self.choice(left, &both, no)
            }
            ("binary_expression", "||", Some(left), Some(right), _) => {
                let second = self.choice(right, yes, no)?;
                self.choice(left, yes, &second)
            }
            ("binary_expression", own, Some(left), Some(right), _) if COMPARISONS.contains(&own) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                selected(condition, own, [&left, &right, yes, no])
            }
            _ => {
                let own = self.value(condition)?;
                selected(condition, "!=", [&own, &Value::whole(0), yes, no])
            }
        }
    }

    /// Reads a condition with one assignment in each branch: the value that it chooses.
    pub(crate) fn if_statement(&mut self, node: Node<'a>) -> Result<(), Finding> {
        let field = |name: &str| node.child_by_field_name(name);
        let (Some(condition), Some(first)) = (field("condition"), field("consequence").and_then(only)) else {
            return Err(self.no_statement(node));
        };
        let (target, yes) = self.assignment(first)?;
        let no = match field("alternative") {
            // Without an `else`, the old value stays.
            None => match first.child_by_field_name("left").or_else(|| first.child_by_field_name("argument")) {
                Some(old) => self.value(old)?,
                None => return Err(self.no_statement(node)),
            },
            Some(other) => {
                let other = parts(other).into_iter().next().and_then(only);
                let Some(other) = other else { return Err(self.no_statement(node)) };
                let (also, no) = self.assignment(other)?;
                if also != target {
                    return Err(self.no_statement(node));
                }
                no
            }
        };
        let value = self.choice(condition, &yes, &no)?;
        self.instruct(&target, value.text());
        Ok(())
    }
}

fn selected(condition: Node<'_>, operator: &str, parts: [&Value; 4]) -> Result<Value, Finding> {
    if parts.iter().map(|part| part.text().len()).sum::<usize>() > LONGEST {
        let text = "the choice is too long: a nest has no `&&` and `||`, and repeats the values for them";
        return Err(Finding::at(condition, text, Some("assign parts of it to variables first")));
    }
    Value::selected(operator, parts).ok_or_else(|| {
        let text = "integers decide between numbers in floating point, or the reverse; a nest has one type for both";
        Finding::at(condition, text, Some("compare values of the type that is chosen"))
    })
}

/// Returns the expression of a branch that consists of one statement.
fn only(branch: Node<'_>) -> Option<Node<'_>> {
    match (branch.kind(), &parts(branch)[..]) {
        ("compound_statement", [one]) => only(*one),
        ("expression_statement", [one]) => Some(*one),
        _ => None,
    }
}
