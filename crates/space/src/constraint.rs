//! Constraints.

use std::sync::Arc;

use crate::expr::{Closure, Expr, ExprError, Kind};
use crate::value::Value;

/// A named condition on configurations; those for which its expression is true, in Python's sense,
/// are valid.
///
/// A constraint is split at `and` and at chained comparisons, and all parts of all constraints
/// stand side by side: a configuration that one part excludes is excluded, whatever the others
/// give. A part that cannot be evaluated (a division by zero, say) on a configuration that no other
/// part excludes is an error of the space. Within a part, `or` and `a if c else b` evaluate only
/// what Python evaluates.
///
/// A constraint that names no parameter is constant: it removes everything or nothing.
#[derive(Clone, Debug)]
pub struct Constraint {
    name: String,
    expr: Expr,
}

impl Constraint {
    /// Returns a constraint that messages call `name`.
    pub fn new(name: impl Into<String>, expr: Expr) -> Constraint {
        Constraint { name: name.into(), expr }
    }

    /// Returns a constraint that is called by its own text.
    ///
    /// # Errors
    /// The text is no expression.
    pub fn parse(text: &str) -> Result<Constraint, ExprError> {
        Ok(Constraint::new(text, Expr::parse(text)?))
    }

    /// Returns a constraint that is a function of the program: `test` gets the values of the
    /// parameters and constants named in `scope`, in that order, and says whether they are allowed.
    /// It must be pure: equal values, equal answer.
    ///
    /// Only the parameters in `scope` are joined. Since nothing can be seen inside of a function it
    /// is called once for each combination of them that the other constraints have left when the
    /// last of them gets its value: prefer expressions and [aliases](crate::alias) where they can
    /// say the same. `name` and `version` stand for the function where a space is
    /// [stored](crate::Space#storing); change the version when the function changes.
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

    /// Returns the version of a closure; `None` for an expression.
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
