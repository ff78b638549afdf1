//! Configurations as the rows that a counter model takes.

use super::GuideError;
use super::features::number;
use tunesmith_model::counters::CounterModel;
use tunesmith_model::{Column, Table};
use tunesmith_space::{ConfigId, Space};

/// Turns configurations of one space into rows of one model.
#[derive(Debug)]
pub(super) struct Encoder {
    columns: Vec<Column>,
    /// For every column, the parameter's index and its values as numbers, converted once.
    parameters: Vec<(usize, Vec<f64>)>,
}

impl Encoder {
    /// Returns the encoder for `model` and `space`. Adds parameters that the model does not know to
    /// `notes`.
    ///
    /// # Errors
    /// The model needs parameters that `space` lacks.
    pub(super) fn new(model: &CounterModel, space: &Space, notes: &mut Vec<String>) -> Result<Self, GuideError> {
        let columns = model.columns().to_vec();
        let is_missing = |column: &&Column| space.parameter_index(&column.name).is_none();
        let missing: Vec<&str> = columns.iter().filter(is_missing).map(|column| column.name.as_str()).collect();
        if !missing.is_empty() {
            return Err(GuideError::Parameters { missing: missing.join(", ") });
        }
        for parameter in space.parameters().iter().filter(|parameter| parameter.values().len() > 1) {
            if columns.iter().all(|column| column.name != parameter.name()) {
                let name = parameter.name();
                notes.push(format!(
                    "the counter model does not know parameter `{name}`, so that the parameter has no influence"
                ));
            }
        }
        let numbers = |column: &Column| {
            let at = space.parameter_index(&column.name)?;
            Some((at, space.parameters()[at].values().iter().map(|value| number(value, column)).collect()))
        };
        let parameters = columns.iter().filter_map(numbers).collect();
        Ok(Self { columns, parameters })
    }

    /// Returns the rows of `configs`, in their order.
    pub(super) fn table(&self, space: &Space, configs: &[ConfigId]) -> Table {
        let mut indices = Vec::new();
        let rows = configs.iter().map(|config| {
            space.unrank_into(*config, &mut indices);
            self.parameters.iter().map(|(at, numbers)| numbers[indices[*at] as usize]).collect::<Vec<f64>>()
        });
        Table::from_rows(self.columns.clone(), rows)
    }
}
