//! Frames of planted runs, drawn into the cells of a terminal that does not exist.

use crate::svg;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::Color;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tunesmith_core::judge::drift::Drift;
use tunesmith_core::{Cut, Evaluation, Failure, FailureKind, Measurement, Request, Resample, Role, Store, Verdict};
use tunesmith_space::{Parameter, Space, Values};
use tunesmith_store::{FleetReport, Header, Journal, WorkerReport, WorkerState};
use tunesmith_watch::{Key, Life, Page, Source, View, Watcher, draw, text};

/// A run that is being written.
struct Planted {
    folder: tempfile::TempDir,
    space: Space,
    journal: Option<Journal>,
}

impl Planted {
    /// Begins a run that ends after 40 evaluations.
    fn new() -> Self {
        Self::with(|header| header)
    }

    fn with(change: impl FnOnce(Header) -> Header) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let space = Space::builder()
            .parameter(Parameter::new("TILE", Values::list([8, 16, 32, 64, 128, 256])).unwrap())
            .parameter(Parameter::new("UNROLL", Values::list(1..=8)).unwrap())
            .build()
            .unwrap();
        let blank = Journal::header(&space);
        let mut identity = blank.identity.clone();
        identity.insert("device".to_string(), "Planted GPU".into());
        let default = Journal::config(&space, &space.unrank(space.id(0).unwrap()));
        let header = change(Header {
            problem: "gemm".to_string(),
            strategy: "default".to_string(),
            stop: Some("evaluations 40".to_string()),
            default: Some(default),
            verified: Some(true),
            seed: 7,
            room: 4,
            sizes: [("N".to_string(), 1024.into())].into_iter().collect(),
            identity,
            ..blank
        });
        let journal = Journal::create(&folder.path().join("run.jsonl"), &header, &space).unwrap();
        Self { folder, space, journal: Some(journal) }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("run.jsonl")
    }

    fn journal(&mut self) -> &mut Journal {
        self.journal.as_mut().unwrap()
    }

    /// Adds an evaluation at `seconds`.
    fn evaluate(&mut self, rank: u128, seconds: u64, result: Result<&[f64], (FailureKind, &str)>) {
        self.end(rank, seconds, result.map_err(|(kind, message)| Failure::new(kind, message)));
    }

    /// Adds an evaluation at `seconds` that the best time cut.
    fn cut(&mut self, rank: u128, seconds: u64) {
        let cut = Some(Cut { limit_ms: 20.0, best_ms: 2.0 });
        self.end(rank, seconds, Err(Failure { cut, ..Failure::new(FailureKind::Timeout, "it ran longer than 20 ms") }));
    }

    fn end(&mut self, rank: u128, seconds: u64, result: Result<&[f64], Failure>) {
        let evaluation = Evaluation {
            request: Request::timed(self.space.id(rank).unwrap()),
            failure: result.clone().err(),
            measurement: Measurement { times_ms: result.unwrap_or_default().to_vec(), ..Measurement::default() },
            clock: Duration::from_secs(seconds),
            proposed: None,
        };
        self.journal().append(&evaluation).unwrap();
    }

    fn visit(&mut self, rank: u128, role: Role, seconds: u64, time: f64) {
        let config = self.space.id(rank).unwrap();
        let measurement = Measurement { times_ms: vec![time; 3], ..Measurement::default() };
        let clock = Duration::from_secs(seconds);
        self.journal().append_again(&Resample { role, config, failure: None, measurement, clock }).unwrap();
    }

    fn decide(&mut self, winner: u128, ties: &[u128]) {
        let id = |rank: u128| self.space.id(rank).unwrap();
        let verdict = Verdict {
            winner: Some(id(winner)),
            ties: ties.iter().map(|tie| id(*tie)).collect(),
            by_final: true,
            ..Verdict::default()
        };
        let drift = Drift { probes: 5, change: 0.004, drifted: false };
        self.journal().append_verdict(&verdict, Some(&drift)).unwrap();
    }

    /// Plants 20 evaluations, of which four fail.
    fn search(mut self) -> Self {
        for at in 0..20_u64 {
            let (rank, seconds) = (u128::from(at * 2), 3 * (at + 1));
            let time = 8.0 / (1.0 + at as f64).sqrt() + if at % 3 == 0 { 2.0 } else { 0.0 };
            let samples = [time, time * 1.01, time * 0.99, time * 1.02];
            match at {
                4 | 9 => self.evaluate(rank, seconds, Err((FailureKind::Compile, "error: too many registers\nlog"))),
                6 => self.evaluate(rank, seconds, Err((FailureKind::Compile, "error: no such type"))),
                13 => self.evaluate(rank, seconds, Err((FailureKind::Timeout, "it ran for 2 s and was ended"))),
                _ => self.evaluate(rank, seconds, Ok(&samples)),
            }
        }
        self
    }

    /// Plants a final between the two best of the search and the default, and its verdict.
    fn finished(self) -> Self {
        let mut run = self.search();
        for round in 0..3 {
            run.visit(38, Role::Selection, 61 + round, 1.9);
            run.visit(34, Role::Selection, 61 + round, 1.85);
        }
        for round in 0..6 {
            run.visit(38, Role::Confirmation, 70 + round, 1.91);
            run.visit(34, Role::Confirmation, 70 + round, 1.84);
            run.visit(0, Role::Baseline, 70 + round, 10.0);
        }
        run.decide(34, &[38]);
        run
    }

    /// Returns the run as it is read, with the source that it would have elsewhere.
    fn read(&self, life: Life) -> (Watcher, Source) {
        let watcher = read(&self.path());
        let source = Source { path: "run.jsonl".into(), life, ..watcher.source().clone() };
        (watcher, source)
    }
}

