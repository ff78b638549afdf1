//! Recordings of every tool, with and without a sidecar: what is exported is imported with the same
//! parameters, values, failures and times, and no measured number turns into another one. The input is a file and, after a line of `====`, its sidecar.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tunesmith_core::Recording;
use tunesmith_core::recording::Row;
use tunesmith_fuzz::{files, one_in};
use tunesmith_store::{Format, export, import};

fuzz_target!(|input: &[u8]| {
    let at = input.windows(6).position(|window| window == b"\n====\n");
    let (file, sidecar) = at.map_or((input, None), |at| (&input[..at], Some(&input[at + 6..])));
    let path = files::write("in.csv", file);
    let beside = files::folder().join("in.json");
    match sidecar {
        Some(sidecar) => drop(files::write("in.json", sidecar)),
        None => drop(std::fs::remove_file(&beside)),
    }
    let Ok(recording) = import(&path) else { return };
    in_range(&recording, input);
    let formats = [(Format::Csv, "out.csv"), (Format::T4, "t4.json"), (Format::KernelTuner, "kt.cache.json")];
    // Writing and reading take most of the time: of four inputs, three are written in one format each.
    let chosen = formats.iter().enumerate().filter(|(at, _)| one_in(4, input) || input.len() % 3 == *at);
    for (_, &(format, name)) in chosen {
        let path = files::folder().join(name);
        match export(&recording, format, &path) {
            Ok(_) => {}
            // The format cannot hold a name or a value.
            Err(error) if error.source.kind() == std::io::ErrorKind::InvalidInput => continue,
            Err(error) => panic!("{error}"),
        }
        match import(&path) {
            Ok(again) => compare(&recording, &again, format, &path),
            Err(error) => panic!("an exported {} is refused: {error}\n{}", format.word(), files::read(&path)),
        }
    }
});

fn in_range(recording: &Recording, input: &[u8]) {
    assert!(!recording.rows().is_empty() && !recording.parameters().is_empty());
    assert!(recording.correct() <= recording.rows().len());
    for row in recording.rows() {
        assert_eq!(row.values.len(), recording.parameters().len());
        for (value, parameter) in row.values.iter().zip(recording.parameters()) {
            assert!(parameter.index_of(value).is_some(), "{value} is no value of `{}`", parameter.name());
        }
        let times = row.measurement.times_ms.iter().chain(&row.measurement.warmup_ms).chain(&row.stated_ms);
        for time in times {
            assert!(time.is_finite() && *time >= 0.0, "a time of {time} ms");
        }
        assert_eq!(row.time_ms().is_some(), row.failure.is_none(), "a time and a failure, or neither");
        assert!(row.cost_ms().is_finite() && row.cost_ms() >= 0.0, "a cost of {} ms", row.cost_ms());
    }
    if let Some(best) = recording.optimum_ms() {
        assert!(best > 0.0 && best.is_finite(), "an optimum of {best} ms");
    }
    if recording.rows().len() < 200
        && recording.constraints.is_empty()
        && let Ok(space) = recording.space()
    {
        tunesmith_fuzz::spaces::check(&space, input);
        assert!(recording.evaluations(&space).len() <= recording.rows().len());
    }
}

fn compare(one: &Recording, two: &Recording, format: Format, path: &std::path::Path) {
    let context = || format!("{}:\n{}", format.word(), files::read(path));
    assert_eq!(one.rows().len(), two.rows().len(), "{}", context());
    let names = |recording: &Recording| -> Vec<String> {
        recording.parameters().iter().map(|parameter| parameter.name().to_string()).collect()
    };
    assert_eq!(names(one), names(two), "{}", context());
    for (a, b) in one.rows().iter().zip(two.rows()) {
        let texts = |values: &[tunesmith_space::Value]| -> Vec<String> {
            values.iter().map(tunesmith_space::Value::to_string).collect()
        };
        assert_eq!(texts(&a.values), texts(&b.values), "{}", context());
        assert_eq!(a.failure.is_some(), b.failure.is_some(), "{}", context());
        if let (Some(a), Some(b)) = (a.time_ms(), b.time_ms()) {
            assert!(is_close(a, b), "{a} ms became {b} ms\n{}", context());
        }
        for (name, number) in numbers(b) {
            let known = numbers(a).any(|(known, own)| known == name && is_close(own, number));
            assert!(known, "{name:?} became {number}\n{}", context());
        }
    }
}

fn is_close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-9 * a.abs().max(f64::MIN_POSITIVE)
}

/// Returns the measured numbers of a row, by name. A format may keep counters as other numbers.
fn numbers(row: &Row) -> impl Iterator<Item = (&str, f64)> {
    let values = row.measurement.values.iter().filter_map(|(name, values)| Some((name.as_str(), *values.first()?)));
    values.chain(row.measurement.counters.iter().map(|(name, number)| (name.as_str(), *number)))
}
