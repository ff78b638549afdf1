//! Values of tuning parameters and expressions.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// One value of a tuning parameter, a problem size or a device limit.
///
/// Equality, ordering and hashing are structural and total. Values of different kinds differ: `1`,
/// `1.0` and `true` are three values. Floats compare by their total order. Only
/// [expressions](crate::Expr) use Python's equality, where `1 == 1.0 == True`.
#[derive(Clone, Debug)]
pub enum Value {
    /// A whole number.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A text, such as a type name or an OpenMP schedule.
    Str(Arc<str>),
}

/// The kind of a [`Value`]. Values of different kinds are sorted in the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ValueKind {
    /// [`Value::Int`].
    Int,
    /// [`Value::Float`].
    Float,
    /// [`Value::Bool`].
    Bool,
    /// [`Value::Str`].
    Str,
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ValueKind::Int => "integer",
            ValueKind::Float => "float",
            ValueKind::Bool => "boolean",
            ValueKind::Str => "string",
        })
    }
}

impl Value {
    /// Returns a number as expressions take sizes and limits: an integer if it is whole and below
    /// 2^53, so that it divides and shifts as integers do, and else a float.
    pub fn of_number(number: f64) -> Self {
        let is_whole = number.fract() == 0.0 && number.abs() < 2f64.powi(53);
        if is_whole { Self::Int(number as i64) } else { Self::Float(number) }
    }

    /// Returns the value that a document holds, such as a scalar of JSON, or `None` for a list, an object or
    /// nothing.
    pub fn of_document<'de>(document: impl Deserializer<'de>) -> Option<Self> {
        Self::deserialize(document).ok()
    }

    /// Returns the kind of this value.
    pub fn kind(&self) -> ValueKind {
        match self {
            Value::Int(_) => ValueKind::Int,
            Value::Float(_) => ValueKind::Float,
            Value::Bool(_) => ValueKind::Bool,
            Value::Str(_) => ValueKind::Str,
        }
    }

    /// Returns the value as an integer. Booleans become 0 and 1; floats and strings give `None`.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(value) => Some(*value),
            Value::Bool(value) => Some(i64::from(*value)),
            Value::Float(_) | Value::Str(_) => None,
        }
    }

    /// Returns the value as a floating-point number. Integers and booleans are converted; strings
    /// give `None`.
    pub fn as_float(&self) -> Option<f64> {
        match self {
            Value::Int(value) => Some(*value as f64),
            Value::Float(value) => Some(*value),
            Value::Bool(value) => Some(f64::from(u8::from(*value))),
            Value::Str(_) => None,
        }
    }

    /// Returns the text that reaches a kernel as `-DNAME=VALUE`.
    ///
    /// Booleans become `1` and `0`. Floats take the shortest form that reads back to the same
    /// number. Strings stay as they are.
    pub fn define(&self) -> String {
        match self {
            Value::Bool(value) => u8::from(*value).to_string(),
            other => other.to_string(),
        }
    }

    /// Returns the value as Python writes it, and so as [expressions](crate::Expr) read it: texts are
    /// quoted, truth values are `True` and `False`, floats are those of Python's `repr`.
    ///
    /// ```
    /// # use tunesmith_space::Value;
    /// let written = [Value::from("it's"), true.into(), 1e-7.into()].map(|value| value.python());
    /// assert_eq!(written, [r"'it\'s'", "True", "1e-07"]);
    /// ```
    pub fn python(&self) -> String {
        match self {
            Value::Str(text) => {
                format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n"))
            }
            Value::Bool(true) => "True".to_string(),
            Value::Bool(false) => "False".to_string(),
            Value::Float(value) => python_float(*value),
            Value::Int(value) => value.to_string(),
        }
    }

    /// Returns the value as Python's `str` prints it: as [`python`](Self::python), but texts have no quotes.
    pub fn python_str(&self) -> String {
        if let Value::Str(text) = self { text.to_string() } else { self.python() }
    }

    /// Returns true if programs that disagree about types may write one value as `self` and as `other`:
    /// numbers by their value, in quotation marks or not, truth values in any case or as 0 and 1.
    pub(crate) fn is_alike(&self, other: &Value) -> bool {
        if let (Value::Int(one), Value::Int(another)) = (self, other) {
            // As floats, large ones would be equal.
            return one == another;
        }
        match (self.meaning(), other.meaning()) {
            (Meaning::Truth(truth), Meaning::Number(number)) | (Meaning::Number(number), Meaning::Truth(truth)) => {
                // A text that says `true` is no number.
                let is_text = |value: &Value| value.kind() == ValueKind::Str;
                !is_text(self) && !is_text(other) && number == f64::from(u8::from(truth))
            }
            (one, another) => one == another,
        }
    }

    fn meaning(&self) -> Meaning<'_> {
        match self {
            Value::Bool(truth) => Meaning::Truth(*truth),
            Value::Str(text) => Meaning::of_text(text),
            Value::Int(_) | Value::Float(_) => Meaning::Number(self.as_float().unwrap_or(f64::NAN)),
        }
    }

    /// Reads `text`, such as the value of `NAME=VALUE` on a command line, as a value of the kind
    /// that the list `like` holds.
    ///
    /// Booleans are read from `true`, `True`, `1`, `false`, `False` and `0`. Strings are taken as
    /// they are. Returns `None` if the text is not of that kind or the list is empty. Does not
    /// check that `like` contains the value; [`Space::configuration`](crate::Space::configuration)
    /// does.
    pub fn parse_as(text: &str, like: &[Value]) -> Option<Value> {
        let trimmed = text.trim();
        match like.first()?.kind() {
            ValueKind::Int => trimmed.parse().ok().map(Value::Int),
            ValueKind::Float => trimmed.parse().ok().map(Value::Float),
            ValueKind::Bool => match trimmed {
                "true" | "True" | "1" => Some(Value::Bool(true)),
                "false" | "False" | "0" => Some(Value::Bool(false)),
                _ => None,
            },
            ValueKind::Str => Some(Value::Str(text.into())),
        }
    }
}

