//! The page that explains a run.

use crate::format::{counted, cuts, milliseconds, quantity, significant};
use crate::roof::RoofPage;
use crate::summary::not_compared;
use crate::visible::visible;
use std::fmt::Write as _;
use tunesmith_core::{Gain, Objective};
use tunesmith_explain::{
    Absence, AmongBest, Cause, Change, CodeNumber, CutCause, Effect, FailureCause, Importance, MainShare, Scale,
};

/// The content of the page.
#[derive(Clone, Copy, Debug)]
pub struct ExplanationPage<'a> {
    /// The first line: the run and its numbers.
    pub title: &'a str,
    /// The verdict, if a configuration was correct.
    pub standing: Option<&'a Standing>,
    /// The importance of the parameters.
    pub importance: &'a Importance,
    /// The values among the best.
    pub among_best: Option<&'a AmongBest>,
    /// The differences between the default and the best.
    pub changes: &'a [Change],
    /// The resources that the compiled kernels of the best and of the default use.
    pub code: &'a [CodeNumber],
    /// The failures by kind.
    pub failures: &'a [FailureCause],
    /// The configurations that limits from the best time cut.
    pub cut: Option<&'a CutCause>,
    /// Distances from the optimum with the probability that the best is within them.
    pub within: &'a [(f64, f64)],
    /// The bottlenecks with their shares of the peak, the tightest first.
    pub bottlenecks: &'a [(String, f64)],
    /// The best configuration beside the model of its device, if the kernel is a loop nest.
    pub roof: Option<&'a RoofPage>,
    /// The next steps.
    pub next: &'a [NextStep],
}

/// The verdict on a run.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The objective of the run.
    pub objective: Objective,
    /// The median time of the best in milliseconds.
    pub time_ms: f64,
    /// A 95 % interval of the median.
    pub ci95_ms: Option<(f64, f64)>,
    /// The configuration as text.
    pub config: String,
    /// The default configuration, if it was correct: its time, or its value of another objective, and how much
    /// better the best is.
    pub default: Option<(String, Gain)>,
    /// The value of the objective, if it is not that time.
    pub value: Option<String>,
    /// True if the best is better than the default beyond doubt.
    pub is_better: bool,
    /// Number of configurations that are indistinguishable from the best.
    pub ties: usize,
    /// Number of finalists that were measured too seldom to be compared with the best.
    pub not_compared: usize,
    /// A remark about the end of the run.
    pub end: Option<String>,
}

/// One thing to try.
#[derive(Clone, Debug, PartialEq)]
pub struct NextStep {
    /// The reason.
    pub reason: String,
    /// The command.
    pub command: Option<String>,
}

/// Columns of the page.
const WIDTH: usize = 100;
/// Columns of the labels.
const LABEL: usize = 10;
/// Characters of a full bar.
const BAR: usize = 20;
/// Parameters, pairs, changes, kinds of failures with a line for the message, and bottlenecks shown: the page fits a
/// screen.
const PARAMETERS: usize = 6;
const PAIRS: usize = 3;
const CHANGES: usize = 4;
const KINDS: usize = 2;
const BOTTLENECKS: usize = 3;
/// The resources of compiled kernels that are shown: the first always, the others where they
/// differ.
const CODE: [&str; 7] =
    ["registers", "local_bytes", "occupancy", "shared_bytes", "spill_load_bytes", "spill_store_bytes", "instructions"];
/// Columns of the longest name shown in full.
const NAME: usize = 34;
/// Lines of the longest text.
const LINES: usize = 2;

