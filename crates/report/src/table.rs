//! Tables of configurations.

use crate::format::{gained, milliseconds};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use tunesmith_core::Gain;

/// One row of [`top_table`].
#[derive(Clone, Debug)]
pub struct TopRow {
    /// The median time in milliseconds.
    pub time_ms: f64,
    /// A 95 % interval of the median. `None` for a single measurement.
    pub ci95_ms: Option<(f64, f64)>,
    /// The gain over the default configuration: the speed-up, if the objective is time.
    pub gain: Option<Gain>,
    /// The objective's value in its unit, if it is not that time.
    pub value: Option<String>,
    /// The configuration as text.
    pub config: String,
}

impl TopRow {
    /// Returns the text of the interval.
    pub(crate) fn interval(&self) -> String {
        let text = |(low, high)| format!("{} to {}", milliseconds(low), milliseconds(high));
        self.ci95_ms.map_or_else(|| "-".to_string(), text)
    }
}

/// Returns the header of a column of gains over the default.
pub(crate) fn gain_header(has_objective: bool) -> &'static str {
    if has_objective { "gain" } else { "speed-up" }
}

/// Returns a table of configurations, the best first, without a trailing newline.
pub fn top_table(rows: &[TopRow]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let objective = if rows.iter().any(|row| row.value.is_some()) { "objective" } else { "" };
    table.set_header(["#", "time", "95 % interval", gain_header(!objective.is_empty()), objective, "configuration"]);
    for (position, row) in rows.iter().enumerate() {
        table.add_row([
            (position + 1).to_string(),
            milliseconds(row.time_ms),
            row.interval(),
            row.gain.map_or_else(|| "-".to_string(), gained),
            row.value.clone().unwrap_or_default(),
            row.config.clone(),
        ]);
    }
    for column in [0, 1, 3] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    if objective.is_empty()
        && let Some(column) = table.column_mut(4)
    {
        column.set_constraint(ColumnConstraint::Hidden);
    }
    table.trim_fmt()
}

/// Returns a table of text without a trailing newline. All columns but the last are aligned to the
/// right.
pub(crate) fn aligned(header: &[String], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    rows.iter().for_each(|row| {
        table.add_row(row);
    });
    for column in 0..header.len().saturating_sub(1) {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// Returns a table of text without a trailing newline. All columns but the last are aligned to the
/// right.
pub fn count_table<const COLUMNS: usize>(header: [&str; COLUMNS], rows: &[[String; COLUMNS]]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    rows.iter().for_each(|row| {
        table.add_row(row);
    });
    for column in 0..COLUMNS.saturating_sub(1) {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}
