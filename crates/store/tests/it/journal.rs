//! Journals survive kills at any byte, other problems and other processes.

use crate::resamples::resample;
use proptest::prelude::*;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tunesmith_core::{
    CompileData, Cut, Depth, Evaluation, Failure, FailureKind, Measurement, Request, Resample, Role, Store, statistics,
};
use tunesmith_space::{Constraint, Parameter, Space, Value, Values};
use tunesmith_store::{Header, Journal, StoreError, UNLISTED, read, read_brief};

pub(crate) fn space() -> Space {
    Space::builder()
        .parameter(Parameter::new("TILE", Values::list([8, 16, 32, 64])).unwrap())
        .parameter(Parameter::new("SCALE", Values::list([0.5, 1.0, 2.5])).unwrap())
        .parameter(Parameter::new("PACK", Values::list([false, true])).unwrap())
        .parameter(Parameter::new("ORDER", Values::list(["ijk", "ikj"])).unwrap())
        .constraint(Constraint::parse("TILE > 8 or PACK").unwrap())
        .build()
        .unwrap()
}

pub(crate) fn header(space: &Space) -> Header {
    let mut header = Header { problem: "gemm".into(), strategy: "default".into(), seed: 7, ..Journal::header(space) };
    header.identity.insert("compiler".into(), "gcc 12.2.0".into());
    header
}

/// An evaluation: every second one is correct, and the others fail in turn.
pub(crate) fn evaluation(space: &Space, rank: u128) -> Evaluation {
    let kind = FailureKind::ALL[usize::try_from(rank / 2).unwrap() % 5];
    let depth = if rank.is_multiple_of(3) { Depth::Profiled } else { Depth::Timed };
    Evaluation {
        request: Request { config: space.id(rank).unwrap(), depth },
        failure: (rank % 2 == 1).then(|| Failure::new(kind, "first line\nsecond \"line\"")),
        measurement: Measurement {
            times_ms: vec![0.1 + rank as f64, 1.0 / 3.0],
            warmup_ms: Some(2.0),
            parts_ms: [("main".to_string(), vec![0.1, 0.25])].into(),
            values: [("accuracy".to_string(), vec![0.5, 1.0 / 7.0])].into(),
            counters: [("inst.sum".to_string(), 1e18)].into(),
            compile: Some(CompileData { time_ms: 80.25, binary_bytes: Some(16_000), ..CompileData::default() }),
            note: rank.is_multiple_of(2).then(|| "a run after the first did not end".to_string()),
            by: None,
            rooms: Vec::new(),
        },
        clock: Duration::from_millis(250 * (1 + u64::try_from(rank).unwrap())),
        proposed: rank.is_multiple_of(5).then_some(7),
    }
}

pub(crate) fn unboxed(evaluations: Vec<Box<Evaluation>>) -> Vec<Evaluation> {
    evaluations.into_iter().map(|evaluation| *evaluation).collect()
}

/// Returns the text without checksums, as earlier versions wrote it and as users edit it.
fn unsealed(text: &str) -> String {
    let line = |line: &str| match line.rfind(",\"sum\":\"") {
        Some(at) => format!("{}}}\n", &line[..at]),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// Writes a journal with evaluations of the first `count` configurations.
pub(crate) fn written(folder: &tempfile::TempDir, count: u128) -> (PathBuf, Vec<Evaluation>) {
    let space = space();
    let mut journal = Journal::create(&folder.path().join("run.jsonl"), &header(&space), &space).unwrap();
    let evaluations: Vec<Evaluation> = (0..count).map(|rank| evaluation(&space, rank)).collect();
    for evaluation in &evaluations {
        journal.append(evaluation).unwrap();
    }
    (journal.path().to_path_buf(), evaluations)
}

#[test]
fn what_is_written_is_read_back_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let (path, evaluations) = written(&folder, 30);
    let space = space();
    let (_, read) = Journal::resume(&path, &header(&space), &space).unwrap();
    assert_eq!(unboxed(read.evaluations), evaluations);
}

#[test]
fn an_evaluation_is_on_disk_as_soon_as_it_is_appended() {
    let folder = tempfile::tempdir().unwrap();
    let space = space();
    let mut journal = Journal::create(&folder.path().join("run.jsonl"), &header(&space), &space).unwrap();
    for rank in 0..3 {
        journal.append(&evaluation(&space, rank)).unwrap();
        assert_eq!(read(journal.path()).unwrap().entries.len(), 1 + usize::try_from(rank).unwrap());
    }
}

#[test]
fn an_existing_journal_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let (first, _) = written(&folder, 3);
    let before = fs::read(&first).unwrap();
    let (second, _) = written(&folder, 1);
    let (third, _) = written(&folder, 1);
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_string();
    assert_eq!([name(&first), name(&second), name(&third)], ["run.jsonl", "run.2.jsonl", "run.3.jsonl"]);
    assert_eq!(fs::read(&first).unwrap(), before);
    assert_eq!(Journal::latest(&first), third);
}

