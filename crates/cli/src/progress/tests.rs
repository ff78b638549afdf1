//! The display of runs, on a terminal in memory.

use super::*;
use indicatif::InMemoryTerm;
use std::io;
use tunesmith::core::{
    CompileLimit, Cut, Direction, Evaluation, Failure, Improvement, Measurement, Request, Source, statistics,
};
use tunesmith::space::{Parameter, Values};

/// A terminal whose window changes its width, as terminals do that wrap long lines again.
#[derive(Clone, Debug)]
struct Window(Arc<Mutex<InMemoryTerm>>);

const ROWS: u16 = 12;

impl Window {
    fn new(width: u16) -> Self {
        Self(Arc::new(Mutex::new(InMemoryTerm::new(ROWS, width))))
    }

    fn term(&self) -> InMemoryTerm {
        self.0.lock().unwrap().clone()
    }

    fn contents(&self) -> String {
        self.term().contents()
    }

    fn coloured(&self) -> String {
        String::from_utf8(self.term().contents_formatted()).unwrap()
    }

    /// Makes the window `width` columns wide. Lines that were not ended by a line feed are wrapped
    /// again. The cursor, at the beginning of the last line, stays there.
    fn resize(&self, width: u16) {
        let (before, after) = (self.term(), InMemoryTerm::new(ROWS, width));
        let contents = before.contents();
        after.write_str(&contents.replace('\n', "\r\n")).unwrap();
        let last = contents.lines().last().unwrap_or_default();
        after.write_str("\r").unwrap();
        after.move_cursor_up(last.chars().count().saturating_sub(1) / usize::from(width)).unwrap();
        *self.0.lock().unwrap() = after;
    }
}

impl TermLike for Window {
    fn width(&self) -> u16 {
        self.term().width()
    }

    fn height(&self) -> u16 {
        ROWS
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.term().move_cursor_up(n)
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.term().move_cursor_down(n)
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.term().move_cursor_right(n)
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.term().move_cursor_left(n)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.term().write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.term().write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.term().clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.term().flush()
    }
}

fn space() -> Space {
    Space::builder().parameter(Parameter::new("TILE", Values::list(0..100)).unwrap()).build().unwrap()
}

/// A display of a run with 100 evaluations.
struct Running {
    display: Display,
    space: Space,
    progress: Progress,
    best: Option<Scored>,
}

impl Running {
    fn on(window: &Window, colour: bool, stop: &str) -> Self {
        let bar = Some(Bar::on(window.clone(), colour));
        let mut running = Self {
            display: Display { bar, ..Display::default() },
            space: space(),
            progress: Progress { space_size: 100.0, ..Progress::default() },
            best: None,
        };
        let stop: Stop = stop.parse().unwrap();
        let (space, progress) = (running.space.clone(), running.progress.clone());
        running.display.notice(&Event::Started {
            space: &space,
            objective: &Objective::time(),
            stop: &stop,
            progress: &progress,
        });
        running
    }

    /// Evaluates the next configuration, a second later.
    fn evaluate(&mut self, samples: Result<&[f64], FailureKind>) {
        self.end(samples.map_err(|kind| Failure::new(kind, "planted")));
    }

    fn end(&mut self, samples: Result<&[f64], Failure>) {
        self.progress.evaluations += 1;
        self.progress.elapsed += Duration::from_secs(1);
        let config = self.space.id(u128::from(self.progress.evaluations)).unwrap();
        let times_ms = samples.as_ref().map(|samples| samples.to_vec()).unwrap_or_default();
        let score = statistics::median(&times_ms);
        let evaluation = Evaluation {
            request: Request::timed(config),
            failure: samples.err(),
            measurement: Measurement { times_ms, ..Measurement::default() },
            clock: self.progress.elapsed,
            proposed: None,
        };
        let scored = Scored { evaluation: Box::new(evaluation), score, aspects: None };
        if let Some(score) = score.filter(|score| self.progress.best().is_none_or(|best| *score < best)) {
            let Progress { evaluations, elapsed, .. } = self.progress;
            self.progress.improvements.push(Improvement { evaluations, elapsed, score });
            self.best = Some(scored.clone());
        }
        let (best, progress) = (self.best.as_ref(), &self.progress);
        self.display.notice(&Event::Evaluated { scored: &scored, best, progress });
    }
}

#[test]
fn the_best_is_shown_by_its_value_in_the_unit_of_the_objective() {
    let window = Window::new(120);
    let mut running = Running::on(&window, false, "evaluations 100");
    running.display.objective = Objective::new("rate", Direction::Maximise, Some("GB/s"), Source::Printed);
    running.evaluate(Ok(&[-250.0]));
    assert!(window.contents().contains("best so far 250 GB/s"), "{}", window.contents());
}

