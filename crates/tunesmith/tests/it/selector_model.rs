//! Choosing at run time by a timing model: the choice is that of `predict` among the same few
//! configurations. Also tests the explanations and the effect of damaged files.

use crate::common;

use common::{Kernel, Run, config_json};
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use std::sync::LazyLock;
use tunesmith::choose::Judgement;
use tunesmith::choose::wisdom::{Chooser, Config, Coverage, Entry, Portfolio, Regret, Rule, Wisdom};
use tunesmith::core::SystemClock;
use tunesmith::space::Value;
use tunesmith::{
    Selector,
    choose::{Source, timing::TimingModel},
    timing::{ModelSearch, PredictOptions, predict},
};

/// The work-items of a tile must not exceed the device's, nor a tile its input.
fn kernel() -> Kernel {
    Kernel {
        name: "k",
        features: json!({ "work": "max(N, M) * ceildiv(M, 2)" }),
        constraints: json!({ "tiles fit": "TILE <= N", "units suffice": "TILE <= device.units" }),
        parameters: json!({ "TILE": TILES, "MODE": MODES }),
    }
}

const TILES: [i64; 6] = [1, 2, 4, 8, 16, 32];
const MODES: [&str; 2] = ["column", "row"];

fn config(tile: i64, mode: &str) -> Config {
    vec![("TILE".into(), Value::Int(tile)), ("MODE".into(), Value::Str(mode.into()))]
}

/// The best tile grows with the input and with the device; rows are better for large inputs.
fn run(device: (&'static str, f64), n: f64, m: f64) -> Run {
    let time = |tile: i64, mode: &str| {
        let far = ((tile as f64).log2() - (n * device.1 / 320.0).log2()).abs();
        let row = if n * m > 1000.0 { 0.7 } else { 1.3 };
        (tile as f64 <= n.min(device.1)).then_some(n * m * (1.0 + far) * if mode == "row" { row } else { 1.0 })
    };
    let of_mode = |mode: &'static str| TILES.into_iter().map(move |tile| (config(tile, mode), time(tile, mode)));
    Run { device, sizes: vec![("N", n), ("M", m)], rows: MODES.into_iter().flat_map(of_mode).collect() }
}

struct Fixture {
    folder: tempfile::TempDir,
    model: TimingModel,
    text: String,
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let sizes = || (3..10).flat_map(|power| [4.0, 16.0].map(|m| (f64::from(1 << power), m)));
    let runs = [("GPU A", 10.0), ("GPU B", 40.0)].map(|device| sizes().map(move |(n, m)| run(device, n, m)));
    let model = common::model(folder.path(), &kernel(), &runs.into_iter().flatten().collect::<Vec<_>>(), 100);
    let text = std::fs::read_to_string(folder.path().join("model.json")).unwrap();
    Fixture { folder, model, text }
});

impl Fixture {
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Returns the model with the text `from` replaced by `to`.
    fn with(&self, from: &str, to: &str) -> String {
        assert!(self.text.contains(from), "{from}");
        self.text.replacen(from, to, 1)
    }

    /// Returns the model in the form of versions that chose no candidates.
    fn without_candidates(&self) -> String {
        let mut json: Json = serde_json::from_str(&self.text).unwrap();
        json.as_object_mut().unwrap().shift_remove("candidates").unwrap();
        json.to_string()
    }
}

/// Returns the speed relative to the reference of every configuration that `predict` finds for an
/// input.
fn speeds(model: &TimingModel, device: &str, n: f64, m: f64) -> Vec<(Json, f64)> {
    let options = PredictOptions {
        input: vec![("N".into(), Value::Int(n as i64)), ("M".into(), Value::Int(m as i64))],
        device: model.devices().iter().find(|known| known.name == device).cloned(),
        search: ModelSearch::Exhaustive,
        count: 1000,
        ..PredictOptions::default()
    };
    let predicted = predict(model, None, &options, &SystemClock::new()).unwrap();
    predicted.candidates.into_iter().map(|found| (Json::from(found.config), found.predicted_speedup)).collect()
}