#[test]
fn a_resumed_journal_drops_the_line_cut_short_and_goes_on_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    let (path, evaluations) = written(&folder, 5);
    let text = fs::read(&path).unwrap();
    fs::write(&path, &text[..text.len() - 20]).unwrap();
    let space = space();
    let (mut journal, resumed) = Journal::resume(&path, &header(&space), &space).unwrap();
    assert_eq!(unboxed(resumed.evaluations), evaluations[..4]);
    journal.append(&evaluations[4]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), text);
}

#[test]
fn another_run_is_refused_with_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = written(&folder, 2);
    let space = space();
    let mut now = header(&space);
    now.identity.insert("compiler".into(), "clang 19".into());
    now.identity.insert("kernel".into(), "abc".into());
    let error = Journal::resume(&path, &now, &space).unwrap_err().to_string();
    assert!(error.contains("compiler: gcc 12.2.0 in the journal, clang 19 now"), "{error}");
    assert!(error.contains("kernel: nothing in the journal, abc now"), "{error}");
}

#[test]
fn another_seed_or_strategy_is_not_another_run() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = written(&folder, 2);
    let space = space();
    let now = Header { seed: 8, strategy: "random".into(), room: 9, ..header(&space) };
    assert!(Journal::resume(&path, &now, &space).is_ok());
}

#[test]
fn two_processes_never_write_one_journal() {
    let folder = tempfile::tempdir().unwrap();
    let space = space();
    let open = Journal::create(&folder.path().join("run.jsonl"), &header(&space), &space).unwrap();
    let error = Journal::resume(open.path(), &header(&space), &space).unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
}

#[test]
fn what_is_no_journal_is_refused_with_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let error = |text: &str| {
        let path = folder.path().join("broken.jsonl");
        fs::write(&path, text).unwrap();
        read(&path).unwrap_err().to_string()
    };
    assert!(error("").contains("line 1: the header is missing"));
    assert!(error("hello\n").contains("line 1: no journal"));
    assert!(error("{\"a\": 1}\n").contains("no format version"));
    assert!(error("{\"format\": 99}\n").contains("format version 99; this version reads up to 2"));
    let (path, _) = written(&folder, 3);
    let text = fs::read_to_string(&path).unwrap();
    let damaged: Vec<&str> = text.lines().enumerate().map(|(at, line)| if at == 2 { "{}" } else { line }).collect();
    assert!(error(&(damaged.join("\n") + "\n")).contains("line 3: missing field"));
    assert!(read(&folder.path().join("absent.jsonl")).unwrap_err().to_string().contains("absent.jsonl"));
}

#[test]
fn a_configuration_that_the_space_lacks_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = written(&folder, 1);
    let text = unsealed(&fs::read_to_string(&path).unwrap()).replace("\"TILE\":8", "\"TILE\":9");
    fs::write(&path, text).unwrap();
    let space = space();
    let error = Journal::resume(&path, &header(&space), &space).unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("TILE"), "{error}");
}

