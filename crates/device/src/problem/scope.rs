//! The values of the names in templates and expressions.

use tunesmith_space::{ConfigId, Expr, ExprError, Space, Value, closest};

/// The values of the parameters and sizes of one configuration, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    entries: Vec<(String, Value)>,
}

impl Scope {
    /// Makes a scope of `entries`, in the order in which a kernel gets them.
    pub fn new(entries: impl IntoIterator<Item = (String, Value)>) -> Self {
        Self { entries: entries.into_iter().collect() }
    }

    /// Makes a scope of the sizes and then the parameters of a configuration.
    pub fn of(sizes: &[(String, Value)], space: &Space, config: ConfigId) -> Self {
        let configuration = space.unrank(config);
        let parameters = space.values(&configuration).map(|(name, value)| (name.to_owned(), value.clone()));
        Self::new(sizes.iter().cloned().chain(parameters))
    }

    /// Makes a scope of the sizes and the parameters of the first configuration, where there is
    /// one: for what depends on names alone.
    pub(crate) fn example(sizes: &[(String, Value)], space: &Space) -> Self {
        match space.id(0) {
            Some(first) => Self::of(sizes, space, first),
            None => Self::new(sizes.iter().cloned()),
        }
    }

    /// Returns the value of `name`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.entries.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the value of `expr` here.
    ///
    /// # Errors
    /// As [`Expr::evaluate`].
    pub fn evaluate(&self, expr: &Expr) -> Result<Value, ExprError> {
        expr.evaluate(&|name| self.get(name).cloned())
    }

    /// Returns the known name that `name` is most likely meant to be.
    pub(crate) fn similar(&self, name: &str) -> Option<String> {
        closest(name, self.iter().map(|(known, _)| known)).map(str::to_owned)
    }
}