fn ask<'a>(selector: &'a Selector, device: &str, n: f64, m: f64) -> (&'a Config, Source<'a>) {
    let choice = selector.select("k", device, &[("N", n), ("M", m)]).unwrap();
    (choice.config, choice.source)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 2 / 5))]

    #[test]
    fn the_choice_is_the_first_of_the_candidates_in_the_ranking_of_predict(
        device in prop::sample::select(vec!["GPU A", "GPU B", "GPU C"]),
        n in 1..2000_u32,
        m in 1..40_u32,
    ) {
        let (n, m) = (f64::from(n), f64::from(m));
        let model = &FIXTURE.model;
        let selector = Selector::default().with_model(model);
        prop_assert!(selector.warnings().is_empty(), "{:?}", selector.warnings());
        let (chosen, source) = ask(&selector, device, n, m);
        let candidates: Vec<Json> = model.candidates().iter().map(|config| config_json(config).into()).collect();
        // The robust configurations precede others for an unknown device, whatever their speeds.
        let mut ranking = speeds(model, device, n, m);
        ranking.sort_by(|a, b| b.1.total_cmp(&a.1));
        let best = ranking.iter().find(|(config, _)| candidates.contains(config)).unwrap();
        let is_outside = !(8.0..=512.0).contains(&n) || !(4.0..=16.0).contains(&m);
        let is_robust = is_outside && chosen == &model.robust();
        let chosen: Json = config_json(chosen).into();
        let of_chosen = ranking.iter().find(|(config, _)| *config == chosen).map(|(_, speed)| *speed);
        prop_assert!(is_robust || of_chosen == Some(best.1), "{} instead of {}", chosen, best.0);
        match source {
            Source::Predicted { outside } if device != "GPU C" => prop_assert!(!is_outside || outside > 0.0),
            Source::Robust { outside } if device != "GPU C" => prop_assert!(is_robust && outside >= 1.0),
            Source::PredictedElsewhere { devices, outside } if device == "GPU C" => {
                prop_assert_eq!(devices, "GPU A, GPU B");
                prop_assert!(!is_outside || outside > 0.0);
            }
            other => prop_assert!(false, "{}", other),
        }
    }

    #[test]
    fn files_cut_off_or_overwritten_anywhere_have_an_answer(at in 0.0..1.0_f64, byte in any::<u8>(), is_cut in any::<bool>()) {
        let mut bytes = FIXTURE.text.clone().into_bytes();
        let at = (bytes.len() as f64 * at) as usize;
        if is_cut { bytes.truncate(at) } else { bytes[at] = byte };
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let selector = Selector::open([file.path()]).with_default("k", config(1, "row"));
        // Of the last brace and the end of the line, only the brace matters.
        prop_assert!(!is_cut || at + 1 >= FIXTURE.text.len() || !selector.warnings().is_empty());
        for device in ["GPU A", "GPU C"] {
            prop_assert!(selector.select("k", device, &[("N", 64.0), ("M", 4.0)]).is_some());
        }
    }
}

fn entry(device: &str, n: f64, tile: i64) -> Entry {
    Entry {
        kernel: "k".into(),
        device: device.into(),
        input: [("N".to_string(), n), ("M".to_string(), 4.0)].into(),
        config: config(tile, "row"),
        time_ms: 1.0,
        provenance: Default::default(),
    }
}

/// A portfolio that always chooses the second of its two configurations.
fn portfolio(device: &str) -> Portfolio {
    Portfolio {
        kernel: "k".into(),
        device: device.into(),
        sizes: Vec::new(),
        features: Vec::new(),
        constants: Default::default(),
        configs: vec![config(8, "column"), config(1, "row")],
        chooser: Chooser { rule: Rule::always(1), coverage: Coverage::default(), robust: None },
        regret: Regret::default(),
        judgement: None,
    }
}

#[test]
fn beside_wisdom_measurements_come_first_and_the_model_chooses_among_the_portfolios_configurations() {
    let wisdom = Wisdom {
        entries: vec![entry("GPU A", 64.0, 32), entry("near", 64.0, 16)],
        portfolios: vec![portfolio("GPU A"), portfolio("tree")],
        ..Wisdom::default()
    };
    let selector = Selector::new(wisdom).with_model(&FIXTURE.model);
    assert_eq!(ask(&selector, "GPU A", 64.0, 4.0), (&config(32, "row"), Source::Exact));
    // The tree would choose 1, and the model's own candidates contain better ones.
    assert_eq!(ask(&selector, "GPU A", 256.0, 4.0), (&config(8, "column"), Source::Predicted { outside: 0.0 }));
    let (own, source) = ask(&selector, "GPU B", 256.0, 4.0);
    assert!(own == &config(32, "column") || own == &config(32, "row"), "{own:?}");
    assert_eq!(source, Source::Predicted { outside: 0.0 });
    assert_eq!(ask(&selector, "tree", 256.0, 4.0), (&config(1, "row"), Source::Predicted { outside: 0.0 }));
    assert_eq!(ask(&selector, "near", 128.0, 4.0), (&config(16, "row"), Source::NearestInput { distance: 1.0 }));
    let elsewhere = Source::PredictedElsewhere { devices: "GPU A, GPU B", outside: 0.0 };
    assert_eq!(ask(&selector, "unheard of", 128.0, 4.0).1, elsewhere);
    assert!(elsewhere.is_doubtful() && elsewhere.to_string().contains("other devices, `GPU A, GPU B`"), "{elsewhere}");
}

