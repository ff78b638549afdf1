//! Typed access to a document. Reports faults with their places.

use super::item::{Content, Item, Table};
use std::fmt::Display;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;
use std::time::Duration;
use tunesmith_core::{LONGEST, stated_seconds};
use tunesmith_space::{Expr, Value, did_you_mean};
use tunesmith_spec::{Key, Located, Messages};

/// A table of the document with the part of the problem that it states.
#[derive(Clone)]
pub(crate) struct Section<'a> {
    pub(crate) key: Key,
    pub(crate) span: Range<usize>,
    table: &'a Table,
    messages: &'a Messages,
    /// The section whose values stand in for missing ones.
    defaults: Option<Box<Section<'a>>>,
}

/// A value of the document with the part of the problem that it states.
#[derive(Clone)]
pub(crate) struct Node<'a> {
    pub(crate) key: Key,
    item: &'a Item,
    messages: &'a Messages,
}

impl<'a> Section<'a> {
    pub(crate) fn root(table: &'a Table, messages: &'a Messages) -> Self {
        Self { key: Key::default(), span: 0..0, table, messages, defaults: None }
    }

    /// Returns the section with the values of `defaults` for keys that it lacks. Only
    /// [`get`](Self::get) and [`require`](Self::require) see them.
    pub(crate) fn with_defaults(self, defaults: &Section<'a>) -> Self {
        Self { defaults: Some(Box::new(defaults.clone())), ..self }
    }

    /// Reports every key that is not one of `keys`.
    pub(crate) fn allow(&self, keys: &[&str]) {
        for (key, _) in self.table.entries.iter().filter(|(key, _)| !keys.contains(&key.value.as_str())) {
            let unknown = key.value.as_str();
            let name = self.key.name();
            let place = if name.is_empty() { "the file".to_string() } else { format!("`{name}`") };
            let remedy = did_you_mean(unknown, keys.iter().copied())
                .unwrap_or_else(|| format!("{place} may have {}", keys.join(", ")));
            self.messages.error(key.span.clone(), format!("{place} has no `{unknown}`"), Some(remedy));
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<Node<'a>> {
        self.own(key).or_else(|| self.defaults.as_ref()?.get(key))
    }

    /// Returns the value that the section itself has for `key`, whatever the defaults say.
    pub(crate) fn own(&self, key: &str) -> Option<Node<'a>> {
        self.table.get(key).map(|item| Node { key: self.key.field(key), item, messages: self.messages })
    }

    /// Returns every value of `key`: those of the defaults, outermost first, and the section's own.
    pub(crate) fn layers(&self, key: &str) -> Vec<Node<'a>> {
        let mut layers = self.defaults.as_ref().map(|outer| outer.layers(key)).unwrap_or_default();
        layers.extend(self.own(key));
        layers
    }

    /// Returns the value of `key`. Reports an error if it is missing.
    pub(crate) fn require(&self, key: &str, example: &str) -> Option<Node<'a>> {
        let node = self.get(key);
        if node.is_none() {
            let text = format!("`{}` is missing", self.key.field(key).name());
            self.messages.error(self.span.clone(), text, Some(format!("write `{example}`")));
        }
        node
    }

    /// Returns all keys and values, in the order of the file.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Located<&'a str>, Node<'a>)> + '_ {
        self.table.entries.iter().map(|(key, item)| {
            let node = Node { key: self.key.field(&key.value), item, messages: self.messages };
            (Located { value: key.value.as_str(), span: key.span.clone() }, node)
        })
    }
}

