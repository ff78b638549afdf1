//! JSON in which no member contradicts another one.

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value as Json};
use std::fmt;

/// Parses JSON. Of two members of an object with one name, other parsers take the last one and say nothing.
///
/// # Errors
/// `text` is no JSON, or an object has two members of the same name and other values. The error has line and column.
///
/// ```
/// use tunesmith_files::json;
/// assert_eq!(json::parse(r#"{"time": 1, "time": 1}"#)?["time"], 1);
/// let error = json::parse("{\"time\": 1,\n\"time\": 5}").unwrap_err();
/// assert_eq!(error.to_string(), "`time` is there twice, as 1 and as 5 at line 2 column 10");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn parse(text: impl AsRef<[u8]>) -> Result<Json, serde_json::Error> {
    serde_json::from_slice(text.as_ref()).map(|Unambiguous(json)| json)
}

/// Returns what is wrong with a document, without the line and the column.
pub fn fault(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(fault, _)| fault).to_owned()
}

/// A value in which no member contradicts another one.
struct Unambiguous(Json);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Members).map(Self)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Json, E> {
        Ok(Json::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::from(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::from(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(Number::from_f64(number).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::from(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(Json::String(text))
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(Unambiguous(json)) = access.next_element()? {
            list.push(json);
        }
        Ok(Json::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut members = Map::new();
        while let Some((name, Unambiguous(json))) = access.next_entry::<String, Unambiguous>()? {
            match members.get(&name) {
                Some(first) if *first != json => {
                    let (first, second) = (brief(first), brief(&json));
                    return Err(A::Error::custom(format!("`{name}` is there twice, as {first} and as {second}")));
                }
                Some(_) => {}
                None => drop(members.insert(name, json)),
            }
        }
        Ok(Json::Object(members))
    }
}

/// Returns the text of a value, shortened.
fn brief(json: &Json) -> String {
    const LONGEST: usize = 60;
    let text = json.to_string();
    if text.chars().count() <= LONGEST { text } else { text.chars().take(LONGEST).chain("...".chars()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i64>().prop_map(Json::from),
            any::<u64>().prop_map(Json::from),
            any::<f64>().prop_map(Json::from),
            ".*".prop_map(Json::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
                prop::collection::btree_map(".*", inner, 0..4).prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_has_no_name_twice_is_read_as_serde_json_reads_it(json in value()) {
            let text = json.to_string();
            prop_assert_eq!(parse(&text).unwrap(), serde_json::from_str::<Json>(&text).unwrap());
        }
    }

    #[test]
    fn contradictions_are_refused_at_any_depth() {
        let error = parse(r#"{"a": [{"b": {"c": 1, "d": 2, "c": "x"}}]}"#).unwrap_err().to_string();
        assert!(error.starts_with(r#"`c` is there twice, as 1 and as "x" at line 1"#), "{error}");
        let long = format!(r#"{{"a": "{}", "a": 1}}"#, "x".repeat(1000));
        assert!(parse(&long).unwrap_err().to_string().len() < 150);
    }
}
