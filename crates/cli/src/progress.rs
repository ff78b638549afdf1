//! Displays a run in progress: a bar on a terminal, plain lines elsewhere.

use crate::output::note;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::Cell;
use std::io::IsTerminal;
use std::rc::Rc;
use std::time::Duration;
use tunesmith::core::{Event, FailureKind, Observer, Progress, Scored, Stop, statistics};
use tunesmith::report::{duration, folded, milliseconds, visible};
use tunesmith::space::Space;

/// Maximum time between lines without a terminal. Every improvement is printed at once.
const PLAIN_INTERVAL: Duration = Duration::from_secs(10);

/// Shows evaluations, rate, time left, the best so far and failures by kind.
#[derive(Default)]
pub(crate) struct Display {
    space: Option<Space>,
    limit: Option<u64>,
    bar: Option<ProgressBar>,
    failed: [usize; FailureKind::ALL.len()],
    best: Option<f64>,
    last_line: Duration,
    started: (u64, Duration),
    /// True if no output is compared with a correct result.
    pub(crate) unverified: Rc<Cell<bool>>,
}

impl Display {
    fn start(&mut self, space: &Space, stop: &Stop, progress: &Progress) {
        let limit = stop.evaluation_limit(progress.space_size);
        self.limit =
            limit.map(|limit| space.len().map_or(limit, |size| limit.min(u64::try_from(size).unwrap_or(limit))));
        self.bar = std::io::stderr().is_terminal().then(|| bar(self.limit));
        self.started = (progress.evaluations, progress.elapsed);
        self.space = Some(space.clone());
    }

    fn evaluated(&mut self, scored: &Scored, best: Option<&Scored>, progress: &Progress) {
        if let Some(kind) = scored.evaluation.status() {
            let position = FailureKind::ALL.iter().position(|known| *known == kind);
            self.failed[position.unwrap_or_default()] += 1;
        }
        let text = self.text(best, progress);
        match &self.bar {
            Some(bar) => {
                bar.set_position(progress.evaluations);
                bar.set_message(visible(&text).into_owned());
            }
            None => self.plain_line(&text, progress),
        }
    }

    fn plain_line(&mut self, text: &str, progress: &Progress) {
        let improved = progress.best() != self.best;
        if improved || progress.elapsed >= self.last_line + PLAIN_INTERVAL {
            self.best = progress.best();
            self.last_line = progress.elapsed;
            let of = self.limit.map(|limit| format!("/{limit}")).unwrap_or_default();
            note(&format!(
                "{}{of} evaluations, {}, {text}",
                progress.evaluations,
                duration(progress.elapsed.as_secs_f64())
            ));
        }
    }

    /// Returns the message. The most important part comes first, since the end of a long line is
    /// cut off.
    fn text(&self, best: Option<&Scored>, progress: &Progress) -> String {
        let (pace, failures) = (self.pace(progress), self.failures());
        // Shows the time for any objective: it needs no unit of its own.
        let time = |best: &Scored| statistics::median(&best.evaluation.measurement.times_ms);
        let Some((best, time)) = best.and_then(|best| Some((best, time(best)?))) else {
            return format!("{pace}nothing correct yet{failures}");
        };
        let values = self.space.as_ref().map(|space| {
            let configuration = space.unrank(best.evaluation.request.config);
            let pairs = space.values(&configuration).map(|(name, value)| format!("{name}={value}"));
            pairs.collect::<Vec<_>>().join(",")
        });
        let unverified = if self.unverified.get() { "unverified, " } else { "" };
        format!("{pace}{unverified}best so far {}{failures}: {}", milliseconds(time), values.unwrap_or_default())
    }

    /// Returns the rate and the time left, counted from the start of this part of the run.
    fn pace(&self, progress: &Progress) -> String {
        let made = progress.evaluations.saturating_sub(self.started.0) as f64;
        let rate = made / progress.elapsed.saturating_sub(self.started.1).as_secs_f64();
        if !rate.is_finite() || rate <= 0.0 {
            return String::new();
        }
        let left = self.limit.map(|limit| limit.saturating_sub(progress.evaluations) as f64 / rate);
        let left = left.filter(|left| *left < 1e7).map(|left| format!(", {} left", duration(left)));
        format!("{rate:.1}/s{}, ", left.unwrap_or_default())
    }

    fn failures(&self) -> String {
        let counts = FailureKind::ALL.iter().zip(self.failed).filter(|(_, count)| *count > 0);
        let texts: Vec<String> = counts.map(|(kind, count)| format!("{count} {kind}")).collect();
        if texts.is_empty() { String::new() } else { format!(", failed {}", texts.join(", ")) }
    }
}

fn bar(limit: Option<u64>) -> ProgressBar {
    let (bar, template) = match limit {
        Some(limit) => (ProgressBar::new(limit), "{bar:24} {pos}/{len} {wide_msg}"),
        None => (ProgressBar::no_length(), "{spinner} {pos} {wide_msg}"),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr());
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

impl Observer for Display {
    fn notice(&mut self, event: &Event<'_>) {
        match event {
            Event::Started { space, stop, progress } => self.start(space, stop, progress),
            Event::Evaluated { scored, best, progress } => self.evaluated(scored, *best, progress),
            Event::Compared { finalists } => {
                let text =
                    if *finalists == 1 { "the leader is".to_string() } else { format!("the {finalists} leaders are") };
                match &self.bar {
                    Some(bar) => bar.set_message(format!("{text} measured again")),
                    None => note(&format!("{text} measured again")),
                }
            }
            Event::Noted { text } => match &self.bar {
                Some(bar) => bar.println(folded(text)),
                None => note(text),
            },
            Event::Finished { .. } => {
                if let Some(bar) = &self.bar {
                    bar.finish_and_clear();
                }
            }
            _ => {}
        }
    }
}
