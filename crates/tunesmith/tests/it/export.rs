//! Exported code compiles on its own and makes the same choices as the library.
#![allow(clippy::disallowed_methods, reason = "the compiler that CC names is used, as everywhere")]

use crate::exported;

use exported::{Asked, Field, portfolios};
use rand::{RngExt, SeedableRng};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tunesmith::choose::wisdom::{
    Axes, Chooser, Config, Coverage, Entry, HeldOutRegret, Input, Neighbours, Portfolio, Regret, Rule, Wisdom,
};
use tunesmith::choose::{WisdomFormat, read_wisdom, write_wisdom};
use tunesmith::core::Rng;
use tunesmith::space::{Value, ValueKind};
use tunesmith::{
    JournalOptions, Machine, Problem, Search, Selector, Session, TuningTask,
    choose::Source,
    export::{ExportOptions, Exported, GuardOptions, Guarded, export},
    tune,
};

const QUESTIONS: usize = 10_000;

/// A configuration with names that are keywords or no identifiers, and with values of every type.
fn config(number: i64) -> Config {
    vec![
        ("block h".into(), Value::Int(number)),
        ("type".into(), Value::Bool(number % 2 == 0)),
        ("ratio".into(), Value::Float(0.5 + number as f64)),
        ("flag".into(), Value::Str(format!("-D\"{number}\\").into())),
    ]
}

/// 80 inputs and 12 configurations. Every input has another best one. Not all were measured.
fn wisdom() -> Wisdom {
    let mut rng = Rng::seed_from_u64(1);
    let mut entries = Vec::new();
    for _ in 0..80 {
        let mut size = |most: u32| f64::from(1u32 << rng.random_range(0..most));
        let input: Input =
            [("D".to_string(), size(9)), ("for".to_string(), size(7)), ("N".to_string(), size(11))].into();
        for number in 0..12 {
            let far = (input["D"].log2() + input["N"].log2() / 2.0 - number as f64).abs();
            let entry = Entry {
                kernel: "bank 2".into(),
                device: "a \"device\" */".into(),
                input: input.clone(),
                config: config(number),
                time_ms: 1.0 + far + rng.random_range(0.0..0.5),
                provenance: Default::default(),
            };
            entries.extend(rng.random_bool(0.9).then_some(entry));
        }
    }
    Wisdom { entries, defaults: [("bank 2".to_string(), config(3))].into(), ..Wisdom::default() }
}

fn options(runs: Vec<PathBuf>, format: &str, out: PathBuf) -> ExportOptions {
    ExportOptions {
        runs,
        format: format.into(),
        most: 6,
        keep: 2,
        problem_size: Vec::new(),
        out: Some(out),
        problem: None,
        guard: None,
        judge: None,
        seed: 0,
        force: false,
    }
}

/// Exports `wisdom()` to `out` in `folder`.
fn export_all(folder: &Path, format: &str, out: &str) -> Exported {
    let all = folder.join("all.wisdom");
    write_wisdom(&wisdom(), &WisdomFormat::Lines, &all).unwrap();
    export(&options(vec![all], format, folder.join(out))).unwrap().unwrap()
}

/// Returns the questions, and the answers of the library.
fn asked(folder: &Path) -> (Asked, Vec<String>) {
    export_all(folder, "wisdom", "few.wisdom");
    let mut rng = Rng::seed_from_u64(2);
    let mut question = || [600.0f64, 3000.0, 100.0].map(|most| rng.random_range(0.0..most).round()).to_vec();
    let field = |parameter, name, kind| Field { parameter, name, kind };
    let asked = Asked {
        prefix: "bank_2",
        fields: vec![
            field("block h", "block_h", ValueKind::Int),
            field("type", "type_", ValueKind::Bool),
            field("ratio", "ratio", ValueKind::Float),
            field("flag", "flag", ValueKind::Str),
        ],
        of: ("bank 2".to_string(), "a \"device\" */".to_string()),
        features: ["D", "N", "for"].map(str::to_string).to_vec(),
        constants: Vec::new(),
        questions: (0..QUESTIONS).map(|_| question()).collect(),
    };
    let answers = asked.answers(&portfolios(&folder.join("few.wisdom")));
    assert!(answers.iter().collect::<BTreeSet<_>>().len() > 2, "the tree chooses among several");
    (asked, answers)
}

#[test]
fn the_c_header_compiles_on_its_own_and_chooses_what_the_library_chooses() {
    let folder = tempfile::tempdir().unwrap();
    let (asked, answers) = asked(folder.path());
    export_all(folder.path(), "c-header", "tuned.h");
    assert!(asked.by_c(folder.path()) == answers, "another choice");
}

