//! Constraints.

use crate::expr::{Expr, ExprError};

/// A named condition on configurations; those for which its expression is true, in Python's sense, are valid.
///
/// A constraint is split at `and` and at chained comparisons, and all parts of all constraints stand side by side: a
/// configuration that one part excludes is excluded, whatever the others give. A part that cannot be evaluated (a
/// division by zero, say) on a configuration that no other part excludes is an error of the space. Within a part,
/// `or` and `a if c else b` evaluate only what Python evaluates.
///
/// A constraint that names no parameter is constant: it removes everything or nothing.
#[derive(Clone, Debug)]
pub struct Constraint {
    name: String,
    expr: Expr,
}

impl Constraint {
    /// A constraint that messages call `name`.
    pub fn new(name: impl Into<String>, expr: Expr) -> Constraint {
        Constraint { name: name.into(), expr }
    }

    /// A constraint that is called by its own text.
    ///
    /// # Errors
    /// The text is no expression.
    pub fn parse(text: &str) -> Result<Constraint, ExprError> {
        Ok(Constraint::new(text, Expr::parse(text)?))
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The expression.
    pub fn expr(&self) -> &Expr {
        &self.expr
    }
}
