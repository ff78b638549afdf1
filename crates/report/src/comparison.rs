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

/// Returns a table of the strategies' nearness to the optimum and of the cost to reach it, without
/// a trailing newline. `budgets` and `levels` head the columns of `rel` and `ert`.
pub fn comparison_table(budgets: &[u64], levels: &[&str], rows: &[ComparisonRow]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let budgets = budgets.iter().map(|budget| format!("rel@{budget}"));
    let levels = levels.iter().map(|level| format!("ERT {level}"));
    let header: Vec<String> = ["recording".into(), "strategy".into()]
        .into_iter()
        .chain(budgets)
        .chain(levels)
        .chain(["score".to_string()])
        .collect();
    let numbers = 2..header.len();
    table.set_header(header);
    for row in rows {
        let recording = row.recording.clone().unwrap_or_else(|| "all (geometric mean)".to_string());
        let rel = row.rel.iter().map(|share| format!("{share:.3}"));
        let ert = row.ert.iter().map(|count| format!("{count:.0}"));
        let score = format!("{:.3}", row.score);
        let names = [recording, row.strategy.clone()];
        table.add_row(names.into_iter().chain(rel).chain(ert).chain([score]).collect::<Vec<_>>());
    }
    for column in numbers {
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
}