#[test]
fn an_index_that_is_not_the_configurations_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = written(&folder, 3);
    let text = unsealed(&fs::read_to_string(&path).unwrap()).replace("{\"index\":\"2\"", "{\"index\":\"1\"");
    fs::write(&path, &text).unwrap();
    let space = space();
    let error = Journal::resume(&path, &header(&space), &space).unwrap_err().to_string();
    assert!(error.contains("line 4: its index is 1, but its configuration is number 2 of the space"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn floats_booleans_and_strings_keep_their_types() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = written(&folder, 12);
    let space = space();
    for entry in read(&path).unwrap().entries {
        let configuration = space.unrank(entry.evaluation(&space).unwrap().request.config);
        let kinds: Vec<_> = space.values(&configuration).map(|(_, value)| value.clone()).collect();
        assert!(matches!(kinds[..], [Value::Int(_), Value::Float(_), Value::Bool(_), Value::Str(_)]));
    }
}

#[test]
fn a_journal_of_the_first_format_is_read_and_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, evaluations) = written(&folder, 5);
    let text = unsealed(&fs::read_to_string(&path).unwrap());
    assert!(text.contains("\"format\":2"));
    fs::write(&path, text.replace("\"format\":2", "\"format\":1")).unwrap();
    let space = space();
    let (_, resumed) = Journal::resume(&path, &header(&space), &space).unwrap();
    assert_eq!(unboxed(resumed.evaluations), evaluations);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 2))]

    #[test]
    fn any_truncated_journal_loads_what_was_complete(cut in 0.0..1.0_f64) {
        let folder = tempfile::tempdir().unwrap();
        let (path, evaluations) = written(&folder, 8);
        let text = fs::read(&path).unwrap();
        let header_end = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let kept = header_end + ((text.len() - header_end) as f64 * cut) as usize;
        fs::write(&path, &text[..kept]).unwrap();
        let complete = text[..kept].iter().filter(|byte| **byte == b'\n').count() - 1;
        let space = space();
        let (_, resumed) = Journal::resume(&path, &header(&space), &space).unwrap();
        prop_assert_eq!(&unboxed(resumed.evaluations)[..], &evaluations[..complete]);
    }
}

#[test]
fn a_journal_without_checksums_is_read_and_goes_on_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut evaluations) = written(&folder, 5);
    let old = unsealed(&fs::read_to_string(&path).unwrap());
    fs::write(&path, &old).unwrap();
    let space = space();
    let (mut journal, _) = Journal::resume(&path, &header(&space), &space).unwrap();
    evaluations.push(evaluation(&space, 5));
    journal.append(&evaluations[5]).unwrap();
    drop(journal);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with(&old) && text[old.len()..].contains("\"sum\":\""));
    let (_, resumed) = Journal::resume(&path, &header(&space), &space).unwrap();
    assert_eq!(unboxed(resumed.evaluations), evaluations);
}

#[test]
fn damage_in_the_middle_is_found_and_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = written(&folder, 6);
    let text = fs::read_to_string(&path).unwrap();
    let space = space();
    for (line, (old, new)) in [(1, ("gemm", "gemn")), (3, ("\"times_ms\":[1.1", "\"times_ms\":[0.1"))] {
        fs::write(&path, text.replacen(old, new, 1)).unwrap();
        let resumed = Journal::resume(&path, &header(&space), &space).unwrap_err().to_string();
        let error = read(&path).unwrap_err().to_string();
        for error in [&resumed, &error] {
            assert!(error.contains(&format!("line {line}: the line does not match its checksum")), "{error}");
            assert!(error.contains("remove"), "{error}");
        }
    }
}

#[test]
fn a_time_that_no_clock_measures_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = written(&folder, 3);
    let text = unsealed(&fs::read_to_string(&path).unwrap());
    let space = space();
    for time in ["0", "-0.5", "1e999"] {
        fs::write(&path, text.replace("\"times_ms\":[1.1", &format!("\"times_ms\":[{time}"))).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("line 3: "), "{time}");
        let error = Journal::resume(&path, &header(&space), &space).unwrap_err().to_string();
        assert!(error.contains("line 3: "), "{error}");
    }
    let warmup = text.lines().nth(2).and_then(|line| line.split("\"warmup_ms\":").nth(1)?.split(',').next()).unwrap();
    fs::write(&path, text.replace(&format!("\"warmup_ms\":{warmup}"), "\"warmup_ms\":-1.5")).unwrap();
    assert!(read(&path).unwrap_err().to_string().contains("line 2: a first launch of -1.5 ms"));
    assert!(Journal::resume(&path, &header(&space), &space).unwrap_err().to_string().contains("-1.5 ms"));
}