#[test]
fn inputs_outside_of_the_training_set_are_doubtful_with_their_distance() {
    let selector = Selector::default().with_model(&FIXTURE.model);
    assert!(!ask(&selector, "GPU A", 300.0, 7.0).1.is_doubtful());
    let (_, source) = ask(&selector, "GPU A", 4.0, 4.0);
    // One doubling below the least N; the least work is that of N = 8, twice as much.
    assert!(matches!(source, Source::Predicted { outside } if (outside - 2.0_f64.sqrt()).abs() < 1e-9), "{source:?}");
    assert!(source.is_doubtful() && source.to_string().contains("1.4 doublings outside"), "{source}");
    // A choice for an unknown device is doubtful even inside of the training set.
    assert!(ask(&selector, "GPU C", 300.0, 7.0).1.is_doubtful());
    // A missing size is as in the first run. A name that is not a size is ignored.
    let choice = selector.select("k", "GPU A", &[("COLOUR", 1.0), ("M", f64::NAN)]).unwrap();
    assert_eq!((choice.config, choice.source), ask(&selector, "GPU A", 8.0, 4.0));
}

#[test]
fn a_choice_that_is_refused_backs_off_in_the_order_of_the_predictions() {
    let selector = Selector::default().with_model(&FIXTURE.model);
    let mut refused: Vec<Config> = Vec::new();
    let mut sources = Vec::new();
    let input = [("N", 16.0), ("M", 4.0)];
    while let Some(choice) = selector.select_where("k", "GPU A", &input, |config| !refused.contains(config)) {
        sources.push(choice.source);
        refused.push(choice.config.clone());
    }
    let ranking = speeds(&FIXTURE.model, "GPU A", 16.0, 4.0);
    let speed = |config: &Config| ranking.iter().find(|(known, _)| *known == Json::from(config_json(config)));
    let (of_device, elsewhere): (Vec<_>, Vec<_>) =
        refused.iter().zip(&sources).partition(|(_, source)| matches!(source, Source::Predicted { .. }));
    assert!(
        of_device.len() > 2 && of_device.iter().map(|(config, _)| speed(config).unwrap().1).is_sorted_by(|a, b| a >= b)
    );
    // The limits of an unknown device are not known.
    assert!(elsewhere.iter().all(|(config, source)| speed(config).is_none() && source.is_doubtful()));
}

#[test]
fn an_unknown_device_has_the_best_single_configuration_where_the_model_keeps_one() {
    let mut model: Json = serde_json::from_str(&FIXTURE.text).unwrap();
    model["best_single"] = json!({ "TILE": 1, "MODE": "row" });
    let model = TimingModel::from_json(&model.to_string()).unwrap();
    let selector = Selector::default().with_model(&model);
    for n in [16.0, 64.0, 256.0] {
        let (chosen, source) = ask(&selector, "GPU X", n, 4.0);
        assert_eq!(chosen, &config(1, "row"), "{n}");
        assert!(matches!(source, Source::PredictedElsewhere { .. }), "{source}");
        assert_eq!(
            ask(&selector, "GPU A", n, 4.0),
            ask(&Selector::default().with_model(&FIXTURE.model), "GPU A", n, 4.0)
        );
    }
}

#[test]
fn damaged_foreign_old_and_later_models_are_warned_of_and_the_rest_answers() {
    let fixture = &*FIXTURE;
    let candidates = |json: Json| {
        let mut model: Json = serde_json::from_str(&fixture.text).unwrap();
        model["candidates"] = json;
        model.to_string()
    };
    let many = Json::from(vec![json!({ "TILE": 1, "MODE": "row" }); 33]);
    for (name, text, words) in [
        ("torn", fixture.text[..fixture.text.len() / 2].to_string(), "not readable as JSON"),
        ("later", fixture.with("\"version\": 1", "\"version\": 9"), "version 9"),
        ("kind", fixture.with("\"timing\"", "\"counters\""), "kind `counters`"),
        ("node", fixture.with("\"at_most\"", "\"at_least\""), "damaged"),
        ("empty", String::new(), "it is empty"),
        ("value", candidates(json!([{ "TILE": 3, "MODE": "row" }])), "a candidate has no value of `TILE`"),
        ("many", candidates(many), "33 candidates"),
    ] {
        let selector =
            Selector::open([fixture.write(&format!("{name}.json"), &text)]).with_default("k", config(2, "row"));
        let warnings = selector.warnings();
        assert!(warnings.len() == 1 && warnings[0].contains(words) && warnings[0].contains(name), "{warnings:?}");
        assert_eq!(ask(&selector, "GPU A", 64.0, 4.0), (&config(2, "row"), Source::Default));
    }
    let old = fixture.write("old.json", &fixture.without_candidates());
    let selector = Selector::open([&old]);
    assert!(selector.warnings().iter().all(|warning| warning.contains("train it again")), "{:?}", selector.warnings());
    assert_eq!(selector.warnings().len(), 3);
    assert_eq!(ask(&selector, "GPU A", 64.0, 4.0), (&FIXTURE.model.reference(), Source::Default));
    let portfolios = vec![portfolio("GPU A")];
    let wisdom = fixture.folder.path().join("beside.wisdom");
    let beside = Wisdom { portfolios, ..Wisdom::default() };
    tunesmith::choose::write_wisdom(&beside, &tunesmith::choose::WisdomFormat::Lines, &wisdom).unwrap();
    let selector = Selector::open([wisdom, old]);
    assert!(selector.warnings().is_empty(), "{:?}", selector.warnings());
    assert_eq!(ask(&selector, "GPU B", 256.0, 4.0), (&config(8, "column"), Source::Predicted { outside: 0.0 }));
}

