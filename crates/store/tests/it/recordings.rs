//! The real files of the shared folder can be read and written, and survive being cut anywhere.

#![allow(clippy::print_stdout)]

use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use serde_json::Value as Json;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use tunesmith_core::recording::{Column, Row};
use tunesmith_core::{Cut, Evaluation, Failure, FailureKind, Measurement, Recording, Request, Store, counters};
use tunesmith_space::{Parameter, Space, UserError as _, Value};
use tunesmith_store::{Format, Journal, export, import, import_with_outline};

#[allow(clippy::disallowed_methods)] // the environment names the test data
fn shared() -> Option<PathBuf> {
    let named = std::env::var_os("TUNESMITH_SHARED").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")));
    if folder.join("recordings").is_dir() {
        return Some(folder);
    }
    println!("skipped: no shared data at {}; set TUNESMITH_SHARED", folder.display());
    None
}

fn files(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = all.filter(|path| path.to_string_lossy().ends_with(suffix)).collect();
    files.sort();
    files
}

fn plain(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

fn kinds(recording: &Recording) -> [usize; 6] {
    let is = |kind| move |row: &&tunesmith_core::recording::Row| row.failure.as_ref().is_some_and(|f| f.kind == kind);
    FailureKind::ALL.map(|kind| recording.rows().iter().filter(is(kind)).count())
}

#[test]
fn all_recordings_load_with_their_optimum_and_their_constraints_give_their_space() {
    let Some(shared) = shared() else { return };
    let recordings = files(&shared.join("recordings"), ".csv.gz");
    assert_eq!(recordings.len(), 9);
    for path in recordings {
        let recording = import(&path).unwrap();
        let meta = path.with_file_name(format!("{}.json", recording.name));
        let meta: Json = serde_json::from_slice(&fs::read(meta).unwrap()).unwrap();
        assert_eq!(recording.rows().len() as u64, meta["n_configs"].as_u64().unwrap(), "{}", recording.name);
        assert_eq!(recording.correct() as u64, meta["n_valid"].as_u64().unwrap(), "{}", recording.name);
        assert_eq!(recording.optimum_ms(), meta["optimum_ms"].as_f64(), "{}", recording.name);
        assert_eq!(recording.device.as_deref(), meta["device"].as_str());
        assert!(recording.rows().iter().all(|row| row.measurement.compile.is_some() || row.failure.is_some()));
        let space = recording.space().unwrap();
        assert_eq!(space.len(), Some(recording.rows().len() as u128), "{}", recording.name);
        assert_eq!(space.constraints().len(), recording.constraints.len(), "{}", recording.name);
        assert_eq!(recording.evaluations(&space).len(), recording.rows().len(), "{}", recording.name);
    }
}

#[test]
fn without_their_constraints_the_rows_of_the_largest_recording_are_its_space() {
    let Some(shared) = shared() else { return };
    let mut recording = import(&shared.join("recordings/gemm-RTX_2080_Ti-kt.csv.gz")).unwrap();
    let constrained = recording.space().unwrap();
    recording.constraints.clear();
    let space = recording.space().unwrap();
    assert_eq!(space.len(), Some(17956));
    assert!(constrained.iter().all(|id| space.contains(&constrained.unrank(id))));
}

#[test]
fn our_own_recordings_are_whole_spaces_with_repeats() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/recordings");
    for (name, configurations) in [("coulomb3d", 1260), ("transpose", 1784), ("finite-differences", 2562)] {
        let recording = import(&folder.join(format!("{name}-PoCL.jsonl.gz"))).unwrap();
        assert_eq!((recording.rows().len(), recording.correct()), (configurations, configurations), "{name}");
        assert_eq!(recording.space().unwrap().len(), Some(configurations as u128), "{name}");
        assert!(recording.rows().iter().all(|row| row.measurement.times_ms.len() == 12), "{name}");
    }
}

