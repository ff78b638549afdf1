//! Lists the leaders and the failures.

use super::paint::Paint;
use crate::finals::Standing;
use crate::watched::{Row, Watched};
use ratatui::text::{Line, Span};
use tunesmith_report::{counted, fitted};

/// The width from which the list of leaders tells where each one was found.
const ROOMY: u16 = 70;

/// Returns a line for each leader under their heading, at most `width` columns wide.
pub(crate) fn leaders(watched: &Watched, width: u16, paint: Paint) -> Vec<Line<'static>> {
    let rows = watched.rows();
    if rows.is_empty() {
        return vec![Line::from("nothing correct yet")];
    }
    let roomy = width >= ROOMY;
    let found = if roomy { format!(" {:>11} {:>9} {:>6}", "search", "found", "visits") } else { String::new() };
    let heading = fitted(&format!("  # {:>11}{found}  configuration", "best"), usize::from(width));
    let line = |(place, row): (usize, &Row)| {
        let style = match row.standing {
            Standing::Winner => paint.good(),
            Standing::Failed => paint.bad(),
            Standing::Tie(_) | Standing::Open => paint.plain(),
        };
        Line::from(Span::styled(fitted(&leader(watched, place + 1, row, roomy), usize::from(width)), style))
    };
    let lines = rows.iter().enumerate().map(line);
    std::iter::once(Line::from(Span::styled(heading, paint.dim()))).chain(lines).collect()
}

/// Returns the remark on a leader.
fn remark(row: &Row) -> &'static str {
    match (row.standing, row.is_default) {
        (Standing::Winner, true) => "  (the winner: the default)",
        (Standing::Winner, false) => "  (the winner)",
        (Standing::Failed, _) => "  (failed when measured again)",
        (Standing::Tie(_), true) => "  (a tie: the default)",
        (Standing::Tie(_), false) => "  (a tie)",
        (Standing::Open, true) => "  (the default)",
        (Standing::Open, false) => "",
    }
}

fn leader(watched: &Watched, place: usize, row: &Row, roomy: bool) -> String {
    let score = watched.scale.text(row.score);
    let found = if roomy {
        let searched = row.searched.map(|score| watched.scale.text(score)).unwrap_or_default();
        let number = row.evaluation.map(|number| number.to_string()).unwrap_or_default();
        let visits = if row.visits > 0 { row.visits.to_string() } else { String::new() };
        format!(" {searched:>11} {number:>9} {visits:>6}")
    } else {
        String::new()
    };
    format!("{place:>3} {score:>11}{found}  {}{}", row.config, remark(row))
}

/// Returns a line for each cause of failures under those of their kinds, at most `width` columns wide.
pub(crate) fn failures(watched: &Watched, width: u16, paint: Paint) -> Vec<Line<'static>> {
    let failures = &watched.failures;
    let cut = |text: &str, style| Line::from(Span::styled(fitted(text, usize::from(width)), style));
    let mut lines = match failures.count() {
        0 => vec![Line::from("no configuration failed")],
        count => {
            let all = counted(watched.evaluations, "evaluation");
            vec![cut(&format!("{count} of {all} failed"), paint.strong())]
        }
    };
    let causes = failures.causes();
    for (kind, count) in failures.kinds() {
        lines.push(cut(&format!("{count:>7}  {kind}"), paint.bad()));
        let own = causes.iter().filter(|cause| cause.kind == kind);
        lines.extend(own.map(|cause| cut(&format!("{:>11}  {}", cause.count, cause.headline), paint.plain())));
    }
    if failures.uncounted() > 0 {
        let more = counted(failures.uncounted(), "failure");
        lines.push(cut(&format!("{more} more with messages that are not listed"), paint.dim()));
    }
    let limited = [
        (failures.cut, "cut by limits from the best time"),
        (failures.aside, "put aside: they compile for much longer than usual"),
    ];
    for (count, how) in limited.into_iter().filter(|(count, _)| *count > 0) {
        lines.push(cut(&format!("{count:>7}  {how}"), paint.plain()));
    }
    lines
}
