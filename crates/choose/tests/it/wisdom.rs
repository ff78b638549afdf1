//! Files of wisdom can be read back, and damage costs only the line that it is in.

use proptest::prelude::*;
use std::path::Path;
use tunesmith_choose::wisdom::{
    Attempt, AttemptEnd, Config, Entry, Input, Measured, Portfolio, PortfolioOptions, Provenance, Wisdom,
};
use tunesmith_choose::{WisdomError, WisdomFile, WisdomFormat, append_wisdom, read_wisdom, wisdom_text, write_wisdom};
use tunesmith_space::Value;

/// A file as Kernel Launcher writes it.
const LAUNCHER: &str = r#"{"tunable_parameters": ["threads", "fast"], "version": "1.0", "objective": "time", "key": "add"}
# a comment
{"config": [32, true], "problem_size": [1000000, 4], "time": 31.4, "environment": {"device_name": "GTX"}}
{"config": [64], "problem_size": [1000000, 4], "time": 30.1, "environment": {"device_name": "GTX"}}
{"config": [128, false], "problem_size": [1000000, 4], "time": 30.3, "environment": {"device_name": "GTX", "kernel_tuner_version": "1.0"}}

"#;

fn input(n: f64) -> Input {
    [("N".to_string(), n), ("W".to_string(), 5.0)].into()
}

fn config(tile: i64) -> Config {
    vec![("TILE".into(), Value::Int(tile)), ("ORDER".into(), "mn".into()), ("X".into(), Value::Float(1.0))]
}

fn wisdom() -> Wisdom {
    let measured = Measured {
        sizes: vec!["W".into(), "N".into()],
        inputs: (3..9).map(|power| input(f64::from(1 << power))).collect(),
        configs: vec![config(1), config(2)],
        times_ms: (3..9)
            .map(|power| if power < 6 { vec![Some(1.0), Some(2.0)] } else { vec![Some(9.0), Some(4.0)] })
            .collect(),
        default: Some(1),
    };
    let provenance =
        Provenance { tool: Some("test 1".into()), date: Some(1.5e9), samples: Some(7), guarded_speedup: Some(1.2) };
    let entry = |n, time_ms| Entry {
        kernel: "k".into(),
        device: "a device".into(),
        input: input(n),
        config: config(1),
        time_ms,
        provenance: provenance.clone(),
    };
    Wisdom {
        entries: vec![entry(8.0, 1.0), entry(0.1, 0.3)],
        portfolios: vec![Portfolio::new("k", "a device", &measured, PortfolioOptions::default()).unwrap()],
        defaults: [("k".to_string(), config(2))].into(),
        attempts: [AttemptEnd::None, AttemptEnd::Failed]
            .map(|end| Attempt {
                kernel: "k".into(),
                device: "a device".into(),
                input: input(8.0),
                config: config(3),
                date: Some(1.5e9),
                end,
            })
            .into(),
    }
}

fn read(text: impl AsRef<[u8]>) -> Result<WisdomFile, WisdomError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.wisdom");
    std::fs::write(&path, text).unwrap();
    read_wisdom(&path)
}

#[test]
fn what_is_written_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.wisdom");
    write_wisdom(&wisdom(), &WisdomFormat::Lines, &path).unwrap();
    assert_eq!(read_wisdom(&path).unwrap(), WisdomFile { wisdom: wisdom(), flawed: vec![] });
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    let document: serde_json::Value =
        serde_json::from_str(&wisdom_text(&wisdom(), &WisdomFormat::Json { best: None }).unwrap()).unwrap();
    assert_eq!(document["entries"][0]["input"]["N"], 8);
    assert_eq!(document["portfolios"][0]["features"][0], "N");
    assert_eq!(document["defaults"]["k"]["TILE"], 2);
}