#[test]
fn a_time_that_no_clock_measures_is_never_written() {
    let folder = tempfile::tempdir().unwrap();
    let space = space();
    let mut journal = Journal::create(&folder.path().join("run.jsonl"), &header(&space), &space).unwrap();
    for time in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut wrong = evaluation(&space, 0);
        wrong.measurement.times_ms.push(time);
        assert!(journal.append(&wrong).unwrap_err().to_string().contains("finite and positive"));
    }
    assert!(read(journal.path()).unwrap().entries.is_empty());
}

#[test]
fn of_lines_about_one_request_the_first_counts() {
    let folder = tempfile::tempdir().unwrap();
    let (path, evaluations) = written(&folder, 4);
    let text = unsealed(&fs::read_to_string(&path).unwrap());
    let lines: Vec<&str> = text.lines().collect();
    let contrary = lines[2].replace("\"times_ms\":[1.1", "\"times_ms\":[0.1");
    let (copy, last) = (lines[1], lines[4]);
    fs::write(&path, format!("{text}{copy}\n{contrary}\n{copy}\n{last}\n")).unwrap();
    let space = space();
    let recorded = read(&path).unwrap();
    assert_eq!((recorded.entries.len(), recorded.copies), (4, 3));
    assert_eq!(recorded.conflicts.iter().map(|c| (c.first, c.again)).collect::<Vec<_>>(), [(3, 7)]);
    let (mut journal, resumed) = Journal::resume(&path, &header(&space), &space).unwrap();
    assert_eq!(unboxed(resumed.evaluations), evaluations);
    assert_eq!(resumed.warnings, recorded.warnings(&path));
    let [copies, conflict] = &resumed.warnings[..] else { panic!("{:?}", resumed.warnings) };
    assert!(copies.contains("3 lines are copies") && conflict.contains("line 7: it contradicts line 3"));
    journal.append_again(&resample(&space, 3, Role::Reference, 9)).unwrap();
    assert_eq!(read(&path).unwrap().again[0].evaluation, 4, "ignored lines keep the numbers of others");
}

/// Removes, replaces or cuts the journal while it is open, and expects everything in a new one.
fn survives(lose: impl Fn(&PathBuf), how: &str) {
    let folder = tempfile::tempdir().unwrap();
    let space = space();
    let evaluations: Vec<Evaluation> = (0..6).map(|rank| evaluation(&space, rank)).collect();
    let mut journal = Journal::create(&folder.path().join("run.jsonl"), &header(&space), &space).unwrap();
    evaluations[..3].iter().for_each(|evaluation| journal.append(evaluation).unwrap());
    let old = journal.path().to_path_buf();
    assert!(!journal.is_lost());
    lose(&old);
    let error = journal.append(&evaluations[3]).unwrap_err().to_string();
    assert!(journal.is_lost() && error.contains(how), "{error}");
    let probe = resample(&space, 1, Role::Reference, 5);
    let kept: Vec<&Evaluation> = evaluations[..3].iter().collect();
    let sentence = journal.renew(&kept, std::slice::from_ref(&probe)).unwrap();
    assert!(sentence.contains(how) && sentence.contains(&journal.path().display().to_string()), "{sentence}");
    evaluations[3..].iter().for_each(|evaluation| journal.append(evaluation).unwrap());
    let path = journal.path().to_path_buf();
    drop(journal);
    let (_, resumed) = Journal::resume(&path, &header(&space), &space).unwrap();
    assert_eq!((unboxed(resumed.evaluations), resumed.resamples), (evaluations, vec![probe]));
}

#[test]
fn a_journal_that_is_deleted_replaced_cut_or_written_to_while_open_loses_nothing() {
    survives(|path| fs::remove_file(path).unwrap(), "was deleted or replaced");
    survives(
        |path| {
            fs::rename(path, path.with_extension("old")).unwrap();
            fs::write(path, "something else\n").unwrap();
        },
        "was deleted or replaced",
    );
    survives(|path| fs::File::options().write(true).open(path).unwrap().set_len(100).unwrap(), "was cut from");
    let write_to = |path: &PathBuf| {
        use std::io::Write as _;
        fs::File::options().append(true).open(path).unwrap().write_all(b"{\"mine\": true}\n").unwrap();
    };
    survives(write_to, "has 15 bytes that something else wrote");
}