fn read(path: &Path) -> Watcher {
    let mut watcher = Watcher::open(path).unwrap();
    watcher.read_all();
    watcher
}

/// Returns a terminal that shows a run.
fn shown(run: &(Watcher, Source), view: &View, width: u16, height: u16) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| {
            let area = frame.area();
            draw(run.0.watched(), &run.1, view, area, frame.buffer_mut());
        })
        .unwrap();
    terminal
}

/// Returns the frame of a terminal.
fn frame(run: &(Watcher, Source), view: &View, width: u16, height: u16) -> String {
    shown(run, view, width, height).backend().to_string()
}

/// Returns the pictures of the guide: their files, and what they show.
fn pictures() -> Vec<(PathBuf, String)> {
    let run = Planted::new().search().read(Life::Running);
    let terminal = shown(&run, &View { colour: true, ..View::default() }, 100, 30);
    let cells: &Buffer = terminal.backend().buffer();
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    svg::THEMES.map(|theme| (guide.join(format!("watching-{}.svg", theme.name)), svg::svg(cells, theme))).to_vec()
}

#[test]
fn the_pictures_of_the_guide_show_what_is_drawn() {
    for (file, picture) in pictures() {
        let is_same = std::fs::read_to_string(&file).is_ok_and(|kept| kept == picture);
        let command = "cargo test -p tunesmith-watch --test it frames -- --ignored";
        assert!(is_same, "{} is not what is drawn; `{command}` writes it", file.display());
    }
}

#[test]
#[ignore = "writes docs/guide/watching-*.svg"]
fn the_pictures_are_written() {
    pictures().into_iter().for_each(|(file, picture)| std::fs::write(file, picture).unwrap());
}

fn on(page: Page) -> View {
    View { page, ..View::default() }
}

#[test]
fn a_running_search_has_its_facts_its_curve_and_its_leaders_on_one_page() {
    let run = Planted::new().search().read(Life::Running);
    insta::assert_snapshot!("running", frame(&run, &View::default(), 100, 30));
    insta::assert_snapshot!("running_wide", frame(&run, &View::default(), 140, 24));
}

#[test]
fn a_finished_run_has_its_winner_and_its_ties() {
    let run = Planted::new().finished().read(Life::Still);
    insta::assert_snapshot!("finished", frame(&run, &View::default(), 100, 30));
    insta::assert_snapshot!("finished_leaders", frame(&run, &on(Page::Leaders), 100, 24));
}

#[test]
fn every_page_works_on_a_small_terminal() {
    let run = Planted::new().finished().read(Life::Still);
    let pages = Page::ALL.map(|page| frame(&run, &on(page), 40, 12)).join("\n");
    insta::assert_snapshot!("small", pages);
    let help = View { help: true, ..View::default() };
    insta::assert_snapshot!("small_help", frame(&run, &help, 40, 12));
}

