//! Prepares a timing model for one input, one device and one space.

use tunesmith_choose::timing::{KnownDevice, Origin, TimingModel};
use tunesmith_model::{BoostedTrees, Column, Regressor as _, Table};
use tunesmith_space::{ConfigId, Space, Value};

/// Predicts the configurations of a space.
#[derive(Debug)]
pub(crate) struct Scorer<'a> {
    model: &'a TimingModel,
    space: &'a Space,
    /// The numbers that all configurations share.
    row: Vec<f64>,
    /// For each column of a parameter: its position, the parameter's position, and the number of
    /// each of its values.
    codes: Vec<(usize, usize, Vec<f64>)>,
}

impl<'a> Scorer<'a> {
    /// Prepares `model` for the complete `sizes`. Parameters that the space lacks are missing
    /// values.
    pub(crate) fn new(
        model: &'a TimingModel,
        space: &'a Space,
        sizes: &[(String, Value)],
        device: Option<&KnownDevice>,
    ) -> Self {
        let columns =
            model.parts().frame.features.iter().enumerate().filter(|(_, feature)| feature.origin == Origin::Parameter);
        let codes = columns.filter_map(|(column, feature)| {
            let parameter = space.parameter_index(&feature.name)?;
            let values = space.parameters()[parameter].values().iter();
            Some((column, parameter, values.map(|value| feature.number(value)).collect()))
        });
        Self { model, space, row: model.parts().frame.row(sizes, device), codes: codes.collect() }
    }

    /// Returns the maximum number of questions that the trees ask about a configuration.
    pub(crate) fn questions(&self) -> u128 {
        self.model.parts().mean.trees().iter().map(|tree| tree.depth() as u128).sum()
    }

    /// Returns the row of the input and the device.
    pub(crate) fn row(&self) -> &[f64] {
        &self.row
    }

    fn fill(&self, config: ConfigId, indices: &mut Vec<u32>, row: &mut [f64]) {
        self.space.unrank_into(config, indices);
        for (column, parameter, numbers) in &self.codes {
            row[*column] = numbers[indices[*parameter] as usize];
        }
    }

    /// Returns the predicted logarithm of the speed relative to the reference. Costs a walk down
    /// every tree.
    pub(crate) fn one(&self, config: ConfigId) -> f64 {
        self.by(&self.model.parts().mean, config)
    }

    /// Returns the quantiles below which a tenth and nine tenths lie.
    pub(crate) fn quantiles(&self, config: ConfigId) -> (f64, f64) {
        (self.by(&self.model.parts().low, config), self.by(&self.model.parts().high, config))
    }

    fn by(&self, trees: &BoostedTrees, config: ConfigId) -> f64 {
        let mut row = self.row.clone();
        self.fill(config, &mut Vec::new(), &mut row);
        trees.predict(&row)
    }

    /// Returns the predictions of [`one`](Self::one) for many configurations, several times faster.
    pub(crate) fn all(&self, configs: &[ConfigId]) -> Vec<f64> {
        let columns: Vec<Column> =
            self.model.parts().frame.features.iter().map(|feature| feature.column.clone()).collect();
        let mut table = Table::new(columns);
        let (mut row, mut indices) = (self.row.clone(), Vec::new());
        for config in configs {
            self.fill(*config, &mut indices, &mut row);
            table.push(&row);
        }
        self.model.parts().mean.predict_all(&table)
    }
}
