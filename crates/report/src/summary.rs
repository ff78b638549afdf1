//! Renders the end of a tuning run.

use crate::format::{amount, count, counted, cuts, duration, milliseconds, quantity, significant};
use crate::visible::message;
use std::fmt::Write as _;
use tunesmith_core::{Cuts, FailureKind, Gain, Objective};

/// The summary at the end of a run.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The reason why the run ended.
    pub stop_reason: String,
    /// Number of evaluations, including failed and resumed ones.
    pub evaluations: u64,
    /// Number of evaluations taken from the resumed journal.
    pub resumed: usize,
    /// The size of the space, in decimal.
    pub space_size: String,
    /// Wall time.
    pub seconds: f64,
    /// The best correct configuration.
    pub best: Option<Winner>,
    /// The default configuration, if it was correct.
    pub default: Option<Baseline>,
    /// The reason why there is no default configuration to compare with.
    pub no_default: Option<String>,
    /// The reason why correct configurations have no value of the objective, if that is why there
    /// is no best.
    pub no_value: Option<String>,
    /// Number of configurations that are indistinguishable from the best.
    pub ties: usize,
    /// Number of finalists that were measured too seldom to be compared with the best.
    pub not_compared: usize,
    /// Number of configurations with the machine code of the best.
    pub equal_code: usize,
    /// Number of leaders in the final re-measurement; 0 without one.
    pub finalists: usize,
    /// Further remarks on the measurements: a label and a sentence each.
    pub notes: Vec<(&'static str, String)>,
    /// Failures by kind, with the commonest message of each.
    pub failures: Vec<FailureLine>,
    /// The configurations that limits from the best time cut. They are not among the failures.
    pub cut: Option<Cuts>,
    /// The path of the journal.
    pub journal: Option<String>,
    /// Commands to try next.
    pub next: Vec<String>,
}

/// The best configuration.
#[derive(Clone, Debug)]
pub struct Winner {
    /// The median time in milliseconds.
    pub time_ms: f64,
    /// A 95 % interval of the median.
    pub ci95_ms: Option<(f64, f64)>,
    /// The configuration as text.
    pub config: String,
    /// 10^9 floating-point operations per second, if the problem declares them.
    pub gflops: Option<f64>,
    /// 10^9 bytes per second, if the problem declares them.
    pub gbytes: Option<f64>,
}

/// The configuration that the best is compared with.
#[derive(Clone, Debug)]
pub struct Baseline {
    /// The objective.
    pub objective: Objective,
    /// Its value.
    pub value: f64,
    /// The part of the run that measured it.
    pub source: SpeedupSource,
    /// The gain of the best, with a 95 % interval if both were measured more than once. `None` if it is the best
    /// itself: nothing is better beyond doubt.
    pub gain: Option<(Gain, Option<(f64, f64)>)>,
}

/// The origin of the times that a speed-up compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpeedupSource {
    /// Both from the final re-measurement, where the two took turns.
    Final,
    /// Both from the search.
    Search,
    /// The best from the final re-measurement, the baseline from the search.
    Different,
}

impl Baseline {
    fn text(&self) -> String {
        let Some((gain, interval)) = self.gain else {
            return "none: nothing better than the default was found".to_string();
        };
        let source = match self.source {
            SpeedupSource::Final => "in the final",
            SpeedupSource::Search => "in the search",
            SpeedupSource::Different => "in the search, not in the final",
        };
        let number = |number: f64| match gain {
            Gain::Ratio(_) => significant(number),
            Gain::Difference(_) => quantity(number),
        };
        let better = match gain {
            Gain::Ratio(ratio) => {
                format!("{} {} the default configuration", number(ratio), self.objective.ratio_words())
            }
            Gain::Difference(difference) => format!("{} better than the default configuration", number(difference)),
        };
        let interval = interval.map(|(low, high)| (number(low), number(high))).filter(|(low, high)| low != high);
        let interval = interval.map_or_else(String::new, |(low, high)| format!("; 95 %: {low} to {high}"));
        let value = amount(self.value, &self.objective);
        format!("{better} ({value} {source}{interval})")
    }

    fn label(&self) -> &'static str {
        self.objective.gain_word()
    }
}

