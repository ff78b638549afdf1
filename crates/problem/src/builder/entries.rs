//! Values of a document built in code, and the text that messages show for them.

use crate::diagnostic::Call;
use crate::item::{Content, Item, Located, Table};
use std::fmt::Write as _;
use std::io;
use std::ops::Range;
use std::path::Path;
use tunesmith_space::Value;

/// Keys with values that have no places yet.
#[derive(Debug, Default)]
pub(super) struct Entries(Vec<(String, Item)>);

/// Returns a value that has no place yet.
pub(super) fn value(value: impl Into<Value>) -> Item {
    Located { value: Content::Scalar(value.into()), span: 0..0 }
}

/// Returns a text that has no place yet.
pub(super) fn text(text: &str) -> Item {
    value(text)
}

/// Returns a path as a value of a document.
///
/// # Errors
/// The path is no text, as all values of documents are ([`io::ErrorKind::InvalidInput`]).
pub(super) fn path_value(path: &Path) -> io::Result<Value> {
    let no_text = || io::Error::new(io::ErrorKind::InvalidInput, format!("`{}` is not UTF-8", path.display()));
    path.to_str().map(Value::from).ok_or_else(no_text)
}

/// Returns a list that has no place yet.
pub(super) fn list(values: impl IntoIterator<Item = Value>) -> Item {
    Located { value: Content::List(values.into_iter().map(value).collect()), span: 0..0 }
}

impl Entries {
    /// Adds `key` if it has a value.
    pub(super) fn some(&mut self, key: &str, item: Option<Item>) {
        self.0.extend(item.map(|item| (key.to_string(), item)));
    }

    /// Returns a table of all keys that has no place yet.
    pub(super) fn into_table(self) -> Item {
        let entries = self.0.into_iter().map(|(key, item)| (Located { value: key, span: 0..0 }, item));
        Located { value: Content::Table(Table { entries: entries.collect() }), span: 0..0 }
    }
}

/// The calls of a builder as text, one on a line. Places of the document point into this text.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) text: String,
    /// The places of the calls, with their names for messages.
    pub(super) calls: Vec<Call>,
}

impl Listing {
    /// Writes the call `method(key, item)`. Returns the key and the item with their places.
    pub(super) fn pair(&mut self, method: &str, key: &str, item: Item) -> (Located<String>, Item) {
        self.call(method, key, |listing| {
            let span = listing.write(&format!("{key:?}"));
            listing.text.push_str(", ");
            (Located { value: key.to_string(), span }, listing.item(item))
        })
    }

    /// Writes the call `method(label, entries)`. Returns the table of the entries with its places.
    /// The value of the first entry is the label, so that its key is not written.
    pub(super) fn table(&mut self, method: &str, label: &str, entries: Entries) -> Item {
        self.call(method, label, |listing| listing.entries(entries, false))
    }

    /// Writes the call `method(entries)`. Returns the table of the entries with its places.
    pub(super) fn named(&mut self, method: &str, entries: Entries) -> Item {
        self.call(method, "", |listing| listing.entries(entries, true))
    }

    /// Writes the call `method(item)`. Returns the value with its place.
    pub(super) fn single(&mut self, method: &str, item: Item) -> Item {
        self.call(method, "", |listing| listing.item(item))
    }

    fn call<T>(&mut self, method: &str, label: &str, arguments: impl FnOnce(&mut Self) -> T) -> T {
        let start = self.write(&format!("    .{method}(")).start;
        let result = arguments(self);
        self.text.push_str(")\n");
        let label = if label.is_empty() { String::new() } else { format!("{label:?}") };
        self.calls.push((start..self.text.len(), format!(".{method}({label})")));
        result
    }

    fn entries(&mut self, entries: Entries, names_first: bool) -> Item {
        let start = self.text.len();
        let mut table = Table::default();
        for (index, (key, item)) in entries.0.into_iter().enumerate() {
            self.text.push_str(if index == 0 { "" } else { ", " });
            let named = index > 0 || names_first;
            let span = self.write(if named { &key } else { "" });
            self.text.push_str(if named { " = " } else { "" });
            table.entries.push((Located { value: key, span }, self.item(item)));
        }
        Located { value: Content::Table(table), span: start..self.text.len() }
    }

    fn item(&mut self, item: Item) -> Item {
        let start = self.text.len();
        let content = match item.value {
            Content::List(items) => {
                self.text.push('[');
                let items = items.into_iter().enumerate().map(|(index, item)| {
                    self.text.push_str(if index == 0 { "" } else { ", " });
                    self.item(item)
                });
                let items = items.collect();
                self.text.push(']');
                Content::List(items)
            }
            Content::Scalar(Value::Str(text)) => {
                let _ = write!(self.text, "\"{text}\""); // cannot fail
                Content::Scalar(Value::Str(text))
            }
            Content::Scalar(value) => {
                let _ = write!(self.text, "{value}"); // cannot fail
                Content::Scalar(value)
            }
            Content::Table(table) => {
                self.text.push_str("{ ");
                let entries = table.entries.into_iter().enumerate().map(|(index, (key, item))| {
                    self.text.push_str(if index == 0 { "" } else { ", " });
                    let span = self.write(&key.value);
                    self.text.push_str(" = ");
                    (Located { value: key.value, span }, self.item(item))
                });
                let table = Table { entries: entries.collect() };
                self.text.push_str(" }");
                Content::Table(table)
            }
            other => other,
        };
        Located { value: content, span: start..self.text.len() }
    }

    fn write(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        start..self.text.len()
    }
}
