//! Statements of other tools' files: the objective with its direction and unit, types, encodings, and
//! contradictions. Each class has inputs of the public reports it comes from and further ones.

use flate2::write::GzEncoder;
use std::io::Write as _;
use tunesmith_core::Recording;
use tunesmith_space::{UserError as _, Value};
use tunesmith_store::{Format, ImportError, export, import};

/// Reads `bytes` as a file called `name`.
fn read_bytes(name: &str, bytes: &[u8]) -> Result<Recording, ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    import(&path)
}

fn read(name: &str, text: &str) -> Result<Recording, ImportError> {
    read_bytes(name, text.as_bytes())
}

/// Returns the best configuration with its value and objective, or the error with its remedy.
fn best(read: Result<Recording, ImportError>) -> String {
    match read {
        Ok(recording) => match recording.best() {
            Some((row, value)) => {
                let values: Vec<String> = row.values.iter().map(Value::python).collect();
                format!("{}: {value}, {}", values.join(","), recording.ranking())
            }
            None => recording.objective().map_or_else(|error| error.to_string(), |_| "all failed".to_string()),
        },
        Err(error) => format!("{error}; {}", error.remedy().unwrap_or_default()),
    }
}

/// A cache of Kernel Tuner with the parameter A.
fn cache(values: &str, objective: &str, entries: &[(&str, &str)]) -> String {
    let entries: Vec<String> = entries.iter().map(|(key, entry)| format!("\"{key}\": {{{entry}}}")).collect();
    format!(
        r#"{{"device_name": "d", "kernel_name": "k", "problem_size": [8], "tune_params_keys": ["A"],
            "tune_params": {{"A": {values}}}, {objective} "cache": {{{}}}}}"#,
        entries.join(",\n")
    )
}

fn cached(objective: &str, entries: [&str; 3]) -> String {
    let entry = |(at, text): (usize, &str)| ((at + 1).to_string(), format!("\"A\": {}, {text}", at + 1));
    let entries = entries.into_iter().enumerate().map(entry).collect::<Vec<_>>();
    let entries = entries.iter().map(|(key, entry)| (key.as_str(), entry.as_str())).collect::<Vec<_>>();
    best(read("r.json", &cache("[1, 2, 3]", objective, &entries)))
}

