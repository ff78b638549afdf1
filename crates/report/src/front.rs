//! Fronts: the configurations that no other one dominates, as a table and as a picture.

use crate::format::quantity;
use crate::table::aligned;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// The front of a run with several objectives.
#[derive(Clone, Debug, Default)]
pub struct Front {
    /// The names of the objectives, in the user's order. Empty if there is only one.
    pub objectives: Vec<String>,
    /// The values of the objectives of every member, and its configuration as text. The best in the
    /// first objective comes first.
    pub members: Vec<(BTreeMap<String, f64>, String)>,
}

impl Front {
    /// Returns a table of the members without a trailing newline.
    pub fn table(&self) -> String {
        let header: Vec<String> = self.objectives.iter().cloned().chain(["configuration".to_string()]).collect();
        aligned(&header, &self.rows())
    }

    /// Returns the cells of every member: its objectives, and its configuration.
    fn rows(&self) -> Vec<Vec<String>> {
        let cell = |values: &BTreeMap<String, f64>, name: &String| {
            values.get(name).map_or_else(String::new, |value| quantity(*value))
        };
        let row = |(values, config): &(BTreeMap<String, f64>, String)| {
            self.objectives.iter().map(|name| cell(values, name)).chain([config.clone()]).collect()
        };
        self.members.iter().map(row).collect()
    }

    /// Renders the members as a table, and a picture of the first two objectives. Empty if there are
    /// no members.
    pub(crate) fn render(&self) -> Markup {
        if self.members.is_empty() {
            return html! {};
        }
        html! {
            h4 { "The front" }
            p.note { "The configurations that no other one dominates: none is at least as good in every objective, and better in one." }
            figure { (self.picture()) }
            div.scroll {
                table {
                    tr { @for name in &self.objectives { th.number { (name) } } th { "configuration" } }
                    @for row in self.rows() {
                        @if let Some((config, values)) = row.split_last() {
                            tr { @for value in values { td.number { (value) } } td { code { (config) } } }
                        }
                    }
                }
            }
        }
    }

    /// Draws the members by their first two objectives. Both axes are logarithmic.
    fn picture(&self) -> Markup {
        let [across, up] = [0, 1].map(|at| self.axis(at));
        let (Some(across), Some(up)) = (across, up) else { return html! {} };
        let dots = self.members.iter().filter_map(|(values, config)| {
            Some((60.0 + 400.0 * across.place(values)?, 260.0 - 220.0 * up.place(values)?, config))
        });
        html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 520 310" width="520" height="310" role="img" {
                rect x="60" y="40" width="400" height="220" fill="none" stroke="#999" {}
                @for (x, y, config) in dots {
                    circle cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r="4" fill="#1f77b4" { title { (config) } }
                }
                text x="60" y="278" font-size="12" { (quantity(across.low)) }
                text x="460" y="278" font-size="12" text-anchor="end" { (quantity(across.high)) }
                text x="260" y="296" font-size="12" text-anchor="middle" { (across.name) }
                text x="60" y="30" font-size="12" { (up.name) ": " (quantity(up.low)) " to " (quantity(up.high)) }
            }
        }
    }

    /// Returns the axis of an objective.
    fn axis(&self, at: usize) -> Option<Axis<'_>> {
        let name = self.objectives.get(at)?;
        let values = self.members.iter().filter_map(|(values, _)| values.get(name).copied());
        let (low, high) = (values.clone().reduce(f64::min)?, values.reduce(f64::max)?);
        Some(Axis { name, low, high })
    }
}

/// An axis of a picture: an objective with its least and its greatest value.
struct Axis<'a> {
    name: &'a str,
    low: f64,
    high: f64,
}

impl Axis<'_> {
    /// Returns the place of a member, from 0 to 1.
    fn place(&self, values: &BTreeMap<String, f64>) -> Option<f64> {
        let value = values.get(self.name)?;
        // Logarithmic, if all values have a logarithm.
        let scale = |value: f64| if self.low > 0.0 { value.ln() } else { value };
        let extent = scale(self.high) - scale(self.low);
        Some(if extent > 0.0 { (scale(*value) - scale(self.low)) / extent } else { 0.5 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front() -> Front {
        let member = |time: f64, error: f64, config: &str| {
            ([("time_ms".to_string(), time), ("error".to_string(), error)].into(), config.to_string())
        };
        let objectives = vec!["time_ms".to_string(), "error".to_string()];
        Front { objectives, members: vec![member(1.0, 1e-3, "X=1"), member(4.0, 1e-6, "X=<2>")] }
    }

    #[test]
    fn a_front_is_a_table_and_a_picture_with_a_dot_for_each_member() {
        let table = front().table();
        assert!(table.lines().count() == 3 && table.contains("1e-6"), "{table}");
        let page = front().render().into_string();
        assert_eq!((page.matches("<circle").count(), page.matches("X=&lt;2&gt;").count()), (2, 2));
        assert!(page.contains("cx=\"60.0\"") && page.contains("cx=\"460.0\""), "{page}");
        let mut signed = front();
        signed.members.push(([("time_ms".to_string(), 2.0), ("error".to_string(), -1.0)].into(), "X=3".to_string()));
        let page = signed.render().into_string();
        assert!(page.matches("<circle").count() == 3 && !page.contains("NaN"), "{page}");
        assert_eq!(Front::default().render().into_string(), "");
    }
}
