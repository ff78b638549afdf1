//! Names and values that a format cannot hold.

use super::Format;
use super::csv::NUMBERS;
use crate::import::kernel_tuner;
use tunesmith_core::Recording;
use tunesmith_core::recording::Row;
use tunesmith_space::Value;

/// Returns the reason why `format` cannot hold the recording, if there is one: written, the file
/// would be read as another recording.
pub(super) fn unsuitable(recording: &Recording, format: Format) -> Option<String> {
    let names = || recording.parameters().iter().map(|parameter| parameter.name());
    if let Some(name) = names().find(|name| is_taken(name, recording.rows(), format)) {
        return Some(format!("this format has a number of its own called `{name}`; rename the parameter `{name}`"));
    }
    if format != Format::Csv {
        return None;
    }
    // A CSV has one line for each row, and blanks around a field do not count.
    let is_plain = |text: &str| text.trim() == text && !text.contains(['\n', '\r']);
    let texts =
        recording.parameters().iter().flat_map(|parameter| parameter.values()).filter_map(|value| match value {
            Value::Str(text) => Some(&**text),
            _ => None,
        });
    let odd = names().chain(texts).find(|text| !is_plain(text))?;
    Some(format!("a CSV cannot hold {odd:?}, with its blanks or line ends; choose another format"))
}

fn is_taken(name: &str, rows: &[Row], format: Format) -> bool {
    let is_value = || rows.iter().any(|row| row.measurement.values.contains_key(name));
    match format {
        Format::T4 => false,
        Format::KernelTuner => kernel_tuner::KNOWN.contains(&name) || is_value(),
        Format::Csv => {
            let is_counter = || rows.iter().any(|row| row.measurement.counters.contains_key(name));
            let is_column = ["time_ms", "status"].contains(&name) || NUMBERS.iter().any(|(known, _)| *known == name);
            is_column || is_value() || is_counter()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_core::Measurement;
    use tunesmith_core::recording::Column;

    fn of(name: &str, value: Value) -> Recording {
        let measurement = Measurement { times_ms: vec![1.0], ..Measurement::default() };
        let row = Row { values: vec![value], measurement, ..Row::default() };
        Recording::new("odd", vec![Column::of_rows(name)], vec![row]).unwrap()
    }

    #[test]
    fn a_parameter_called_like_a_number_of_the_format_is_refused() {
        let refused = |name: &str| Format::ALL.map(|format| unsuitable(&of(name, Value::Int(1)), format).is_some());
        assert_eq!(refused("tile"), [false, false, false]);
        assert_eq!(refused("time"), [false, false, true]);
        assert_eq!(refused("status"), [true, false, false]);
        assert_eq!(refused("compile_ms"), [true, false, false]);
    }

    #[test]
    fn a_text_that_a_csv_would_change_is_refused() {
        let refused = |text: &str| unsuitable(&of("KIND", Value::Str(text.into())), Format::Csv).is_some();
        assert!(!refused("a, \"b\" c"));
        assert!(refused("two\nlines") && refused(" blank"));
    }
}