#[test]
fn the_rust_module_compiles_on_its_own_and_chooses_what_the_library_chooses() {
    let folder = tempfile::tempdir().unwrap();
    let (asked, answers) = asked(folder.path());
    export_all(folder.path(), "rust", "tuned.rs");
    assert!(asked.by_rust(folder.path()) == answers, "another choice");
}

/// A portfolio that chooses by the inputs nearby: small, wide and large ones.
fn nearby(axes: Axes) -> Portfolio {
    let inputs = [[8.0, 8.0], [1000.0, 3.0], [700.0, 900.0]].map(|sizes: [f64; 2]| sizes.to_vec());
    let costs = [[1.0, 1.3, 1.9], [1.5, 1.0, 1.2], [2.0, 1.1, 1.0]].map(|costs| costs.to_vec());
    Portfolio {
        kernel: "k".to_string(),
        device: "d".to_string(),
        sizes: ["for", "K", "N"].map(str::to_string).to_vec(),
        features: vec!["N".to_string(), "for".to_string()],
        constants: [("K".to_string(), 5.0)].into(),
        configs: (0..3).map(config).collect(),
        chooser: Chooser {
            rule: Rule::Near(Neighbours::fit(&inputs, &costs, axes, 0.5).unwrap()),
            coverage: Coverage::of(&inputs),
            robust: Some(1),
        },
        regret: Regret {
            held_out: Some(HeldOutRegret { worst: 0.25, ..HeldOutRegret::default() }),
            ..Regret::default()
        },
        judgement: None,
    }
}

#[test]
fn code_that_chooses_by_the_inputs_nearby_makes_the_librarys_choices_and_says_what_it_covers() {
    for axes in [Axes::Sizes, Axes::Product] {
        let folder = tempfile::tempdir().unwrap();
        let portfolio = nearby(axes);
        let mut rng = Rng::seed_from_u64(3);
        let mut question = || [3000.0f64, 2000.0].map(|most| rng.random_range(0.0..most).round()).to_vec();
        let asked = Asked {
            prefix: "k",
            fields: vec![Field { parameter: "block h", name: "block_h", kind: ValueKind::Int }],
            of: ("k".to_string(), "d".to_string()),
            features: portfolio.features.clone(),
            constants: vec![("K", 5.0)],
            questions: (0..QUESTIONS).map(|_| question()).collect(),
        };
        let wisdom = Wisdom { portfolios: vec![portfolio.clone()], ..Wisdom::default() };
        let file = folder.path().join("k.wisdom");
        write_wisdom(&wisdom, &WisdomFormat::Lines, &file).unwrap();
        assert_eq!(read_wisdom(&file).unwrap().wisdom, wisdom);
        let answers = asked.answers(&exported::portfolios(&file));
        assert_eq!(answers.iter().collect::<BTreeSet<_>>().len(), 3);
        let header = tunesmith_export::c_header(std::slice::from_ref(&portfolio)).unwrap();
        for text in [
            "25.0 % at most",
            "N from 8 to 1000, for from 3 to 900",
            "K = 5",
            "    k_size for_;\n    k_size K;\n    k_size N;\n",
        ] {
            assert!(header.contains(text), "{header}");
        }
        std::fs::write(folder.path().join("tuned.h"), header).unwrap();
        std::fs::write(folder.path().join("tuned.rs"), tunesmith_export::rust(&[portfolio]).unwrap()).unwrap();
        assert!(asked.by_c(folder.path()) == answers, "another choice of the C header");
        assert!(asked.by_rust(folder.path()) == answers, "another choice of the Rust module");
    }
}

fn machine(device: &str) -> Machine {
    Machine { device: Some(device.parse().unwrap()), ..Machine::default() }
}

#[test]
fn journals_of_several_inputs_become_wisdom_that_knows_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bowl.toml");
    std::fs::write(
        &path,
        "[problem]\nsizes = { N = 1 }\n[parameters]\nX = { range = \"0..=20\" }\n[tuning]\ndefault = { X = 20 }\n",
    )
    .unwrap();
    let (mut runs, mut devices) = (Vec::new(), Vec::new());
    for n in [2, 4, 16] {
        let problem = Problem::load(&path, &[("N".to_string(), Value::Int(n))]).unwrap();
        let machine = machine(&format!("synthetic:1 + abs(X - {n})"));
        let search = Search { strategy: Some("exhaustive".parse().unwrap()), ..Search::default() };
        let out = Some(folder.path().join(format!("{n}.jsonl")));
        let journal = JournalOptions { out, ..JournalOptions::default() };
        let task = TuningTask::new(&problem).machine(machine).search(search).journal(journal);
        let outcome = tune(&task, &mut Session::default()).unwrap();
        runs.push(outcome.out);
        devices.push((n, outcome.device));
    }
    let out = folder.path().join("bowl.wisdom");
    let exported = export(&options(runs.clone(), "wisdom", out.clone())).unwrap().unwrap();
    assert_eq!(exported.entries, 6, "two for each input");
    let file = read_wisdom(&out).unwrap();
    let selector = Selector::open([&out]);
    assert_eq!(selector.warnings(), [""; 0]);
    for (n, device) in devices {
        let choice = selector.select("bowl", &device, &[("N", n as f64)]).unwrap();
        assert_eq!((choice.int("X"), choice.source), (Some(n), Source::Exact));
    }
    assert_eq!(file.wisdom.defaults["bowl"], [("X".to_string(), Value::Int(20))]);
}

