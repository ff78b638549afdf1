//! A limit on what is measured, as a problem states it.

use tunesmith_space::Expr;

/// A named condition over measured values.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Its name.
    pub name: String,
    /// The condition, over parameters, sizes, metrics, and what a run measures.
    pub condition: Expr,
}

impl Limit {
    /// Returns the first line of messages about configurations that break it. It has no number of a
    /// configuration, so that summaries can count it.
    pub fn headline(&self) -> String {
        format!("`{}` ({})", self.name, self.condition.text())
    }
}
