//! JSON documents with places. serde_json reads the values but not their places.

use serde_json::Value as Json;
use std::borrow::Cow;
use std::ops::Range;
use tunesmith_space::Value;

/// A value of the document, with the bytes of the file that it is written in.
#[derive(Clone, Debug)]
pub(super) struct Item<'a> {
    /// The value.
    pub(super) json: &'a Json,
    /// Its place.
    pub(super) span: Range<usize>,
    text: &'a str,
}

impl<'a> Item<'a> {
    /// Returns the whole of `text`, whose value is `json`.
    pub(super) fn root(json: &'a Json, text: &'a str) -> Self {
        let start = skip_space(text.as_bytes(), 0);
        Self { json, span: start..end_of(text.as_bytes(), start), text }
    }

    /// Returns the value of `key`. `None` if it is missing or `null`.
    pub(super) fn get(&self, key: &str) -> Option<Item<'a>> {
        let json = self.json.get(key).filter(|json| !json.is_null())?;
        let member = self.members().into_iter().find(|(name, _)| self.key(name) == key);
        Some(Item { json, span: member.map_or_else(|| self.span.clone(), |(_, value)| value), text: self.text })
    }

    /// Returns the keys with their places.
    pub(super) fn keys(&self) -> Vec<(Cow<'a, str>, Range<usize>)> {
        self.members().into_iter().map(|(name, _)| (self.key(&name), name)).collect()
    }

    /// Returns the elements of a list. A lone value counts as a list of one.
    pub(super) fn items(&self) -> Vec<Item<'a>> {
        let Some(list) = self.json.as_array() else { return vec![self.clone()] };
        let spans = parts(self.text.as_bytes(), &self.span);
        let item = |(json, span)| Item { json, span, text: self.text };
        list.iter().zip(spans).map(item).collect()
    }

    /// Returns the text of a string.
    pub(super) fn string(&self) -> Option<&'a str> {
        self.json.as_str()
    }

    /// Returns a truth value, number or string.
    pub(super) fn scalar(&self) -> Option<Value> {
        match self.json {
            Json::Bool(truth) => Some(Value::Bool(*truth)),
            Json::Number(number) => number.as_i64().map(Value::Int).or_else(|| number.as_f64().map(Value::Float)),
            Json::String(text) => Some(Value::Str(text.as_str().into())),
            _ => None,
        }
    }

    /// Returns the text of an expression: a string that holds one, or a number as it is written.
    pub(super) fn expression(&self) -> Option<Cow<'a, str>> {
        match self.json {
            Json::String(text) => Some(Cow::Borrowed(text)),
            Json::Number(_) => Some(Cow::Borrowed(&self.text[self.span.clone()])),
            Json::Bool(truth) => Some(Cow::Borrowed(if *truth { "1" } else { "0" })),
            _ => None,
        }
    }

    fn key(&self, name: &Range<usize>) -> Cow<'a, str> {
        let written = &self.text[name.clone()];
        serde_json::from_str(written).map_or(Cow::Borrowed(written), Cow::Owned)
    }

    /// Returns the places of keys and values.
    fn members(&self) -> Vec<(Range<usize>, Range<usize>)> {
        if !self.json.is_object() {
            return Vec::new();
        }
        let parts = parts(self.text.as_bytes(), &self.span);
        parts.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
    }
}

/// Returns the places of the parts directly in the list or object at `span`. In an object, keys and
/// values take turns. The text is known to be JSON, so that commas and colons need no checks.
fn parts(bytes: &[u8], span: &Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut at = span.start + 1;
    while at + 1 < span.end {
        at = skip_space(bytes, at);
        match bytes.get(at) {
            Some(b',' | b':') => at += 1,
            None | Some(b']' | b'}') => break,
            Some(_) => {
                let end = end_of(bytes, at);
                parts.push(at..end);
                at = end;
            }
        }
    }
    parts
}

fn skip_space(bytes: &[u8], at: usize) -> usize {
    let space = bytes.iter().skip(at).take_while(|byte| byte.is_ascii_whitespace()).count();
    at + space
}

/// Returns the end of the value that starts at `at`.
fn end_of(bytes: &[u8], at: usize) -> usize {
    let (mut depth, mut at) = (0_usize, at);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at),
            b'[' | b'{' => (depth, at) = (depth + 1, at + 1),
            b']' | b'}' if depth > 0 => (depth, at) = (depth - 1, at + 1),
            b']' | b'}' => return at,
            b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => return at,
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

fn end_of_string(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#" { "a" : [1, {"b\"": "x, ]"}, -2.50e3 ],"n":null, "c":{ } , "t": true,"d":"last"}"#;

    fn written<'a>(item: &Item<'a>) -> &'a str {
        &item.text[item.span.clone()]
    }

    #[test]
    fn every_value_knows_where_it_stands() {
        let json: Json = serde_json::from_str(TEXT).unwrap();
        let root = Item::root(&json, TEXT);
        assert_eq!(written(&root), TEXT.trim());
        let items = root.get("a").unwrap().items();
        assert_eq!(items.iter().map(written).collect::<Vec<_>>(), ["1", r#"{"b\"": "x, ]"}"#, "-2.50e3"]);
        assert_eq!(written(&items[1].get("b\"").unwrap()), r#""x, ]""#);
        assert_eq!(items[2].expression().unwrap(), "-2.50e3");
        assert_eq!(written(&root.get("t").unwrap()), "true");
        assert_eq!(written(&root.get("d").unwrap()), "\"last\"");
    }

    #[test]
    fn what_is_null_is_not_there() {
        let json: Json = serde_json::from_str(TEXT).unwrap();
        let root = Item::root(&json, TEXT);
        assert!(root.get("n").is_none() && root.get("z").is_none());
        let keys: Vec<String> = root.keys().into_iter().map(|(key, _)| key.into_owned()).collect();
        assert_eq!(keys, ["a", "n", "c", "t", "d"]);
    }
}