/// The meaning of a value, whatever its type in a file.
#[derive(PartialEq)]
enum Meaning<'a> {
    Number(f64),
    Truth(bool),
    Text(&'a str),
}

impl<'a> Meaning<'a> {
    fn of_text(text: &'a str) -> Self {
        let plain = text.trim();
        let is_number = plain.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
        match plain.parse() {
            Ok(number) if is_number => Self::Number(number),
            _ if plain.eq_ignore_ascii_case("true") => Self::Truth(true),
            _ if plain.eq_ignore_ascii_case("false") => Self::Truth(false),
            _ => Self::Text(text),
        }
    }
}

impl Serialize for Value {
    /// Writes a scalar.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Int(value) => serializer.serialize_i64(*value),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Str(value) => serializer.serialize_str(value),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    /// Reads a scalar. A whole number that no `i64` holds is a float.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Scalar)
    }
}

/// Makes values of scalars.
struct Scalar;

impl de::Visitor<'_> for Scalar {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a truth value or a text")
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or(Value::Float(value as f64), Value::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Str(value.into()))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Str(a), Value::Str(b)) => a.cmp(b),
            _ => self.kind().cmp(&other.kind()),
        }
    }
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind().hash(state);
        match self {
            Value::Int(value) => value.hash(state),
            Value::Float(value) => value.to_bits().hash(state),
            Value::Bool(value) => value.hash(state),
            Value::Str(value) => value.hash(state),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(value) => write!(f, "{value}"),
            // Debug formatting gives the shortest form that reads back, and keeps the point of
            // `1.0`.
            Value::Float(value) => write!(f, "{value:?}"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Str(value) => f.write_str(value),
        }
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Float(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Str(value.into())
    }
}

/// Returns a float as Python's `repr`: the shortest digits that read back, with an exponent of at
/// least two digits below 10^-4 and from 10^16.
fn python_float(value: f64) -> String {
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return value.to_string() };
    match exponent.parse::<i32>() {
        Ok(exponent @ -4..16) => {
            let text = value.to_string();
            if exponent >= 0 && !text.contains('.') { text + ".0" } else { text }
        }
        Ok(exponent) => format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()),
        Err(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Expr;

    #[test]
    fn values_print_in_shortest_round_trip_form() {
        let shown: Vec<String> = [Value::Int(-3), Value::Float(0.5), Value::Float(1.0), true.into(), "half".into()]
            .iter()
            .map(Value::to_string)
            .collect();
        assert_eq!(shown, ["-3", "0.5", "1.0", "true", "half"]);
    }

    #[test]
    fn floats_are_those_of_python() {
        let cases = [
            (1.0, "1.0"),
            (0.5, "0.5"),
            (-2.25, "-2.25"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.25e100, "1.25e+100"),
            (0.1 + 0.2, "0.30000000000000004"),
            (0.0, "0.0"),
            (-0.0, "-0.0"),
        ];
        for (value, text) in cases {
            assert_eq!(python_float(value), text);
        }
    }

    #[test]
    fn an_expression_reads_what_python_writes() {
        let texts = ["it's", "a\\b", "line\nline", "\"", "\\'", ""].map(Value::from);
        let numbers = [Value::Int(-3), true.into(), false.into(), 1e-5.into(), 1e16.into(), 0.1.into()];
        for value in texts.into_iter().chain(numbers) {
            let read = Expr::parse(&value.python()).and_then(|expr| expr.evaluate(&|_| None));
            assert_eq!(read, Ok(value.clone()), "{}", value.python());
        }
    }

    #[test]
    fn booleans_reach_a_kernel_as_digits() {
        assert_eq!(Value::Bool(true).define(), "1");
        assert_eq!(Value::Bool(false).define(), "0");
        assert_eq!(Value::Float(0.1).define(), "0.1");
    }

    #[test]
    fn values_of_different_kinds_differ() {
        assert_ne!(Value::Int(1), Value::Float(1.0));
        assert_ne!(Value::Int(1), Value::Bool(true));
        assert_ne!(Value::Float(0.0), Value::Float(-0.0));
        assert_eq!(Value::Float(f64::NAN), Value::Float(f64::NAN));
    }

    #[test]
    fn text_is_read_in_the_kind_of_the_list() {
        assert_eq!(Value::parse_as("32", &[Value::Int(1)]), Some(Value::Int(32)));
        assert_eq!(Value::parse_as("1", &[Value::Bool(true)]), Some(Value::Bool(true)));
        assert_eq!(Value::parse_as("2", &[Value::Float(0.5)]), Some(Value::Float(2.0)));
        assert_eq!(Value::parse_as("2.5", &[Value::Int(1)]), None);
        assert_eq!(Value::parse_as("x", &["a".into()]), Some("x".into()));
        assert_eq!(Value::parse_as("x", &[]), None);
    }
}