#[test]
fn files_with_counters_load_with_and_without_sidecars() {
    let Some(shared) = shared() else { return };
    for path in files(&shared.join("counters"), ".csv.gz") {
        let recording = import(&path).unwrap();
        let with_counters = recording.rows().iter().filter(|row| !row.measurement.counters.is_empty()).count();
        let (rows, counted, parameters, optimum) = match recording.name.as_str() {
            "convolution_2080ti" => (6768, 5280, 9, None),
            "coulomb3d_2080ti" => (210, 210, 8, None),
            "coulomb3d_1070" => (210, 134, 7, None),
            "coulomb3d_1070_search_traces" => (recording.rows().len(), with_counters, 7, None),
            "vectoradd_2080ti" => (4, 4, 1, None),
            "paper-coulomb-1070" => (210, 210, 8, None),
            _ => (210, 210, 8, recording.optimum_ms()),
        };
        assert_eq!((recording.rows().len(), with_counters), (rows, counted), "{}", recording.name);
        assert_eq!(recording.parameters().len(), parameters, "{}", recording.name);
        assert!(recording.optimum_ms().is_some_and(|best| best > 0.0 && best < 100.0), "{}", recording.name);
        assert!(optimum.is_none_or(|best| best < 20.0), "microseconds became milliseconds");
        assert_eq!(recording.space().unwrap().len(), Some(rows as u128), "{}", recording.name);
    }
    let traces = import(&shared.join("counters/coulomb3d_1070_search_traces.csv.gz")).unwrap();
    let samples: usize = traces.rows().iter().map(|row| row.measurement.times_ms.len()).sum();
    assert_eq!(samples, 1801, "every step of the traces is a sample of its configuration");
}

#[test]
fn the_formats_of_other_tools_load() {
    let Some(shared) = shared() else { return };
    let csv = import(&shared.join("recordings/convolution_milo-A4000-hub.csv.gz")).unwrap();
    for file in ["kernel-tuner-cache-convolution-A4000.json.gz", "t4-convolution-A4000.json.gz"] {
        let recording = import(&shared.join("formats").join(file)).unwrap();
        assert_eq!(recording.rows().len(), 4362, "{file}");
        assert_eq!(kinds(&recording), [6, 155, 0, 0, 0, 0], "{file}");
        assert_eq!(recording.rows()[0].measurement.times_ms.len(), 32, "{file}");
        let difference = recording.optimum_ms().unwrap() / csv.optimum_ms().unwrap() - 1.0;
        assert!(difference.abs() < 1e-6, "{file}: {difference}");
        let compile = recording.rows()[0].measurement.compile.as_ref().unwrap();
        assert!((compile.time_ms - 892.914).abs() < 1e-3, "{file}");
        assert_eq!(recording.evaluations(&csv.space().unwrap()).len(), 4362, "{file}");
    }
    let ktt = import(&shared.join("formats/ktt-results-coulomb-2080ti.json.gz")).unwrap();
    let csv = import(&shared.join("counters/coulomb3d_2080ti.csv.gz")).unwrap();
    assert_eq!((ktt.rows().len(), ktt.device.as_deref()), (210, Some("NVIDIA GeForce RTX 2080 Ti")));
    assert_eq!(ktt.rows()[0].time_ms(), Some(3.037408));
    assert_eq!(ktt.optimum_ms(), csv.optimum_ms());
    assert_eq!(ktt.rows()[0].measurement.counters["smsp__inst_executed.sum"], 341_835_776.0);
}

#[test]
fn every_format_written_is_read_back_the_same() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let originals =
        ["recordings/convolution-RTX_2080_Ti-kt.csv.gz", "formats/kernel-tuner-cache-convolution-A4000.json.gz"];
    for original in originals {
        let original = import(&shared.join(original)).unwrap();
        for (format, name) in
            [(Format::Csv, "x.csv.gz"), (Format::T4, "x.json"), (Format::KernelTuner, "x.cache.json.gz")]
        {
            let path = folder.path().join(name);
            assert_eq!(Format::of_path(&path), Some(format));
            export(&original, format, &path).unwrap();
            let again = import(&path).unwrap();
            assert_eq!(again.rows().len(), original.rows().len(), "{name}");
            for (a, b) in original.rows().iter().zip(again.rows()) {
                assert_eq!((&a.values, a.time_ms()), (&b.values, b.time_ms()), "{name}");
                assert_eq!(a.failure.as_ref().map(|f| f.kind), b.failure.as_ref().map(|f| f.kind), "{name}");
            }
            if format == Format::Csv {
                assert_eq!(again.constraints, original.constraints);
                assert_eq!(again.parameters(), original.parameters());
            }
        }
    }
}

