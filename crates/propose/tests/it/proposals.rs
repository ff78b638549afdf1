//! Proposals in competition with a strategy, with partners that are functions.

use serde_json::{Value as Json, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tunesmith_core::testing::{FunctionEvaluator, OutOfOrder};
use tunesmith_core::{Evaluation, Event, Judging, Run, Stop, Tuner};
use tunesmith_propose::{Heard, Partner, ProblemLine, ProposalReport, Proposals, Proposing};
use tunesmith_space::{Constraint, Parameter, Space, Value};
use tunesmith_store::Journal;

/// A space of X and Y from 0 to 19, in which Y is at most X.
fn space() -> Space {
    let list = |name: &str| Parameter::new(name, (0..20).map(Value::Int)).unwrap();
    let constraint = Constraint::parse("Y <= X").unwrap();
    Space::builder().parameter(list("X")).parameter(list("Y")).constraint(constraint).build().unwrap()
}

/// The messages to a scripted partner, and the number of times that the search waited for it.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<(Vec<Json>, usize)>>);

impl Log {
    fn told(&self, event: &str) -> Vec<Json> {
        self.0.lock().unwrap().0.iter().filter(|line| line["event"] == event).cloned().collect()
    }

    fn waits(&self) -> usize {
        self.0.lock().unwrap().1
    }
}

/// A partner that answers request number n with `answers(n)`.
struct Scripted<F> {
    answers: F,
    queue: VecDeque<Heard>,
    log: Log,
    reads: bool,
}

impl<F: FnMut(u64) -> Vec<Heard> + Send> Partner for Scripted<F> {
    fn say(&mut self, line: String) -> bool {
        let line: Json = serde_json::from_str(&line).unwrap();
        if line["event"] == "request" {
            self.queue.extend((self.answers)(line["id"].as_u64().unwrap()));
        }
        self.log.0.lock().unwrap().0.push(line);
        self.reads
    }

    fn hear(&mut self, limit: Duration) -> Option<Heard> {
        self.log.0.lock().unwrap().1 += usize::from(self.queue.is_empty() && !limit.is_zero());
        self.queue.pop_front()
    }
}

fn line(json: &Json) -> Vec<Heard> {
    vec![Heard::Line(json.to_string())]
}

struct Tuned {
    run: Run,
    report: ProposalReport,
    notes: Vec<String>,
    log: Log,
}

/// Runs `evaluations` with random search and a partner.
struct Setup {
    evaluations: u64,
    room: usize,
    order: Option<u64>,
    reads: bool,
    recorded: Vec<Evaluation>,
}

impl Setup {
    fn new(evaluations: u64) -> Self {
        Self { evaluations, room: 1, order: None, reads: true, recorded: Vec::new() }
    }

    fn run(&self, answers: impl FnMut(u64) -> Vec<Heard> + Send + 'static) -> Tuned {
        let (space, log) = (space(), Log::default());
        let partner = Scripted { answers, queue: VecDeque::new(), log: log.clone(), reads: self.reads };
        self.run_with(&space, log, Some(Box::new(partner)))
    }

    fn run_with(&self, space: &Space, log: Log, partner: Option<Box<dyn Partner>>) -> Tuned {
        let header = Journal::header(space);
        let recorded: Vec<Box<Evaluation>> = self.recorded.iter().cloned().map(Box::new).collect();
        let proposing = Proposing {
            partner,
            patience: Duration::from_secs(1),
            problem: ProblemLine { header: &header, device: "a function", objective: "time" },
            default: space.id(0),
            recorded: &recorded,
        };
        let mut proposals = Proposals::new(tunesmith_search::build("random").unwrap(), proposing);
        let time = |values: &[Value]| Ok(1.0 + values.iter().filter_map(Value::as_float).sum::<f64>());
        let device = FunctionEvaluator::new(space, time);
        let mut device: Box<dyn tunesmith_core::Evaluator> = match self.order {
            Some(order) => Box::new(OutOfOrder::new(device, order)),
            None => Box::new(device),
        };
        let mut notes = Vec::new();
        let mut observer = |event: &Event<'_>| {
            if let Event::Noted { text } = event {
                notes.push((*text).to_string());
            }
        };
        let turns = proposals.turns();
        let run = Tuner::new(space, &mut proposals, device.as_mut())
            .annotator(Some(&turns))
            .stop(Stop::evaluations(self.evaluations))
            .judging(Judging::nothing())
            .baseline(space.id(0))
            .room(self.room)
            .observer(&mut observer)
            .recorded(recorded)
            .run()
            .unwrap();
        let report = proposals.finish().report(&run);
        Tuned { run, report, notes, log }
    }
}

