//! Displays a run in progress: a bar on a terminal, plain lines elsewhere.

mod anchored;
mod fleet;
mod line;

use crate::output::{note, wants_colours};
use crate::workers::LiveReport;
use anchored::Anchored;
use console::Term;
use indicatif::style::ProgressTracker;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike};
use line::{Piece, Shown, Tone};
use std::cell::Cell;
use std::fmt::Write;
use std::io::IsTerminal;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tunesmith::core::judge::finals::FinalProgress;
use tunesmith::core::judge::noise::Noise;
use tunesmith::core::judge::standing::Stage;
use tunesmith::core::{Event, FailureKind, Objective, Observer, Progress, Scored, Stop};
use tunesmith::report::{amount, counted, duration};
use tunesmith::space::Space;

/// Maximum time between lines without a terminal. Every improvement is printed at once.
const PLAIN_INTERVAL: Duration = Duration::from_secs(10);

/// Maximum number of drawings of the bar in a second.
const DRAWINGS: u8 = 20;

/// Shows evaluations, rate, time left, the best so far, failures by kind, and the noise if it is high.
#[derive(Default)]
pub(crate) struct Display {
    space: Option<Space>,
    stop: Option<Stop>,
    objective: Objective,
    limit: Option<u64>,
    bar: Option<Bar>,
    failed: [usize; FailureKind::ALL.len()],
    /// Number of configurations that limits from the best time cut.
    cut: usize,
    /// Number of configurations whose compilation was put aside.
    aside: usize,
    noise: Noise,
    /// The configuration of the best so far, with its value.
    leader: Option<(String, String)>,
    best: Option<f64>,
    last_line: Duration,
    started: (u64, Duration),
    /// The fleet that measures, if there is one.
    pub(crate) fleet: Option<Rc<dyn LiveReport>>,
    /// True if no output is compared with a correct result.
    pub(crate) unverified: Rc<Cell<bool>>,
}

impl Display {
    fn start(&mut self, space: &Space, objective: &Objective, stop: &Stop, progress: &Progress) {
        let limit = stop.evaluation_limit(progress.space_size);
        self.limit =
            limit.map(|limit| space.len().map_or(limit, |size| limit.min(u64::try_from(size).unwrap_or(limit))));
        let stderr = std::io::stderr();
        if self.bar.is_none() && stderr.is_terminal() {
            self.bar = Some(Bar::on(Term::buffered_stderr(), wants_colours(&stderr)));
        }
        self.started = (progress.evaluations, progress.elapsed);
        (self.space, self.stop, self.objective) = (Some(space.clone()), Some(stop.clone()), objective.clone());
    }

    fn evaluated(&mut self, scored: &Scored, best: Option<&Scored>, progress: &Progress) {
        match scored.evaluation.status() {
            Some(_) if scored.evaluation.is_cut() => self.cut += 1,
            Some(_) if scored.evaluation.aside().is_some() => self.aside += 1,
            Some(kind) => {
                let position = FailureKind::ALL.iter().position(|known| *known == kind);
                self.failed[position.unwrap_or_default()] += 1;
            }
            None => self.noise.add(&scored.evaluation.measurement.times_ms),
        }
        self.leader = best.and_then(|best| self.described(best));
        let pieces = self.pieces(progress);
        match &self.bar {
            Some(bar) => bar.show(Shown { share: self.share(progress), count: self.count(progress), pieces }),
            None => self.plain_line(&line::plain(&pieces), progress),
        }
    }

    fn plain_line(&mut self, text: &str, progress: &Progress) {
        let improved = progress.best() != self.best;
        if improved || progress.elapsed >= self.last_line + PLAIN_INTERVAL {
            self.best = progress.best();
            self.last_line = progress.elapsed;
            let elapsed = duration(progress.elapsed.as_secs_f64());
            note(&format!("{} evaluations, {elapsed}, {text}", self.count(progress)));
        }
    }

    /// Returns the number of evaluations, with their limit if there is one.
    fn count(&self, progress: &Progress) -> String {
        let of = self.limit.map(|limit| format!("/{limit}")).unwrap_or_default();
        format!("{}{of}", progress.evaluations)
    }

    /// Returns the share of the search that is done, if anything tells it.
    fn share(&self, progress: &Progress) -> Option<f64> {
        let share = self.stop.as_ref()?.share(progress)?;
        let of_space = self.limit.map_or(0.0, |limit| progress.evaluations as f64 / limit as f64);
        Some(share.max(of_space).min(1.0))
    }

    /// Returns the value of the objective and the configuration of the best so far.
    fn described(&self, best: &Scored) -> Option<(String, String)> {
        let value = self.objective.value(best.score?);
        let values = self.space.as_ref().map(|space| {
            let configuration = space.unrank(best.evaluation.request.config);
            let pairs = space.values(&configuration).map(|(name, value)| format!("{name}={value}"));
            pairs.collect::<Vec<_>>().join(",")
        });
        Some((amount(value, &self.objective), values.unwrap_or_default()))
    }

    /// Returns the message. The most important part comes first, since the end of a long line is
    /// cut off.
    fn pieces(&self, progress: &Progress) -> Vec<Piece> {
        let pace = self.pace(progress).map(|text| Piece::new(Tone::Quiet, text));
        let noise = self.noise.high().map(|share| Piece::new(Tone::Warning, format!("noise {:.0} %", share * 100.0)));
        let fleet = self.fleet.as_ref().map(|fleet| Piece::new(Tone::Plain, fleet::present(&fleet.now())));
        pace.into_iter()
            .chain(self.best_pieces())
            .chain(fleet)
            .chain((self.cut > 0).then(|| Piece::new(Tone::Quiet, format!("{} cut", self.cut))))
            .chain((self.aside > 0).then(|| Piece::new(Tone::Quiet, format!("{} put aside", self.aside))))
            .chain(self.failures())
            .chain(noise)
            .chain(self.values())
            .collect()
    }

