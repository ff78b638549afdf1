//! Values of a problem's document with their places.

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use tunesmith_space::Value;
use tunesmith_spec::Located;

/// A value of a document.
pub(super) type Item = Located<Content>;

/// The kinds of values in a document.
#[derive(Clone, Debug)]
pub(super) enum Content {
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
pub(super) struct Table {
    pub(super) entries: Vec<(Located<String>, Item)>,
}

impl Content {
    /// Returns TOML's name of the type.
    pub(super) fn type_name(&self) -> &'static str {
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
    pub(super) fn of_toml(table: &DeTable<'_>) -> Self {
        let entry = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
            (Located { value: key.get_ref().to_string(), span: key.span() }, item_of_toml(value))
        };
        Self { entries: table.iter().map(entry).collect() }
    }

    /// Returns the value of `key`.
    pub(super) fn get(&self, key: &str) -> Option<&Item> {
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