#[test]
fn a_portfolio_of_other_parameters_or_too_many_configurations_keeps_its_tree() {
    let foreign = vec![vec![("BLOCK".to_string(), Value::Int(1))], vec![("BLOCK".to_string(), Value::Int(2))]];
    let many = (0..33).map(|tile| config(tile, "row")).collect();
    for (configs, words) in [(foreign, "other parameters"), (many, "33 configurations")] {
        let portfolios = vec![Portfolio { configs, ..portfolio("GPU A") }];
        let selector = Selector::new(Wisdom { portfolios, ..Wisdom::default() }).with_model(&FIXTURE.model);
        assert!(selector.warnings()[0].contains(words) && selector.warnings().len() == 1, "{:?}", selector.warnings());
        let choice = selector.select("k", "GPU A", &[("N", 64.0)]).unwrap();
        assert_eq!(choice.source, Source::Predicted { outside: 0.0 });
        assert!(matches!(ask(&selector, "GPU B", 64.0, 4.0).1, Source::Predicted { .. }));
    }
}

#[test]
fn answers_need_no_memory_and_threads_share_them() {
    let selector = Selector::default().with_model(&FIXTURE.model);
    let counted = allocation_counter::measure(|| {
        for device in ["GPU A", "GPU B", "GPU C"] {
            for n in [64.0, 99.5, 1e9, f64::NAN, -3.0] {
                std::hint::black_box(selector.select("k", device, &[("N", n), ("M", 5.0)]));
            }
        }
    });
    assert_eq!(counted.count_total, 0);
    let expected = ask(&selector, "GPU A", 64.0, 4.0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..100).for_each(|_| assert_eq!(ask(&selector, "GPU A", 64.0, 4.0), expected)));
        }
    });
}

#[test]
fn a_model_that_is_not_faster_at_fresh_sizes_answers_with_its_reference_or_leaves_the_choice_to_a_portfolio() {
    let judgement = |low: f64| Judgement {
        device: "GPU A".to_string(),
        sizes: 20,
        defaults: 0,
        failed: 0,
        speed: low,
        ci95: Some((low, low)),
        slowest: low,
        slowest_at: Default::default(),
        slower: 0,
        seed: 0,
    };
    let text = |low: f64| FIXTURE.model.clone().with_judgement(judgement(low)).to_json();
    let selector = |low: f64| Selector::default().with_model(&TimingModel::from_json(&text(low)).unwrap());
    let plain = Selector::default().with_model(&FIXTURE.model);
    let reference = FIXTURE.model.reference();
    assert_ne!(ask(&plain, "GPU A", 256.0, 4.0).0, &reference);
    assert_eq!(ask(&selector(1.2), "GPU A", 256.0, 4.0), ask(&plain, "GPU A", 256.0, 4.0));
    assert_eq!(ask(&selector(1.0), "GPU A", 256.0, 4.0), (&reference, Source::Predicted { outside: 0.0 }));
    assert_eq!(ask(&selector(1.0), "GPU B", 256.0, 4.0), ask(&plain, "GPU B", 256.0, 4.0), "judged on another device");
    assert_eq!(selector(1.0).judgement("k", "GPU A"), Some(&judgement(1.0)));
    assert_eq!((plain.judgement("k", "GPU A"), selector(1.0).judgement("k", "GPU B")), (None, None));
    let wisdom = || Wisdom { portfolios: vec![portfolio("GPU A")], ..Wisdom::default() };
    let beside = Selector::new(wisdom()).with_model(&TimingModel::from_json(&text(1.0)).unwrap());
    assert_eq!(ask(&beside, "GPU A", 256.0, 4.0).0, &config(1, "row"), "the portfolio's rule");
    assert_eq!(beside.judgement("k", "GPU A"), None, "nobody judged the portfolio");
}
