//! Converts groups to tables of numbers.

use crate::Error;
use crate::groups::Group;
use rand::SeedableRng as _;
use tunesmith_choose::timing::{Frame, KnownDevice, Origin};
use tunesmith_core::Rng;
use tunesmith_model::{BoostedSettings, BoostedTrees, Table};

/// A table with targets.
pub(crate) struct Rows {
    pub(crate) table: Table,
    pub(crate) targets: Vec<f64>,
}

impl Rows {
    /// Fits trees to these rows.
    ///
    /// # Errors
    /// The settings are out of range.
    pub(crate) fn fit(&self, trees: &BoostedSettings, seed: u64) -> Result<BoostedTrees, Error> {
        BoostedTrees::fit(&self.table, &self.targets, trees, &mut Rng::seed_from_u64(seed))
            .map_err(|error| Error::request(error.to_string(), None))
    }
}

/// Returns the table of all rows of `groups`.
pub(crate) fn rows(frame: &Frame, groups: &[Group], zeta: f64) -> Rows {
    let columns = frame.features.iter().map(|feature| feature.column.clone()).collect();
    let mut rows = Rows { table: Table::new(columns), targets: Vec::new() };
    let parameters: Vec<Option<usize>> = frame
        .features
        .iter()
        .map(|feature| {
            let position = || frame.parameters.iter().position(|known| known.name() == feature.name);
            (feature.origin == Origin::Parameter).then(position).flatten()
        })
        .collect();
    for group in groups {
        let mut row = frame.row(&group.sizes, Some(&known(group)));
        for (values, time_ms) in &group.rows {
            for ((cell, feature), parameter) in row.iter_mut().zip(&frame.features).zip(&parameters) {
                if let Some(parameter) = parameter {
                    *cell = feature.number(&values[*parameter]);
                }
            }
            rows.table.push(&row);
            rows.targets.push(group.target(*time_ms, zeta));
        }
    }
    rows
}

/// Returns the device of a group.
pub(crate) fn known(group: &Group) -> KnownDevice {
    KnownDevice { name: group.device.clone(), features: group.device_features.clone() }
}
