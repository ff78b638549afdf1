//! The reason why a recording has no configuration of a space.

use super::Recording;
use tunesmith_space::{Parameter, Space, Value, did_you_mean};

/// Number of values of a parameter that a message lists.
const SHOWN: usize = 6;

impl Recording {
    /// Returns what keeps every row out of `space`: a parameter that one side lacks, or one whose values never
    /// agree. For a recording that has rows in it, says so of none.
    pub fn mismatch(&self, space: &Space) -> String {
        let of = self.kernel.as_deref().map(|kernel| format!("of `{kernel}` ")).unwrap_or_default();
        let is_free = |parameter: &&Parameter| parameter.values().len() > 1;
        let named = |list: &[Parameter], name: &str| list.iter().find(|one| one.name() == name).cloned();
        let names = |list: &[Parameter]| list.iter().map(Parameter::name).collect::<Vec<_>>().join(", ");
        let lacking = |from: &[Parameter], other: &[Parameter]| {
            from.iter().filter(is_free).find(|one| named(other, one.name()).is_none()).map(|one| one.name().to_string())
        };
        if let Some(name) = lacking(space.parameters(), self.parameters()) {
            let meant = did_you_mean(&name, self.parameters().iter().map(Parameter::name));
            let meant = meant.map(|meant| format!("{meant} ")).unwrap_or_default();
            return format!("the recording {of}has no parameter `{name}`; {meant}it has {}", names(self.parameters()));
        }
        if let Some(name) = lacking(self.parameters(), space.parameters()) {
            return format!("the problem has no parameter `{name}`; it has {}", names(space.parameters()));
        }
        for wanted in space.parameters() {
            let Some(own) = named(self.parameters(), wanted.name()) else { continue };
            if own.values().iter().all(|value| wanted.index_alike(value).is_none()) {
                let name = wanted.name();
                return format!(
                    "no value of `{name}` agrees: the problem has {}, the recording {of}has {}",
                    shown(wanted),
                    shown(&own)
                );
            }
        }
        format!(
            "each value occurs in both, but no combination of them: compare the constraints with the recording {of}"
        )
    }
}

/// Returns the first values of a parameter with their kind.
fn shown(parameter: &Parameter) -> String {
    let values: Vec<String> = parameter.values().iter().take(SHOWN).map(Value::python).collect();
    let more = if parameter.values().len() > SHOWN { ", ..." } else { "" };
    format!("{}{more} ({})", values.join(", "), parameter.kind())
}

#[cfg(test)]
mod tests {
    use crate::Measurement;
    use crate::recording::{Column, Recording, Row};
    use tunesmith_space::{Parameter, Space, Value};

    fn said(values: &[Value], name: &str) -> String {
        let row = |value: &Value| Row {
            values: vec![value.clone()],
            measurement: Measurement { times_ms: vec![1.0], ..Measurement::default() },
            ..Row::default()
        };
        let rows = values.iter().map(row).collect();
        let recording = Recording::new("r", vec![Column::of_rows("TILE")], rows).unwrap();
        let parameter = Parameter::new(name, [8, 16].map(Value::Int)).unwrap();
        recording.mismatch(&Space::builder().parameter(parameter).build().unwrap())
    }

    #[test]
    fn the_parameter_that_differs_is_named() {
        let ints = [Value::Int(8), Value::Int(16)];
        assert_eq!(said(&ints, "TILES"), "the recording has no parameter `TILES`; did you mean `TILE`? it has TILE");
        assert_eq!(
            said(&["a".into(), "b".into()], "TILE"),
            "no value of `TILE` agrees: the problem has 8, 16 (integer), the recording has 'a', 'b' (string)"
        );
    }
}