#[test]
fn curves_over_evaluations_and_over_time() {
    let run = Planted::new().search().read(Life::Running);
    let over_time = View { over_time: true, ..on(Page::Curve) };
    let frames = [frame(&run, &on(Page::Curve), 80, 14), frame(&run, &over_time, 80, 14)].join("\n");
    insta::assert_snapshot!("curves", frames);
}

#[test]
fn failures_stand_under_their_kinds_and_the_settings_by_name() {
    let run = Planted::new().finished().read(Life::Still);
    insta::assert_snapshot!("failures", frame(&run, &on(Page::Failures), 80, 12));
    insta::assert_snapshot!("settings", frame(&run, &on(Page::Run), 80, 18));
}

#[test]
fn what_the_best_time_cut_did_not_fail_and_may_be_measured_to_its_end() {
    let mut run = Planted::new();
    run.evaluate(0, 1, Ok(&[2.0; 3]));
    run.cut(1, 2);
    run.cut(2, 3);
    let has = |run: &Planted, page: Page, texts: &[&str]| {
        let frame = frame(&run.read(Life::Running), &on(page), 80, 16);
        texts.iter().for_each(|text| assert!(frame.contains(text), "{text}: {frame}"));
    };
    has(&run, Page::Failures, &["no configuration failed", "      2  cut by limits from the best time"]);
    has(&run, Page::Overview, &["failed   none; 2 cut", "3 of 40 evaluations"]);
    run.evaluate(1, 30, Ok(&[21.0; 3]));
    run.evaluate(3, 31, Err((FailureKind::Timeout, "it ran for 2 s and was ended")));
    has(&run, Page::Overview, &["failed   1 timeout; 1 cut", "4 of 40 evaluations"]);
    has(&run, Page::Leaders, &["21.00 ms", "TILE=8,UNROLL=2"]);
    has(&run, Page::Run, &["journal"]);
}

#[test]
fn the_workers_of_a_fleet_have_a_line_and_each_of_them_its_own() {
    let run = Planted::new().search();
    let worker = |id: u64, state: WorkerState| WorkerReport {
        id,
        name: format!("worker {id} (n{id}, process 7)"),
        evaluations: 10 * id,
        holds: usize::from(state == WorkerState::Ready),
        lost: id - 1,
        state,
        ..WorkerReport::default()
    };
    let slow = WorkerReport { level: Some(1.25), reason: Some("slow".into()), ..worker(2, WorkerState::SetAside) };
    let report = FleetReport { workers: vec![worker(1, WorkerState::Ready), slow], speedup: 1.7, ..Default::default() };
    report.write(&run.path()).unwrap();
    let run = run.read(Life::Running);
    let overview = frame(&run, &View::default(), 100, 30);
    let line = "fleet    workers: 1 serves, 1 set aside; 1 lease held, 1 lease lost; 1.7 times one device";
    assert!(overview.contains(line), "{overview}");
    let settings = frame(&run, &on(Page::Run), 120, 30);
    for line in [
        "worker   worker 1 (n1, process 7): 10 measured, 1 lease, 0 lost, serves",
        "worker   worker 2 (n2, process 7): 20 measured, 0 leases, 1 lost, level 1.250, set aside (slow)",
    ] {
        assert!(settings.contains(line), "{settings}");
    }
}

#[test]
fn every_page_of_every_run_fits_every_size() {
    let runs = [
        Planted::new().read(Life::Unknown),
        Planted::new().search().read(Life::Deleted),
        Planted::new().finished().read(Life::Unreadable { reason: "line 7: damaged".to_string() }),
    ];
    for run in &runs {
        for page in Page::ALL {
            for (width, height) in [(0, 0), (1, 1), (2, 3), (7, 5), (20, 6), (39, 11), (61, 7), (200, 60)] {
                for help in [false, true] {
                    let view = View { help, scroll: 1000, over_time: help, ..on(page) };
                    text(run.0.watched(), &run.1, &view, width, height);
                }
            }
        }
    }
}

#[test]
fn nothing_has_colour_unless_it_is_wanted() {
    let run = Planted::new().finished().read(Life::Still);
    for page in Page::ALL {
        let colours = |colour: bool| {
            let terminal = shown(&run, &View { colour, ..on(page) }, 100, 30);
            let cells = terminal.backend().buffer().content().to_vec();
            cells.iter().filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset).count()
        };
        assert_eq!(colours(false), 0, "{page:?}");
        assert!(page == Page::Run || colours(true) > 0, "{page:?}");
    }
}