#[test]
fn kernel_launchers_wisdom_is_read_and_written() {
    let file = read(LAUNCHER).unwrap();
    assert_eq!(file.flawed.len(), 1);
    assert_eq!((file.flawed[0].line, file.flawed[0].reason.as_str()), (4, "1 values for 2 parameters"));
    let entries = &file.wisdom.entries;
    assert_eq!(entries.len(), 2);
    assert_eq!((entries[0].kernel.as_str(), entries[0].device.as_str(), entries[0].time_ms), ("add", "GTX", 31.4));
    assert_eq!(entries[0].config, [("threads".to_string(), Value::Int(32)), ("fast".to_string(), Value::Bool(true))]);
    assert_eq!(entries[0].input, [("x".to_string(), 1e6), ("y".to_string(), 4.0)].into());
    let written = wisdom_text(&file.wisdom, &WisdomFormat::KernelLauncher { sizes: vec![] }).unwrap();
    let again = read(&written).unwrap();
    assert_eq!(again.flawed, []);
    let without_tool = |entry: &Entry| Entry { provenance: Provenance::default(), ..entry.clone() };
    assert_eq!(again.wisdom.entries, entries.iter().map(without_tool).collect::<Vec<_>>());
    assert!(written.lines().nth(1).unwrap().contains(r#""problem_size":[1000000,4]"#), "{written}");
}

#[test]
fn what_kernel_launchers_format_cannot_hold_is_refused() {
    let refused = |wisdom: &Wisdom, sizes: &[&str]| {
        let sizes = sizes.iter().map(|size| (*size).to_string()).collect();
        wisdom_text(wisdom, &WisdomFormat::KernelLauncher { sizes }).unwrap_err().to_string()
    };
    assert!(refused(&wisdom(), &[]).contains("size `N` is 0.1"));
    assert!(refused(&wisdom(), &["N", "W", "H", "D"]).contains("name at most three"));
    assert!(refused(&wisdom(), &["M"]).contains("no size `M`"));
    assert!(refused(&Wisdom::default(), &[]).contains("no entries"));
    let mut two = wisdom();
    two.entries[1].kernel = "other".into();
    assert!(refused(&two, &["W"]).contains("`k` and of `other`"));
}

#[test]
fn files_that_are_no_wisdom_are_refused_with_what_they_are() {
    let message = |text: &str| read(text).unwrap_err().to_string();
    assert!(message("").contains("it is empty"));
    assert!(message("\n \n").contains("it is empty"));
    assert!(message("TILE,time\n1,2\n").contains("its first line is not a header"));
    assert!(message("{\"format\": 2, \"problem\": \"gemm\"}\n").contains("not the header of a file of wisdom"));
    let later = message("{\"format\": \"tunesmith wisdom\", \"version\": 9}\n");
    assert!(later.contains("format version 9; this version reads up to 1"), "{later}");
    assert!(message(&LAUNCHER.replace("\"1.0\", \"obj", "\"2.0\", \"obj")).contains("format version 2.0"));
    assert!(message(&LAUNCHER.replace("\"time\", \"key\"", "\"watts\", \"key\"")).contains("objective is `watts`"));
    assert!(message(&LAUNCHER.replace("\"fast\"", "\"threads\"")).contains("names `threads` twice"));
    assert!(matches!(read_wisdom(Path::new("/nowhere/k.wisdom")), Err(WisdomError::Io { .. })));
}

#[test]
fn a_damaged_line_costs_no_other() {
    let text = wisdom_text(&wisdom(), &WisdomFormat::Lines).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (torn, _) = lines[4].split_at(lines[4].len() / 2);
    let damaged = [lines[0], lines[1], "{\"kernel\": 3}", lines[3], "[1]", "{\"portfolio\": {}}", torn];
    let file = read(damaged.join("\n")).unwrap();
    assert_eq!(file.flawed.iter().map(|flawed| flawed.line).collect::<Vec<_>>(), [3, 5, 6, 7]);
    assert_eq!((file.wisdom.entries.len(), file.wisdom.defaults.len()), (1, 1));
    let wrong = |from: &str, to: &str| read(text.replacen(from, to, 1)).unwrap().flawed[0].reason.clone();
    assert!(wrong("\"below\":", "\"under\":").contains("no number `below`"));
    assert!(wrong("{\"choose\":0}", "{\"choose\":7}").contains("configuration 7 of"));
    assert!(wrong("\"if\":\"N\"", "\"if\":\"M\"").contains("asks for `M`"));
    assert!(wrong("\"time_ms\":1.0", "\"time_ms\":-1.0").contains("a time is above 0"));
    assert!(wrong("\"time_ms\":1.0", "\"time_ms\":1.0,\"time_ms\":2.0").contains("`time_ms` is there twice"));
    assert!(wrong("\"N\":8,", "\"N\":\"8\",").contains("size `N` is not a number"));
}

proptest! {

    #[test]
    fn no_damage_makes_reading_panic(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let text = wisdom_text(&wisdom(), &WisdomFormat::Lines).unwrap() + LAUNCHER;
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes.truncate(cut.index(bytes.len()) + 1);
        if let Ok(file) = read(&bytes) {
            prop_assert!(file.wisdom.entries.len() <= 4);
        }
    }

    #[test]
    fn a_file_cut_anywhere_keeps_all_lines_before_the_cut(cut in any::<prop::sample::Index>()) {
        let text = wisdom_text(&wisdom(), &WisdomFormat::Lines).unwrap();
        let header = text.find('\n').unwrap();
        let cut = header + cut.index(text.len() - header);
        let whole = text[..cut].matches('\n').count() + usize::from(text[cut..].starts_with('\n'));
        let file = read(&text[..cut]).unwrap();
        let Wisdom { entries, portfolios, defaults, attempts } = file.wisdom;
        let found = entries.len() + portfolios.len() + defaults.len() + attempts.len();
        prop_assert_eq!(found, whole - 1);
    }
}

#[test]
fn many_writers_share_a_file_and_none_loses_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.wisdom");
    let entry = |number: usize| Entry { time_ms: 1.0 + number as f64, ..wisdom().entries[0].clone() };
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let (path, entry) = (&path, &entry);
            scope.spawn(move || {
                (0..25).for_each(|line| append_wisdom(path, &[entry(100 * writer + line)]).unwrap());
            });
        }
    });
    let file = read_wisdom(&path).unwrap();
    let mut times: Vec<f64> = file.wisdom.entries.iter().map(|entry| entry.time_ms).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    assert_eq!((times.len(), file.flawed.len()), (200, 0));
}