impl<'a> Node<'a> {
    /// Returns true if the value is a list.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self.item.value, Content::List(_))
    }

    /// Returns true if the value is a table.
    pub(crate) fn is_table(&self) -> bool {
        matches!(self.item.value, Content::Table(_))
    }

    /// Returns the name for messages.
    pub(crate) fn name(&self) -> String {
        self.key.name()
    }

    pub(crate) fn span(&self) -> Range<usize> {
        self.item.span.clone()
    }

    pub(crate) fn error(&self, text: impl Into<String>, remedy: Option<String>) {
        self.messages.error(self.span(), text, remedy);
    }

    fn wrong_type(&self, wanted: &str) {
        let found = self.item.value.type_name();
        self.error(format!("`{}` must be {wanted}, not a {found}", self.name()), None);
    }

    pub(crate) fn section(&self) -> Option<Section<'a>> {
        match &self.item.value {
            Content::Table(table) => Some(Section {
                key: self.key.clone(),
                span: self.span(),
                table,
                messages: self.messages,
                defaults: None,
            }),
            _ => {
                self.wrong_type("a table");
                None
            }
        }
    }

    pub(crate) fn string(&self) -> Option<&'a str> {
        if let Content::Scalar(Value::Str(text)) = &self.item.value {
            return Some(text);
        }
        self.wrong_type("a string");
        None
    }

    /// Parses a string. Reports an error with the advice that `remedy` gives for it.
    pub(crate) fn parsed<T: FromStr<Err: Display>>(&self, remedy: fn(&T::Err) -> Option<&str>) -> Option<T> {
        let parsed = self.string()?.parse::<T>();
        parsed.map_err(|error: T::Err| self.error(error.to_string(), remedy(&error).map(str::to_string))).ok()
    }

    pub(crate) fn number(&self) -> Option<f64> {
        let number = match self.scalar() {
            Some(Value::Int(number)) => Some(number as f64),
            Some(Value::Float(number)) => Some(number),
            _ => None,
        };
        if number.is_none() {
            self.wrong_type("a number");
        }
        number
    }

    pub(crate) fn count(&self) -> Option<u64> {
        let count = self.scalar().and_then(|value| value.as_int()).and_then(|count| u64::try_from(count).ok());
        if count.is_none() {
            self.error(format!("`{}` must be a whole number of at least 0", self.name()), None);
        }
        count
    }

    /// Returns a whole number within `bounds`.
    pub(crate) fn whole(&self, bounds: RangeInclusive<usize>) -> Option<usize> {
        let whole = self.scalar().and_then(|value| value.as_int()).and_then(|number| usize::try_from(number).ok());
        let whole = whole.filter(|number| bounds.contains(number));
        if whole.is_none() {
            let (least, most) = (bounds.start(), bounds.end());
            self.error(format!("`{}` must be a whole number from {least} to {most}", self.name()), None);
        }
        whole
    }

    /// Returns a number above 0 and at most `most`.
    pub(crate) fn positive(&self, most: f64) -> Option<f64> {
        let number = self.number()?;
        if number > 0.0 && number <= most {
            return Some(number);
        }
        self.error(format!("`{}` must be above 0 and at most {most}", self.name()), None);
        None
    }

    /// Returns a time that is written as a number of seconds above 0.
    pub(crate) fn seconds(&self) -> Option<Duration> {
        stated_seconds(self.positive(LONGEST.as_secs_f64())?)
    }

    pub(crate) fn truth(&self) -> Option<bool> {
        if let Content::Scalar(Value::Bool(truth)) = &self.item.value {
            return Some(*truth);
        }
        self.wrong_type("true or false");
        None
    }

    /// Returns the elements of a list. A lone value counts as a list of one.
    pub(crate) fn items(&self) -> Vec<Node<'a>> {
        let node = |(at, item)| Node { key: self.key.at(at), item, messages: self.messages };
        match &self.item.value {
            Content::List(items) => items.iter().enumerate().map(node).collect(),
            _ => vec![Node { key: self.key.at(0), ..self.clone() }],
        }
    }

    /// Returns the strings of a list. Reports elements that are not strings.
    pub(crate) fn strings(&self) -> Vec<Located<&'a str>> {
        let text = |node: Node<'a>| Some(Located { value: node.string()?, span: node.span() });
        self.items().into_iter().filter_map(text).collect()
    }

    /// Returns a string. Returns `None` for anything else, without a report.
    pub(crate) fn text(&self) -> Option<&'a str> {
        if let Content::Scalar(Value::Str(text)) = &self.item.value { Some(text) } else { None }
    }

    /// Returns a number, truth value or string. Returns `None` for anything else, without a report.
    pub(crate) fn scalar(&self) -> Option<Value> {
        if let Content::Scalar(value) = &self.item.value { Some(value.clone()) } else { None }
    }

    /// Returns a number, truth value or string. Reports anything else.
    pub(crate) fn required_scalar(&self) -> Option<Value> {
        let value = self.scalar();
        match &value {
            Some(Value::Float(number)) if !number.is_finite() => {
                self.error(format!("`{}` must be finite", self.name()), None);
                None
            }
            Some(_) => value,
            None => {
                self.wrong_type("a number within 64 bits, a string or a truth value");
                None
            }
        }
    }

    /// Returns an expression: a string that holds one, or a plain number.
    pub(crate) fn expression(&self) -> Option<Located<Expr>> {
        let text = match self.scalar() {
            Some(Value::Str(text)) => text.to_string(),
            Some(Value::Int(number)) => number.to_string(),
            Some(Value::Float(number)) => Value::Float(number).to_string(),
            _ => {
                self.wrong_type("an expression");
                return None;
            }
        };
        match Expr::parse(&text) {
            Ok(value) => Some(Located { value, span: self.span() }),
            Err(error) => {
                self.messages.expression(&self.span(), &text, &error);
                None
            }
        }
    }
}