#[test]
fn a_run_before_its_first_evaluation_says_so() {
    let run = Planted::new().read(Life::Running);
    let frame = frame(&run, &View::default(), 80, 20);
    assert!(frame.contains("nothing correct yet") && frame.contains("0 of 40 evaluations"), "{frame}");
}

#[test]
fn a_journal_is_followed_and_its_loss_is_told() {
    let mut planted = Planted::new();
    planted.evaluate(0, 1, Ok(&[4.0; 4]));
    let mut watcher = Watcher::open(&planted.path()).unwrap();
    assert!(watcher.read(10) && !watcher.source().is_behind);
    assert!(!watcher.read(10), "nothing changed");
    planted.evaluate(2, 2, Ok(&[3.0; 4]));
    assert!(watcher.read(10));
    let shown = |watcher: &Watcher| text(watcher.watched(), watcher.source(), &View::default(), 80, 20);
    assert!(shown(&watcher).contains("3.000 ms  TILE=8,UNROLL=3"), "{}", shown(&watcher));
    let whole = std::fs::read_to_string(planted.path()).unwrap();
    let first: String = whole.split_inclusive('\n').take(2).collect();
    std::fs::remove_file(planted.path()).unwrap();
    assert!(watcher.read(10));
    let lost = shown(&watcher);
    assert!(lost.contains("the journal was deleted") && lost.contains("3.000 ms"), "{lost}");
    std::fs::write(planted.path(), first).unwrap();
    while watcher.read(10) {}
    let again = shown(&watcher);
    assert!(again.contains("was replaced by another file; it is read from its beginning"), "{again}");
    assert!(again.contains("1 of 40 evaluations"), "{again}");
}

#[test]
fn a_damaged_line_is_named_and_the_lines_before_it_stay() {
    let planted = Planted::new().search();
    let text_of = std::fs::read_to_string(planted.path()).unwrap();
    std::fs::write(planted.path(), text_of.replacen("\"clock\":18.0", "\"clock\":19.0", 1)).unwrap();
    let watcher = read(&planted.path());
    let shown = text(watcher.watched(), watcher.source(), &View::default(), 200, 20);
    assert!(shown.contains("line 7: the line does not match its checksum"), "{shown}");
    assert!(shown.contains("5 of 40 evaluations"), "{shown}");
}

#[test]
fn more_evaluations_make_a_verdict_void() {
    let mut planted = Planted::new().finished();
    planted.evaluate(47, 90, Ok(&[1.0; 4]));
    let run = planted.read(Life::Running);
    let frame = frame(&run, &on(Page::Leaders), 100, 20);
    assert!(!frame.contains("winner") && !frame.contains("tie"), "{frame}");
    assert!(frame.lines().nth(3).unwrap().contains("1.000 ms"), "{frame}");
}

#[test]
fn a_metric_is_shown_by_its_values() {
    let objective = serde_json::json!({
        "direction": "maximise", "metric": "rate", "sizes": [], "metrics": [["rate", "1000 / time_ms"]]
    });
    let mut planted = Planted::with(|header| Header { objective: Some(objective), ..header });
    planted.evaluate(0, 1, Ok(&[4.0; 4]));
    planted.evaluate(2, 2, Ok(&[2.0; 4]));
    let run = planted.read(Life::Running);
    let frame = frame(&run, &on(Page::Leaders), 100, 8);
    assert!(frame.contains(" 500 ") && !frame.contains("500.0"), "{frame}");
}

#[test]
fn keys_turn_pages_and_scroll_what_is_too_long() {
    let run = Planted::new().finished().read(Life::Still);
    let area = ratatui::layout::Rect::new(0, 0, 60, 8);
    let mut buffer = ratatui::buffer::Buffer::empty(area);
    let mut view = on(Page::Leaders);
    let lines = draw(run.0.watched(), &run.1, &view, area, &mut buffer);
    assert_eq!(lines, 12, "17 lines in 5 rows");
    assert!(view.press(Key::PageDown, lines) && view.press(Key::PageDown, lines) && view.scroll == lines);
}