#[test]
fn what_the_best_time_cut_is_told_from_other_time_outs_in_csv_and_t4() {
    let folder = tempfile::tempdir().unwrap();
    let row = |value: i64, failure: Option<Failure>, times_ms: &[f64]| Row {
        values: vec![Value::Int(value)],
        failure,
        measurement: Measurement { times_ms: times_ms.to_vec(), ..Measurement::default() },
        ..Row::default()
    };
    let timeout = || Failure::new(FailureKind::Timeout, "it ran too long");
    let cut = Some(Cut { limit_ms: 20.5, best_ms: 2.0 });
    let rows =
        vec![row(1, None, &[2.0]), row(2, Some(timeout()), &[]), row(3, Some(Failure { cut, ..timeout() }), &[])];
    let original = Recording::new("r", vec![Column::of_rows("X")], rows).unwrap();
    for (format, name) in [(Format::Csv, "x.csv"), (Format::T4, "x.json")] {
        let path = folder.path().join(name);
        export(&original, format, &path).unwrap();
        let again = import(&path).unwrap();
        assert_eq!(again.rows().iter().map(Row::cut).collect::<Vec<_>>(), [None, None, cut], "{name}");
        assert_eq!(again.rows()[2].failure.as_ref().unwrap().kind, FailureKind::Timeout, "{name}");
    }
    let csv = fs::read_to_string(folder.path().join("x.csv")).unwrap();
    assert_eq!(csv, "X,time_ms,status,cut_limit_ms,cut_best_ms\n1,2,ok,,\n2,,timeout,,\n3,,timeout,20.5,2\n");
    let document: Json = serde_json::from_slice(&fs::read(folder.path().join("x.json")).unwrap()).unwrap();
    let results = &document["results"];
    assert_eq!((&results[2]["invalidity"], &results[1]["cut"]), (&"timeout".into(), &Json::Null));
    assert_eq!(results[2]["cut"], serde_json::json!({"limit_ms": 20.5, "best_ms": 2.0}));
    let Some(shared) = shared() else { return };
    let schema = fs::read(shared.join("formats/schema-t4-results.json")).unwrap();
    satisfies(&document, &serde_json::from_slice(&schema).unwrap(), "document");
}

#[test]
fn counters_sizes_and_hardware_survive_being_written_as_csv() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    for original in ["counters/coulomb3d_2080ti.csv.gz", "counters/coulomb3d_1070.csv.gz"] {
        let original = import(&shared.join(original)).unwrap();
        let path = folder.path().join("x.csv");
        export(&original, Format::Csv, &path).unwrap();
        let again = import(&path).unwrap();
        assert_eq!((again.hardware, &again.device), (original.hardware, &original.device));
        assert!(original.hardware.cores().is_some());
        for (a, b) in original.rows().iter().zip(again.rows()) {
            assert_eq!(a.measurement.counters, b.measurement.counters);
            assert!(a.measurement.values.contains_key(counters::GLOBAL_SIZE));
            assert!(a.measurement.values.contains_key(counters::REGISTERS));
            let known =
                |row: &Row| row.measurement.values.iter().map(|(n, v)| (n.clone(), v.clone())).collect::<Vec<_>>();
            assert_eq!(known(a), known(b));
        }
    }
}

#[test]
fn sizes_of_launches_count_work_items_whatever_the_file_counts() {
    let Some(shared) = shared() else { return };
    let size = |row: &Row, name: &str| row.measurement.values[name][0];
    let csv = import(&shared.join("counters/coulomb3d_2080ti.csv.gz")).unwrap();
    let json = import(&shared.join("formats/ktt-results-coulomb-2080ti.json.gz")).unwrap();
    for (a, b) in csv.rows().iter().zip(json.rows()) {
        for name in [counters::GLOBAL_SIZE, counters::LOCAL_SIZE, counters::REGISTERS] {
            assert_eq!(size(a, name), size(b, name), "{name}");
        }
    }
    let paper = import(&shared.join("counters/paper-coulomb-680.csv.gz")).unwrap();
    assert_eq!(size(&paper.rows()[0], counters::GLOBAL_SIZE), 16_777_216.0);
    assert_eq!(size(&paper.rows()[0], counters::REGISTERS), 32.0);
}

