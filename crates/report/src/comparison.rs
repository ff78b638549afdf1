//! The table of a comparison of strategies.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// One row of [`comparison_table`].
#[derive(Clone, Debug, Default)]
pub struct ComparisonRow {
    /// The strategy.
    pub strategy: String,
    /// The recording; `None` for the means over all.
    pub recording: Option<String>,
    /// The share of the optimum after each number of evaluations.
    pub rel: Vec<f64>,
    /// The expected number of evaluations to reach each level.
    pub ert: Vec<f64>,
    /// The lead over random search over time.
    pub score: f64,
}

/// One row of [`seconds_table`].
#[derive(Clone, Debug, Default)]
pub struct SecondsRow {
    /// The strategy.
    pub strategy: String,
    /// The recording; `None` for the means over all.
    pub recording: Option<String>,
    /// The share of the optimum after each number of medians.
    pub rel: Vec<f64>,
    /// The mean number of evaluations at the end, for a recording.
    pub evaluations: Option<f64>,
    /// The mean number of cores in use, for a recording.
    pub cores_used: Option<f64>,
}

/// Returns a table of the strategies' nearness to the optimum and of the cost to reach it, without
/// a trailing newline. `budgets` and `levels` head the columns of `rel` and `ert`.
pub fn comparison_table(budgets: &[u64], levels: &[&str], rows: &[ComparisonRow]) -> String {
    let budgets = budgets.iter().map(|budget| format!("rel@{budget}"));
    let levels = levels.iter().map(|level| format!("ERT {level}"));
    let numbers: Vec<String> = budgets.chain(levels).chain(["score".to_string()]).collect();
    let cells = |row: &ComparisonRow| {
        let rel = row.rel.iter().map(|share| format!("{share:.3}"));
        let ert = row.ert.iter().map(|count| format!("{count:.0}"));
        let score = format!("{:.3}", row.score);
        names(row.recording.as_ref(), &row.strategy).into_iter().chain(rel).chain(ert).chain([score]).collect()
    };
    table(numbers, rows.iter().map(cells))
}

/// Returns a table of the strategies' nearness to the optimum after simulated seconds, without a
/// trailing newline. `medians` head the columns of `rel`.
pub fn seconds_table(medians: &[String], rows: &[SecondsRow]) -> String {
    let medians = medians.iter().map(|medians| format!("{medians} medians"));
    let numbers: Vec<String> = medians.chain(["evaluations", "cores used"].map(String::from)).collect();
    let cells = |row: &SecondsRow| {
        let rel = row.rel.iter().map(|share| format!("{share:.3}"));
        let evaluations = row.evaluations.map_or(String::new(), |count| format!("{count:.1}"));
        let cores = row.cores_used.map_or(String::new(), |cores| format!("{cores:.2}"));
        names(row.recording.as_ref(), &row.strategy).into_iter().chain(rel).chain([evaluations, cores]).collect()
    };
    table(numbers, rows.iter().map(cells))
}

/// Returns the first cells of a row.
fn names(recording: Option<&String>, strategy: &str) -> [String; 2] {
    [recording.cloned().unwrap_or_else(|| "all (geometric mean)".to_string()), strategy.to_string()]
}

/// Returns a table of recordings and strategies with columns of `numbers`.
fn table(numbers: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let header: Vec<String> = ["recording", "strategy"].map(String::from).into_iter().chain(numbers).collect();
    let columns = 2..header.len();
    table.set_header(header);
    rows.for_each(|cells| {
        table.add_row(cells);
    });
    for column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_three_digits_and_counts_none() {
        let strategy = "random".to_string();
        let row = ComparisonRow { strategy, recording: None, rel: vec![0.78949], ert: vec![114.6], score: 0.25 };
        let text = comparison_table(&[25], &["1.10"], &[row]);
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(words[..2], ["recording", "strategy"]);
        assert!(words.ends_with(&["random", "0.789", "115", "0.250"]), "{text}");
    }

    #[test]
    fn means_over_recordings_have_no_evaluations_and_no_cores() {
        let rel = vec![0.5, 0.78949];
        let of_all = SecondsRow { strategy: "default".to_string(), rel, ..SecondsRow::default() };
        let row = SecondsRow {
            recording: Some("gemm".to_string()),
            evaluations: Some(81.5),
            cores_used: Some(1.234),
            ..of_all.clone()
        };
        let text = seconds_table(&["10", "20"].map(String::from), &[row, of_all]);
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert!(lines[0].ends_with(&["10", "medians", "20", "medians", "evaluations", "cores", "used"]), "{text}");
        assert!(lines[1].ends_with(&["0.500", "0.789", "81.5", "1.23"]), "{text}");
        assert!(lines[2].ends_with(&["default", "0.500", "0.789"]), "{text}");
    }
}