impl ExplanationPage<'_> {
    /// Returns the page as lines of text, each ended: about 40 lines of at most 100 columns.
    pub fn render(&self) -> String {
        let mut text = format!("{}\n", cut(&visible(self.title), WIDTH));
        self.write_standing(&mut text);
        self.write_importance(&mut text);
        self.write_best(&mut text);
        self.write_changes(&mut text);
        self.write_code(&mut text);
        self.write_failures(&mut text);
        self.write_left(&mut text);
        let tight = self.bottlenecks.iter().take(BOTTLENECKS).filter(|(_, share)| *share > 0.0);
        let tight: Vec<String> =
            tight.map(|(name, share)| format!("{name} at {} of its peak", percent(*share))).collect();
        write(&mut text, "bottleneck", &tight.join(", "));
        for (label, line) in self.roof.map(RoofPage::lines).unwrap_or_default() {
            write(&mut text, label, &line);
        }
        for (at, step) in self.next.iter().enumerate() {
            write(&mut text, if at == 0 { "next" } else { "" }, &format!("{}{}", step.reason, ending(step)));
            if let Some(command) = &step.command {
                // A command stays on its line, so that it can be copied.
                let _ = writeln!(text, "{:LABEL$}    {}", "", visible(command));
            }
        }
        text
    }

    fn write_standing(&self, text: &mut String) {
        let Some(best) = self.standing else { return };
        let interval =
            best.ci95_ms.map(|(low, high)| format!("  (95 %: {} to {})", milliseconds(low), milliseconds(high)));
        write(text, "best", &format!("{}{}", milliseconds(best.time_ms), interval.unwrap_or_default()));
        write(text, "", &spaced(&best.config));
        if let Some(value) = &best.value {
            write(text, "objective", value);
        }
        if let Some((default, gain)) = &best.default {
            let better = best.objective.comparative();
            let verdict = match gain {
                _ if !best.is_better => format!("nothing is {better} than the default beyond doubt"),
                Gain::Ratio(ratio) => format!("{} {} the default", significant(*ratio), best.objective.ratio_words()),
                Gain::Difference(difference) => format!("{} better than the default", quantity(*difference)),
            };
            write(text, best.objective.gain_word(), &format!("{verdict} ({default})"));
        }
        if best.ties > 0 {
            let verb = if best.ties == 1 { "is" } else { "are" };
            let ties = counted(best.ties, "configuration");
            write(text, "ties", &format!("{ties} {verb} indistinguishable from the best"));
        }
        if best.not_compared > 0 {
            write(text, if best.ties > 0 { "" } else { "ties" }, &not_compared(best.not_compared));
        }
        if let Some(end) = &best.end {
            write(text, "end", end);
        }
    }

    fn write_importance(&self, text: &mut String) {
        let found = self.importance;
        let Some(unexplained) = found.unexplained else {
            let least = tunesmith_explain::FEWEST;
            let reason = format!("unknown: that takes {least} correct evaluations with different times");
            return write(text, "importance", &reason);
        };
        let of = if found.scale == Some(Scale::Plain) {
            "the objective"
        } else if self.is_of_time() {
            "log(time)"
        } else {
            "log(objective)"
        };
        write(text, "importance", &format!("share of the variance of {of}: alone, and with interactions"));
        let (inert, others): (Vec<&MainShare>, Vec<&MainShare>) =
            found.importance.iter().partition(|share| share.is_inert());
        let shown = others
            .iter()
            .take(PARAMETERS)
            .map(|share| (share.parameter.clone(), share.share, format!("{:>6}", percent(share.with_interactions))));
        let pairs = found.interactions.iter().filter(|pair| pair.share >= 0.01).take(PAIRS);
        let pairs = pairs.map(|pair| (pair.parameters.join(" with "), pair.share, "jointly".to_string()));
        let rows: Vec<(String, f64, String)> = shown.chain(pairs).collect();
        let width = rows.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0).min(NAME);
        for (name, share, rest) in rows {
            let full = (share.clamp(0.0, 1.0) * BAR as f64).round() as usize;
            let bar = format!("{}{}", "#".repeat(full), ".".repeat(BAR - full));
            let line = format!("{:<width$}  {bar} {:>6}  {rest}", cut(&visible(&name), width), percent(share));
            let _ = writeln!(text, "{:LABEL$}  {}", "", line);
        }
        if others.len() > PARAMETERS {
            write(text, "", &format!("and {} with smaller shares", counted(others.len() - PARAMETERS, "parameter")));
        }
        let names: Vec<String> = inert.iter().map(|share| share.parameter.clone()).collect();
        if !names.is_empty() {
            write(text, "", &format!("no visible effect: {}", names.join(", ")));
        }
        let doubt = if unexplained > tunesmith_explain::DOUBTFUL { ": do not trust the other shares" } else { "" };
        write(text, "", &format!("left to noise, or to what was not tried: {}{doubt}", percent(unexplained)));
    }

    fn write_best(&self, text: &mut String) {
        let Some(best) = self.among_best else { return };
        let (told, any): (Vec<_>, Vec<_>) = best.parameters.iter().partition(|values| !values.is_open());
        let mut parts: Vec<String> = told.iter().map(|values| values.condition.to_string()).collect();
        if !any.is_empty() && parts.len() < best.parameters.len() {
            let names: Vec<&str> = any.iter().map(|values| values.condition.parameter.as_str()).collect();
            parts.push(format!("any {}", names.join(", any ")));
        }
        write(text, "values", &format!("of the best {}: {}", best.count, parts.join(", ")));
    }

    /// Returns true if the objective is time.
    fn is_of_time(&self) -> bool {
        self.standing.is_none_or(|best| best.value.is_none())
    }

    fn write_changes(&self, text: &mut String) {
        let shown = &self.changes[..self.changes.len().min(CHANGES)];
        let name = |change: &Change| format!("{} {} -> {}", change.parameter, change.from, change.to);
        let width = shown.iter().map(|change| name(change).chars().count()).max().unwrap_or(0).min(NAME);
        for (at, change) in shown.iter().enumerate() {
            let [better, worse] = if self.is_of_time() { ["faster", "slower"] } else { ["better", "worse"] };
            let alone = effect("alone", change.alone, [better, worse]);
            let needed = effect("without it", change.needed, [worse, better]);
            let line = format!("{:<width$}  {alone}; {needed}", cut(&visible(&name(change)), width));
            write(text, if at == 0 { "changes" } else { "" }, &line);
        }
        if self.changes.len() > CHANGES {
            write(text, "", &format!("and {}", counted(self.changes.len() - CHANGES, "smaller change")));
        }
    }

    fn write_code(&self, text: &mut String) {
        let mut shown: Vec<(usize, &CodeNumber)> = Vec::new();
        for number in self.code {
            let Some(at) = CODE.iter().position(|name| *name == number.resource()) else { continue };
            // The first is the one that says how many threads fit.
            if at == 0 || number.differs() && (number.best > 0.0 || number.default > Some(0.0)) {
                shown.push((at, number));
            }
        }
        shown.sort_by_key(|(at, _)| *at);
        let part = |(_, number): &(usize, &CodeNumber)| {
            // Most are counts.
            let text = |value: f64| if value.fract() == 0.0 { value.to_string() } else { significant(value) };
            let default = number.default.filter(|_| number.differs());
            let default = default.map(|default| format!(" (default {})", text(default))).unwrap_or_default();
            format!("{} {}{default}", number.name, text(number.best))
        };
        let parts: Vec<String> = shown.iter().map(part).collect();
        write(text, "code", &parts.join(", "));
    }

    fn write_left(&self, text: &mut String) {
        let Some(((share, probability), others)) = self.within.split_first() else { return };
        if *probability >= 1.0 {
            return write(text, "optimum", "nothing is left to evaluate: the best is the best of all");
        }
        let likely = |probability: f64| format!("{:.0} %", (probability * 100.0).floor());
        let first =
            format!("the best is within {} of it with a probability of {}", percent(*share), likely(*probability));
        let others = others.iter().map(|(share, probability)| format!("{}: {}", percent(*share), likely(*probability)));
        write(text, "optimum", &[first].into_iter().chain(others).collect::<Vec<_>>().join("; within "));
    }

    fn write_failures(&self, text: &mut String) {
        // Many kinds have a line each.
        let is_short = self.failures.len() > KINDS;
        for (at, failures) in self.failures.iter().enumerate() {
            let label = if at == 0 { "failed" } else { "" };
            let (found, message) = (found(failures), visible(&failures.message));
            if is_short {
                let line = format!("{}: {message}", visible(&found));
                let _ = writeln!(text, "{label:>LABEL$}  {}", cut(&line, WIDTH - LABEL - 2));
                continue;
            }
            write(text, label, &found);
            let _ = writeln!(text, "{:LABEL$}    {}", "", cut(&message, WIDTH - LABEL - 4));
        }
        if let Some(CutCause { cuts: all, cause, covered, correct }) = self.cut {
            let cause = because(cause.as_ref(), all.count, *covered, *correct);
            write(text, "cut", &format!("{}{cause}", cuts(all)));
        }
    }
}

