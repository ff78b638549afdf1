//! Groups as tables of numbers.

use super::columns::{Frame, Source};
use super::groups::Group;
use super::model::KnownDevice;
use tunesmith_model::Table;

/// A table with targets.
pub(super) struct Rows {
    pub(super) table: Table,
    pub(super) targets: Vec<f64>,
}

/// The table of all rows of `groups`.
pub(super) fn rows(frame: &Frame, groups: &[Group], zeta: f64) -> Rows {
    let columns = frame.features.iter().map(|feature| feature.column.clone()).collect();
    let mut rows = Rows { table: Table::new(columns), targets: Vec::new() };
    let parameters: Vec<Option<usize>> = frame
        .features
        .iter()
        .map(|feature| {
            let position = || frame.parameters.iter().position(|known| known.name() == feature.name);
            (feature.source == Source::Parameter).then(position).flatten()
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

/// The device of a group.
pub(super) fn known(group: &Group) -> KnownDevice {
    KnownDevice { name: group.device.clone(), features: group.device_features.clone() }
}