/// Proposes X = n, Y = 0, one configuration for each request.
fn one_by_one(request: u64) -> Vec<Heard> {
    if request < 20 { line(&json!([{ "X": request, "Y": 0 }])) } else { line(&json!([])) }
}

fn evaluations(run: &Run) -> Vec<Evaluation> {
    run.history.iter().map(|scored| (*scored.evaluation).clone()).collect()
}

#[test]
fn proposals_alternate_with_the_strategy_and_their_turns_are_kept() {
    let Tuned { run, report, log, .. } = Setup::new(13).run(one_by_one);
    let turns: Vec<Option<u64>> = evaluations(&run).iter().map(|evaluation| evaluation.proposed).collect();
    assert_eq!(turns[0], None, "the default comes first");
    let expected: Vec<Option<u64>> = (0..12).map(|turn| (turn % 2 == 1).then_some(turn)).collect();
    assert_eq!(turns[1..], expected);
    assert_eq!((report.proposed, report.valid, report.evaluated), (6, 6, 6));
    assert_eq!(report.requests, 7, "the next one is asked for while the last one is evaluated");
    assert!(report.refused.is_empty() && report.ended.is_none());
    let problem = &log.told("problem")[0];
    assert_eq!(problem["parameters"]["X"].as_array().unwrap().len(), 20);
    assert_eq!((&problem["budget"], &problem["space_size"]), (&json!(13), &json!("210")));
    let told = log.told("evaluation");
    assert_eq!(told.len(), 13);
    assert_eq!(told[0]["config"], json!({"X": 0, "Y": 0}));
    assert_eq!(
        (&told[0]["best"], &told[0]["proposed"], &told[2]["proposed"]),
        (&json!(true), &json!(false), &json!(true))
    );
    assert_eq!(log.told("end").len(), 1);
}

#[test]
fn each_fault_is_counted_told_to_the_partner_and_noted_once() {
    let answers = |request| match request {
        1 => vec![Heard::Line("not json".to_string())],
        2 => line(&json!({"configs": []})),
        3 => line(&json!([7, {"Z": 1}, {"X": 77}, {"X": 1, "Y": 2}])),
        4 => line(&json!([{"X": [1]}, {"Z": 1}, {"X": 5, "Y": 1}, {"X": 5, "Y": 1}, {"X": 6}])),
        5 => vec![Heard::Line("[]".to_string()), Heard::Line("[]".to_string())],
        _ => line(&json!([])),
    };
    let Tuned { run, report, notes, log } = Setup::new(60).run(answers);
    let expected = [
        ("constraint", 1),
        ("duplicate", 1),
        ("form", 1),
        ("line", 2),
        ("parameter", 2),
        ("surplus", 1),
        ("unasked", 1),
        ("value", 2),
    ];
    assert_eq!(report.refused, expected.into());
    assert_eq!((report.valid, report.evaluated, run.history.len()), (1, 1, 60));
    assert_eq!(notes.len(), expected.len(), "{notes:#?}");
    let of = |part: &str| notes.iter().filter(|note| note.contains(part)).count();
    for part in ["`not json` is not JSON", "`Z`", "`X`", "`Y <= X`", "answers no request", "at most 4"] {
        assert_eq!(of(part), 1, "{part} in {notes:#?}");
    }
    let refused = log.told("refused");
    assert_eq!(refused.len(), 8);
    assert_eq!((&refused[0]["request"], &refused[0]["config"]), (&json!(3), &json!(7)));
}