#[test]
fn results_written_as_t4_satisfy_its_schema() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t4.json");
    for original in ["formats/kernel-tuner-cache-convolution-A4000.json.gz", "counters/vectoradd_2080ti.csv.gz"] {
        export(&import(&shared.join(original)).unwrap(), Format::T4, &path).unwrap();
        let document: Json = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        for schema in ["schema-t4-results.json", "schema-t4-metadata.json"] {
            let schema: Json = serde_json::from_slice(&fs::read(shared.join("formats").join(schema)).unwrap()).unwrap();
            satisfies(&document, &schema, "document");
        }
    }
    let broken = serde_json::json!({"results": [{"configuration": {}}]});
    let schema: Json =
        serde_json::from_slice(&fs::read(shared.join("formats/schema-t4-results.json")).unwrap()).unwrap();
    assert!(std::panic::catch_unwind(|| satisfies(&broken, &schema, "broken")).is_err(), "the check checks");
}

/// Checks `json` against the parts of JSON Schema that the schemas use: type, properties, required,
/// items, enum and the pattern of versions.
fn satisfies(json: &Json, schema: &Json, place: &str) {
    let is = |kind: &str| match kind {
        "object" => json.is_object(),
        "array" => json.is_array(),
        "string" => json.is_string(),
        "number" => json.is_number(),
        other => panic!("unknown type {other}"),
    };
    match &schema["type"] {
        Json::String(kind) => assert!(is(kind), "{place} is no {kind}: {json}"),
        Json::Array(kinds) => assert!(kinds.iter().any(|kind| is(kind.as_str().unwrap())), "{place}: {json}"),
        _ => {}
    }
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(json), "{place}: {json}");
    }
    if schema.get("pattern").is_some() {
        assert!(json.as_str().unwrap().split('.').filter(|part| part.parse::<u32>().is_ok()).count() == 3, "{place}");
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(json.get(name.as_str().unwrap()).is_some(), "{place} lacks {name}");
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = json.get(name) {
            satisfies(value, property, &format!("{place}.{name}"));
        }
    }
    if let (Some(items), Some(list)) = (schema.get("items"), json.as_array()) {
        list.iter().for_each(|item| satisfies(item, items, place));
    }
}

/// A small file of each text format, as the tools write them.
fn samples() -> Vec<(&'static str, String)> {
    let cache = "{\n\"device_name\": \"D\",\n\"kernel_name\": \"k\",\n\"tune_params_keys\": [\n\"X\"\n],\n\"tune_params\": {\n\
        \"X\": [\n1,\n2\n]\n},\n\"cache\": {\n\"1\": {\"X\": 1, \"time\": 1.5, \"times\": [1.0, 2.0], \"compile_time\": 3},\n\
        \"2\": {\"X\": 2, \"time\": \"CompilationFailedConfig\"}}\n}";
    let t4 = r#"{"results": [{"configuration": {"X": 1, "S": "a"}, "times": {"compilation": 1, "runtimes": [2.5]},
        "invalidity": "correct", "correctness": 1, "measurements": [{"name": "time", "value": 2.5, "unit": ""}]}],
        "metadata": {"timeunit": "microseconds"}}"#;
    let ktt = r#"{"Metadata": {"TimeUnit": "Microseconds"}, "Results": [{"Configuration": [{"Name": "X", "Value": 4}],
        "Status": "Ok", "TotalDuration": 12.5, "ComputationResults": []}]}"#;
    // As CLBlast's tuners print it.
    let cltune = r#"{"kernel_family": "copy", "precision": "32", "best_time": "0.250", "clblast_device_name": "D",
        "device_core_clock": "1000", "results": [
        {"kernel": "CopyFast", "time": 0.250, "parameters": {"COPY_WPT": 2,"PRECISION": 32}},
        {"kernel": "CopyFast", "time": 0.000, "parameters": {"COPY_WPT": 4,"PRECISION": 32}}]}"#;
    vec![
        ("r.csv", "X,S,time_ms,status,rel_std\n1,a,2.5,ok,0.1\n2,\"b,c\",,CompilationFailedConfig,\n".to_string()),
        ("r.cache.json", cache.to_string()),
        ("r.t4.json", t4.to_string()),
        ("r.ktt.json", ktt.to_string()),
        ("r.cltune.json", cltune.to_string()),
        ("r.baco.csv", "X,S,compute_time,Valid,timestamp\n1,a,2.5,True,100\n2,b,1e9,False,250\n".to_string()),
    ]
}