#[test]
fn a_bar_shows_the_search_and_is_gone_at_its_end() {
    let window = Window::new(120);
    let mut running = Running::on(&window, false, "evaluations 100");
    running.evaluate(Err(FailureKind::Compile));
    let bar = "░".repeat(24);
    let expected = format!("{bar} 1/100  1.0/s, 1 min 39 s left, nothing correct yet, failed 1 compile");
    assert_eq!(window.contents(), expected);
    running.evaluate(Ok(&[1.5, 1.5, 1.5]));
    let line = window.contents();
    assert!(line.contains("2/100  1.0/s, 1 min 38 s left, best so far 1.500 ms, failed 1 compile, TILE=2"), "{line}");
    running.display.notice(&Event::Finished { reason: &tunesmith::StopReason::Exhausted });
    assert_eq!(window.contents(), "");
}

#[test]
fn a_window_that_becomes_narrower_and_wider_has_one_line_and_what_stood_above() {
    let window = Window::new(120);
    window.write_line("journal: run.jsonl").unwrap();
    let mut running = Running::on(&window, false, "evaluations 100");
    running.evaluate(Ok(&[2.0, 2.0]));
    for width in [60, 25, 40, 120, 33, 20, 90] {
        window.resize(width);
        running.evaluate(Ok(&[2.0, 2.0]));
        let contents = window.contents();
        let lines: Vec<&str> = contents.lines().collect();
        assert_eq!(lines.len(), 2, "{width}: {contents}");
        assert_eq!(lines[0], "journal: run.jsonl", "{width}");
        assert!(lines[1].chars().count() < usize::from(width), "{width}: {contents}");
        assert!(width >= 90 || lines[1].ends_with('…'), "{width}: {contents}");
    }
}

#[test]
fn colours_are_there_only_if_they_are_wanted() {
    let (with, without) = (Window::new(120), Window::new(120));
    // A bar is gone with its run.
    let _runs = [(&with, true), (&without, false)].map(|(window, colour)| {
        let mut running = Running::on(window, colour, "evaluations 100");
        running.evaluate(Err(FailureKind::Timeout));
        running.evaluate(Ok(&[1.0]));
        running
    });
    assert_eq!(with.contents(), without.contents());
    assert!(with.coloured().contains("\u{1b}[32mbest so far"), "{:?}", with.coloured());
    assert!(with.coloured().contains("\u{1b}[31mfailed 1 timeout"), "{:?}", with.coloured());
    assert!(!without.coloured().contains("\u{1b}[3"), "{:?}", without.coloured());
}

#[test]
fn what_a_limit_from_others_ended_did_not_fail() {
    let window = Window::new(120);
    let mut running = Running::on(&window, false, "evaluations 100");
    running.evaluate(Ok(&[1.0]));
    running.evaluate(Err(FailureKind::Timeout));
    let cut = Some(Cut { limit_ms: 10.0, best_ms: 1.0 });
    (0..2).for_each(|_| running.end(Err(Failure { cut, ..Failure::new(FailureKind::Timeout, "planted") })));
    running.end(Err(Failure::put_aside(CompileLimit { limit_ms: 300.0, usual_ms: 100.0 })));
    assert!(window.contents().contains(", 2 cut, 1 put aside, failed 1 timeout, "), "{}", window.contents());
}

#[test]
fn the_final_shows_its_own_progress() {
    let window = Window::new(120);
    let mut running = Running::on(&window, false, "evaluations 1");
    running.evaluate(Ok(&[1.0, 1.0]));
    running.display.notice(&Event::Compared { finalists: 4 });
    assert_eq!(window.contents(), format!("{} final  the 4 leaders are measured again", "░".repeat(24)));
    let progress = FinalProgress { stage: Stage::Confirmation, rounds: 5, most: 10, finalists: 3, share: 0.75 };
    running.display.notice(&Event::Remeasured { progress: &progress });
    let bar = format!("{}{}", "█".repeat(18), "░".repeat(6));
    let text = "confirming among 3 finalists, round 5 of 10, best so far 1.000 ms, TILE=1";
    assert_eq!(window.contents(), format!("{bar} final  {text}"));
}

#[test]
fn high_noise_is_told_and_low_noise_is_not() {
    let window = Window::new(150);
    let mut running = Running::on(&window, false, "evaluations 100");
    (0..6).for_each(|_| running.evaluate(Ok(&[10.0, 10.0, 10.1, 10.1])));
    assert!(!window.contents().contains("noise"), "{}", window.contents());
    (0..8).for_each(|_| running.evaluate(Ok(&[9.0, 9.5, 10.5, 11.0])));
    assert!(window.contents().contains(", noise 10 %, TILE="), "{}", window.contents());
}

#[test]
fn a_run_that_ends_by_time_has_a_bar_and_one_that_nobody_foresees_has_none() {
    let window = Window::new(120);
    let mut running = Running::on(&window, false, "time 4s");
    running.evaluate(Ok(&[1.0]));
    let bar = format!("{}{}", "█".repeat(6), "░".repeat(18));
    assert!(window.contents().starts_with(&format!("{bar} 1  1.0/s, 3.0 s left, best")), "{}", window.contents());
    let window = Window::new(120);
    let mut running = Running::on(&window, false, "cost 1ms");
    running.evaluate(Ok(&[1.0]));
    assert!(window.contents().starts_with("1  1.0/s, best so far"), "{}", window.contents());
}