#[test]
fn a_cache_is_ranked_by_the_objective_that_it_names() {
    let with = |name: &str, numbers: [f64; 3]| {
        let texts =
            [3, 2, 1].iter().zip(numbers).map(|(time, number)| format!(r#""time": {time}, "{name}": {number}"#));
        let texts: Vec<String> = texts.collect();
        cached(&format!(r#""objective": "{name}","#), [&texts[0], &texts[1], &texts[2]])
    };
    assert_eq!(with("energy", [1.0, 2.0, 9.0]), "1: 1, minimise energy");
    assert_eq!(with("GFLOP/s", [9.0, 2.0, 1.0]), "1: 9, maximise GFLOP/s");
    assert_eq!(with("ps_energy", [5.0, 2.0, 9.0]), "2: 2, minimise ps_energy");
    assert_eq!(with("bandwidth", [5.0, 7.0, 6.0]), "2: 7, maximise bandwidth");
    let undirected = "its objective is `quality`, and nothing says whether more of it is better";
    assert_eq!(with("quality", [5.0, 7.0, 6.0]), undirected);
    let direction = r#""objective": "quality", "objective_higher_is_better": true, "objective_unit": "dB","#;
    let numbers = [r#""quality": 1"#, r#""quality": 3"#, r#""quality": 2"#];
    assert_eq!(cached(direction, numbers), "2: 3, maximise quality in dB");
    // Nothing was timed but the benchmarking; a score may be negative.
    let scores = [
        r#""score": -1.0, "scores": [-1.0], "benchmark_time": 300"#,
        r#""score": -0.5, "scores": [-0.5], "benchmark_time": 200"#,
        r#""score": "RuntimeFailedConfig", "benchmark_time": 100"#,
    ];
    assert_eq!(cached(r#""objective": "score","#, scores), "2: -0.5, maximise score");
    assert_eq!(cached("", [r#""time": 3"#, r#""time": 2"#, r#""time": 1"#]), "3: 1, minimise time in ms");
}

/// T4 results with the parameter A = 1, 2, ...: runtimes, the measurement of the objective and its unit.
fn t4(metadata: &str, objective: &str, results: &[(&str, &str, &str)]) -> String {
    let result = |(at, (runtimes, value, unit)): (usize, &(&str, &str, &str))| {
        format!(
            r#"{{"configuration": {{"A": {}}}, "objectives": [{objective}], "invalidity": "correct",
                "times": {{"runtimes": {runtimes}}},
                "measurements": [{{"name": {}, "value": {value}, "unit": "{unit}"}}]}}"#,
            at + 1,
            objective.split(',').next().unwrap_or_default()
        )
    };
    let results: Vec<String> = results.iter().enumerate().map(result).collect();
    best(read("r.json", &format!(r#"{{"metadata": {metadata}, "results": [{}]}}"#, results.join(","))))
}

#[test]
fn t4_has_the_units_and_objectives_of_its_measurements() {
    let duration = "\"TotalDuration\"";
    assert_eq!(t4("{}", duration, &[("[96]", "96", "Microseconds")]), "1: 0.096, minimise time in ms");
    assert_eq!(t4("{}", "\"time\"", &[("[96]", "96", "ns")]), "1: 0.000096, minimise time in ms");
    assert_eq!(t4("{}", duration, &[("[]", "2", "s")]), "1: 2000, minimise time in ms");
    let both = t4(r#"{"timeunit": "milliseconds"}"#, duration, &[("[0.096]", "96", "us")]);
    assert_eq!(both, "1: 0.096, minimise time in ms", "two units that agree are no contradiction");
    let contradiction = t4(r#"{"timeunit": "milliseconds"}"#, duration, &[("[96]", "96", "Microseconds")]);
    for part in ["result 1: `TotalDuration` is 0.096", "its samples are 96", "Microseconds", "milliseconds"] {
        assert!(contradiction.contains(part), "{contradiction}");
    }
    let changing = t4("{}", duration, &[("[96]", "96", "us"), ("[97]", "97", "ms")]);
    assert!(changing.contains("result 2: `TotalDuration` is in `ms`, but in `us` in result 1"), "{changing}");
    assert!(
        t4(r#"{"timeunit": "parsec"}"#, duration, &[("[96]", "96", "")]).contains("`parsec` is not a unit of time")
            && t4("{}", duration, &[("[96]", "96", "parsec")]).contains("measurements: `parsec` is not a unit of time")
    );
    let rates = [("[3]", "10", "GFLOP/s"), ("[2]", "25", "GFLOP/s"), ("[1]", "15", "GFLOP/s")];
    assert_eq!(t4("{}", "\"rate\"", &rates), "2: 25, maximise rate in GFLOP/s");
    let energies = [("[3]", "10", "mJ"), ("[2]", "25", "J")];
    assert!(t4("{}", "\"energy\"", &energies).contains("`energy` is in `J`, but in `mJ`"));
    assert_eq!(t4("{}", "\"score\"", &[("[300]", "-1", ""), ("[100]", "-2", "")]), "1: -1, maximise score");
    let several = t4("{}", "\"time\", \"energy\"", &[("[1]", "1", "")]);
    assert!(several.contains("it has several objectives: `time, energy`"), "{several}");
}

#[test]
fn what_a_file_does_not_state_is_an_assumption_and_what_it_states_is_none() {
    let assumed = |text: &str| read("r.json", text).unwrap().assumptions.join("; ");
    let t4 = |metadata: &str, unit: &str| {
        assumed(&format!(
            r#"{{{metadata} "results": [{{"configuration": {{"A": 1}}, "objectives": ["time"], "invalidity": "correct",
            "times": {{}}, "measurements": [{{"name": "time", "value": 2, "unit": "{unit}"}}]}}]}}"#
        ))
    };
    assert_eq!(t4("", ""), "the file states no unit of time: milliseconds are taken");
    assert_eq!(t4("", "us"), "");
    assert_eq!(t4(r#""metadata": {"timeunit": "microseconds"},"#, ""), "");
    assert!(t4(r#""metadata": {"timeunit": "miliseconds"},"#, "").contains("is read as milliseconds"));
    let entry = [("1", r#""A": 1, "time": 2, "energy": 3"#)];
    assert!(assumed(&cache("[1]", r#""objective": "energy","#, &entry)).contains("less of it is taken as better"));
    assert!(assumed(&cache("[1]", "", &entry)).contains("names no objective: the time is taken"));
    assert_eq!(assumed(&cache("[1]", r#""objective": "time","#, &entry)), "");
    let baco = read("r.csv", "X,Value,timestamp\n1,3,1\n").unwrap();
    assert_eq!(baco.assumptions, ["the objective `Value` is taken as a time in milliseconds"]);
    assert_eq!(best(read("r.csv", "X,energy,timestamp\n1,3,1\n2,1,2\n")), "2: 1, minimise energy");
}

#[test]
fn entries_that_contradict_themselves_are_named() {
    let flaw =
        |entries: &[(&str, &str)]| best(read("r.json", &cache(r#"[1, 2, 0.5]"#, r#""objective": "time","#, entries)));
    assert!(flaw(&[("1", r#""A": 2, "time": 1"#)]).contains("entry \"1\": its values are those of \"2\""));
    assert!(
        flaw(&[("1", r#""A": 1, "time": 1, "times": [5, 5]"#)])
            .contains("entry \"1\": `time` is 1, but its samples are 5")
    );
    assert!(flaw(&[("1", r#""A": 1, "time": "2.5", "times": [1]"#)]).contains("`time` is 2.5, but its samples are 1"));
    assert!(flaw(&[("1", r#""A": 1, "time": 9, "times": [1, 2]"#)]).contains("between 1 and 2"));
    assert!(flaw(&[("2", r#""A": 0.5, "time": 9"#)]).contains("are those of \"0.5\""));
    let text = [("1", r#""A": 1, "time": "2.5""#), ("2", r#""A": 2, "time": 3"#)];
    assert_eq!(flaw(&text), "1.0: 2.5, minimise time in ms", "a number in quotation marks");
    // The mean is the score of the tool; the key may be written in another way.
    assert_eq!(flaw(&[("1.0", r#""A": 1, "time": 2, "times": [1, 1, 4]"#)]), "1.0: 2, minimise time in ms");
    let ktt = r#"{"Metadata": {"TimeUnit": "Seconds"}, "Results": [
        {"KernelName": "a", "Configuration": [{"Name": "A", "Value": 1}], "Status": "Ok", "TotalDuration": 2},
        {"KernelName": "b", "Configuration": [{"Name": "A", "Value": 2}], "Status": "Ok", "TotalDuration": 1}]}"#;
    assert!(best(read("r.json", ktt)).contains("result 2: another kernel than `a`"));
    assert_eq!(best(read("r.json", &ktt.replace("\"b\"", "\"a\""))), "2: 1000, minimise time in ms");
    let table = "Kernel name,Computation duration (us),A,c\nk,1,1,2\nl,1,2,2\n";
    assert!(best(read("r.csv", table)).contains("line 3: another kernel than `k`"));
}

#[test]
fn two_entries_under_one_key_are_refused_unless_they_are_equal() {
    let whole = |second: &str| {
        let entries = [("1", r#""A": 1, "time": 1"#), ("1", second), ("2", r#""A": 2, "time": 3"#)];
        cache("[1, 2]", "", &entries)
    };
    let other = whole(r#""A": 1, "time": 2"#);
    let wrong = best(read("r.json", &other));
    assert!(wrong.contains("`1` is there twice") && wrong.contains("line 3, column"), "{wrong}");
    // A cache that was not closed contradicts itself no less.
    assert!(best(read("r.json", other.trim_end_matches('}'))).contains("is there twice"));
    assert_eq!(best(read("r.json", &whole(r#""A": 1, "time": 1"#))), "1: 1, minimise time in ms");
}

#[test]
fn the_device_of_clblast_has_the_name_of_the_driver_as_well() {
    let tuned = |device: &str| {
        let results = r#"[{"kernel": "xgemm", "time": 1.0, "parameters": {"MWG": 16}}]"#;
        let text = format!(r#"{{"clblast_device_name": "GPU", "device": "{device}", "results": {results}}}"#);
        read("r.json", &text).unwrap()
    };
    assert_eq!(tuned("one").differences(&tuned("one")), [""; 0]);
    assert_eq!(tuned("one").differences(&tuned("two")), ["device name: `one` and `two`"]);
}

#[test]
fn a_recording_without_a_value_of_its_objective_is_written_and_read_back() {
    let entries = [("1", r#""A": 1, "time": 2, "energy": NaN"#), ("2", r#""A": 2, "time": 1, "energy": NaN"#)];
    let recording = read("r.json", &cache("[1, 2]", r#""objective": "energy","#, &entries)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (format, name) in [(Format::Csv, "x.csv"), (Format::T4, "x.json"), (Format::KernelTuner, "x.cache.json")] {
        let path = folder.path().join(name);
        export(&recording, format, &path).unwrap();
        let again = import(&path).unwrap();
        assert_eq!((again.rows().len(), again.correct()), (2, 0), "{name}");
        assert_eq!(again.ranking().to_string(), recording.ranking().to_string(), "{name}");
    }
}

#[test]
fn one_rule_gives_the_score_of_several_samples() {
    let text = cache(
        "[1, 2]",
        "",
        &[
            ("1", r#""A": 1, "time": 2.0, "times": [1, 1, 4]"#),
            ("2", r#""A": 2, "time": 1.9, "times": [1.8, 1.9, 2.0]"#),
        ],
    );
    let recording = read("r.json", &text).unwrap();
    assert_eq!(recording.rows()[0].time_ms(), Some(2.0), "the time that the file states");
    let replayed = recording.evaluations(&recording.space().unwrap());
    assert_eq!(replayed[0].measurement.times_ms, [2.0], "and a replay has the same");
    assert_eq!(replayed[1].measurement.times_ms, [1.8, 1.9, 2.0]);
    let samples = cache("[1]", "", &[("1", r#""A": 1, "time": 4.0, "times": [3, 5, 4]"#)]);
    assert_eq!(read("r.json", &samples).unwrap().rows()[0].time_ms(), Some(4.0));
    assert_eq!(
        read("r.csv", "A,status,t1,t2,t3\n1,ok,1,9,2\n").unwrap().rows()[0].time_ms(),
        Some(2.0),
        "else the median"
    );
}

#[test]
fn types_that_a_file_mixes_make_a_categorical_parameter() {
    let kinds = |values: &str, entries: &[(&str, &str)]| {
        let recording = read("r.json", &cache(values, r#""objective": "time","#, entries)).unwrap();
        recording.parameters()[0].values().iter().map(Value::python).collect::<Vec<_>>().join(" ")
    };
    let times = |values: [&str; 2]| values.map(|value| format!(r#""A": {value}, "time": 1"#));
    let [one, two] = times(["\"t\"", "true"]);
    assert_eq!(kinds(r#"["t", 1, true, 2.5]"#, &[("t", &one), ("True", &two)]), "'t' '1' 'True' '2.5'");
    let [one, two] = times(["0.5", "true"]);
    assert_eq!(kinds("[1, 0.5, true]", &[("0.5", &one), ("True", &two)]), "'1' '0.5' 'True'");
    let [one, two] = times(["1", "0.5"]);
    assert_eq!(kinds("[1, 0.5]", &[("1", &one), ("0.5", &two)]), "1.0 0.5");
    let t4 = r#"{"results": [{"configuration": {"M": "t"}, "objectives": ["time"], "invalidity": "correct", "times": {"runtimes": [2]}},
        {"configuration": {"M": 2}, "objectives": ["time"], "invalidity": "correct", "times": {"runtimes": [1]}}]}"#;
    assert_eq!(best(read("r.json", t4)), "'2': 1, minimise time in ms");
    // A spreadsheet writes 32 as 32.0, and true as TRUE.
    let csv = read("r.csv", "A,B,time_ms\n32.0,TRUE,2\n64.0,FALSE,1\n").unwrap();
    let parameter = |name: &str, values: Vec<Value>| tunesmith_space::Parameter::new(name, values).unwrap();
    let space = tunesmith_space::Space::builder()
        .parameter(parameter("A", vec![Value::Int(32), Value::Int(64)]))
        .parameter(parameter("B", vec![Value::Int(1), Value::Int(0)]))
        .build()
        .unwrap();
    assert_eq!(csv.evaluations(&space).len(), 2);
}

#[test]
fn numbers_that_are_none_are_missing_metrics_or_failed_times() {
    let rows = |name: &str, text: &str| {
        let recording = read(name, text).unwrap();
        let row = |row: &tunesmith_core::recording::Row| match &row.failure {
            Some(failure) => failure.message.clone(),
            None => format!("{:?} {:?}", row.time_ms().unwrap(), row.measurement.values),
        };
        recording.rows().iter().map(row).collect::<Vec<_>>().join(" | ")
    };
    let entries =
        [("1", r#""A": 1, "time": 2, "energy": NaN"#), ("2", r#""A": 2, "time": NaN, "times": [NaN], "energy": 1"#)];
    assert_eq!(rows("r.json", &cache("[1, 2]", "", &entries)), "2.0 {} | its `time` is NaN");
    let infinite = [("1", r#""A": 1, "time": Infinity"#), ("2", r#""A": 2, "time": null"#)];
    assert_eq!(rows("r.json", &cache("[1, 2]", "", &infinite)), "its `time` is Infinity | its `time` is missing");
    assert_eq!(rows("r.csv", "A,time_ms,status,energy\n1,2,ok,nan\n2,nan,ok,1\n"), "2.0 {} | its time is nan");
    assert_eq!(rows("r.csv", "A,time_ms,energy\n1,2,NA\n2,None,1\n"), "2.0 {} | its time is None");
    let t4 = r#"{"results": [{"configuration": {"A": 1}, "objectives": ["time"], "invalidity": "correct", "times": {"runtimes": [2.0]},
        "measurements": [{"name": "time", "value": 2.0, "unit": "ms"}, {"name": "energy", "value": NaN, "unit": "J"}]}]}"#;
    assert_eq!(rows("r.json", t4), "2.0 {}");
    let score =
        [("1", r#""A": 1, "score": NaN, "benchmark_time": 3"#), ("2", r#""A": 2, "score": 1, "benchmark_time": 3"#)];
    assert_eq!(
        rows("r.json", &cache("[1, 2]", r#""objective": "score","#, &score)),
        "its `score` is NaN | 3.0 {\"score\": [1.0]}"
    );
}

#[test]
fn encodings_are_read_and_archives_are_named() {
    let text = "A,time_ms\n1,2\n";
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let marked = ["\u{feff}".as_bytes(), text.as_bytes()].concat();
    for bytes in [marked, utf16] {
        assert_eq!(best(read_bytes("r.csv", &bytes)), "1: 2, minimise time in ms");
    }
    let json = ["\u{feff}", &cache("[1]", "", &[("1", r#""A": 1, "time": 2"#)])].concat();
    assert_eq!(best(read("r.json", &json)), "1: 2, minimise time in ms");
    assert!(best(read_bytes("r.csv", b"A,time_ms,note\n1,2,gr\xfcn\n")).contains("line 2, byte 7"));
    assert!(best(read_bytes("r.zip", b"PK\x03\x04....")).contains("it is a zip archive; unpack it first"));
    let mut tar = vec![b'a'; 600];
    tar[257..262].copy_from_slice(b"ustar");
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&tar).unwrap();
    assert!(best(read_bytes("r.tar.gz", &encoder.finish().unwrap())).contains("tar archive"));
    let wrong = best(read("r.json", "{\"cache\" = 3}"));
    assert!(wrong.contains("line 1") && !wrong.contains("cut short"), "{wrong}");
    assert!(best(read("r.json", "{\"results\": [{")).contains("cut short"));
}