    fn best_pieces(&self) -> Vec<Piece> {
        let Some((time, _)) = &self.leader else { return vec![Piece::new(Tone::Plain, "nothing correct yet")] };
        let unverified = self.unverified.get().then(|| Piece::new(Tone::Warning, "unverified"));
        unverified.into_iter().chain([Piece::new(Tone::Good, format!("best so far {time}"))]).collect()
    }

    fn values(&self) -> Option<Piece> {
        self.leader.as_ref().map(|(_, values)| Piece::new(Tone::Plain, values.clone()))
    }

    /// Returns the rate and the time left, counted from the start of this part of the run.
    fn pace(&self, progress: &Progress) -> Option<String> {
        let made = progress.evaluations.saturating_sub(self.started.0) as f64;
        let elapsed = progress.elapsed.saturating_sub(self.started.1).as_secs_f64();
        let rate = made / elapsed;
        if !rate.is_finite() || rate <= 0.0 {
            return None;
        }
        let by_number = self.limit.map(|limit| limit.saturating_sub(progress.evaluations) as f64 / rate);
        let by_share = || {
            let share = self.share(progress).filter(|share| *share > 0.0)?;
            Some(progress.elapsed.as_secs_f64() * (1.0 - share) / share)
        };
        let left = by_number.or_else(by_share).filter(|left| *left < 1e7);
        Some(format!("{rate:.1}/s{}", left.map(|left| format!(", {} left", duration(left))).unwrap_or_default()))
    }

    fn failures(&self) -> Option<Piece> {
        let counts = FailureKind::ALL.iter().zip(self.failed).filter(|(_, count)| *count > 0);
        let texts: Vec<String> = counts.map(|(kind, count)| format!("{count} {kind}")).collect();
        (!texts.is_empty()).then(|| Piece::new(Tone::Bad, format!("failed {}", texts.join(", "))))
    }

    fn compared(&self, finalists: usize) {
        let text = if finalists == 1 { "the leader is".to_string() } else { format!("the {finalists} leaders are") };
        let text = format!("{text} measured again");
        match &self.bar {
            Some(bar) => {
                let pieces = vec![Piece::new(Tone::Plain, text)];
                bar.show(Shown { share: Some(0.0), count: "final".to_string(), pieces });
            }
            None => note(&text),
        }
    }

    fn remeasured(&self, progress: &FinalProgress) {
        let Some(bar) = &self.bar else { return };
        let FinalProgress { stage, rounds, most, finalists, share } = *progress;
        let stage = if stage == Stage::Selection { "selecting" } else { "confirming" };
        let text = format!("{stage} among {}, round {rounds} of {most}", counted(finalists, "finalist"));
        let own = [Piece::new(Tone::Plain, text)];
        let pieces = own.into_iter().chain(self.best_pieces()).chain(self.values()).collect();
        bar.show(Shown { share: Some(share), count: "final".to_string(), pieces });
    }
}

/// A bar on a terminal.
struct Bar {
    bar: ProgressBar,
    shown: Arc<Mutex<Shown>>,
}

impl Bar {
    /// Draws on `term`, with colours if they are wanted.
    fn on(term: impl TermLike + Clone + 'static, colour: bool) -> Self {
        let shown = Arc::new(Mutex::new(Shown::default()));
        let drawing = Drawing { shown: shown.clone(), term: Arc::new(term.clone()), colour };
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(Anchored(term)), DRAWINGS);
        let bar = ProgressBar::with_draw_target(None, target);
        // The template is right, as every test of the bar shows.
        let style = ProgressStyle::with_template("{line}").unwrap_or_else(|_| ProgressStyle::default_bar());
        Self { bar: bar.with_style(style.with_key("line", drawing)), shown }
    }

    fn show(&self, shown: Shown) {
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = shown;
        self.bar.tick();
    }
}

/// Draws the line at the width that the terminal has at that moment.
#[derive(Clone)]
struct Drawing {
    shown: Arc<Mutex<Shown>>,
    term: Arc<dyn TermLike>,
    colour: bool,
}

impl ProgressTracker for Drawing {
    fn clone_box(&self) -> Box<dyn ProgressTracker> {
        Box::new(self.clone())
    }

    fn tick(&mut self, _: &ProgressState, _: Instant) {}

    fn reset(&mut self, _: &ProgressState, _: Instant) {}

    fn write(&self, _: &ProgressState, to: &mut dyn Write) {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        // Writing to a string cannot fail.
        let _ = to.write_str(&line::line(&shown, self.term.width().into(), self.colour));
    }
}

impl Observer for Display {
    fn notice(&mut self, event: &Event<'_>) {
        match event {
            Event::Started { space, objective, stop, progress } => self.start(space, objective, stop, progress),
            Event::Evaluated { scored, best, progress } => self.evaluated(scored, *best, progress),
            Event::Compared { finalists } => self.compared(*finalists),
            Event::Remeasured { progress } => self.remeasured(progress),
            Event::Noted { text } => match &self.bar {
                Some(Bar { bar, .. }) => bar.suspend(|| note(text)),
                None => note(text),
            },
            Event::Finished { .. } => {
                if let Some(Bar { bar, .. }) = &self.bar {
                    bar.finish_and_clear();
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