#[test]
fn a_line_that_a_killed_writer_left_torn_costs_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("torn.wisdom");
    append_wisdom(&path, &wisdom().entries).unwrap();
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    append_wisdom(&path, &wisdom().entries[..1]).unwrap();
    let file = read_wisdom(&path).unwrap();
    assert_eq!((file.wisdom.entries.len(), file.flawed.len(), file.flawed[0].line), (2, 1, 3));
}

#[test]
fn nothing_is_added_to_files_that_are_something_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other");
    for (text, words) in [
        ("hello\n", "is not a file of wisdom"),
        (LAUNCHER, "is not a file of wisdom"),
        ("{\"format\": \"tunesmith wisdom\", \"version\": 5}\n", "format version 5"),
    ] {
        std::fs::write(&path, text).unwrap();
        assert!(append_wisdom(&path, &wisdom().entries).unwrap_err().to_string().contains(words));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

/// Words that a file of wisdom has as keys, in our format or in Kernel Launcher's.
const WORDS: [&str; 30] = [
    "attempt",
    "attempts",
    "begun",
    "choose",
    "config",
    "configs",
    "constants",
    "date",
    "default",
    "defaults",
    "device",
    "entries",
    "environment",
    "format",
    "if",
    "input",
    "kernel",
    "key",
    "near",
    "objective",
    "portfolio",
    "portfolios",
    "problem_size",
    "provenance",
    "time",
    "time_ms",
    "tree",
    "tunable_parameters",
    "version",
    "x",
];

#[test]
fn parameters_and_sizes_may_be_called_like_the_keys_of_the_file() {
    for pair in WORDS.windows(2) {
        let named = |value: &Value| pair.iter().map(|name| ((*name).to_string(), value.clone())).collect::<Config>();
        let sizes = |size: f64| -> Input { pair.iter().map(|name| ((*name).to_string(), size)).collect() };
        let configs = vec![named(&Value::Int(1)), named(&"time".into())];
        let measured = Measured {
            sizes: pair.iter().map(ToString::to_string).collect(),
            inputs: (3..9).map(|power| sizes(f64::from(1 << power))).collect(),
            configs: configs.clone(),
            times_ms: (3..9).map(|power| vec![Some(f64::from(power)), Some(5.5)]).collect(),
            default: Some(0),
        };
        let mut wisdom = wisdom();
        wisdom.portfolios = vec![Portfolio::new(pair[0], pair[1], &measured, PortfolioOptions::default()).unwrap()];
        for entry in &mut wisdom.entries {
            (entry.kernel, entry.config, entry.input) = (pair[0].to_string(), configs[1].clone(), sizes(8.0));
        }
        for attempt in &mut wisdom.attempts {
            (attempt.kernel, attempt.config, attempt.input) = (pair[1].to_string(), configs[0].clone(), sizes(8.0));
        }
        wisdom.defaults = [(pair[0].to_string(), configs[0].clone())].into();
        let again = read(wisdom_text(&wisdom, &WisdomFormat::Lines).unwrap()).unwrap();
        assert_eq!(again, WisdomFile { wisdom: wisdom.clone(), flawed: vec![] }, "{pair:?}");
        let launcher = WisdomFormat::KernelLauncher { sizes: Vec::new() };
        let again = read(wisdom_text(&wisdom, &launcher).unwrap()).unwrap();
        assert!(again.flawed.is_empty(), "{pair:?}: {:?}", again.flawed);
        let configs = again.wisdom.entries.iter().map(|entry| (&entry.config, entry.time_ms));
        assert!(configs.eq(wisdom.entries.iter().map(|entry| (&entry.config, entry.time_ms))), "{pair:?}");
    }
}