#[test]
fn entries_in_brief_agree_with_those_in_full() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = written(&folder, 20);
    for text in [fs::read_to_string(&path).unwrap(), unsealed(&fs::read_to_string(&path).unwrap())] {
        fs::write(&path, text).unwrap();
        let (full, brief) = (read(&path).unwrap().entries, read_brief(&path).unwrap().entries);
        assert_eq!(brief.iter().collect::<Result<Vec<_>, _>>().unwrap(), full);
        for (at, (entry, brief_entry)) in full.iter().zip(brief.briefs()).enumerate() {
            let failure = entry.failure().unwrap().map(|failure| failure.kind);
            assert_eq!((entry.index.parse(), entry.clock), (Ok(brief_entry.index), brief_entry.clock));
            assert_eq!((entry.line, failure), (brief_entry.line as usize, brief_entry.failure));
            assert_eq!(entry.depth, brief_entry.depth.word());
            let counted = if failure.is_none() { entry.times_ms.as_slice() } else { &[] };
            assert_eq!(brief_entry.time_ms(), statistics::median(counted));
            let lowest = statistics::median_interval(counted, 0.95).map(|(lowest, _)| lowest);
            assert_eq!(brief_entry.times.map(|times| times.lowest_ms), lowest);
            assert_eq!(brief.find(&entry.config), Some(at));
            assert_eq!(brief.times(at).unwrap(), entry.times_ms);
        }
        let parameters = header(&space()).parameters;
        for (column, (name, values)) in brief.columns(&parameters).unwrap().iter().zip(&parameters) {
            let value = |place: &u32| &values[*place as usize];
            assert!(column.iter().map(value).eq(full.iter().map(|entry| &entry.config[name])));
        }
        let other = [("TILE".to_string(), serde_json::json!([8, 16])), ("NONE".to_string(), serde_json::json!([1]))];
        let columns = brief.columns(&other.into_iter().collect()).unwrap();
        assert!(columns[0].contains(&0) && columns[0].contains(&UNLISTED) && columns[1].iter().all(|p| *p == UNLISTED));
        assert!(brief.get(20).is_err());
        assert_eq!(brief.find(&[("TILE".to_string(), 8.into())].into_iter().collect()), None);
    }
}

#[test]
fn what_was_cut_counts_as_measured_to_its_end_and_the_final_before_that_stays() {
    let (folder, space) = (tempfile::tempdir().unwrap(), space());
    for (from, failure) in [(1, None), (3, Some(FailureKind::Correctness)), (5, Some(FailureKind::Infeasible))] {
        let mut journal = Journal::create(&folder.path().join("run.jsonl"), &header(&space), &space).unwrap();
        let mut evaluations: Vec<Evaluation> = (0..8).map(|rank| evaluation(&space, rank)).collect();
        let at = usize::try_from(from).unwrap();
        let cut = Some(Cut { limit_ms: 1500.0, best_ms: 2.5 });
        evaluations[at].failure = Some(Failure { cut, ..Failure::new(FailureKind::Timeout, "it did not end") });
        evaluations.iter().for_each(|evaluation| journal.append(evaluation).unwrap());
        let (config, role) = (evaluations[0].request.config, Role::Selection);
        let fallen = Some(Failure::new(FailureKind::Correctness, "wrong"));
        let measurement = Measurement::default();
        let clock = Duration::from_secs(60);
        journal.append_again(&Resample { role, config, failure: fallen, measurement, clock }).unwrap();
        let failure = failure.map(|kind| Failure::new(kind, "to its end"));
        let whole = Evaluation { failure, clock: Duration::from_secs(70), ..evaluations[at].clone() };
        journal.append(&whole).unwrap();
        let path = journal.path().to_path_buf();
        drop(journal);
        evaluations[at] = whole;
        let recorded = read(&path).unwrap();
        let read_back: Vec<_> = recorded.entries.iter().map(|entry| entry.evaluation(&space).unwrap()).collect();
        assert_eq!(read_back, evaluations);
        assert_eq!((recorded.current().count(), recorded.conflicts.len()), (1, 0));
        let (_, resumed) = Journal::resume(&path, &header(&space), &space).unwrap();
        assert_eq!((unboxed(resumed.evaluations), resumed.resamples.len()), (evaluations, 1));
        assert!(resumed.warnings.is_empty(), "{:?}", resumed.warnings);
    }
}