#[test]
fn a_cache_that_was_not_closed_loads_up_to_its_last_whole_entry() {
    let folder = tempfile::tempdir().unwrap();
    let (_, cache) = &samples()[1];
    let path = folder.path().join("open.json");
    for (cut, rows) in [(1, 2), (3, 2), (6, 1), (cache.len() - cache.find("\"2\"").unwrap(), 1)] {
        fs::write(&path, &cache[..cache.len() - cut]).unwrap();
        assert_eq!(import(&path).unwrap().rows().len(), rows, "cut by {cut}");
    }
}

#[test]
fn units_and_status_words_are_those_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let read = |at: usize| {
        let (name, text) = &samples()[at];
        fs::write(folder.path().join(name), text).unwrap();
        import(&folder.path().join(name)).unwrap()
    };
    assert_eq!(read(0).rows()[1].values, [Value::Int(2), "b,c".into()]);
    assert_eq!(kinds(&read(0)), [1, 0, 0, 0, 0, 0]);
    assert_eq!(read(1).rows()[0].measurement.times_ms, [1.0, 2.0]);
    assert_eq!(read(2).rows()[0].time_ms(), Some(0.0025));
    assert_eq!(read(3).rows()[0].time_ms(), Some(0.0125));
}

#[test]
fn results_of_cltune_and_clblast_load_and_a_time_of_zero_is_no_time() {
    let folder = tempfile::tempdir().unwrap();
    let (name, text) = &samples()[4];
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    let recording = import(&path).unwrap();
    assert_eq!((recording.kernel.as_deref(), recording.device.as_deref()), (Some("CopyFast"), Some("D")));
    assert_eq!(recording.optimum_ms(), Some(0.25));
    assert_eq!(recording.rows()[0].values, [Value::Int(2), Value::Int(32)]);
    assert_eq!(kinds(&recording), [0, 1, 0, 0, 0, 0]);
    for (old, new, part) in [
        ("\"time\": 0.000", "\"time\": -1", "result 2: `time`"),
        ("\"COPY_WPT\": 4", "\"WPT\": 4", "result 2: the value of parameter `COPY_WPT` is missing"),
        ("\"CopyFast\", \"time\": 0.000", "\"Copy\", \"time\": 1", "result 2: another kernel than `CopyFast`"),
    ] {
        fs::write(&path, text.replace(old, new)).unwrap();
        let error = import(&path).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn csv_of_baco_loads_with_and_without_what_is_feasible() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baco.csv");
    let read = |text: &str| {
        fs::write(&path, text).unwrap();
        import(&path).unwrap()
    };
    let learned = read(&samples()[5].1);
    assert_eq!(learned.rows()[0].values, [Value::Int(1), "a".into()]);
    assert_eq!((learned.optimum_ms(), kinds(&learned)), (Some(2.5), [0, 1, 0, 0, 0, 0]));
    let plain = read("X,P,Value,timestamp\n1.0,\"(0, 1)\",3,1\n2.5,\"(1, 0)\",4,2\n");
    assert_eq!(plain.rows()[0].values, [Value::Float(1.0), "(0, 1)".into()]);
    assert_eq!((plain.optimum_ms(), kinds(&plain)), (Some(3.0), [0; 6]));
}

#[test]
fn a_compressed_journal_is_read_as_the_journal_is() {
    let folder = tempfile::tempdir().unwrap();
    let space = Space::builder().parameter(Parameter::new("X", [1, 2].map(Value::Int)).unwrap()).build().unwrap();
    let path = folder.path().join("run.jsonl");
    let mut journal = Journal::create(&path, &Journal::header(&space), &space).unwrap();
    for (rank, time_ms) in [(0, 2.0), (1, 1.5)] {
        journal
            .append(&Evaluation {
                request: Request::timed(space.id(rank).unwrap()),
                failure: None,
                measurement: Measurement { times_ms: vec![time_ms], ..Measurement::default() },
                clock: std::time::Duration::ZERO,
                proposed: None,
            })
            .unwrap();
    }
    drop(journal);
    let compressed = folder.path().join("run.jsonl.gz");
    let mut encoder = GzEncoder::new(fs::File::create(&compressed).unwrap(), flate2::Compression::default());
    encoder.write_all(&fs::read(&path).unwrap()).unwrap();
    encoder.finish().unwrap();
    let (plain, again) = (import(&path).unwrap(), import(&compressed).unwrap());
    assert_eq!(plain.optimum_ms(), Some(1.5));
    assert_eq!((&plain.name, plain.rows()), (&again.name, again.rows()));
    for file in [&path, &compressed] {
        let (recording, outline) = import_with_outline(file).unwrap();
        let outline = outline.unwrap();
        assert_eq!((recording.rows(), outline.entries.len()), (plain.rows(), 2));
        assert_eq!(outline.header, tunesmith_store::read_header(&path).unwrap());
    }
    fs::write(folder.path().join("plain.csv"), "X,time_ms\n1,2\n").unwrap();
    assert!(import_with_outline(&folder.path().join("plain.csv")).unwrap().1.is_none());
}

#[test]
fn what_is_no_recording_is_refused_with_the_file_and_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.json");
    for (text, part) in [("{}", "known format"), ("[1", "column"), ("{\"results\": 1}", "no list")] {
        fs::write(&path, text).unwrap();
        let error = import(&path).unwrap_err();
        assert!(error.to_string().contains("x.json") && error.to_string().contains(part), "{error}");
        assert!(error.remedy().is_some());
    }
    assert!(import(&folder.path().join("absent.csv")).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 3 / 2))]
    #[test]
    fn small_files_cut_or_changed_anywhere_are_errors_or_recordings(which in 0..samples().len(), at in 0.0..1.0f64, byte: Option<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let (name, text) = &samples()[which];
        let mut bytes = text.clone().into_bytes();
        let at = (at * bytes.len() as f64) as usize;
        match byte {
            Some(byte) => bytes[at] = byte,
            None => bytes.truncate(at),
        }
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        if let Ok(recording) = import(&path) {
            prop_assert!(recording.rows().len() <= 2);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 40))]
    #[test]
    fn real_files_cut_anywhere_are_errors_or_shorter_recordings(at in 0.0..1.0f64) {
        let Some(shared) = shared() else { return Ok(()) };
        let folder = tempfile::tempdir().unwrap();
        for file in [
            "formats/kernel-tuner-cache-convolution-A4000.json.gz",
            "formats/ktt-results-coulomb-2080ti.json.gz",
            "recordings/convolution_milo-A100-hub.csv.gz",
            "counters/paper-coulomb-680.csv.gz",
        ] {
            let compressed = fs::read(shared.join(file)).unwrap();
            for (bytes, name) in [(plain(&shared.join(file)), "plain"), (compressed, "cut.gz")] {
                let path = folder.path().join(name);
                fs::write(&path, &bytes[..(at * bytes.len() as f64) as usize]).unwrap();
                if let Ok(recording) = import(&path) {
                    prop_assert!(recording.rows().len() <= 4362);
                }
            }
        }
    }
}

