//! Names of parameters and of measured numbers that are also words of a format. Every format either
//! keeps a recording or refuses it with the name: no number turns into another one.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use tunesmith_core::recording::{Column, Costs, Row};
use tunesmith_core::{Evaluation, Failure, FailureKind, Measurement, Recording, Request, Store};
use tunesmith_space::{Parameter, Space, UserError as _, Value};
use tunesmith_store::{Format, Journal, export, import, read};

/// Words that a reader or a writer of some format uses, and texts that are hard to write.
#[rustfmt::skip]
const WORDS: [&str; 101] = [
    // CSV of every tool.
    "time_ms", "time_us", "time_", "duration_us", "duration", "status", "rel_std", "compile_ms", "benchmark_ms",
    "verification_ms", "framework_ms", "search_ms", "compile_and_overhead_us", "data_movement_us", "t", "t1", "t2",
    "t3", "t01", "Kernel name", "Computation duration (us)", "Global size", "Local size", "Registers count",
    "global_size", "local_size", "registers", "global_size_threads", "run", "step", "profiled", "Valid",
    "dram_utilization", "sm__inst_executed.sum", "a__b",
    // Kernel Tuner's caches.
    "time", "times", "compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time",
    "timestamp", "GFLOP/s", "cache", "device_name", "kernel_name", "tune_params", "tune_params_keys", "objective",
    // T4, CLTune and KTT.
    "configuration", "measurements", "name", "value", "unit", "invalidity", "correctness", "objectives", "runtimes",
    "compilation", "compilation_time", "benchmark", "validation", "framework", "search_algorithm", "results",
    "Results", "metadata", "Metadata", "timeunit", "schema_version", "kernel", "parameters", "Configuration",
    // Sidecars and journals.
    "params", "constraints", "counters", "launch", "hardware", "device", "format", "index", "config", "depth",
    "times_ms", "values", "parts_ms", "message", "clock", "sum", "worker", "written_by",
    // Texts.
    "", "=time", "'=time", "time ", "\"time\"", "time,status", "[time", "{\"time", "__proto__",
];

fn names(most: usize) -> impl Strategy<Value = Vec<&'static str>> {
    subsequence(&WORDS[..], 0..=most).prop_shuffle()
}

/// Returns one to three parameters. Words that many formats have are drawn more often.
fn parameters() -> impl Strategy<Value = Vec<&'static str>> {
    let common = select(vec!["time", "status", "t1", "config", "value", "TILE"]);
    (names(2), common).prop_map(|(mut names, common)| {
        names.retain(|name| *name != common);
        names.push(common);
        names
    })
}

/// Returns numbers by name. `values` may have two for a name.
fn measured() -> impl Strategy<Value = (BTreeMap<String, Vec<f64>>, BTreeMap<String, f64>)> {
    let numbers = |at: usize, count: usize| (0..count).map(|more| 100.0 + (10 * at + more) as f64).collect();
    let both = (names(4), names(3), prop::collection::vec(1..=2_usize, 4));
    both.prop_map(move |(values, counters, counts)| {
        let values = values.iter().zip(counts).enumerate();
        let values = values.map(|(at, (name, count))| (name.to_string(), numbers(at, count))).collect();
        (values, counters.iter().zip(500..).map(|(name, number)| (name.to_string(), f64::from(number))).collect())
    })
}

fn row(parameters: usize, at: usize, failed: bool, (values, counters): &Measured) -> Row {
    let measurement = Measurement {
        times_ms: if failed { Vec::new() } else { vec![1.5 + at as f64] },
        values: values.clone(),
        counters: counters.clone(),
        ..Measurement::default()
    };
    Row {
        values: (0..parameters).map(|place| Value::Int((8 + at + place) as i64)).collect(),
        failure: failed.then(|| Failure::new(FailureKind::Runtime, "it broke")),
        measurement,
        costs: Costs { benchmark_ms: Some(7.0), ..Costs::default() },
        ..Row::default()
    }
}

type Measured = (BTreeMap<String, Vec<f64>>, BTreeMap<String, f64>);

fn recording() -> impl Strategy<Value = Recording> {
    let rows = prop::collection::vec((any::<bool>(), measured()), 1..4);
    (parameters(), rows).prop_map(|(names, rows)| {
        let rows = rows.iter().enumerate().map(|(at, (failed, measured))| row(names.len(), at, *failed, measured));
        let columns = names.iter().map(|name| Column::of_rows(*name)).collect();
        Recording::new("r", columns, rows.collect()).unwrap()
    })
}

fn parameter_names(recording: &Recording) -> Vec<&str> {
    recording.parameters().iter().map(Parameter::name).collect()
}

/// Checks that `again` says of every configuration what `one` says, as far as it says anything.
fn agrees(one: &Recording, again: &Recording) -> Result<(), TestCaseError> {
    prop_assert_eq!(parameter_names(one), parameter_names(again));
    prop_assert_eq!(one.rows().len(), again.rows().len());
    for (a, b) in one.rows().iter().zip(again.rows()) {
        prop_assert_eq!(&a.values, &b.values);
        prop_assert_eq!(a.failure.is_some(), b.failure.is_some());
        prop_assert_eq!(a.time_ms(), b.time_ms());
        prop_assert_eq!(&a.measurement.times_ms, &b.measurement.times_ms);
        prop_assert_eq!(a.costs.benchmark_ms, b.costs.benchmark_ms);
        prop_assert_eq!(b.rel_std, None);
        let numbers = b.measurement.values.iter().map(|(name, values)| (name, values[0]));
        let counters = b.measurement.counters.iter().map(|(name, number)| (name, *number));
        for (name, number) in numbers.chain(counters) {
            let value = a.measurement.values.get(name).map(|values| values[0]);
            let known = [value, a.measurement.counters.get(name).copied()];
            prop_assert!(known.contains(&Some(number)), "{name:?} is {number}, not one of {known:?}");
        }
    }
    Ok(())
}

