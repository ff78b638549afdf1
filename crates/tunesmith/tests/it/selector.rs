//! Choosing at run time: the order of the sources, the explanations, and the effect of damaged
//! files.

use proptest::prelude::*;
use tunesmith::choose::wisdom::{
    Chooser, Config, Coverage, DecisionTree, Entry, Input, Node, Portfolio, Regret, Rule, Wisdom,
};
use tunesmith::choose::{Judgement, WisdomFormat, read_wisdom, write_wisdom};
use tunesmith::space::Value;
use tunesmith::{Selector, choose::Source};

fn config(tile: i64) -> Config {
    vec![("TILE".into(), Value::Int(tile))]
}

fn entry(device: &str, n: f64, tile: i64, time_ms: f64) -> Entry {
    let input: Input = [("N".to_string(), n), ("W".to_string(), 5.0)].into();
    Entry {
        kernel: "k".into(),
        device: device.into(),
        input,
        config: config(tile),
        time_ms,
        provenance: Default::default(),
    }
}

/// Tile 1 below N = 100, tile 2 from there on.
fn portfolio(device: &str) -> Portfolio {
    let nodes = vec![Node::Split { feature: 0, below: 100.0, then: 1, otherwise: 2 }, Node::Choose(0), Node::Choose(1)];
    Portfolio {
        kernel: "k".into(),
        device: device.into(),
        sizes: vec!["N".into(), "W".into()],
        features: vec!["N".into()],
        constants: [("W".to_string(), 5.0)].into(),
        configs: vec![config(1), config(2)],
        chooser: Chooser {
            rule: Rule::Tree(DecisionTree::new(nodes, 1, 2).unwrap()),
            coverage: Coverage::of_box(vec![(16.0, 256.0)]),
            robust: Some(0),
        },
        regret: Regret::default(),
        judgement: None,
    }
}

fn wisdom() -> Wisdom {
    Wisdom {
        entries: vec![
            entry("a", 64.0, 8, 2.0),
            entry("a", 64.0, 4, 1.0),
            entry("b", 1024.0, 16, 1.0),
            entry("b", 2.0, 32, 1.0),
        ],
        portfolios: vec![portfolio("a")],
        defaults: [("k".to_string(), config(99)), ("unknown".to_string(), config(98))].into(),
        attempts: Vec::new(),
    }
}

/// A judgement at fresh sizes whose interval begins here.
fn judgement(device: &str, low: f64) -> Judgement {
    Judgement {
        device: device.to_string(),
        sizes: 20,
        defaults: 0,
        failed: 0,
        speed: low + 0.1,
        ci95: Some((low, low + 0.2)),
        slowest: low,
        slowest_at: [("N".to_string(), 90.0)].into(),
        slower: 0,
        seed: 0,
    }
}

fn ask<'a>(selector: &'a Selector, device: &str, n: f64) -> (i64, Source<'a>) {
    let choice = selector.select("k", device, &[("N", n), ("W", 5.0)]).unwrap();
    (choice.int("TILE").unwrap(), choice.source)
}

#[test]
fn what_is_known_best_answers_first_and_says_what_it_is() {
    let selector = Selector::new(wisdom());
    assert_eq!(ask(&selector, "a", 64.0), (4, Source::Exact));
    assert_eq!(ask(&selector, "a", 99.0), (1, Source::Predicted { outside: 0.0 }));
    assert_eq!(ask(&selector, "a", 512.0), (2, Source::Predicted { outside: 1.0 }));
    assert_eq!(ask(&selector, "a", 1024.0), (1, Source::Robust { outside: 2.0 }), "far from all that was measured");
    assert_eq!(ask(&selector, "b", 512.0), (16, Source::NearestInput { distance: 1.0 }));
    assert_eq!(ask(&selector, "c", 2.0), (32, Source::OtherDevice { device: "b", distance: 0.0 }));
    let choice = selector.select("unknown", "a", &[]).unwrap();
    assert_eq!((choice.int("TILE"), choice.source), (Some(98), Source::Default));
    assert!(selector.select("nothing", "a", &[]).is_none());
    let mut without = wisdom();
    without.defaults.clear();
    without.entries.clear();
    without.portfolios = vec![portfolio("b")];
    assert_eq!(ask(&Selector::new(without), "a", 512.0).0, 2, "a portfolio of another device is better than nothing");
}