#[test]
fn a_small_file_that_holds_more_than_the_memory_is_refused_with_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.csv.gz");
    let file = std::fs::File::create(&path).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    let block = vec![b'\n'; 1 << 20];
    (0..257).for_each(|_| std::io::Write::write_all(&mut encoder, &block).unwrap());
    encoder.finish().unwrap();
    let error = import(&path).unwrap_err();
    assert!(error.to_string().contains("more than 256 MiB"), "{error}");
    assert!(error.remedy().is_some_and(|remedy| remedy.contains("decompress")));
}

#[test]
fn a_table_with_more_columns_than_any_device_has_counters_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.csv");
    let counters: String = (0..20_000).map(|number| format!(",sm__{number}")).collect();
    std::fs::write(&path, format!("X,time_ms{counters}\n1,2{}\n", ",1".repeat(20_000))).unwrap();
    let error = import(&path).unwrap_err().to_string();
    assert!(error.contains("line 1") && error.contains("at most 20000"), "{error}");
    let path = folder.path().join("wide.json");
    let values: String = (0..20_001).map(|number| format!("\"p{number}\":1,")).collect();
    std::fs::write(&path, format!("{{\"cache\":{{\"1\":{{{values}\"time\":1}}}}}}")).unwrap();
    let error = import(&path).unwrap_err().to_string();
    assert!(error.contains("result 1") && error.contains("at most 20000"), "{error}");
}