/// A number whose name no format uses must not be lost beside those that are.
const PLAIN: &str = "GFLOP/s";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 3 / 2))]
    #[test]
    fn every_format_keeps_a_recording_or_refuses_it_with_the_name(recording in recording()) {
        let folder = tempfile::tempdir().unwrap();
        for format in Format::ALL {
            let path = folder.path().join("r.csv");
            match export(&recording, format, &path) {
                Ok(_) => {
                    let again = import(&path);
                    let text = || fs::read_to_string(&path).unwrap();
                    prop_assert!(again.is_ok(), "{}: {}\n{}", format.word(), again.unwrap_err(), text());
                    let again = again.unwrap();
                    agrees(&recording, &again).map_err(|error| TestCaseError::fail(format!("{error}\n{}", text())))?;
                    let has = |recording: &Recording| {
                        let has = |row: &Row| row.measurement.values.get(PLAIN).is_some_and(|one| one.len() == 1);
                        recording.rows().iter().map(has).collect::<Vec<_>>()
                    };
                    if !parameter_names(&recording).contains(&PLAIN) {
                        prop_assert!(has(&recording).iter().zip(has(&again)).all(|(had, has)| !had || has));
                    }
                }
                Err(error) => {
                    prop_assert_eq!(error.source.kind(), ErrorKind::InvalidInput);
                    let text = error.to_string();
                    prop_assert!(format != Format::T4, "{text}");
                    let is_named = |name: &str| text.contains(&format!("`{name}`")) || text.contains(&format!("{name:?}"));
                    prop_assert!(parameter_names(&recording).into_iter().any(is_named), "{text}");
                }
            }
        }
    }

    #[test]
    fn a_journal_keeps_whatever_names_a_recording_has(recording in recording()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        let builder = recording.parameters().iter().fold(Space::builder(), |all, one| all.parameter(one.clone()));
        let space = builder.build().unwrap();
        let mut journal = Journal::create(&path, &Journal::header(&space), &space).unwrap();
        let evaluations: Vec<Evaluation> = recording.rows().iter().map(|row| evaluation(&space, &recording, row)).collect();
        evaluations.iter().for_each(|one| journal.append(one).unwrap());
        drop(journal);
        let again = import(&path).unwrap();
        prop_assert_eq!(parameter_names(&recording), parameter_names(&again));
        for (a, b) in recording.rows().iter().zip(again.rows()) {
            prop_assert_eq!(&a.values, &b.values);
            prop_assert_eq!(&a.measurement, &b.measurement);
            prop_assert_eq!(&a.failure, &b.failure);
        }
        let entries = read(&path).unwrap().entries;
        let read: Vec<Evaluation> = entries.iter().map(|entry| entry.evaluation(&space).unwrap()).collect();
        prop_assert_eq!(read, evaluations);
    }
}

fn evaluation(space: &Space, recording: &Recording, row: &Row) -> Evaluation {
    let pairs: Vec<(&str, Value)> = parameter_names(recording).into_iter().zip(row.values.iter().cloned()).collect();
    let config = space.rank(&space.configuration(&pairs, None).unwrap()).unwrap();
    Evaluation {
        request: Request::timed(config),
        failure: row.failure.clone(),
        measurement: row.measurement.clone(),
        clock: std::time::Duration::ZERO,
        proposed: None,
    }
}

/// One measured number beside one parameter.
fn with_number(parameter: &str, name: &str, is_counter: bool) -> Recording {
    let mut measured = Measured::default();
    if is_counter {
        measured.1.insert(name.to_string(), 8.0);
    } else {
        measured.0.insert(name.to_string(), vec![8.0]);
    }
    Recording::new("r", vec![Column::of_rows(parameter)], vec![row(1, 0, false, &measured)]).unwrap()
}

#[test]
fn a_measured_number_called_time_does_not_become_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.csv");
    for (name, is_counter) in [("time", false), ("time", true), ("t1", false), ("time_us", true), ("status", true)] {
        for format in Format::ALL {
            export(&with_number("TILE", name, is_counter), format, &path).unwrap();
            let again = import(&path).unwrap();
            assert_eq!(again.rows()[0].time_ms(), Some(1.5), "{name} in {}", format.word());
        }
    }
}

#[test]
fn a_parameter_called_like_a_measured_number_is_refused_where_they_share_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.csv");
    let refused = |is_counter: bool| {
        Format::ALL.map(|format| export(&with_number("TILE", "TILE", is_counter), format, &path).is_err())
    };
    assert_eq!((refused(false), refused(true)), ([true, false, true], [true, false, false]));
}

#[test]
fn a_cache_whose_parameter_has_the_name_of_a_number_of_every_entry_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.cache.json");
    fs::write(&path, r#"{"tune_params_keys": ["time"], "cache": {"8": {"time": 1.5, "times": [1.5]}}}"#).unwrap();
    let error = import(&path).unwrap_err();
    assert!(error.to_string().contains("parameter `time`"), "{error}");
    assert!(error.remedy().is_some_and(|remedy| remedy.contains("rename")));
}

#[test]
fn a_table_of_as_many_columns_as_are_read_costs_one_look_at_each() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.csv");
    let names: Vec<String> = (0..19_999).map(|number| format!("a_parameter_with_a_long_name_{number}")).collect();
    fs::write(&path, format!("{},time_ms\n{},1.5\n", names.join(","), vec!["1"; names.len()].join(","))).unwrap();
    assert_eq!(import(&path).unwrap().parameters().len(), names.len());
}
