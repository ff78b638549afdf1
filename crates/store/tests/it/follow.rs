//! A journal that is read while it grows.

use proptest::prelude::*;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Duration;
use tunesmith_core::{
    CompileLimit, Cut, Evaluation, Failure, FailureKind, Measurement, Request, Resample, Role, Store, Verdict,
};
use tunesmith_space::{Parameter, Space, Values};
use tunesmith_store::{Follow, Gained, Growth, Journal, LimitKind, StoreError, read, read_brief};

fn space() -> Space {
    Space::builder().parameter(Parameter::new("X", Values::list(0..40)).unwrap()).build().unwrap()
}

fn evaluation(space: &Space, rank: u128) -> Evaluation {
    let failure = rank.is_multiple_of(5).then(|| Failure::new(FailureKind::Compile, format!("no {rank}\nlog")));
    let times_ms = if failure.is_none() { vec![rank as f64, rank as f64 + 1.0] } else { Vec::new() };
    let measurement = Measurement { times_ms, ..Measurement::default() };
    let clock = Duration::from_secs(rank as u64);
    let request = Request::timed(space.id(rank).unwrap());
    Evaluation { request, failure, measurement, clock, proposed: None }
}

/// Writes a run with 20 evaluations, a visit of its final and a verdict.
fn write_run(path: &Path) -> Vec<u8> {
    let space = space();
    let mut journal = Journal::create(path, &Journal::header(&space), &space).unwrap();
    (1..=20).for_each(|rank| journal.append(&evaluation(&space, rank)).unwrap());
    let Evaluation { request, measurement, clock, .. } = evaluation(&space, 1);
    let config = request.config;
    let visit = Resample { role: Role::Selection, config, failure: None, measurement, clock };
    journal.append_again(&visit).unwrap();
    let verdict = Verdict { winner: Some(config), by_final: true, ..Verdict::default() };
    journal.append_verdict(&verdict, None).unwrap();
    fs::read(path).unwrap()
}

/// Returns a line for each line that was gained.
fn lines(follow: &mut Follow, most: usize) -> Result<(Vec<String>, Growth), StoreError> {
    let mut found = Vec::new();
    let growth = follow.read(most, |gained| {
        found.push(match gained {
            Gained::Evaluation(new) => {
                let entry = new.entry().unwrap();
                assert_eq!((entry.times_ms, entry.clock), (new.times_ms.clone(), new.clock));
                format!("{} {:?}", new.index, new.message())
            }
            Gained::Again(again) => format!("{} again", again.entry.index),
            Gained::Verdict(verdict) => format!("{} wins", verdict.winner),
        });
    })?;
    Ok((found, growth))
}

fn all_lines(path: &Path) -> Vec<String> {
    lines(&mut Follow::open(path).unwrap(), usize::MAX).unwrap().0
}

#[test]
fn what_a_limit_from_others_ended_is_told_from_failures_and_is_gained_again_at_its_end() {
    let cut = Cut { limit_ms: 20.0, best_ms: 2.0 };
    let said = "it says \"cut\":{} and \"aside\":{}";
    let failure = || Failure::new(FailureKind::Timeout, said);
    let aside = Failure::put_aside(CompileLimit { limit_ms: 300.0, usual_ms: 100.0 });
    for (failed, limit, cuts) in [
        (Failure { cut: Some(cut), ..failure() }, Some(LimitKind::Cut), vec![(0, cut)]),
        (aside, Some(LimitKind::Aside), vec![]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (path, space) = (folder.path().join("run.jsonl"), space());
        let mut journal = Journal::create(&path, &Journal::header(&space), &space).unwrap();
        let open = Evaluation { failure: Some(failed), ..evaluation(&space, 1) };
        journal.append(&open).unwrap();
        journal.append(&Evaluation { failure: Some(failure()), ..evaluation(&space, 2) }).unwrap();
        assert_eq!(read_brief(&path).unwrap().entries.cuts().unwrap(), cuts);
        assert_eq!(read(&path).unwrap().entries[0].evaluation(&space).unwrap(), open);
        journal.append(&evaluation(&space, 1)).unwrap();
        drop(journal);
        let (mut journal, resumed) = Journal::resume(&path, &Journal::header(&space), &space).unwrap();
        assert!(resumed.evaluations[0].is_correct());
        journal.append(&evaluation(&space, 2)).unwrap();
        let mut follow = Follow::open(&path).unwrap();
        let mut found = Vec::new();
        let each = |gained: Gained<'_>| {
            let Gained::Evaluation(new) = gained else { panic!("{gained:?}") };
            found.push((new.index, new.limit, new.replaces));
        };
        follow.read(usize::MAX, each).unwrap();
        assert_eq!(found, [(1, limit, None), (2, None, None), (1, None, limit)]);
        assert_eq!(follow.repeated(), 1, "a failure stays");
        assert_eq!(read_brief(&path).unwrap().entries.cuts().unwrap(), []);
    }
}

#[test]
fn every_line_is_gained_with_its_message() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    write_run(&path);
    let found = all_lines(&path);
    assert_eq!((found.len(), read(&path).unwrap().entries.len()), (22, 20));
    assert_eq!(found[0], "1 None");
    assert_eq!(found[4], "5 Some(\"no 5\\nlog\")");
    assert_eq!(found[20..], ["1 again", "1 wins"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]
    #[test]
    fn a_journal_that_grows_in_any_pieces_gives_each_line_once(
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..12),
        most in 1_usize..30,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (whole, path) = (folder.path().join("whole.jsonl"), folder.path().join("run.jsonl"));
        let text = write_run(&whole);
        let header = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| header + cut.index(text.len() - header)).collect();
        cuts.extend([header, text.len()]);
        cuts.sort_unstable();
        let mut file = File::create(&path).unwrap();
        file.write_all(&text[..header]).unwrap();
        let (mut follow, mut found) = (Follow::open(&path).unwrap(), Vec::new());
        for piece in cuts.windows(2) {
            file.write_all(&text[piece[0]..piece[1]]).unwrap();
            loop {
                let (gained, growth) = lines(&mut follow, most).unwrap();
                prop_assert!(gained.len() <= most);
                found.extend(gained);
                if growth == Growth::Complete {
                    break;
                }
            }
        }
        prop_assert_eq!(found, all_lines(&whole));
    }
}

