//! Writes recorded runs as one HTML page.

use crate::Error;
use crate::metrics::Metric;
use crate::outcome::{CommonFailure, common_failures};
use crate::top::top_of;
use serde::Serialize;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use tunesmith_core::statistics::median;
use tunesmith_report::{FailureLine, Page, ParameterSection, RunSection, TopRow, ValueLine, page_html};
use tunesmith_store::{Entry, Header, Recorded};

/// Number of a run's configurations that the page lists.
const LISTED: usize = 20;

/// The page that [`write_page`] wrote.
#[derive(Clone, Debug, Serialize)]
pub struct Written {
    /// Number of its runs.
    pub runs: usize,
    /// Number of their evaluations, including failures.
    pub evaluations: usize,
    /// The file.
    pub out: PathBuf,
}

/// Writes one self-contained HTML page about `runs`, in the order given, to `out`. For each journal
/// it shows the settings, a picture of the evaluations and the best so far, the best
/// configurations, the findings about each parameter, and the failures.
///
/// # Errors
/// A journal cannot be read, the file cannot be written, or its name does not end in `.html`.
pub fn write_page(runs: &[PathBuf], out: &Path) -> Result<Written, Error> {
    // This also keeps a journal from being overwritten.
    if !out.extension().is_some_and(|suffix| suffix == "html" || suffix == "htm") {
        let text = format!("`{}` does not have the suffix of an HTML page", out.display());
        return Err(Error::request(text, Some("name it FILE.html".to_string())));
    }
    let mut sections = Vec::new();
    for path in runs {
        sections.push(section(path, &tunesmith_store::read(path)?)?);
    }
    let evaluations = sections.iter().map(|section| section.evaluations.len()).sum();
    let title = match &sections[..] {
        [one] => format!("Tuning {}", one.name),
        several => format!("{} tuning runs", several.len()),
    };
    let written_by = format!("Tunesmith {}", env!("CARGO_PKG_VERSION"));
    let page = page_html(&Page { title, runs: sections, written_by });
    let page = page.map_err(|source| Error::Plot { path: out.to_path_buf(), source })?;
    std::fs::write(out, page).map_err(|source| Error::Write { path: out.to_path_buf(), source })?;
    Ok(Written { runs: runs.len(), evaluations, out: out.to_path_buf() })
}

fn section(path: &Path, recorded: &Recorded) -> Result<RunSection, Error> {
    let top = top_of(recorded, LISTED);
    let refuse = |text: String| Error::request(format!("`{}`: {text}", path.display()), None);
    let failures: Result<Vec<_>, _> = recorded.entries.iter().map(Entry::failure).collect();
    let failures = failures.map_err(refuse)?;
    let failures = common_failures(failures.iter().flatten());
    Ok(RunSection {
        name: format!("{} ({})", recorded.header.problem, path.display()),
        facts: facts(&recorded.header, &top.objective.to_string()),
        by_time: Metric::of(&recorded.header).is_none(),
        evaluations: recorded.entries.iter().map(time).collect(),
        top: top
            .configs
            .iter()
            .map(|config| TopRow {
                time_ms: config.time_ms,
                ci95_ms: config.ci95_ms,
                speedup: config.speedup,
                value: config.value,
                config: config.arguments(),
            })
            .collect(),
        failures: failures.into_iter().map(line).collect(),
        parameters: parameters(recorded),
    })
}

fn line(CommonFailure { kind, count, message }: CommonFailure) -> FailureLine {
    FailureLine { kind, count, message }
}

/// Returns the facts of the header: the strategy, and the identity of the run without its digests,
/// which mean nothing to readers.
fn facts(header: &Header, objective: &str) -> Vec<(String, String)> {
    let is_digest = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let identity = header.identity.iter().map(|(label, value)| (label.clone(), plain(value)));
    let own = [
        ("objective", objective.to_string()),
        ("space", format!("{} configurations", tunesmith_report::count(&header.space_size))),
        ("strategy", header.strategy.clone()),
        ("seed", header.seed.to_string()),
    ];
    let own = own.into_iter().map(|(label, value)| (label.to_string(), value));
    own.chain(identity.filter(|(_, value)| !is_digest(value))).collect()
}