/// Failures of one kind.
#[derive(Clone, Debug)]
pub struct FailureLine {
    /// The kind.
    pub kind: FailureKind,
    /// Number of failures.
    pub count: usize,
    /// The commonest message.
    pub message: String,
}

impl Summary {
    /// Returns the summary as lines of text, each ended.
    pub fn render(&self) -> String {
        let mut text = String::new();
        self.write_best(&mut text);
        self.write_failures(&mut text);
        for (label, note) in &self.notes {
            line(&mut text, label, &message(note));
        }
        let resumed = if self.resumed > 0 { format!(" ({} from the journal)", self.resumed) } else { String::new() };
        let (evaluations, size) = (self.evaluations, count(&self.space_size));
        line(
            &mut text,
            "search",
            &format!(
                "{evaluations} of {}{resumed} in {}; ended by: {}",
                counted(size, "configuration"),
                duration(self.seconds),
                self.stop_reason
            ),
        );
        if let Some(journal) = &self.journal {
            line(&mut text, "journal", journal);
        }
        for (position, command) in self.next.iter().enumerate() {
            line(&mut text, if position == 0 { "next" } else { "" }, command);
        }
        text
    }

    fn write_best(&self, text: &mut String) {
        let Some(best) = &self.best else {
            let reason = self.no_value.as_ref().map_or_else(
                || "no configuration was correct".to_string(),
                |reason| format!("no correct configuration has a value of the objective: {reason}"),
            );
            line(text, "best", &format!("none: {reason}"));
            return;
        };
        let interval =
            best.ci95_ms.map(|(low, high)| format!("  (95 %: {} to {})", milliseconds(low), milliseconds(high)));
        line(text, "best", &format!("{}{}", milliseconds(best.time_ms), interval.unwrap_or_default()));
        line(text, "", &best.config);
        if let Some(default) = &self.default {
            line(text, default.label(), &default.text());
        }
        if let Some(reason) = &self.no_default {
            line(text, "speed-up", &message(&format!("unknown: {reason}")));
        }
        let rates = [(best.gflops, "GFLOP/s"), (best.gbytes, "GB/s")];
        let rates: Vec<String> =
            rates.iter().filter_map(|(rate, unit)| Some(format!("{} {unit}", significant((*rate)?)))).collect();
        if !rates.is_empty() {
            line(text, "rate", &rates.join(", "));
        }
        if self.ties > 0 {
            line(text, "ties", &format!("{} more are indistinguishable from the best by their samples", self.ties));
        }
        if self.not_compared > 0 {
            let label = if self.ties > 0 { "" } else { "ties" };
            line(text, label, &not_compared(self.not_compared));
        }
        if self.equal_code > 0 {
            let label = if self.ties + self.not_compared > 0 { "" } else { "ties" };
            line(text, label, &equal_code(self.equal_code));
        }
        if self.finalists > 0 {
            line(text, "final", &format!("{} measured again in turn", leaders(self.finalists)));
        }
    }

    fn write_failures(&self, text: &mut String) {
        for (position, failure) in self.failures.iter().enumerate() {
            let FailureLine { kind, count, message: common } = failure;
            // The message of a limit is its name, which is no example of many.
            let separator = if *kind == FailureKind::Infeasible { ": " } else { ", commonly: " };
            let content = message(&format!("{count} {kind}{separator}{common}"));
            line(text, if position == 0 { "failed" } else { "" }, &content);
        }
        if let Some(cut) = &self.cut {
            line(text, "cut", &cuts(cut));
        }
    }
}

/// Returns the sentence about finalists that were not compared with the best.
pub fn not_compared(finalists: usize) -> String {
    let verb = if finalists == 1 { "was" } else { "were" };
    format!(
        "{} {verb} measured too seldom, or with too much noise, to be compared with the best",
        counted(finalists, "finalist")
    )
}

/// Returns the sentence about configurations with the machine code of the best.
pub fn equal_code(configurations: usize) -> String {
    let verb = if configurations == 1 { "has" } else { "have" };
    format!(
        "{configurations} more {verb} the machine code of the best (equal code, other time): a difference is chance"
    )
}

fn leaders(count: usize) -> String {
    if count == 1 { "the leader was".to_string() } else { format!("the {count} leaders were") }
}