#[test]
fn a_size_that_was_the_same_in_all_inputs_is_compared_too() {
    let selector = Selector::new(Wisdom { entries: Vec::new(), ..wisdom() });
    let source = |w| selector.select("k", "a", &[("N", 64.0), ("W", w)]).unwrap().source;
    assert_eq!(source(5.0), Source::Predicted { outside: 0.0 });
    assert_eq!(source(10.0), Source::Predicted { outside: 1.0 });
    assert_eq!(source(40.0), Source::Robust { outside: 3.0 });
    assert!(source(10.0).is_doubtful() && source(40.0).to_string().contains("3.0 doublings outside"));
    let without = selector.select("k", "a", &[("N", 64.0)]).unwrap();
    assert_eq!(without.source, Source::Predicted { outside: 0.0 }, "it may be left out");
}

#[test]
fn doubtful_answers_are_told_with_their_distance() {
    let selector = Selector::new(wisdom());
    let source = |device, n| ask(&selector, device, n).1;
    assert!(!source("a", 64.0).is_doubtful() && !source("a", 99.0).is_doubtful() && !source("b", 3.0).is_doubtful());
    for (doubtful, words) in
        [(source("a", 1024.0), "2.0 doublings outside"), (source("z", 4096.0), "another device, `b`")]
    {
        assert!(doubtful.is_doubtful() && doubtful.to_string().contains(words), "{doubtful}");
    }
}

#[test]
fn a_choice_that_is_refused_backs_off_to_the_next() {
    let selector = Selector::new(wisdom());
    let mut refused: Vec<Config> = Vec::new();
    let mut tiles = Vec::new();
    while let Some(choice) = selector.select_where("k", "a", &[("N", 64.0)], |config| !refused.contains(config)) {
        tiles.push(choice.int("TILE").unwrap());
        refused.push(choice.config.clone());
    }
    assert_eq!(tiles, [4, 8, 1, 2, 16, 32, 99], "W is the same everywhere and need not be given");
}

#[test]
fn sizes_that_are_missing_unknown_or_odd_have_an_answer() {
    let selector = Selector::new(wisdom());
    for n in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
        assert!(matches!(ask(&selector, "a", n).1, Source::Robust { .. }));
        assert!(matches!(ask(&selector, "b", n).1, Source::NearestInput { .. }));
    }
    assert!(selector.select("k", "b", &[]).is_some());
    let extra = selector.select("k", "a", &[("N", 64.0), ("COLOUR", 3.0)]).unwrap();
    assert_eq!(extra.source, Source::Exact);
    let mut many = entry("a", 1.0, 1, 1.0);
    many.input = (0..40).map(|at| (format!("S{at}"), 1.0)).collect();
    let selector = Selector::new(Wisdom { entries: vec![many], ..wisdom() }).with_default("k", config(7));
    assert!(selector.warnings()[0].contains("at most 32"));
    assert_eq!(selector.select("k", "a", &[]).unwrap().int("TILE"), Some(7));
}

#[test]
fn files_that_cannot_be_read_are_warned_of_and_the_others_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    tunesmith::choose::write_wisdom(&wisdom(), &tunesmith::choose::WisdomFormat::Lines, &path("good.wisdom")).unwrap();
    let good = std::fs::read_to_string(path("good.wisdom")).unwrap();
    std::fs::write(path("empty.wisdom"), "").unwrap();
    std::fs::write(path("foreign.wisdom"), "PNG").unwrap();
    std::fs::write(path("later.wisdom"), good.replace("\"version\":1", "\"version\":77")).unwrap();
    std::fs::write(path("torn.wisdom"), &good[..good.len() - 20]).unwrap();
    let names = ["missing.wisdom", "empty.wisdom", "foreign.wisdom", "later.wisdom", "torn.wisdom", "good.wisdom"];
    let selector = Selector::open(names.map(path));
    let warnings = selector.warnings();
    assert_eq!(warnings.len(), 5, "{warnings:#?}");
    for (warning, words) in
        warnings.iter().zip(["No such file", "it is empty", "not a header", "format version 77", "left out"])
    {
        assert!(warning.contains(words), "{warning}");
    }
    assert_eq!(ask(&selector, "a", 64.0), (4, Source::Exact));
    let nothing = Selector::open([path("missing.wisdom")]).with_default("k", config(3));
    assert_eq!(ask(&nothing, "a", 64.0), (3, Source::Default));
}

#[test]
fn answers_need_no_memory() {
    let selector = Selector::new(wisdom());
    let counted = allocation_counter::measure(|| {
        for device in ["a", "b", "c"] {
            for n in [64.0, 99.0, 1e6, f64::NAN] {
                std::hint::black_box(selector.select("k", device, &[("N", n), ("W", 5.0)]));
            }
        }
        std::hint::black_box(selector.select("unknown", "a", &[]));
    });
    assert_eq!(counted.count_total, 0);
}

