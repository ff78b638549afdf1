//! The page that explains a configuration by its counters.

use crate::table::count_table;
use std::fmt::Write as _;

/// Counters with their readings.
type Readings = Vec<(String, f64)>;

/// The content of the page.
#[derive(Clone, Debug, Default)]
pub struct BottleneckPage {
    /// The bottlenecks, the tightest first: name, share of the peak, counters with readings.
    pub bottlenecks: Vec<(String, f64, Readings)>,
    /// Wanted changes: counter, and from -1 (less) to 1 (more).
    pub wanted: Vec<(String, f64)>,
    /// The parameters that would bring these changes, the best first.
    pub parameters: Vec<ParameterEffect>,
    /// The notes on what is missing.
    pub notes: Vec<String>,
}

/// The effect of changing one parameter.
#[derive(Clone, Debug)]
pub struct ParameterEffect {
    /// The change: `TILE 8 -> 16`.
    pub change: String,
    /// The score of the change.
    pub score: f64,
    /// The wanted counters that it moves, each with the share.
    pub counters: Vec<(String, f64)>,
    /// The measured time of the changed configuration.
    pub time: Option<String>,
}

/// Characters of a full bar.
const BAR: usize = 24;
/// Minimum share of a bottleneck to be shown. Those below it are listed in one line.
const SHOWN: f64 = 0.01;
/// Counters shown beside a parameter.
const MOVED: usize = 3;

impl BottleneckPage {
    /// Returns the page as lines of text, each ended.
    pub fn render(&self) -> String {
        let mut text = String::from("bottlenecks (0 idle, 1 at its peak)\n");
        let (shown, rest): (Vec<_>, Vec<_>) = self.bottlenecks.iter().partition(|(_, share, _)| *share >= SHOWN);
        let width = self.bottlenecks.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
        for (name, share, counters) in shown {
            let full = (share.clamp(0.0, 1.0) * BAR as f64).round() as usize;
            let bar = format!("{}{}", "#".repeat(full), ".".repeat(BAR - full));
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {name:<width$}  {bar}  {share:.2}");
            for (counter, value) in counters {
                let _ = writeln!(text, "  {:<width$}    {counter} = {}", "", reading(*value));
            }
        }
        let rest: Vec<&str> = rest.iter().map(|(name, ..)| name.as_str()).collect();
        if !rest.is_empty() {
            let _ = writeln!(text, "  none: {}", rest.join(", "));
        }
        self.write_wanted(&mut text);
        self.write_parameters(&mut text);
        self.notes.iter().for_each(|note| {
            let _ = writeln!(text, "note: {note}");
        });
        text
    }

    fn write_wanted(&self, text: &mut String) {
        text.push_str("wanted changes (-1 much less, 1 much more)\n");
        if self.wanted.is_empty() {
            text.push_str("  none: nothing is stressed enough\n");
        }
        for (counter, change) in &self.wanted {
            let _ = writeln!(text, "  {change:+.2}  {counter}");
        }
    }

    fn write_parameters(&self, text: &mut String) {
        if self.parameters.is_empty() {
            return;
        }
        text.push_str("parameters that would bring them, by the counter model\n");
        let row = |effect: &ParameterEffect| {
            let time = effect.time.clone().unwrap_or_else(|| "-".to_string());
            let moved = effect.counters.iter().take(MOVED);
            let moved: Vec<String> = moved.map(|(name, share)| format!("{name} {:+.0} %", share * 100.0)).collect();
            [effect.change.clone(), format!("{:+.3}", effect.score), time, moved.join(", ")]
        };
        let rows: Vec<[String; 4]> = self.parameters.iter().map(row).collect();
        for line in count_table(["change", "score", "measured", "counters"], &rows).lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
}

/// Returns a reading with four digits; counts in powers of ten.
fn reading(value: f64) -> String {
    if value.abs() >= 1e6 {
        format!("{value:.3e}")
    } else {
        format!("{value:.4}").trim_end_matches('0').trim_end_matches('.').to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_bars_counters_changes_and_parameters() {
        let page = BottleneckPage {
            bottlenecks: vec![
                (
                    "reading global memory".into(),
                    0.5,
                    vec![("dram_read_transactions".into(), 2.5e9), ("dram_utilization".into(), 8.0)],
                ),
                ("branches".into(), 0.0, Vec::new()),
            ],
            wanted: vec![("dram_read_transactions".into(), -0.5)],
            parameters: vec![ParameterEffect {
                change: "TILE 8 -> 16".into(),
                score: 0.167,
                counters: vec![("dram_read_transactions".into(), -0.5)],
                time: Some("1.500 ms".into()),
            }],
            notes: vec!["no size".into()],
        };
        insta::assert_snapshot!(page.render(), @r"
        bottlenecks (0 idle, 1 at its peak)
          reading global memory  ############............  0.50
                                   dram_read_transactions = 2.500e9
                                   dram_utilization = 8
          none: branches
        wanted changes (-1 much less, 1 much more)
          -0.50  dram_read_transactions
        parameters that would bring them, by the counter model
                 change   score  measured  counters
           TILE 8 -> 16  +0.167  1.500 ms  dram_read_transactions -50 %
        note: no size
        ");
    }

    #[test]
    fn without_stress_nothing_is_wanted() {
        assert!(BottleneckPage::default().render().contains("none: nothing is stressed enough"));
    }
}
