//! Writes recorded runs as one HTML page.

use crate::Error;
use crate::judged::Judged;
use crate::top::{Top, UNVERIFIED, top_of};
use crate::{FrontMember, Metric};
use serde::Serialize;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use tunesmith_core::output::{is_marked, refuse_overwriting};
use tunesmith_core::statistics::median;
use tunesmith_core::{CommonFailure, Failure, common_failures};
use tunesmith_report::{FailureLine, Front, Page, ParameterSection, RunSection, TopRow, ValueLine, page_html};
use tunesmith_store::{Brief, Header, Outline};

/// The mark of pages that this program wrote.
const FOOTER: &str = "<footer>Tunesmith ";

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
    refuse_overwriting(out, runs.iter().map(PathBuf::as_path), |file| is_marked(file, &[FOOTER]))?;
    let sections = sections(runs)?;
    let evaluations = sections.iter().map(|section| section.evaluations.len()).sum();
    let page = rendered(sections, out)?;
    std::fs::write(out, page).map_err(|source| Error::Write { path: out.to_path_buf(), source })?;
    Ok(Written { runs: runs.len(), evaluations, out: out.to_path_buf() })
}

/// Returns the page that [`write_page`] writes.
///
/// # Errors
/// A journal cannot be read.
pub fn page(runs: &[PathBuf]) -> Result<String, Error> {
    rendered(sections(runs)?, Path::new("page"))
}

fn sections(runs: &[PathBuf]) -> Result<Vec<RunSection>, Error> {
    runs.iter().map(|path| section(path, &tunesmith_store::read_brief(path)?)).collect()
}

/// Returns the text of the page with these sections. Errors call it `out`.
fn rendered(sections: Vec<RunSection>, out: &Path) -> Result<String, Error> {
    let title = match &sections[..] {
        [one] => format!("Tuning {}", one.name),
        several => format!("{} tuning runs", several.len()),
    };
    let written_by = format!("Tunesmith {}", env!("CARGO_PKG_VERSION"));
    let page = page_html(&Page { title, runs: sections, written_by });
    page.map_err(|source| Error::Plot { path: out.to_path_buf(), source })
}

fn section(path: &Path, recorded: &Outline) -> Result<RunSection, Error> {
    let judged = Judged::new(recorded);
    let top = top_of(&judged, LISTED);
    let objectives = judged.metric.as_ref().map(Metric::objectives).unwrap_or_default();
    let objectives: Vec<String> = objectives.into_iter().map(|metric| metric.name).collect();
    let members = crate::front::of_journal(&judged)?;
    let row = |member: &FrontMember| (member.objectives.clone(), member.arguments());
    let front = Front { objectives, members: members.iter().map(row).collect() };
    let failures = common_failures(failures(path, recorded)?.iter());
    let evaluations: Vec<Option<f64>> = recorded.entries.briefs().iter().map(Brief::time_ms).collect();
    let parameters = parameters(recorded, &evaluations)?;
    Ok(RunSection {
        name: format!("{} ({})", recorded.header.problem, path.display()),
        facts: facts(&recorded.header, &top),
        by_time: Metric::recorded(recorded.header.objective.as_ref()).is_none(),
        evaluations,
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
        front,
        failures: failures.into_iter().map(line).collect(),
        parameters,
    })
}

/// Returns the failures of a run. A failed entry in full is read and dropped one by one.
fn failures(path: &Path, recorded: &Outline) -> Result<Vec<Failure>, Error> {
    let mut failures = Vec::new();
    for (at, _) in recorded.entries.briefs().iter().enumerate().filter(|(_, brief)| brief.failure.is_some()) {
        let failure = recorded.entries.get(at)?.failure();
        let refuse = |text: String| Error::request(format!("`{}`: {text}", path.display()), None);
        failures.extend(failure.map_err(refuse)?);
    }
    Ok(failures)
}

fn line(CommonFailure { kind, count, message }: CommonFailure) -> FailureLine {
    FailureLine { kind, count, message }
}

/// Returns the facts of the header: the strategy, and the identity of the run without its digests,
/// which mean nothing to readers.
fn facts(header: &Header, top: &Top) -> Vec<(String, String)> {
    let is_digest = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let identity = header.identity.iter().map(|(label, value)| (label.clone(), plain(value)));
    let own = [
        ("verdict", verdict(top)),
        ("objective", top.objective.to_string()),
        ("space", format!("{} configurations", tunesmith_report::count(&header.space_size))),
        ("strategy", header.strategy.clone()),
        ("seed", header.seed.to_string()),
    ];
    let own = own.into_iter().map(|(label, value)| (label.to_string(), value));
    let own = own.filter(|(_, value)| !value.is_empty());
    own.chain(identity.filter(|(_, value)| !is_digest(value))).collect()
}

/// Returns what a reader must know about the best.
fn verdict(top: &Top) -> String {
    let nothing = top.nothing_better.then(|| "nothing better than the default was found".to_string());
    let ties = (top.ties > 0).then(|| format!("{} more are indistinguishable from the best", top.ties));
    let unverified = (top.verified == Some(false)).then(|| UNVERIFIED.to_string());
    [nothing, ties, unverified].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Returns the findings about each parameter, the one that explains most first. `times` has that of
/// every evaluation.
fn parameters(recorded: &Outline, times: &[Option<f64>]) -> Result<Vec<ParameterSection>, Error> {
    let columns = recorded.entries.columns(&recorded.header.parameters)?;
    let parameters = recorded.header.parameters.iter().zip(columns);
    let mut sections: Vec<ParameterSection> =
        parameters.map(|((name, values), column)| parameter(name, values, &column, times)).collect();
    let explained = |section: &ParameterSection| section.explained.unwrap_or(-1.0);
    sections.sort_by(|a, b| explained(b).total_cmp(&explained(a)));
    Ok(sections)
}

/// Maximum number of a parameter's values that the page lists.
const VALUES: usize = 100;

/// Returns the findings about a parameter, whose `column` has the position of every evaluation's
/// value. Of many values, lists those with the best times.
fn parameter(name: &str, values: &Json, column: &[u32], times: &[Option<f64>]) -> ParameterSection {
    let values = values.as_array().map_or(&[][..], Vec::as_slice);
    let (mut evaluated, mut groups) = (vec![0; values.len()], vec![Vec::new(); values.len()]);
    for (place, time) in column.iter().zip(times) {
        let place = *place as usize;
        if let (Some(count), Some(group)) = (evaluated.get_mut(place), groups.get_mut(place)) {
            *count += 1;
            group.extend(*time);
        }
    }
    // About one value of one parameter, not about the run: the least of the search's samples.
    let best = |place: usize| groups[place].iter().copied().min_by(f64::total_cmp);
    let mut seen: Vec<usize> = (0..values.len()).filter(|place| evaluated[*place] > 0).collect();
    let left_out = seen.len().saturating_sub(VALUES);
    if left_out > 0 {
        let rank = |place: &usize| best(*place).unwrap_or(f64::INFINITY);
        seen.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        seen.truncate(VALUES);
        seen.sort_unstable();
    }
    let line = |place: usize| ValueLine {
        value: plain(&values[place]),
        evaluated: evaluated[place],
        correct: groups[place].len(),
        best_ms: best(place),
        median_ms: median(&groups[place]),
    };
    let values = seen.into_iter().map(line).collect();
    ParameterSection { name: name.to_string(), explained: explained(&groups), values, left_out }
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
