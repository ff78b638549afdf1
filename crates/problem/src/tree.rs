//! Typed access to a document. Reports faults with their places.

use crate::diagnostic::Messages;
pub(crate) use crate::item::Located;
use crate::item::{Content, Item, Table};
use std::collections::HashSet;
use std::fmt::Display;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;
use std::time::Duration;
use tunesmith_core::{LONGEST, stated_seconds};
use tunesmith_space::did_you_mean;
use tunesmith_space::{Expr, ExprError, Value};

/// A table of the document with its name for messages.
#[derive(Clone)]
pub(crate) struct Section<'a> {
    pub(crate) name: String,
    pub(crate) span: Range<usize>,
    table: &'a Table,
    messages: &'a Messages,
    /// The section whose values stand in for missing ones.
    defaults: Option<Box<Section<'a>>>,
}

/// A value of the document with its name for messages.
#[derive(Clone)]
pub(crate) struct Node<'a> {
    pub(crate) name: String,
    item: &'a Item,
    messages: &'a Messages,
}

impl<'a> Section<'a> {
    pub(crate) fn root(table: &'a Table, messages: &'a Messages) -> Self {
        Self { name: String::new(), span: 0..0, table, messages, defaults: None }
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
            let place = if self.name.is_empty() { "the file".to_string() } else { format!("`{}`", self.name) };
            let remedy = did_you_mean(unknown, keys.iter().copied())
                .unwrap_or_else(|| format!("{place} may have {}", keys.join(", ")));
            self.messages.error(key.span.clone(), format!("{place} has no `{unknown}`"), Some(remedy));
        }
    }

    /// Reports every key that occurs twice, here or further down. TOML has no such keys.
    pub(crate) fn refuse_twins(&self) {
        let mut seen = HashSet::new();
        for (key, node) in self.entries() {
            if !seen.insert(key.value) {
                let text = format!("`{}` is there twice", node.name);
                self.messages.error(key.span, text, Some("remove one, or give it another name".to_string()));
            }
            if let Some(section) = node.is_table().then(|| node.section()).flatten() {
                section.refuse_twins();
            }
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<Node<'a>> {
        self.own(key).or_else(|| self.defaults.as_ref()?.get(key))
    }

    /// Returns the value that the section itself has for `key`, whatever the defaults say.
    pub(crate) fn own(&self, key: &str) -> Option<Node<'a>> {
        self.table.get(key).map(|item| Node { name: self.full_name(key), item, messages: self.messages })
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
            let text = format!("`{}` is missing", self.full_name(key));
            self.messages.error(self.span.clone(), text, Some(format!("write `{example}`")));
        }
        node
    }

    /// Returns the place of the value at `path`, or the start of the file if there is none.
    pub(crate) fn place(&self, path: &[&str]) -> Range<usize> {
        let mut item = self.table.get(path[0]);
        for key in &path[1..] {
            item = item.and_then(|item| if let Content::Table(table) = &item.value { table.get(key) } else { None });
        }
        item.map_or(0..0, |item| item.span.clone())
    }

    /// Returns all keys and values, in the order of the file.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Located<&'a str>, Node<'a>)> + '_ {
        self.table.entries.iter().map(|(key, item)| {
            let node = Node { name: self.full_name(&key.value), item, messages: self.messages };
            (Located { value: key.value.as_str(), span: key.span.clone() }, node)
        })
    }

    fn full_name(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_string() } else { format!("{}.{key}", self.name) }
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

    pub(crate) fn span(&self) -> Range<usize> {
        self.item.span.clone()
    }

    pub(crate) fn error(&self, text: impl Into<String>, remedy: Option<String>) {
        self.messages.error(self.span(), text, remedy);
    }

    fn wrong_type(&self, wanted: &str) {
        let found = self.item.value.type_name();
        self.error(format!("`{}` must be {wanted}, not a {found}", self.name), None);
    }

    pub(crate) fn section(&self) -> Option<Section<'a>> {
        match &self.item.value {
            Content::Table(table) => Some(Section {
                name: self.name.clone(),
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
            self.error(format!("`{}` must be a whole number of at least 0", self.name), None);
        }
        count
    }

    /// Returns a whole number within `bounds`.
    pub(crate) fn whole(&self, bounds: RangeInclusive<usize>) -> Option<usize> {
        let whole = self.scalar().and_then(|value| value.as_int()).and_then(|number| usize::try_from(number).ok());
        let whole = whole.filter(|number| bounds.contains(number));
        if whole.is_none() {
            let (least, most) = (bounds.start(), bounds.end());
            self.error(format!("`{}` must be a whole number from {least} to {most}", self.name), None);
        }
        whole
    }

    /// Returns a number above 0 and at most `most`.
    pub(crate) fn positive(&self, most: f64) -> Option<f64> {
        let number = self.number()?;
        if number > 0.0 && number <= most {
            return Some(number);
        }
        self.error(format!("`{}` must be above 0 and at most {most}", self.name), None);
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
        let node = |item| Node { name: self.name.clone(), item, messages: self.messages };
        match &self.item.value {
            Content::List(items) => items.iter().map(node).collect(),
            _ => vec![self.clone()],
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
                self.error(format!("`{}` must be finite", self.name), None);
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
                report_expression(self.messages, &self.span(), &text, &error);
                None
            }
        }
    }
}

/// Reports an error inside the expression `text` that stands, quoted, at `span`.
pub(crate) fn report_expression(messages: &Messages, span: &Range<usize>, text: &str, error: &ExprError) {
    let place = place_inside(&messages.source.text, span, text, error.span.clone());
    messages.error(place, format!("in `{text}`: {error}"), error.remedy.clone());
}

/// Returns the bytes of the file for `inside`, a span of the expression `text`. If the file writes
/// the expression in another way (with escapes), returns all of `span`.
pub(crate) fn place_inside(source: &str, span: &Range<usize>, text: &str, inside: Range<usize>) -> Range<usize> {
    match source.get(span.clone()).and_then(|written| written.find(text)) {
        Some(offset) if !text.is_empty() => span.start + offset + inside.start..span.start + offset + inside.end,
        _ => span.clone(),
    }
}
