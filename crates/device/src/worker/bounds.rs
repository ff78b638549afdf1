//! Bounds on the numbers in messages.
//!
//! The tuner computes with the times that a worker states. A time that is negative, infinite or
//! longer than the age of the machine would end the tuner in the middle of a sum. Such a message is
//! no message.

use serde::de::{Deserialize, Deserializer, Error};
use std::collections::BTreeMap;
use std::time::Duration;

/// Maximum time in a message, more than 30 years in milliseconds.
const MOST_MS: f64 = 1e12;

/// Reads a time in milliseconds.
pub(super) fn time<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    checked(f64::deserialize(from)?)
}

/// Reads a time in milliseconds, if there is one.
pub(super) fn optional_time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    Option::<f64>::deserialize(from)?.map(checked).transpose()
}

/// Reads times in milliseconds.
pub(super) fn times<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    let times = Vec::deserialize(from)?;
    times.iter().try_for_each(|time| checked(*time).map(drop))?;
    Ok(times)
}

/// Reads times in milliseconds by name.
pub(super) fn named_times<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Vec<f64>>, D::Error> {
    let named = BTreeMap::<String, Vec<f64>>::deserialize(from)?;
    named.values().flatten().try_for_each(|time| checked(*time).map(drop))?;
    Ok(named)
}

/// Reads a duration.
pub(super) fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let duration = Duration::deserialize(from)?;
    checked(duration.as_secs_f64() * 1e3)?;
    Ok(duration)
}

fn checked<E: Error>(time_ms: f64) -> Result<f64, E> {
    if (0.0..=MOST_MS).contains(&time_ms) { Ok(time_ms) } else { Err(E::custom(format!("{time_ms} ms is no time"))) }
}

#[cfg(test)]
mod tests {
    use crate::worker::protocol::Message;

    fn report(from: &str, to: &str) -> Option<Message> {
        let text = r#"{"Finished": {"ending": "Correct", "warmup_ms": 1.0, "times_ms": [2.0],
            "parts_ms": {"k": [0.5]}, "resources": {}, "codes": [], "values": {}, "profile": null,
            "troubles": [], "load": {"secs": 1, "nanos": 5}, "run": {"secs": 0, "nanos": 0}, "verify": {"secs": 0, "nanos": 7}}}"#;
        assert!(text.contains(from), "{from}");
        serde_json::from_str(&text.replacen(from, to, 1)).ok()
    }

    #[test]
    fn a_time_that_no_clock_shows_is_no_message() {
        assert!(report("1.0", "0").is_some() && report("1.0", "null").is_some());
        for (from, to) in [
            ("1.0", "-1.0"),
            ("1.0", "1e300"),
            ("[2.0]", "[2.0, -0.5]"),
            ("[0.5]", "[1e13]"),
            ("\"secs\": 1", "\"secs\": 18446744073709551615"),
        ] {
            assert_eq!(report(from, to), None, "{to}");
        }
        let sampling = |time: &str| {
            serde_json::from_str::<Message>(&format!(r#"{{"Phase": {{"Sampling": {{"warmup_ms": {time}}}}}}}"#))
        };
        assert!(sampling("3.5").is_ok() && sampling("-3.5").is_err());
    }
}