#[test]
fn threads_share_a_selector() {
    let selector = Selector::new(wisdom());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..100).for_each(|_| assert_eq!(ask(&selector, "a", 64.0).0, 4)));
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 3 / 4))]

    /// Compares with the plain way: going through all entries.
    #[test]
    fn exact_and_nearest_are_what_a_walk_over_all_entries_finds(
        known in prop::collection::vec((0u32..6, 1u32..4, 1i64..99, 1u32..1000), 1..20),
        n in 0u32..6,
        device in 1u32..5,
    ) {
        let size = |power: u32| f64::from(1 << power);
        let entries: Vec<Entry> = known.iter().map(|(power, device, tile, time)| {
            entry(&device.to_string(), size(*power), *tile, f64::from(*time))
        }).collect();
        let own = || entries.iter().filter(|entry| entry.device == device.to_string());
        let far = |entry: &&Entry| (entry.input["N"].log2() - f64::from(n)).abs();
        let best = |entries: Vec<&Entry>| {
            let nearest = entries.iter().map(far).fold(f64::INFINITY, f64::min);
            let time = entries.iter().filter(|entry| far(entry) == nearest).map(|entry| entry.time_ms).fold(f64::INFINITY, f64::min);
            (nearest, time)
        };
        let (distance, time) = best(if own().count() > 0 { own().collect() } else { entries.iter().collect() });
        let selector = Selector::new(Wisdom { entries: entries.clone(), ..Wisdom::default() });
        let choice = selector.select("k", &device.to_string(), &[("N", size(n))]).unwrap();
        let found = match choice.source {
            Source::Exact => 0.0,
            Source::NearestInput { distance } if own().count() > 0 => distance,
            Source::OtherDevice { distance, .. } if own().count() == 0 => distance,
            other => panic!("{other}"),
        };
        prop_assert!((found - distance).abs() < 1e-9);
        if own().count() > 0 {
            prop_assert_eq!(choice.time_ms, Some(time));
        }
    }
}

#[test]
fn a_portfolio_that_is_not_faster_at_fresh_sizes_answers_with_the_default_and_every_judgement_is_told() {
    let judged = |low: f64| Wisdom {
        portfolios: vec![Portfolio { judgement: Some(judgement("a", low)), ..portfolio("a") }],
        ..wisdom()
    };
    let (faster, slower) = (Selector::new(judged(1.01)), Selector::new(judged(1.0)));
    assert_eq!(ask(&faster, "a", 99.0), (1, Source::Predicted { outside: 0.0 }));
    assert_eq!(ask(&slower, "a", 99.0), (99, Source::Predicted { outside: 0.0 }));
    assert_eq!(ask(&slower, "a", 1024.0), (99, Source::Robust { outside: 2.0 }));
    assert_eq!(ask(&slower, "a", 64.0), (4, Source::Exact), "a measured input was judged by its own run");
    for (selector, low) in [(&faster, 1.01), (&slower, 1.0)] {
        let choice = selector.select("k", "a", &[("N", 99.0), ("W", 5.0)]).unwrap();
        assert_eq!(choice.judgement, Some(&judgement("a", low)));
        assert_eq!(selector.judgement("k", "a"), Some(&judgement("a", low)));
    }
    let exact = faster.select("k", "a", &[("N", 64.0), ("W", 5.0)]).unwrap();
    assert_eq!((exact.judgement, faster.judgement("k", "b"), faster.judgement("other", "a")), (None, None, None));
    assert_eq!(Selector::new(wisdom()).judgement("k", "a"), None, "nobody judged it");
    // A default that the application rejects leaves the portfolio's own choice.
    let other = slower.select_where("k", "a", &[("N", 99.0), ("W", 5.0)], |config| config[0].1 != Value::Int(99));
    assert_eq!(other.unwrap().int("TILE"), Some(1));
}

#[test]
fn a_judgement_is_kept_in_files_and_older_files_have_none() {
    let kept = Wisdom {
        portfolios: vec![Portfolio { judgement: Some(judgement("a", 1.5)), ..portfolio("a") }, portfolio("b")],
        ..wisdom()
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.wisdom");
    write_wisdom(&kept, &WisdomFormat::Lines, &file).unwrap();
    assert_eq!(read_wisdom(&file).unwrap().wisdom, kept);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"judgement\":null"), "nobody judged the second one: {text}");
    std::fs::write(&file, text.replace(",\"judgement\":null", "").replace("\"judgement\":null,", "")).unwrap();
    let old = read_wisdom(&file).unwrap();
    assert!(old.flawed.is_empty() && old.wisdom == kept, "{:?}", old.flawed);
}
