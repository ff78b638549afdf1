//! Journals: what is read is written as the same lines, and times lie in their range. A journal is
//! read for resuming and as a recording.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::num::NonZeroUsize;
use tunesmith_fuzz::{files, spaces};
use tunesmith_space::{Parameter, Space, Value};
use tunesmith_store::{Entry, Journal, Recorded, import, read, read_brief};

fuzz_target!(|input: &[u8]| {
    let path = files::write("run.jsonl", input);
    let recorded = read(&path);
    let brief = read_brief(&path);
    assert_eq!(recorded.is_ok(), brief.is_ok(), "in brief, the journal is judged otherwise");
    if let Ok(recording) = import(&path) {
        for row in recording.rows() {
            assert_eq!(row.time_ms().is_some(), row.failure.is_none(), "a time and a failure, or neither");
            assert!(row.time_ms().is_none_or(|time| time > 0.0 && time.is_finite()));
        }
    }
    let Ok(recorded) = recorded else { return };
    assert!(recorded.complete_bytes <= input.len() as u64);
    assert!(recorded.current().count() <= recorded.again.len());
    recorded.entries.iter().chain(recorded.again.iter().map(|again| &again.entry)).for_each(check);
    reads_back(&recorded);
    resumes(&recorded, &path, input);
});

fn check(entry: &Entry) {
    assert!(entry.warmup_ms.is_none_or(|time| time.is_finite() && time >= 0.0), "line {}: its first launch", entry.line);
    for time in &entry.times_ms {
        assert!(time.is_finite() && *time > 0.0, "line {}: a time of {time} ms", entry.line);
    }
    let json = serde_json::to_string(entry).expect("an entry is JSON");
    let mut again: Entry = serde_json::from_str(&json).expect("a written entry is read");
    again.line = entry.line;
    assert_eq!(*entry, again);
}

/// Writes the lines again.
fn reads_back(recorded: &Recorded) {
    let header = serde_json::to_string(&recorded.header).expect("a header is JSON");
    let path = files::write("again.jsonl", format!("{header}\n").as_bytes());
    let again = read(&path).expect("a written header is read");
    assert_eq!(recorded.header, again.header);
}

/// Resumes the journal on the space that its header lists.
fn resumes(recorded: &Recorded, path: &std::path::Path, input: &[u8]) {
    let mut builder = Space::builder().limits(spaces::SMALL).threads(NonZeroUsize::MIN);
    for (name, values) in recorded.header.parameters.iter().take(8) {
        let values: Option<Vec<Value>> =
            values.as_array().map(|values| values.iter().filter_map(Journal::value_of).collect());
        let Some(Ok(parameter)) = values.map(|values| Parameter::new(name, values)) else { return };
        builder = builder.parameter(parameter);
    }
    let Ok(space) = builder.build() else { return };
    let Ok((journal, resumed)) = Journal::resume(path, &recorded.header, &space) else { return };
    drop(journal);
    assert_eq!(resumed.evaluations.len(), recorded.entries.len());
    for evaluation in &resumed.evaluations {
        assert!(space.id(evaluation.request.config.rank()).is_some());
    }
    let left = std::fs::read(path).expect("the journal is there");
    assert!(input.starts_with(&left), "resuming changed more than the end");
}