fn line(text: &mut String, label: &str, content: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{label:>9}  {content}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_core::{Direction, Source};

    fn summary() -> Summary {
        Summary {
            stop_reason: "evaluations 200".to_string(),
            evaluations: 200,
            resumed: 50,
            space_size: "389120".to_string(),
            seconds: 61.0,
            best: Some(Winner {
                time_ms: 2.31,
                ci95_ms: Some((2.29, 2.34)),
                config: "MC=64,NC=512".to_string(),
                gflops: Some(116.2),
                gbytes: None,
            }),
            default: Some(Baseline {
                value: 8.4,
                source: SpeedupSource::Final,
                gain: Some((Gain::Ratio(3.636), Some((3.6, 3.66)))),
                objective: Objective::time(),
            }),
            no_default: None,
            no_value: None,
            ties: 2,
            not_compared: 1,
            equal_code: 3,
            finalists: 5,
            notes: vec![("drift", "the device became 4 % slower".to_string())],
            failures: vec![FailureLine {
                kind: FailureKind::Compile,
                count: 3,
                message: "error: expected `;`".to_string(),
            }],
            cut: None,
            journal: Some("gemm.jsonl".to_string()),
            next: vec!["tunesmith top gemm.jsonl".to_string()],
        }
    }

    #[test]
    fn the_end_of_a_run_says_what_was_found_what_failed_and_what_to_do_next() {
        insta::assert_snapshot!(summary().render(), @"
             best  2.310 ms  (95 %: 2.290 ms to 2.340 ms)
                   MC=64,NC=512
         speed-up  3.636 times the default configuration (8.400 ms in the final; 95 %: 3.600 to 3.660)
             rate  116.2 GFLOP/s
             ties  2 more are indistinguishable from the best by their samples
                   1 finalist was measured too seldom, or with too much noise, to be compared with the best
                   3 more have the machine code of the best (equal code, other time): a difference is chance
            final  the 5 leaders were measured again in turn
           failed  3 compile, commonly: error: expected `;`
            drift  the device became 4 % slower
           search  200 of 389,120 configurations (50 from the journal) in 1 min 1 s; ended by: evaluations 200
          journal  gemm.jsonl
             next  tunesmith top gemm.jsonl
        ");
    }

    #[test]
    fn configurations_that_were_cut_are_no_failures() {
        let text = |cut| Summary { cut: Some(cut), ..summary() }.render();
        let one = Cuts { count: 1, limit_ms: (1000.0, 1000.0), factor: 10.0 };
        let line = "\n      cut  1 configuration was cut at 1.000 s, ten times the best\n";
        assert!(text(one).contains(line), "{}", text(one));
        let three = Cuts { count: 3, limit_ms: (250.0, 1000.0), factor: 52.04 };
        let line = "3 configurations were cut at 250.0 ms to 1.000 s, more than ten times the best";
        assert!(text(three).contains(line), "{}", text(three));
    }

    #[test]
    fn a_run_without_a_best_says_why() {
        let failed = Summary { best: None, default: None, ..summary() };
        assert!(failed.render().starts_with("     best  none: no configuration was correct\n"));
        let text = Summary { no_value: Some("`j` is not measured".to_string()), ..failed }.render();
        assert!(text.starts_with("     best  none: no correct configuration has a value of the objective: `j` is not"));
    }

    #[test]
    fn a_speed_up_says_what_it_compares() {
        let gain = Some((Gain::Ratio(2.0), None));
        let baseline = Baseline { value: 2.0, source: SpeedupSource::Search, gain, objective: Objective::time() };
        assert_eq!(baseline.text(), "2.000 times the default configuration (2.000 ms in the search)");
        let score = Objective::new("score", Direction::Maximise, None, Source::Printed);
        let different = Baseline { source: SpeedupSource::Different, objective: score, ..baseline.clone() };
        let text = "2.000 times as good as the default configuration (2 in the search, not in the final)";
        assert_eq!(different.text(), text);
        let difference = Baseline { gain: Some((Gain::Difference(3.0), Some((2.5, 3.0)))), ..different };
        let text = "3 better than the default configuration (2 in the search, not in the final; 95 %: 2.5 to 3)";
        assert_eq!(difference.text(), text);
        let best = Baseline { gain: None, ..baseline };
        assert_eq!(best.text(), "none: nothing better than the default was found");
    }
}