#[test]
fn a_partner_that_is_late_is_waited_for_once_and_its_answer_is_used_when_it_comes() {
    // It answers its first request behind the first line that it hears after 20 evaluations.
    struct Late(Log, usize, bool);
    impl Partner for Late {
        fn say(&mut self, line: String) -> bool {
            let line: Json = serde_json::from_str(&line).unwrap();
            self.1 += usize::from(line["event"] == "evaluation");
            self.0.0.lock().unwrap().0.push(line);
            true
        }
        fn hear(&mut self, limit: Duration) -> Option<Heard> {
            if self.1 == 20 && !std::mem::replace(&mut self.2, true) {
                return Some(Heard::Line("[{\"X\":0,\"Y\":0},{\"X\":3,\"Y\":3}]".to_string()));
            }
            self.0.0.lock().unwrap().1 += usize::from(!limit.is_zero());
            None
        }
    }
    let (space, log) = (space(), Log::default());
    let Tuned { run, report, notes, log } =
        Setup::new(40).run_with(&space, log.clone(), Some(Box::new(Late(log, 0, false))));
    assert_eq!(log.waits(), 3, "once before the answer, once after it, and at the end of the run");
    assert_eq!((run.history.len(), report.evaluated), (40, usize::from(report.valid > 0)));
    assert_eq!(notes.iter().filter(|note| note.contains("slow")).count(), 1, "{notes:#?}");
}

#[test]
fn a_partner_that_ends_floods_or_does_not_read_leaves_the_strategy_alone() {
    let ended = |said: Heard| Setup::new(30).run(move |_| vec![said.clone()]);
    let flood = Setup::new(200).run(|_| vec![Heard::Line("[]".to_string()); 300]);
    let deaf = Setup { reads: false, ..Setup::new(30) }.run(|_| Vec::new());
    for (tuned, how) in [
        (ended(Heard::Ended("ended with status 3".to_string())), "ended with status 3"),
        (ended(Heard::TooLong), "more than a megabyte"),
        (flood, "101 lines that answer no request"),
        (deaf, "does not read"),
    ] {
        assert!(tuned.report.ended.as_ref().is_some_and(|ended| ended.contains(how)), "{:?}", tuned.report);
        assert_eq!(tuned.notes.iter().filter(|note| note.contains(how)).count(), 1, "{:#?}", tuned.notes);
        assert!(tuned.run.history.len() >= 30);
        assert_eq!(tuned.log.told("end").len(), 0, "nobody is there to be told");
    }
    let done = ended(Heard::Line("\"done\"".to_string()));
    assert_eq!((done.report.ended.as_deref(), done.notes.len()), (Some("is done"), 0));
}

#[test]
fn a_resumed_run_repeats_the_proposals_and_asks_nobody_for_them() {
    for (room, order) in [(1, None), (4, None), (4, Some(3))] {
        let setup = |recorded| Setup { room, order, recorded, ..Setup::new(40) };
        let whole = setup(Vec::new()).run(one_by_one);
        let all = evaluations(&whole.run);
        for cut in [1, 2, 7, 20, 39] {
            let resumed = setup(all[..cut].to_vec()).run(|_| Vec::new());
            assert_eq!(evaluations(&resumed.run)[..cut], all[..cut], "room {room}, cut {cut}");
            assert_eq!(resumed.log.told("evaluation").len(), 40);
            let first = resumed.log.0.lock().unwrap().0.iter().position(|line| line["event"] == "request").unwrap();
            let told =
                resumed.log.0.lock().unwrap().0[..first].iter().filter(|line| line["event"] == "evaluation").count();
            assert!(order.is_some() || told + room >= cut, "room {room}, cut {cut}: asked after {told}");
            let alone = setup(all[..cut].to_vec()).run_with(&space(), Log::default(), None);
            assert_eq!(evaluations(&alone.run)[..cut], all[..cut], "without the program");
            assert_eq!(alone.run.history.len(), 40);
        }
    }
}
