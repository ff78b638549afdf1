//! Later measurements and verdicts in journals.

use crate::journal::{evaluation, header, space, unboxed, written};
use std::fs;
use std::time::Duration;
use tunesmith_core::judge::drift::Drift;
use tunesmith_core::{Evaluation, Measurement, Resample, Role, Store, Verdict};
use tunesmith_space::Space;
use tunesmith_store::{Journal, read};

pub(crate) fn resample(space: &Space, rank: u128, role: Role, seconds: u64) -> Resample {
    let Evaluation { request, failure, measurement, .. } = evaluation(space, rank);
    let measurement = Measurement { counters: [].into(), compile: None, ..measurement };
    Resample { role, config: request.config, failure, measurement, clock: Duration::from_secs(seconds) }
}

#[test]
fn what_is_measured_again_refers_to_its_evaluation_and_counts_as_none() {
    let folder = tempfile::tempdir().unwrap();
    let (path, evaluations) = written(&folder, 4);
    let space = space();
    let (mut journal, _) = Journal::resume(&path, &header(&space), &space).unwrap();
    let made = [
        resample(&space, 0, Role::Reference, 5),
        resample(&space, 2, Role::Selection, 6),
        resample(&space, 3, Role::Confirmation, 7),
    ];
    made.iter().for_each(|resample| journal.append_again(resample).unwrap());
    let winner = space.id(2);
    let drift = Drift { probes: 1, change: 0.25, drifted: false };
    journal.append_verdict(&Verdict { winner, by_final: true, ..Verdict::default() }, Some(&drift)).unwrap();
    let recorded = read(&path).unwrap();
    assert_eq!(recorded.entries.len(), 4);
    let verdict = recorded.verdict.as_ref().unwrap();
    assert_eq!((verdict.winner.as_str(), verdict.drift), ("2", Some((&drift).into())));
    let numbers: Vec<(&str, usize)> = recorded.again.iter().map(|a| (a.again.as_str(), a.evaluation)).collect();
    assert_eq!(numbers, [("reference", 1), ("selection", 3), ("confirmation", 4)]);
    drop(journal);
    let (_, resumed) = Journal::resume(&path, &header(&space), &space).unwrap();
    assert_eq!((unboxed(resumed.evaluations), resumed.resamples), (evaluations, made.to_vec()));
}

#[test]
fn a_final_before_the_last_evaluation_is_outdated_and_the_reference_never_is() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = written(&folder, 3);
    let space = space();
    let (mut journal, _) = Journal::resume(&path, &header(&space), &space).unwrap();
    let reference = resample(&space, 0, Role::Reference, 5);
    journal.append_again(&reference).unwrap();
    journal.append_again(&resample(&space, 2, Role::Selection, 6)).unwrap();
    let verdict = Verdict { winner: space.id(2), by_final: true, ..Verdict::default() };
    journal.append_verdict(&verdict, None).unwrap();
    assert_eq!(read(&path).unwrap().verdict.unwrap().winner, "2");
    journal.append(&evaluation(&space, 4)).unwrap();
    assert_eq!(read(&path).unwrap().verdict, None, "more evaluations, another verdict");
    let last = resample(&space, 4, Role::Confirmation, 9);
    journal.append_again(&last).unwrap();
    drop(journal);
    let (_, resumed) = Journal::resume(&path, &header(&space), &space).unwrap();
    assert_eq!(resumed.resamples, [reference, last]);
}

#[test]
fn a_verdict_is_written_once_and_by_a_resumed_run_if_the_first_was_killed_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = written(&folder, 3);
    let space = space();
    let verdict = Verdict { winner: space.id(2), by_final: true, ..Verdict::default() };
    let verdicts = || fs::read_to_string(&path).unwrap().matches("\"winner\"").count();
    for expected in [1, 1] {
        let (mut journal, _) = Journal::resume(&path, &header(&space), &space).unwrap();
        journal.append_verdict(&verdict, None).unwrap();
        journal.append_verdict(&verdict, None).unwrap();
        assert_eq!(verdicts(), expected);
    }
    let (mut journal, _) = Journal::resume(&path, &header(&space), &space).unwrap();
    journal.append(&evaluation(&space, 4)).unwrap();
    journal.append_verdict(&verdict, None).unwrap();
    assert_eq!(verdicts(), 2, "more evaluations outdate a verdict, even the same one");
}
