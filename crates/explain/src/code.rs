//! The machine code of the best configuration beside that of the default: registers, memories,
//! instructions.

use serde::Serialize;
use tunesmith_core::Recording;
use tunesmith_space::Value;

/// One number of the compiled kernels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CodeNumber {
    /// The resource, such as `registers`. With several kernels, the kernel's name and a point stand
    /// before it.
    pub name: String,
    /// The number of the best configuration.
    pub best: f64,
    /// The number of the default configuration, if it has one.
    pub default: Option<f64>,
}

impl CodeNumber {
    /// Returns true if the best and the default have different numbers.
    pub fn differs(&self) -> bool {
        self.default != Some(self.best)
    }

    /// Returns the name of the resource without that of a kernel.
    pub fn resource(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }
}

/// Returns the resources that the configuration with the values `best` uses, and those of
/// `default`. Empty if neither a compiler nor a driver told them.
pub fn code(recording: &Recording, best: Option<&[Value]>, default: Option<&[Value]>) -> Vec<CodeNumber> {
    let resources = |values: &[Value]| {
        let rows = recording.rows().iter().filter(|row| row.values == values);
        let compiled = rows.filter_map(|row| row.measurement.compile.as_ref());
        compiled.map(|compile| &compile.resources).find(|resources| !resources.is_empty())
    };
    let default = default.and_then(resources);
    let numbers = best.and_then(resources).into_iter().flatten();
    numbers
        .map(|(name, best)| {
            let default = default.and_then(|default| default.get(name).copied());
            CodeNumber { name: name.clone(), best: *best, default }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_core::recording::{Column, Row};
    use tunesmith_core::{CompileData, Measurement};

    fn row(value: i64, registers: Option<f64>) -> Row {
        let compile = registers.map(|number| CompileData {
            resources: [("registers".to_string(), number)].into(),
            ..CompileData::default()
        });
        Row {
            values: vec![Value::Int(value)],
            measurement: Measurement { times_ms: vec![1.0], compile, ..Measurement::default() },
            ..Row::default()
        }
    }

    #[test]
    fn the_best_stands_beside_the_default_as_far_as_both_are_known() {
        let rows = vec![row(1, Some(32.0)), row(2, Some(40.0)), row(3, None), row(1, None)];
        let recording = Recording::new("r", vec![Column::of_rows("X")], rows).unwrap();
        let of = |best: i64, default: i64| code(&recording, Some(&[Value::Int(best)]), Some(&[Value::Int(default)]));
        let number = |best, default| CodeNumber { name: "registers".to_string(), best, default };
        assert_eq!(of(2, 1), [number(40.0, Some(32.0))]);
        assert_eq!(of(2, 3), [number(40.0, None)]);
        assert_eq!(of(3, 1), []);
        assert_eq!(code(&recording, None, None), []);
        assert!(of(2, 1)[0].differs() && !of(2, 2)[0].differs());
    }
}
