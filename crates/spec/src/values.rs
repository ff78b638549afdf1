//! The numbers that expressions over sizes give.

use crate::draft::{Bounds, ValuesDraft};
use crate::fault::{Faults, Key};
use tunesmith_space::{Expr, ExprError, SpaceError, Value, Values, did_you_mean, lookup};

/// The sizes of a problem, with which its expressions are evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes<'a> {
    pub(crate) sizes: &'a [(String, Value)],
    pub(crate) faults: &'a Faults,
}

impl Sizes<'_> {
    /// Returns the integer that an expression of the part `key` evaluates to. Reports any other result.
    pub(crate) fn integer(self, expr: &Expr, key: &Key) -> Option<i64> {
        let refuse = |error: ExprError| {
            let remedy = error.remedy.clone().or_else(|| self.known(expr));
            self.faults.expression(key.clone(), expr.text(), &ExprError { remedy, ..error });
        };
        expr.evaluate_int(&|name| lookup(self.sizes, name)).map_err(refuse).ok()
    }

    /// Returns the advice about a name in `expr` that is no size.
    fn known(self, expr: &Expr) -> Option<String> {
        let known = || self.sizes.iter().map(|(name, _)| name.as_str());
        let unknown = expr.names().iter().find(|name| lookup(self.sizes, &name.text).is_none())?.text.clone();
        let all = match known().collect::<Vec<_>>()[..] {
            [] => format!("write `sizes = {{ {unknown} = 1024 }}` in [problem]"),
            ref names => format!("sizes are {}; [problem] may have more", names.join(", ")),
        };
        Some(did_you_mean(&unknown, known()).unwrap_or(all))
    }

    /// Returns both ends, included, of a range of the part `key`.
    pub(crate) fn bounds(self, bounds: &Bounds, key: &Key) -> Option<(i64, i64)> {
        let first = self.integer(&bounds.first, key)?;
        Some((first, self.integer(&bounds.last, key)? - i64::from(bounds.last_is_excluded)))
    }

    /// Returns the values of the part `key`.
    pub(crate) fn values(self, values: &ValuesDraft, key: &Key) -> Option<Vec<Value>> {
        let generated = match values {
            ValuesDraft::List(values) => return Some(values.clone()),
            ValuesDraft::Range { bounds, step } => {
                let step = step.as_ref().map_or(Some(1), |step| self.integer(step, &key.field("step")))?;
                let (first, last) = self.bounds(bounds, &key.field("range"))?;
                Values::range(first, last, step)
            }
            ValuesDraft::PowersOfTwo(bounds) => {
                let (low, high) = self.bounds(bounds, &key.field("pow2"))?;
                Values::pow2(low, high)
            }
            ValuesDraft::DivisorsOf(number) => Values::divisors_of(self.integer(number, &key.field("divisors_of"))?),
        };
        generated.map_err(|error: SpaceError| self.faults.error(key.clone(), error.to_string(), None)).ok()
    }

    /// Returns true if `name` is a size. Reports it at `key` otherwise.
    pub(crate) fn knows(self, name: &str, key: Key) -> bool {
        let is_known = lookup(self.sizes, name).is_some();
        if !is_known {
            let names: Vec<&str> = self.sizes.iter().map(|(name, _)| name.as_str()).collect();
            let remedy = did_you_mean(name, names.iter().copied())
                .unwrap_or_else(|| format!("sizes are those of [problem] sizes: {}", names.join(", ")));
            self.faults.error(key, format!("the problem has no size `{name}`"), Some(remedy));
        }
        is_known
    }
}
