//! A configuration that ends the run twice counts as failed.

use crate::journal::{header, space};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::time::Duration;
use tunesmith_core::{Evaluation, Measurement, Request, Resample, Role, Start, Store};
use tunesmith_space::Space;
use tunesmith_store::{Journal, Resumed};

fn evaluation(request: Request) -> Evaluation {
    let measurement = Measurement { times_ms: vec![1.5], ..Measurement::default() };
    Evaluation { request, failure: None, measurement, clock: Duration::from_secs(1), proposed: None }
}

fn again(start: Start, role: Role) -> Resample {
    let measurement = Measurement { times_ms: vec![1.5], ..Measurement::default() };
    Resample { role, config: start.request.config, failure: None, measurement, clock: Duration::from_secs(2) }
}

/// Keeps the result of a start.
fn answer(journal: &mut Journal, start: Start) {
    match start.role {
        None => journal.append(&evaluation(start.request)).unwrap(),
        Some(role) => journal.append_again(&again(start, role)).unwrap(),
    }
}

fn start(space: &Space, rank: u128, role: Option<Role>) -> Start {
    Start { request: Request::timed(space.id(rank).unwrap()), role }
}

/// Returns what counts as failed, in order.
fn failed(resumed: &Resumed) -> Vec<Start> {
    let evaluations = resumed.evaluations.iter().filter(|evaluation| evaluation.failure.is_some());
    let resamples = resumed.resamples.iter().filter(|resample| resample.failure.is_some());
    let of_evaluations = evaluations.map(|evaluation| Start { request: evaluation.request, role: None });
    let of_resamples =
        resamples.map(|resample| Start { request: Request::timed(resample.config), role: Some(resample.role) });
    of_evaluations.chain(of_resamples).collect()
}

fn resumed(path: &Path, space: &Space) -> (Journal, Resumed) {
    Journal::resume(path, &header(space), space).unwrap()
}

/// One part of a run: the measurements that begin, each with whether it comes to its result, and the end.
#[derive(Clone, Debug)]
struct Life {
    /// Ranks and roles.
    measured: Vec<(u128, Option<Role>)>,
    /// A measurement that has begun at the end.
    under_way: Option<(u128, Option<Role>)>,
    /// True if the run ends in order.
    in_order: bool,
}

fn lives() -> impl Strategy<Value = Vec<Life>> {
    let role = prop_oneof![3 => Just(None), 1 => Just(Some(Role::Verification))];
    let one = (0..3_u128, role);
    let life = (prop::collection::vec(one.clone(), 0..2), prop::option::of(one), prop::bool::weighted(0.3));
    let life = life.prop_map(|(measured, under_way, in_order)| Life { measured, under_way, in_order });
    prop::collection::vec(life, 1..9)
}

proptest! {
    #[test]
    fn what_was_under_way_at_two_ends_has_failed_and_nothing_else(lives in lives()) {
        let space = space();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        drop(Journal::create(&path, &header(&space), &space).unwrap());
        let (mut ended, mut known) = (HashMap::<Start, u32>::new(), HashSet::<Start>::new());
        for life in lives {
            let (mut journal, resumed) = resumed(&path, &space);
            // An evaluation that follows ends a final; verifications stay.
            let expected: HashSet<Start> = ended.iter().filter(|(_, times)| **times >= 2).map(|(start, _)| *start).collect();
            prop_assert_eq!(failed(&resumed).into_iter().collect::<HashSet<_>>(), expected.clone());
            known.extend(expected);
            for (rank, role) in life.measured {
                let start = start(&space, rank, role);
                if known.insert(start) {
                    journal.keep_start(start).unwrap();
                    answer(&mut journal, start);
                    ended.remove(&start);
                }
            }
            let under_way = life.under_way.map(|(rank, role)| start(&space, rank, role));
            if let Some(start) = under_way.filter(|start| !known.contains(start)) {
                journal.keep_start(start).unwrap();
                *ended.entry(start).or_default() += u32::from(!life.in_order);
            }
            if life.in_order {
                journal.forget_start().unwrap();
            }
        }
        let (mut journal, _) = resumed(&path, &space);
        let is_open = ended.iter().any(|(start, times)| *times == 1 && !known.contains(start));
        journal.forget_start().unwrap();
        prop_assert_eq!(folder.path().join("run.jsonl.started").exists(), is_open);
    }
}

#[test]
fn a_configuration_that_ended_the_run_is_named_and_tried_once_more() {
    let space = space();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let mut journal = Journal::create(&path, &header(&space), &space).unwrap();
    journal.keep_start(start(&space, 1, None)).unwrap();
    drop(journal);
    let (mut journal, first) = resumed(&path, &space);
    assert!(first.evaluations.is_empty());
    assert!(first.warnings[0].contains("configuration 1 (TILE=8,SCALE=0.5"), "{:?}", first.warnings);
    assert!(first.warnings[0].contains("tried once more"), "{:?}", first.warnings);
    journal.keep_start(start(&space, 1, None)).unwrap();
    drop(journal);
    let (_, second) = resumed(&path, &space);
    assert!(second.warnings[0].contains("now counts as failed"), "{:?}", second.warnings);
    let failure = second.evaluations[0].failure.as_ref().unwrap();
    assert!(failure.message.contains("ended twice while this configuration"), "{}", failure.message);
    let (_, third) = resumed(&path, &space);
    assert_eq!((third.evaluations, third.warnings), (second.evaluations, Vec::new()));
}

#[test]
fn the_file_of_another_run_or_one_that_was_cut_short_says_nothing() {
    let space = space();
    let folder = tempfile::tempdir().unwrap();
    let (path, beside) = (folder.path().join("run.jsonl"), folder.path().join("run.jsonl.started"));
    let mut journal = Journal::create(&path, &header(&space), &space).unwrap();
    journal.keep_start(start(&space, 1, None)).unwrap();
    drop(journal);
    let text = fs::read(&beside).unwrap();
    for length in 0..text.len() - 1 {
        fs::write(&beside, &text[..length]).unwrap();
        assert_eq!(resumed(&path, &space).1, Resumed::default(), "{length} bytes");
    }
    fs::write(&beside, &text).unwrap();
    fs::remove_file(&path).unwrap();
    let (victim, text) = (folder.path().join("victim"), fs::read(&beside).unwrap());
    fs::write(&victim, "of another").unwrap();
    fs::remove_file(&beside).unwrap();
    std::os::unix::fs::symlink(&victim, &beside).unwrap();
    drop(Journal::create(&path, &header(&space), &space).unwrap());
    let (mut journal, _) = resumed(&path, &space);
    std::os::unix::fs::symlink(&victim, &beside).unwrap();
    journal.keep_start(start(&space, 1, None)).unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "of another");
    drop(journal);
    fs::remove_file(&path).unwrap();
    let other = tunesmith_store::Header { started: 5.0, ..header(&space) };
    drop(Journal::create(&path, &other, &space).unwrap());
    assert!(!beside.exists());
    fs::write(&beside, &text).unwrap();
    assert_eq!(resumed(&path, &space).1, Resumed::default());
}
