//! The distance of a condition from holding.

use super::ast::{Kind, Node};
use super::operator::CompareOp;
use super::{Datum, Evaluator, Expr, ExprError};
use crate::value::Value;
use std::ops::Range;

impl Expr {
    /// Returns how far a condition is from holding: at most 0 if it holds, above 0 if not.
    ///
    /// For `a <= b`, it is the logarithm of `a / b` if both are positive, so that the unit does not
    /// matter, else `(a - b) / (|a| + |b|)`. A chain or `and` has that of the part farthest from
    /// holding, `or` that of the nearest, and `not` the opposite. Any other condition is 1 from
    /// holding, or -1 if it holds.
    ///
    /// # Errors
    /// Those of [`Expr::evaluate`].
    pub fn excess(&self, scope: &dyn Fn(&str) -> Option<Value>) -> Result<f64, ExprError> {
        let lookup = |index: usize, span: &Range<usize>| {
            let name = &self.names()[index].text;
            scope(name).map(|value| Datum::from(&value)).ok_or_else(|| super::unknown_name(name, span))
        };
        let mut evaluator = Evaluator::new(&lookup);
        let holds = evaluator.evaluate(self.root())?.truthy();
        let excess = excess(self.root(), &mut evaluator)?;
        // At the bound itself, the sign decides: `a < a` does not hold.
        Ok(if holds { excess.min(0.0) } else { excess.max(f64::EPSILON) })
    }
}

fn excess(node: &Node, evaluator: &mut Evaluator<'_>) -> Result<f64, ExprError> {
    match &node.kind {
        Kind::Compare(first, rest) if rest.iter().all(|(op, _)| is_order(*op)) => {
            let mut left = evaluator.evaluate(first)?;
            let mut most = f64::NEG_INFINITY;
            for (op, operand) in rest {
                let right = evaluator.evaluate(operand)?;
                let Some((a, b)) = float(&left).zip(float(&right)) else { return truth(node, evaluator) };
                let is_upward = matches!(op, CompareOp::Less | CompareOp::LessEqual);
                most = most.max(if is_upward { apart(a, b) } else { apart(b, a) });
                left = right;
            }
            Ok(most)
        }
        Kind::And(parts) => fold(parts, evaluator, f64::max),
        Kind::Or(parts) => fold(parts, evaluator, f64::min),
        Kind::Not(part) => Ok(-excess(part, evaluator)?),
        _ => truth(node, evaluator),
    }
}

/// Joins the excesses of parts. A part that cannot be computed does not count: an earlier one may
/// guard it.
fn fold(parts: &[Node], evaluator: &mut Evaluator<'_>, join: fn(f64, f64) -> f64) -> Result<f64, ExprError> {
    let all: Vec<Result<f64, ExprError>> = parts.iter().map(|part| excess(part, evaluator)).collect();
    let known = all.iter().filter_map(|excess| excess.as_ref().ok()).copied().reduce(join);
    known.map_or_else(|| all.into_iter().next().unwrap_or(Ok(0.0)), Ok)
}

fn truth(node: &Node, evaluator: &mut Evaluator<'_>) -> Result<f64, ExprError> {
    Ok(if evaluator.evaluate(node)?.truthy() { -1.0 } else { 1.0 })
}

fn is_order(op: CompareOp) -> bool {
    matches!(op, CompareOp::Less | CompareOp::LessEqual | CompareOp::Greater | CompareOp::GreaterEqual)
}

fn float(datum: &Datum) -> Option<f64> {
    match datum {
        Datum::Int(int) => Some(*int as f64),
        Datum::Float(float) => Some(*float),
        Datum::Bool(truth) => Some(f64::from(u8::from(*truth))),
        Datum::Str(_) | Datum::List(_) => None,
    }
}

/// Returns how far `a` is above `b`.
fn apart(a: f64, b: f64) -> f64 {
    if a > 0.0 && b > 0.0 {
        return (a / b).ln();
    }
    let size = a.abs() + b.abs();
    if size > 0.0 { (a - b) / size } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excess(text: &str, x: f64) -> f64 {
        let scope = |name: &str| (name == "x").then_some(Value::Float(x));
        Expr::parse(text).unwrap().excess(&scope).unwrap()
    }

    #[test]
    fn a_bound_is_as_far_as_the_ratio_says() {
        assert_eq!(excess("x <= 2", 4.0), 2f64.ln());
        assert_eq!(excess("x <= 2", 1.0), -2f64.ln());
        assert_eq!(excess("1 < x < 4", 8.0), 2f64.ln());
        assert_eq!(excess("x >= 0", -3.0), 1.0);
        assert_eq!(excess("x > 1 and x < 8", 2.0), -2f64.ln());
        assert_eq!(excess("x < 1 or x > 8", 2.0), 2f64.ln());
        assert_eq!(excess("not x > 2", 8.0), 4f64.ln());
        assert_eq!((excess("x == 3", 3.0), excess("x == 3", 4.0)), (-1.0, 1.0));
    }

    #[test]
    fn the_sign_is_the_truth_even_at_the_bound() {
        for text in ["x < 3", "x <= 3", "not x < 3", "x > 2 and x < 3", "x < 3 or x == 4", "x * x >= 9"] {
            for x in [2.0, 2.5, 3.0, 3.5, 4.0] {
                let scope = |_: &str| Some(Value::Float(x));
                let holds = Expr::parse(text).unwrap().evaluate(&scope).unwrap() == Value::Bool(true);
                assert_eq!(excess(text, x) <= 0.0, holds, "{text} at {x}");
            }
        }
    }
}
