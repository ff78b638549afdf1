//! The lines about a loop nest on the page that explains a run.

use crate::format::{milliseconds, significant};

/// Properties and notes shown.
const PROPERTIES: usize = 2;
const NOTES: usize = 2;

/// The best configuration of a loop nest beside the model of its device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoofPage {
    /// The resources with their shares of the modelled time, the largest first.
    pub resources: Vec<(String, f64)>,
    /// The operations with their shares of the modelled time, the largest first.
    pub properties: Vec<(String, f64)>,
    /// The modelled time of the best.
    pub modelled: Option<ModelledTime>,
    /// The modelled limit and its share of the time of the best.
    pub limit: Option<(ModelledTime, f64)>,
    /// Floating-point operations and bytes, each with the billions of them per second.
    pub work: Option<[(f64, f64); 2]>,
    /// Reasons for what is missing or doubtful.
    pub notes: Vec<String>,
}

/// A time by a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelledTime {
    /// The time in milliseconds.
    pub ms: f64,
    /// Its interval as text, if it has one.
    pub interval: Option<String>,
}

impl ModelledTime {
    fn text(&self) -> String {
        let interval = self.interval.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
        format!("{}{interval}", milliseconds(self.ms))
    }
}

impl RoofPage {
    /// Returns the lines of the page, each with its label.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let mut lines = Vec::new();
        if let Some(((first, share), others)) = self.resources.split_first() {
            let others: Vec<String> =
                others.iter().map(|(name, share)| format!("{name} {}", percent(*share))).collect();
            let others = if others.is_empty() { String::new() } else { format!("; {}", others.join(", ")) };
            lines.push(("bound by", format!("{first}: {} of the modelled time{others}", percent(*share))));
            let most: Vec<String> = self.properties.iter().take(PROPERTIES).map(|(name, _)| name.clone()).collect();
            lines.push(("", format!("most of it for {}", most.join(", "))));
        }
        if let Some(modelled) = &self.modelled {
            lines.push(("modelled", format!("{} for the best", modelled.text())));
        }
        if let Some((limit, share)) = &self.limit {
            lines.push(("roof", format!("{} of the modelled limit, {}", percent(*share), limit.text())));
        }
        if let Some([(operations, gflops), (bytes, gbytes)]) = self.work {
            let rate = |amount: f64, unit: &str, rate: f64, per: &str| {
                (amount > 0.0).then(|| format!("{}{unit} at {} {per}", scaled(amount), significant(rate)))
            };
            let rates = [rate(operations, "flop", gflops, "GFLOP/s"), rate(bytes, "B", gbytes, "GB/s")];
            lines.push(("work", rates.into_iter().flatten().collect::<Vec<_>>().join(", at least ")));
        }
        let notes = self.notes.iter().take(NOTES).enumerate();
        lines.extend(notes.map(|(at, note)| (if at == 0 { "note" } else { "" }, note.clone())));
        lines
    }
}

/// Returns a number with a blank and the prefix of its power of 1,000.
fn scaled(number: f64) -> String {
    let prefixes = ["", "k", "M", "G", "T", "P"];
    let power = (number.max(1.0).log10() / 3.0) as usize;
    let power = power.min(prefixes.len() - 1);
    format!("{} {}", significant(number / 1000f64.powi(power as i32)), prefixes[power])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(page: &RoofPage) -> String {
        page.lines().iter().map(|(label, line)| format!("{label}|{line}\n")).collect()
    }

    fn modelled(ms: f64) -> ModelledTime {
        ModelledTime { ms, interval: Some("90 %: 4.700 ms to 5.600 ms".to_string()) }
    }

    #[test]
    fn the_resource_that_bounds_the_best_comes_first_and_the_limit_has_its_share() {
        let page = RoofPage {
            resources: vec![("arithmetic".to_string(), 0.62), ("memory".to_string(), 0.35)],
            properties: vec![("lane:arith:f32:mul".to_string(), 0.62), ("lane:g:32:load:s1".to_string(), 0.35)],
            modelled: Some(modelled(5.166)),
            limit: Some((modelled(5.01), 0.771)),
            work: Some([(1e6, 0.154), (8e6, 1.23)]),
            notes: vec!["one".to_string(), "two".to_string(), "three".to_string()],
        };
        insta::assert_snapshot!(text(&page), @r"
        bound by|arithmetic: 62 % of the modelled time; memory 35 %
        |most of it for lane:arith:f32:mul, lane:g:32:load:s1
        modelled|5.166 ms (90 %: 4.700 ms to 5.600 ms) for the best
        roof|77 % of the modelled limit, 5.010 ms (90 %: 4.700 ms to 5.600 ms)
        work|1.000 Mflop at 0.154 GFLOP/s, at least 8.000 MB at 1.230 GB/s
        note|one
        |two
        ");
    }

    #[test]
    fn without_costs_there_is_the_work_alone_and_no_limit() {
        let notes = vec!["the nest has no modelled limit: no measured kernel has `x`".to_string()];
        let page = RoofPage { work: Some([(0.0, 0.0), (2e3, 0.5)]), notes, ..RoofPage::default() };
        insta::assert_snapshot!(text(&page), @r"
        work|2.000 kB at 0.500 GB/s
        note|the nest has no modelled limit: no measured kernel has `x`
        ");
    }

    #[test]
    fn numbers_have_the_prefix_of_their_power() {
        assert_eq!([0.0, 12.0, 1e3, 3.3e7, 2e12].map(scaled), ["0.000 ", "12.00 ", "1.000 k", "33.00 M", "2.000 T"]);
    }
}
