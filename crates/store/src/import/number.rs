//! Converts numbers and values of other tools' files.

use tunesmith_space::Value;

/// Returns the number of milliseconds in a unit, or `None` for an unknown unit. The T4 files of the
/// benchmark hub spell milliseconds with one `l`.
pub(super) fn milliseconds(unit: &str) -> Option<f64> {
    match unit.to_ascii_lowercase().as_str() {
        "s" | "sec" | "second" | "seconds" => Some(1e3),
        "" | "ms" | "msec" | "millisecond" | "milliseconds" | "miliseconds" => Some(1.0),
        "us" | "usec" | "\u{b5}s" | "\u{3bc}s" | "microsecond" | "microseconds" => Some(1e-3),
        "ns" | "nsec" | "nanosecond" | "nanoseconds" => Some(1e-6),
        _ => None,
    }
}

/// Returns a time if it is finite and not negative.
pub(super) fn time(number: f64) -> Option<f64> {
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// Returns `number` of one thousandth units as whole units, by a division, so that the result is
/// rounded once: 38300.032 us are 38.300032 ms.
pub(super) fn scaled(number: f64, unit_ms: f64) -> f64 {
    if unit_ms < 1.0 { number / (1.0 / unit_ms).round() } else { number * unit_ms }
}

/// Returns the texts of one column as values of the narrowest kind that fits all: integers,
/// numbers, truth values, or texts.
pub(super) fn column(texts: &[&str]) -> Vec<Value> {
    let all = |parse: fn(&str) -> Option<Value>| texts.iter().map(|text| parse(text)).collect::<Option<Vec<Value>>>();
    let int = |text: &str| text.parse().ok().map(Value::Int);
    let float = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Float);
    let truth = |text: &str| match text {
        "true" | "True" | "TRUE" => Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => Some(Value::Bool(false)),
        _ => None,
    };
    let text = || texts.iter().map(|text| Value::Str((*text).into())).collect();
    all(int).or_else(|| all(float)).or_else(|| all(truth)).unwrap_or_else(text)
}
