//! Judges the result of a run and extracts its numbers. Pure functions: values in, decision out.

use crate::host::{Finish, Output, ProcessReport, Ran};
use crate::host::{ended_badly, signal};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;
use tunesmith_core::{Failure, FailureKind};
use tunesmith_kernel::command::{CommandSpec, Cost};
use tunesmith_kernel::measure::limits::Limit;

/// The numbers of a correct run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    /// The cost of the run, in milliseconds.
    pub(super) cost_ms: f64,
    /// The duration of the run, even if the cost is another number.
    pub(super) wall: Duration,
    /// The further values, in the order of the problem.
    pub(super) values: Vec<f64>,
}

/// Describes an unsuccessful end of a command. The text follows the command's name. Returns `None`
/// if the command succeeded.
pub(super) fn unsuccessful(finish: &Finish) -> Option<String> {
    match finish {
        Finish::Ended(report) => ended_badly(ExitStatus::from_raw(report.status)),
        Finish::NotStarted(reason) => Some(format!("could not be started: {reason}")),
        Finish::Torn(status) => {
            let by = status.signal().map_or_else(|| status.to_string(), signal);
            Some(format!("ended its own process group, and with it the process that watched it: {by}"))
        }
        Finish::TimedOut => Some("did not end in time".to_owned()),
        Finish::Cancelled => Some("was interrupted".to_owned()),
    }
}

/// Judges a run with the given `limit`. `expected` is the expected output. Never called for a
/// cancelled run.
pub(super) fn judge(spec: &CommandSpec, expected: Option<&str>, ran: &Ran, limit: &Limit) -> Result<Sample, Failure> {
    let runtime = |text: String| Failure::new(FailureKind::Runtime, with_output(&text, ran));
    if matches!(ran.finish, Finish::TimedOut) {
        let text = format!("the command did not end within {limit}");
        return Err(Failure { cut: limit.cut(), ..Failure::new(FailureKind::Timeout, with_output(&text, ran)) });
    }
    let report = match (&ran.finish, unsuccessful(&ran.finish)) {
        (Finish::Ended(report), None) => report,
        (_, how) => return Err(runtime(crash(spec, &how.unwrap_or_default(), &ran.stderr))),
    };
    if let Some(text) = wrong_output(spec, expected, ran) {
        return Err(Failure::new(FailureKind::Correctness, with_output(&text, ran)));
    }
    let printed = format!("{}\n{}", ran.stdout.whole_lines(), ran.stderr.whole_lines());
    let mut numbers = Vec::new();
    for (name, pattern) in spec.numbers() {
        let number = match pattern.last(&printed) {
            Some(Ok(number)) => Ok(number),
            Some(Err(fault)) => Err(format!("`{name}` is {fault}")),
            None => Err(format!("the command did not print `{name}`: nothing matches `{pattern}`")),
        };
        numbers.push(number.map_err(&runtime)?);
    }
    sample(spec, report, numbers).map_err(runtime)
}

/// Returns the sample of a run that printed `numbers`. If the cost is printed, it comes first.
fn sample(spec: &CommandSpec, report: &ProcessReport, mut numbers: Vec<f64>) -> Result<Sample, String> {
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let cost_ms = match &spec.cost {
        Cost::Wall => milliseconds(report.wall),
        Cost::User => milliseconds(report.user),
        Cost::Cpu => milliseconds(report.user + report.system),
        Cost::Printed(_, unit) => {
            let number = numbers.remove(0);
            // A zero is a time printed with too few digits. It would beat every real one.
            if number <= 0.0 {
                return Err(format!("`cost` is {number}, but a time is a number above 0"));
            }
            number / unit.per_millisecond()
        }
    };
    Ok(Sample { cost_ms, wall: report.wall, values: numbers })
}

/// Describes the end of a failed command, with the last line of its standard error: most programs say
/// there why they failed.
fn crash(spec: &CommandSpec, how: &str, stderr: &Output) -> String {
    let hint = spec.memory_limit.map(|limit| {
        format!("; it may have run out of memory: `memory_limit` allows it {} MiB", limit.div_ceil(1 << 20))
    });
    let reason = last_line(stderr).map(|line| format!(": {line}")).unwrap_or_default();
    format!("the command {how}{reason}{}", hint.unwrap_or_default())
}

/// Returns the fault of a wrong output.
fn wrong_output(spec: &CommandSpec, expected: Option<&str>, ran: &Ran) -> Option<String> {
    let pattern = spec.verify.output.as_ref();
    let matches = |output: &Output| pattern.is_none_or(|pattern| pattern.matches(&output.whole_lines()));
    if let Some(pattern) = pattern.filter(|_| !matches(&ran.stdout) && !matches(&ran.stderr)) {
        return Some(format!("the output is wrong: nothing matches `{pattern}`"));
    }
    first_difference(expected?, &ran.stdout)
}

/// Returns the first difference between an output and the expected output. Line ends at the very
/// end are ignored.
fn first_difference(expected: &str, found: &Output) -> Option<String> {
    let text = found.text();
    let (expected, text) = (expected.trim_end_matches('\n'), text.trim_end_matches('\n'));
    if found.is_complete() && expected == text {
        return None;
    }
    let (wanted, found): (Vec<&str>, Vec<&str>) = (expected.split('\n').collect(), text.split('\n').collect());
    let both = wanted.len().min(found.len());
    let line = (0..both).find(|&line| wanted[line] != found[line]).unwrap_or(both);
    let show = |lines: &[&str]| lines.get(line).map_or_else(|| "the end".to_owned(), |text| format!("`{text}`"));
    let place = format!("the standard output is wrong from line {} on", line + 1);
    Some(format!("{place}: wanted {}, found {}", show(&wanted), show(&found)))
}

/// Returns the last line with text of an output, as part of a message.
pub(super) fn last_line(output: &Output) -> Option<String> {
    output.text().lines().rev().map(plain).find(|line| !line.is_empty())
}

/// Returns a line of a program without colours, other control characters and blanks around it. A line
/// that is too long for a summary is cut. Of a line that was overwritten, as progress is, the last
/// text remains.
pub(super) fn plain(line: &str) -> String {
    const LONGEST: usize = 200;
    let last = line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default();
    let mut text = String::new();
    let mut letters = last.chars();
    while let Some(letter) = letters.next() {
        match letter {
            // A colour: `ESC [ 1 ; 31 m`.
            '\u{1b}' if letters.as_str().starts_with('[') => {
                letters.by_ref().skip(1).find(|letter| matches!(letter, '@'..='~'));
            }
            letter if letter.is_control() => text.push(' '),
            letter => text.push(letter),
        }
    }
    let text = text.trim();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Appends the last printed lines to a message: those of the standard error or else of the standard
/// output.
pub(super) fn with_output(text: &str, ran: &Ran) -> String {
    let printed = if ran.stderr.is_blank() { &ran.stdout } else { &ran.stderr };
    if printed.is_blank() { text.to_owned() } else { format!("{text}\nIt printed last:\n{}", printed.last_lines()) }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_line_in_a_summary_is_short_and_without_control_characters() {
        assert_eq!(plain("  \u{1b}[1;31mcannot\u{1b}[0m do\tit \u{7}\r"), "cannot do it");
        assert_eq!(plain("10 %\r20 %\rno space left"), "no space left");
        let long = plain(&"é".repeat(300));
        assert_eq!(long.chars().count(), 203);
        assert!(long.ends_with("é..."), "{long}");
    }
}