#[test]
fn a_deleted_journal_is_missed_and_another_one_in_its_place_is_read_from_its_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let text = write_run(&path);
    let mut follow = Follow::open(&path).unwrap();
    assert_eq!(lines(&mut follow, 100).unwrap().0.len(), 22);
    fs::remove_file(&path).unwrap();
    assert_eq!(lines(&mut follow, 100).unwrap(), (Vec::new(), Growth::Deleted));
    fs::write(&path, "").unwrap();
    let error = lines(&mut follow, 100).unwrap_err().to_string();
    assert!(error.contains("the header is missing"), "{error}");
    fs::write(&path, &text).unwrap();
    let (none, growth) = lines(&mut follow, 100).unwrap();
    assert!(none.is_empty() && matches!(&growth, Growth::Restarted { how } if how.contains("replaced")), "{growth:?}");
    assert_eq!(lines(&mut follow, 100).unwrap().0.len(), 22);
}

#[test]
fn a_journal_that_was_cut_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let text = write_run(&path);
    let mut follow = Follow::open(&path).unwrap();
    assert_eq!(lines(&mut follow, 100).unwrap().0.len(), 22);
    let ends: Vec<u64> = (0..text.len()).filter(|at| text[*at] == b'\n').map(|at| at as u64 + 1).collect();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(ends[5]).unwrap();
    let growth = lines(&mut follow, 100).unwrap().1;
    assert_eq!(growth, Growth::Restarted { how: format!("was cut from {} to {} bytes", text.len(), ends[5]) });
    assert_eq!(lines(&mut follow, 100).unwrap().0.len(), 5);
}

#[test]
fn a_damaged_line_is_an_error_until_it_is_mended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let text = write_run(&path);
    let damaged = String::from_utf8(text.clone()).unwrap().replacen("\"index\":\"7\"", "\"index\":\"8\"", 1);
    // In place, so that the file stays the same one.
    let write = |text: &[u8]| OpenOptions::new().write(true).open(&path).unwrap().write_all(text).unwrap();
    write(damaged.as_bytes());
    let mut follow = Follow::open(&path).unwrap();
    for _ in 0..2 {
        let error = lines(&mut follow, 100).unwrap_err().to_string();
        assert!(error.contains("line 8: the line does not match its checksum"), "{error}");
    }
    write(&text);
    let (found, growth) = lines(&mut follow, 100).unwrap();
    assert_eq!((found.len(), found[0].as_str(), growth), (16, "7 None", Growth::Complete));
}

#[test]
fn a_reading_costs_what_was_added() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    write_run(&path);
    let (mut follow, mut file) = (Follow::open(&path).unwrap(), OpenOptions::new().append(true).open(&path).unwrap());
    let line = |rank: usize| {
        format!(
            "{{\"index\":\"{rank}\",\"config\":{{\"X\":1}},\"status\":\"correct\",\"depth\":\"timed\",\"clock\":1}}\n"
        )
    };
    file.write_all((100..20_000).map(line).collect::<String>().as_bytes()).unwrap();
    // Not every system counts the bytes that a thread reads.
    let Some(before) = bytes_read() else { return };
    assert_eq!(lines(&mut follow, usize::MAX).unwrap().0.len(), 22 + 19_900);
    let all = bytes_read().unwrap() - before;
    // Opening the journal has read its first lines.
    assert!(all > fs::metadata(&path).unwrap().len() / 2, "{all}");
    file.write_all(line(20_000).as_bytes()).unwrap();
    let before = bytes_read().unwrap();
    assert_eq!(lines(&mut follow, usize::MAX).unwrap().0.len(), 1);
    let again = bytes_read().unwrap() - before;
    assert!(again < all / 100, "{again} of {all} bytes");
}

/// Returns the number of bytes that this thread has read from files.
fn bytes_read() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("rchar: "))?.parse().ok()
}

#[test]
fn repeated_requests_are_left_out_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let text = String::from_utf8(write_run(&path)).unwrap();
    let copy = text.lines().nth(3).unwrap();
    fs::write(&path, format!("{text}{copy}\n")).unwrap();
    let mut follow = Follow::open(&path).unwrap();
    assert_eq!((lines(&mut follow, 100).unwrap().0.len(), follow.repeated()), (22, 1));
}

#[test]
fn a_journal_is_written_while_its_writer_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let (path, space) = (folder.path().join("run.jsonl"), space());
    let journal = Journal::create(&path, &Journal::header(&space), &space).unwrap();
    let follow = Follow::open(&path).unwrap();
    // Not every system lists its locks.
    let Some(written) = follow.is_written() else { return };
    drop(journal);
    assert_eq!(follow.is_written(), Some(false));
    assert!(written || !locks_are_listed(folder.path()));
}

/// Returns true if the list of locks has one that is certainly held.
fn locks_are_listed(folder: &Path) -> bool {
    let path = folder.join("held");
    let held = File::create(&path).unwrap();
    held.lock().unwrap();
    let inode = std::os::unix::fs::MetadataExt::ino(&held.metadata().unwrap());
    fs::read_to_string("/proc/locks").unwrap().contains(&format!(":{inode} "))
}