/// Returns the number of failures of one kind, with the values that explain them.
fn found(failures: &FailureCause) -> String {
    let FailureCause { status, count, covered, correct, .. } = failures;
    format!("{count} {status}{}", because(failures.cause.as_ref(), *count, *covered, *correct))
}

/// Returns the values that explain `count` configurations, after a colon. Empty without a cause.
fn because(cause: Option<&Cause>, count: usize, covered: usize, correct: usize) -> String {
    let Some(cause) = cause else { return String::new() };
    let all = if covered == count { "all have".to_string() } else { format!("{covered} have") };
    let besides = match correct {
        0 => String::new(),
        number => format!(", as {} have", counted(number, "correct one")),
    };
    format!(": {all} {cause}{besides}")
}

/// Returns the effect of a change in words, with those for a ratio above 1 and below 1.
fn effect(when: &str, effect: Result<Effect, Absence>, [above, below]: [&str; 2]) -> String {
    let (gain, explained) = match effect {
        Ok(Effect { gain, explained, .. }) => (gain, explained),
        Err(absence) => return format!("{when}: {absence}"),
    };
    let source = explained.map_or_else(String::new, |share| format!(" (model: {})", percent(share)));
    match gain {
        Gain::Ratio(0.995..1.005) | Gain::Difference(0.0) => format!("{when} no difference{source}"),
        Gain::Ratio(ratio) if ratio > 1.0 => format!("{when} {ratio:.2} times {above}{source}"),
        Gain::Ratio(ratio) => format!("{when} {:.2} times {below}{source}", 1.0 / ratio),
        Gain::Difference(by) if by > 0.0 => format!("{when} {} {above}{source}", quantity(by)),
        Gain::Difference(by) => format!("{when} {} {below}{source}", quantity(-by)),
    }
}

fn ending(step: &NextStep) -> &'static str {
    if step.command.is_some() { ":" } else { "" }
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 10.0 && percent.fract() != 0.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// Returns a configuration with blanks, at which long ones are folded.
fn spaced(config: &str) -> String {
    config.replace(',', ", ")
}

/// Returns a text in lines, folded at blanks, but not between a number and its `%`.
fn fold(content: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in visible(content).replace(" %", "\u{a0}%").split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() + 1 + LABEL + 2 <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines[LINES - 1] = cut(&format!("{} ...", lines[LINES - 1]), WIDTH - LABEL - 2);
    }
    lines.iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

/// Writes a label and a folded text. Writes nothing without a text.
fn write(text: &mut String, label: &str, content: &str) {
    for (at, line) in fold(content).iter().enumerate().filter(|_| !content.is_empty()) {
        let label = if at == 0 { label } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{label:>LABEL$}  {}", cut(line, WIDTH - LABEL - 2));
    }
}

/// Returns `text` in at most `width` columns.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_string();
    }
    let kept: String = text.chars().take(width.saturating_sub(3)).collect();
    format!("{kept}...")
}

#[cfg(test)]
#[path = "explanation_tests.rs"]
mod tests;
