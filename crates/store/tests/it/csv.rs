//! CSV with its sidecar: names and values that are hard to write, read back the same.

use std::fs;
use tunesmith_core::recording::{Column, Row};
use tunesmith_core::{DeviceClass, Measurement, Recording};
use tunesmith_space::Value;
use tunesmith_store::{Format, export, import};

#[test]
fn a_csv_whose_first_name_begins_with_a_bracket_is_read_back_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["[0]", "{tile}", "[", "a[0]"] {
        let columns = vec![Column { name: name.into(), values: None }];
        let measurement = Measurement { times_ms: vec![1.5], ..Measurement::default() };
        let row = Row { values: vec![Value::Int(3)], measurement, ..Row::default() };
        let recording = Recording::new("r", columns, vec![row]).unwrap();
        let path = folder.path().join("r.csv");
        export(&recording, Format::Csv, &path).unwrap();
        assert_eq!(import(&path).unwrap().parameters(), recording.parameters(), "{name}");
    }
}

#[test]
fn values_that_a_spreadsheet_would_compute_are_text_in_csv_and_read_back_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let texts = ["=HYPERLINK(\"http://x\",1)", "+1+1", "-O3", "@x", "'=1", "-1", "row"];
    let values: Vec<Value> = texts.iter().map(|text| Value::from(*text)).collect();
    let columns = vec![Column { name: "FLAG".into(), values: Some(values.clone()) }];
    let row = |value: &Value| Row {
        values: vec![value.clone()],
        measurement: Measurement {
            times_ms: vec![1.5],
            values: [("=value".to_string(), vec![-2.5])].into(),
            ..Measurement::default()
        },
        ..Row::default()
    };
    let recording = Recording::new("r", columns, values.iter().map(row).collect()).unwrap();
    let path = folder.path().join("r.csv");
    export(&recording, Format::Csv, &path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let wanted = "FLAG,time_ms,status,'=value\n\"'=HYPERLINK(\"\"http://x\"\",1)\",1.5,ok,-2.5\n'+1+1,1.5,ok,-2.5\n\
                  '-O3,1.5,ok,-2.5\n'@x,1.5,ok,-2.5\n''=1,1.5,ok,-2.5\n-1,1.5,ok,-2.5\nrow,1.5,ok,-2.5\n";
    assert_eq!(text, wanted);
    let again = import(&path).unwrap();
    assert_eq!(again.parameters(), recording.parameters());
    for (row, value) in again.rows().iter().zip(&values) {
        assert_eq!((&row.values[0], row.measurement.values["=value"][0]), (value, -2.5));
    }
}

#[test]
fn a_value_that_only_blanks_tell_from_a_parameter_is_left_out_of_a_csv() {
    let folder = tempfile::tempdir().unwrap();
    let values = [("X ".to_string(), vec![4.0]), ("watts".to_string(), vec![2.0])].into();
    let measurement = Measurement { times_ms: vec![1.5], values, ..Measurement::default() };
    let row = Row { values: vec![Value::Int(3)], measurement, ..Row::default() };
    let recording = Recording::new("r", vec![Column { name: "X".into(), values: None }], vec![row]).unwrap();
    let path = folder.path().join("r.csv");
    export(&recording, Format::Csv, &path).unwrap();
    let again = import(&path).unwrap();
    assert_eq!(again.parameters(), recording.parameters());
    assert_eq!(again.rows()[0].measurement.values.keys().collect::<Vec<_>>(), ["watts"]);
}

#[test]
fn the_launch_of_a_sidecar_is_read_and_survives_being_written() {
    let folder = tempfile::tempdir().unwrap();
    let (path, beside) = (folder.path().join("k.csv"), folder.path().join("k.json"));
    fs::write(&path, "X,Y,time_ms,status\n8,1,1.5,ok\n16,1,1.25,ok\n").unwrap();
    let sidecar = |launch: &str| {
        fs::write(
            &beside,
            format!(r#"{{"params": {{"X": [8, 16], "Y": [1]}}, "device_class": "gpu", "launch": {launch}}}"#),
        )
    };
    sidecar(r#"{"local": ["X", "Y"], "groups": ["4096 // X"], "item_outputs": "1"}"#).unwrap();
    let recording = import(&path).unwrap();
    let space = recording.space().unwrap();
    let items = |recording: &Recording| {
        let launch = recording.launch.as_ref().unwrap();
        (launch.group_items(&space).unwrap().numbers, launch.items(&space).unwrap().numbers)
    };
    assert_eq!(items(&recording), (vec![Some(8.0), Some(16.0)], vec![Some(4096.0); 2]));
    let out = folder.path().join("again.csv");
    export(&recording, Format::Csv, &out).unwrap();
    assert_eq!(items(&import(&out).unwrap()), items(&recording));
    assert_eq!(import(&out).unwrap().device_class, Some(DeviceClass::Gpu));
    for (wrong, reason) in [
        (r#"{"local": ["X"]}"#, "no list `groups`"),
        (r#"{"local": ["X *"], "groups": []}"#, "`X *` in `local`"),
        (r#"{"local": [8], "groups": []}"#, "`8` in `local` is not a text"),
    ] {
        sidecar(wrong).unwrap();
        let error = import(&path).unwrap_err().to_string();
        assert!(error.contains("its sidecar") && error.contains(reason), "{error}");
    }
}

#[test]
fn the_class_of_a_device_may_be_unknown_and_a_wrong_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, beside) = (folder.path().join("k.csv"), folder.path().join("k.json"));
    fs::write(&path, "X,time_ms,status\n8,1.5,ok\n16,1.25,ok\n").unwrap();
    let class = |text: &str| {
        fs::write(&beside, format!(r#"{{"params": {{"X": [8, 16]}}, "device_class": {text}}}"#)).unwrap();
        import(&path).map(|recording| recording.device_class)
    };
    assert_eq!(class("null").unwrap(), None);
    assert_eq!(class(r#""processor""#).unwrap(), Some(DeviceClass::Processor));
    let error = class(r#""phone""#).unwrap_err().to_string();
    assert!(error.contains(r#"device_class: "phone" is no class"#), "{error}");
}

#[test]
fn a_column_named_twice_is_refused_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("twice.csv");
    fs::write(&path, "X,Y,X,time_ms,status\n8,1,2,1.5,ok\n16,1,2,1.25,ok\n").unwrap();
    assert!(import(&path).unwrap_err().to_string().contains("two columns have the name `X`"));
}

#[test]
fn numbered_times_at_the_end_are_the_samples_of_a_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("draws.csv");
    fs::write(&path, "X,t1,t2,t3\n1,2.5,2.25,2.75\n2,4,,3.5\n").unwrap();
    let recording = import(&path).unwrap();
    assert_eq!(recording.parameters().len(), 1);
    let samples: Vec<&[f64]> = recording.rows().iter().map(|row| &row.measurement.times_ms[..]).collect();
    assert_eq!(samples, [&[2.5, 2.25, 2.75][..], &[4.0, 3.5]]);
    fs::write(&path, "X,t1,t2\n1,,\n").unwrap();
    let error = import(&path).unwrap_err().to_string();
    assert!(error.contains("line 2: the configuration is correct but has no time"), "{error}");
}
