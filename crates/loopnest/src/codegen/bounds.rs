//! Writes bounds of loops and conditions of work-items.

use super::names::Names;
use crate::ir::{Affine, Bound, Loop, LoopId};

impl Names<'_> {
    /// Writes the conditions as `if (...)`. Returns `None` if there are none.
    pub(super) fn test(&self, conditions: &[Affine]) -> Option<String> {
        let tests: Vec<String> = conditions.iter().map(|sum| format!("{} >= 0", self.sum(sum))).collect();
        (!tests.is_empty()).then(|| format!("if ({})", tests.join(" && ")))
    }

    /// Returns the condition that guards a loop with looked-up bounds. Without it, work-items
    /// beyond the last one would look outside the array.
    pub(super) fn loop_guard(&self, id: LoopId) -> Option<String> {
        self.test(&self.known.guard(id))
    }

    /// Writes `for (...)` over every index of a loop.
    pub(super) fn loop_head(&self, id: LoopId) -> String {
        let needed = Loop { constraints: self.known.loop_bounds(id), ..self.known.nest.loop_at(id).clone() };
        self.head(&self.index(id), &needed.lower(id), &needed.upper(id))
    }

    /// Writes `for (int index = the greatest of lower; index <= the least of upper; index++)`.
    pub(super) fn head(&self, index: &str, lower: &[Bound], upper: &[Bound]) -> String {
        let low: Vec<String> = lower.iter().map(|bound| self.ceiling(bound)).collect();
        let (low, high) = (joined("nest_max", low, lower), self.least(upper));
        format!("for (int {index} = {low}; {index} <= {high}; {index}++)")
    }

    /// Returns the least of upper bounds.
    pub(super) fn least(&self, upper: &[Bound]) -> String {
        joined("nest_min", upper.iter().map(|bound| self.floor(bound)).collect(), upper)
    }

    fn floor(&self, bound: &Bound) -> String {
        match (bound.divisor, bound.numerator.as_constant()) {
            (1, _) => self.sum(&bound.numerator),
            (divisor, Some(number)) => number.div_euclid(divisor).to_string(),
            (divisor, None) => format!("nest_floor({}, {divisor})", self.sum(&bound.numerator)),
        }
    }

    fn ceiling(&self, bound: &Bound) -> String {
        match (bound.divisor, bound.numerator.as_constant()) {
            (1, _) => self.sum(&bound.numerator),
            (divisor, Some(number)) => (-(-number).div_euclid(divisor)).to_string(),
            (divisor, None) => format!("-nest_floor({}, {divisor})", self.sum(&-&bound.numerator)),
        }
    }
}

/// Joins bounds with a function of two arguments. The constants among them become one.
fn joined(function: &str, texts: Vec<String>, bounds: &[Bound]) -> String {
    let constant = |(text, bound): (&String, &Bound)| bound.numerator.as_constant().and(text.parse::<i128>().ok());
    let constants = texts.iter().zip(bounds).filter_map(constant);
    let tightest = if function == "nest_max" { constants.max() } else { constants.min() };
    let others = texts.iter().zip(bounds).filter(|(_, bound)| bound.numerator.as_constant().is_none());
    let all = others.map(|(text, _)| text.clone()).chain(tightest.map(|number| number.to_string()));
    all.reduce(|one, other| format!("{function}({one}, {other})")).unwrap_or_else(|| "0".to_string())
}
