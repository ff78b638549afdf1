//! Constraints.

use std::sync::Arc;

use crate::expr::{Closure, Expr, ExprError, Kind};
use crate::value::Value;

/// A named condition on configurations. A configuration is valid if the expressions of all
/// constraints are true on it, in Python's sense.
///
/// A constraint is split at `and` and at chained comparisons. All parts of all constraints have
/// equal standing: a configuration that one part excludes is excluded, whatever the others give. If
/// a part cannot be evaluated (because of a division by zero, say) on a configuration that no other
/// part excludes, building the space fails. Within a part, `or` and `a if c else b` evaluate only
/// the operands that Python evaluates.
///
/// A constraint that names no parameter is constant: it excludes every configuration or none.
#[derive(Clone, Debug)]
pub struct Constraint {
    name: String,
    expr: Expr,
}

impl Constraint {
    /// Returns a constraint with the name `name`. Messages use this name.
    pub fn new(name: impl Into<String>, expr: Expr) -> Constraint {
        Constraint { name: name.into(), expr }
    }

    /// Returns a constraint with its own text as its name.
    ///
    /// # Errors
    /// The text is not an expression.
    pub fn parse(text: &str) -> Result<Constraint, ExprError> {
        Ok(Constraint::new(text, Expr::parse(text)?))
    }

    /// Returns a constraint that calls a function of the program. `test` receives the values of the
    /// parameters and constants named in `scope`, in that order, and returns true to allow them. It
    /// must be pure: equal values give equal answers.
    ///
    /// Only the parameters in `scope` are joined into a group. The crate cannot see inside the
    /// function. When the last parameter of `scope` gets its value, the function is called once for
    /// each combination that the other constraints have left. Prefer expressions and
    /// [aliases](crate::alias) where they can say the same.
    ///
    /// `name` and `version` stand for the function in a [stored](crate::Space#storing) space.
    /// Change the version when the function changes.
    ///
    /// ```
    /// use tunesmith_space::{Constraint, Parameter, Space, Value, Values};
    ///
    /// let fits = Constraint::closure("tile is square", 1, &["X", "Y"], |values| values[0] == values[1]);
    /// let space = Space::builder()
    ///     .parameter(Parameter::new("X", Values::list([1, 2, 4]))?)
    ///     .parameter(Parameter::new("Y", Values::list([2, 4, 8]))?)
    ///     .constraint(fits)
    ///     .build()?;
    /// assert_eq!(space.len(), Some(2));
    /// # Ok::<(), tunesmith_space::SpaceError>(())
    /// ```
    pub fn closure(
        name: impl Into<String>,
        version: u32,
        scope: &[&str],
        test: impl Fn(&[Value]) -> bool + Send + Sync + 'static,
    ) -> Constraint {
        let name = name.into();
        let closure = Closure::new(name.clone(), version, Arc::new(test));
        Constraint { name, expr: Expr::closure(closure, scope) }
    }

    /// Returns the version of a closure, or `None` for an expression.
    pub fn closure_version(&self) -> Option<u32> {
        match &self.expr.root().kind {
            Kind::Closure(closure, _) => Some(closure.version),
            _ => None,
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the expression.
    pub fn expr(&self) -> &Expr {
        &self.expr
    }
}