/// The runs promise a gain for two inputs. A new measurement confirms it only for the first.
#[test]
fn with_a_guard_only_what_is_faster_than_the_default_ships() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bowl.toml");
    std::fs::write(
        &path,
        "[problem]\nname = \"bowl\"\nsizes = { N = 1 }\n[parameters]\nX = [1, 2, 3]\n[tuning]\ndefault = { X = 3 }\n",
    )
    .unwrap();
    let device = "synthetic:4 - X if X < 3 else 2.5";
    let problem = Problem::load(&path, &[]).unwrap();
    let task = TuningTask::new(&problem).machine(machine(device));
    let found = tune(&task, &mut Session::default()).unwrap();
    let entry = |n: f64, x: i64, time_ms: f64| Entry {
        kernel: "bowl".into(),
        device: found.device.clone(),
        input: [("N".to_string(), n)].into(),
        config: vec![("X".into(), Value::Int(x))],
        time_ms,
        provenance: Default::default(),
    };
    let entries =
        vec![entry(1.0, 2, 1.0), entry(1.0, 3, 2.5), entry(64.0, 1, 1.0), entry(64.0, 3, 2.5), entry(64.0, 2, 1.5)];
    let all = folder.path().join("bowl.wisdom");
    let defaults = [("bowl".to_string(), vec![("X".to_string(), Value::Int(3))])].into();
    write_wisdom(&Wisdom { entries, defaults, ..Wisdom::default() }, &WisdomFormat::Lines, &all).unwrap();
    let guard = GuardOptions { machine: machine(device), ..GuardOptions::default() };
    let out = folder.path().join("guarded.wisdom");
    let guarded =
        ExportOptions { problem: Some(path), guard: Some(guard), ..options(vec![all], "wisdom", out.clone()) };
    let exported = export(&guarded).unwrap().unwrap();
    assert_eq!(exported.portfolios[0].guarded, Some(Guarded { confirmed: 1, refused: 1 }));
    let selector = Selector::open([&out]);
    let ask = |n| selector.select("bowl", &found.device, &[("N", n)]).unwrap();
    assert_eq!((ask(1.0).int("X"), ask(1.0).time_ms, ask(1.0).source), (Some(2), Some(2.0), Source::Exact));
    assert_eq!((ask(64.0).int("X"), ask(64.0).time_ms), (Some(3), Some(2.5)), "the default");
    let elsewhere = ExportOptions {
        guard: Some(GuardOptions { machine: machine("synthetic:X"), ..guarded.guard.clone().unwrap() }),
        ..guarded
    };
    assert!(export(&elsewhere).unwrap_err().to_string().contains("the runs were made on"));
}

#[test]
fn what_cannot_be_exported_is_refused_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let all = folder.path().join("all.wisdom");
    write_wisdom(&wisdom(), &WisdomFormat::Lines, &all).unwrap();
    let refused = |runs: Vec<PathBuf>, format: &str, most: usize| {
        let options = ExportOptions { most, force: true, ..options(runs, format, folder.path().join("out")) };
        let error = export(&options).unwrap_err();
        assert!(error.is_request(), "{error}");
        format!("{error} {}", error.remedy().unwrap_or_default())
    };
    assert!(refused(vec![all.clone()], "fortran", 8).contains("forms are wisdom, json, c-header"));
    assert!(refused(vec![all.clone()], "rust", 0).contains("at least one configuration"));
    assert!(refused(vec![folder.path().join("none")], "rust", 8).contains("none"));
    let empty = folder.path().join("empty.wisdom");
    write_wisdom(&Wisdom::default(), &WisdomFormat::Lines, &empty).unwrap();
    assert!(refused(vec![empty], "rust", 8).contains("no correct configuration"));
    let mut mixed = wisdom();
    mixed.entries.truncate(3);
    mixed.entries[0].config[0].1 = Value::Str("wide".into());
    for (entry, cost) in mixed.entries.iter_mut().zip([1.0, 3.0, 4.0]) {
        entry.time_ms = cost;
    }
    mixed.entries[1].input.insert("N".into(), 5000.0);
    write_wisdom(&mixed, &WisdomFormat::Lines, &all).unwrap();
    assert!(
        refused(vec![all], "c-header", 8)
            .contains("`block h` of `bank 2` is not in all configurations or of several types")
    );
}