/// Returns the median of a correct entry's samples, or `None` if it is not positive, which no clock
/// measures.
fn time(entry: &Entry) -> Option<f64> {
    entry.failure().ok()?.is_none().then(|| median(&entry.times_ms)).flatten().filter(|time| *time > 0.0)
}

/// Returns the findings about each parameter, the one that explains most first.
fn parameters(recorded: &Recorded) -> Vec<ParameterSection> {
    let mut sections: Vec<ParameterSection> =
        recorded.header.parameters.iter().map(|(name, values)| parameter(name, values, &recorded.entries)).collect();
    let explained = |section: &ParameterSection| section.explained.unwrap_or(-1.0);
    sections.sort_by(|a, b| explained(b).total_cmp(&explained(a)));
    sections
}

fn parameter(name: &str, values: &Json, entries: &[Entry]) -> ParameterSection {
    let values = values.as_array().map_or(&[][..], Vec::as_slice);
    let with = |value: &Json| entries.iter().filter(|entry| entry.config.get(name) == Some(value)).collect::<Vec<_>>();
    let seen: Vec<(&Json, Vec<&Entry>)> = values.iter().map(|value| (value, with(value))).collect();
    let times = |entries: &[&Entry]| entries.iter().filter_map(|entry| time(entry)).collect::<Vec<f64>>();
    let groups: Vec<Vec<f64>> = seen.iter().map(|(_, entries)| times(entries)).collect();
    let line = |((value, entries), times): (&(&Json, Vec<&Entry>), &Vec<f64>)| ValueLine {
        value: plain(value),
        evaluated: entries.len(),
        correct: times.len(),
        best_ms: times.iter().copied().min_by(f64::total_cmp),
        median_ms: median(times),
    };
    let values = seen.iter().zip(&groups).filter(|((_, entries), _)| !entries.is_empty()).map(line).collect();
    ParameterSection { name: name.to_string(), explained: explained(&groups), values }
}

/// Returns the share of the variance of log(time) between the groups, corrected for their number
/// (omega squared of a one-way analysis of variance). A parameter without influence thus has about
/// 0, even with many values. Returns `None` without variance, or without more times than groups.
fn explained(groups: &[Vec<f64>]) -> Option<f64> {
    let logs: Vec<Vec<f64>> = groups.iter().map(|times| times.iter().map(|time| time.ln()).collect()).collect();
    let occupied = logs.iter().filter(|group| !group.is_empty());
    let count = logs.iter().map(Vec::len).sum::<usize>() as f64;
    let freedom = occupied.clone().count() as f64 - 1.0;
    let mean = |group: &[f64]| group.iter().sum::<f64>() / group.len() as f64;
    let grand = logs.iter().flatten().sum::<f64>() / count;
    let total: f64 = logs.iter().flatten().map(|log| (log - grand).powi(2)).sum();
    let between: f64 = occupied.map(|group| group.len() as f64 * (mean(group) - grand).powi(2)).sum();
    let left = count - freedom - 1.0;
    if left <= 0.0 || total <= 0.0 {
        return None;
    }
    let noise = (total - between) / left;
    Some(((between - freedom * noise) / (total + noise)).clamp(0.0, 1.0))
}

/// Returns a JSON scalar without the quotation marks of strings.
fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

#[cfg(test)]
mod tests {
    use super::explained;

    #[test]
    fn what_a_parameter_alone_decides_is_explained_wholly_and_what_it_never_moves_not_at_all() {
        assert_eq!(explained(&[vec![1.0, 1.0], vec![4.0, 4.0, 4.0]]), Some(1.0));
        assert_eq!(explained(&[vec![1.0, 4.0], vec![1.0, 4.0]]), Some(0.0));
    }

    #[test]
    fn a_share_is_that_of_the_analysis_of_variance() {
        // Logarithms 0, 2 | 4, 6: total 20, between 16, within 4 over 2 left: (16 - 2) / (20 + 2).
        let groups = [[0.0f64, 2.0], [4.0, 6.0]].map(|logs| logs.map(f64::exp).to_vec());
        assert!((explained(&groups).unwrap() - 14.0 / 22.0).abs() < 1e-12);
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(explained(&[vec![1.0], vec![2.0]]), None);
        assert_eq!(explained(&[vec![1.0, 1.0], vec![1.0]]), None);
        assert_eq!(explained(&[]), None);
    }
}
