//! Values of a problem's document with their places. TOML and code are both read into this form
//! first.

use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use tunesmith_space::Value;

/// A value with the bytes of the text it came from.
#[derive(Clone, Debug)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) span: Range<usize>,
}

/// A value of a document.
pub(crate) type Item = Located<Content>;

/// The kinds of values in a document.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// A number, truth value or string.
    Scalar(Value),
    /// A list.
    List(Vec<Item>),
    /// Keys with values.
    Table(Table),
    /// A value that no key takes, with the name of its type: a date, or a number beyond 64 bits.
    Other(&'static str),
}

/// Keys with values, in the order of the document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) entries: Vec<(Located<String>, Item)>,
}

impl Item {
    /// Returns a number, truth value or string.
    pub(crate) fn scalar(value: impl Into<Value>, span: Range<usize>) -> Self {
        Self { value: Content::Scalar(value.into()), span }
    }

    /// Returns a list.
    pub(crate) fn list(items: Vec<Self>, span: Range<usize>) -> Self {
        Self { value: Content::List(items), span }
    }

    /// Returns a table.
    pub(crate) fn table(entries: Vec<(Located<String>, Self)>, span: Range<usize>) -> Self {
        Self { value: Content::Table(Table { entries }), span }
    }
}

impl Item {
    /// Returns true if the value is a list with a floating-point number.
    pub(crate) fn has_floats(&self) -> bool {
        let Content::List(items) = &self.value else { return false };
        items.iter().any(|item| matches!(item.value, Content::Scalar(Value::Float(_))))
    }

    /// Returns the number of elements of a list.
    pub(crate) fn extents(&self) -> usize {
        if let Content::List(items) = &self.value { items.len() } else { 1 }
    }

    /// Returns a list with ones behind its own elements, `length` in all.
    pub(crate) fn padded(&self, length: usize) -> Self {
        let Content::List(items) = &self.value else { return self.clone() };
        let ones = (items.len()..length).map(|_| Self::scalar(1, self.span.clone()));
        Self::list(items.iter().cloned().chain(ones).collect(), self.span.clone())
    }
}

impl Content {
    /// Returns TOML's name of the type.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Scalar(Value::Int(_)) => "integer",
            Self::Scalar(Value::Float(_)) => "float",
            Self::Scalar(Value::Bool(_)) => "boolean",
            Self::Scalar(Value::Str(_)) => "string",
            Self::List(_) => "array",
            Self::Table(_) => "table",
            Self::Other(name) => name,
        }
    }

    /// Converts a value from TOML.
    fn of_toml(value: &DeValue<'_>) -> Self {
        match value {
            DeValue::Array(items) => Self::List(items.iter().map(item_of_toml).collect()),
            DeValue::Table(table) => Self::Table(Table::of_toml(table)),
            _ => scalar_of_toml(value).map_or(Self::Other(value.type_str()), Self::Scalar),
        }
    }
}

impl Table {
    /// Converts a table from TOML.
    pub(crate) fn of_toml(table: &DeTable<'_>) -> Self {
        let entry = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
            (Located { value: key.get_ref().to_string(), span: key.span() }, item_of_toml(value))
        };
        Self { entries: table.iter().map(entry).collect() }
    }

    /// Returns the value of `key`.
    pub(crate) fn get(&self, key: &str) -> Option<&Item> {
        self.entries.iter().find(|(known, _)| known.value == key).map(|(_, item)| item)
    }
}

fn item_of_toml(value: &Spanned<DeValue<'_>>) -> Item {
    Item { value: Content::of_toml(value.get_ref()), span: value.span() }
}

fn scalar_of_toml(value: &DeValue<'_>) -> Option<Value> {
    match value {
        DeValue::Integer(integer) => {
            let digits = integer.as_str().replace('_', "");
            i64::from_str_radix(&digits, integer.radix()).ok().map(Value::Int)
        }
        DeValue::Float(float) => float.as_str().replace('_', "").parse().ok().map(Value::Float),
        DeValue::Boolean(truth) => Some(Value::Bool(*truth)),
        DeValue::String(text) => Some(Value::Str(text.as_ref().into())),
        _ => None,
    }
}
