//! The values of names in templates and expressions.

use tunesmith_power::Knob;
use tunesmith_space::{ConfigId, Expr, ExprError, Space, Value, closest};

/// The parameters and sizes of one configuration: names and values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    entries: Vec<(String, Value)>,
}

impl Scope {
    /// Creates a scope of `entries`. A kernel gets them in this order.
    pub fn new(entries: impl IntoIterator<Item = (String, Value)>) -> Self {
        Self { entries: entries.into_iter().collect() }
    }

    /// Creates a scope of the sizes followed by the parameters of a configuration.
    pub fn of(sizes: &[(String, Value)], space: &Space, config: ConfigId) -> Self {
        let configuration = space.unrank(config);
        let parameters = space.values(&configuration).map(|(name, value)| (name.to_owned(), value.clone()));
        Self::new(sizes.iter().cloned().chain(parameters))
    }

    /// Creates a scope of the sizes and the parameters of the first configuration, if the space has
    /// one. Serves checks that depend on names alone.
    pub fn example(sizes: &[(String, Value)], space: &Space) -> Self {
        match space.id(0) {
            Some(first) => Self::of(sizes, space, first),
            None => Self::new(sizes.iter().cloned()),
        }
    }

    /// Returns the value of `name`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.entries.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Returns names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the scope with another value of `name`.
    pub fn with(&self, name: &str, value: &Value) -> Self {
        let entry =
            |(known, old): &(String, Value)| (known.clone(), if known == name { value.clone() } else { old.clone() });
        Self { entries: self.entries.iter().map(entry).collect() }
    }

    /// Returns the scope without the settings of the device.
    pub fn without(mut self, knobs: &[Knob]) -> Self {
        self.entries.retain(|(name, _)| !knobs.iter().any(|knob| knob.name() == name));
        self
    }

    /// Evaluates `expr` in this scope.
    ///
    /// # Errors
    /// See [`Expr::evaluate`].
    pub fn evaluate(&self, expr: &Expr) -> Result<Value, ExprError> {
        expr.evaluate(&|name| self.get(name).cloned())
    }

    /// Returns the known name that is most similar to `name`.
    pub fn similar(&self, name: &str) -> Option<String> {
        closest(name, self.iter().map(|(known, _)| known)).map(str::to_owned)
    }
}
