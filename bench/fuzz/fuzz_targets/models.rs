//! Model files: trees, timing models and models of counters. What is read is written as the same text,
//! and predictions do not panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tunesmith_choose::wisdom::Wisdom;
use tunesmith_choose::{Selector, TimingModel};
use tunesmith_fuzz::text;
use tunesmith_model::counters::CounterModel;
use tunesmith_model::{BoostedTrees, Column, RandomisedTrees, RegressionTree, Regressor, Table};

fuzz_target!(|input: &[u8]| {
    let Some(text) = text(input) else { return };
    if let Ok(model) = CounterModel::from_json(text) {
        let json = model.to_json();
        assert_eq!(CounterModel::from_json(&json).expect("a written model is read").to_json(), json);
        let predicted = model.predict(&table(model.columns()));
        for counter in model.counters() {
            let values = predicted.column(counter).expect("a counter of the model");
            assert!(values.iter().all(|value| *value >= 0.0), "a negative counter");
        }
    }
    if let Ok(trees) = BoostedTrees::from_json(text) {
        let json = trees.to_json();
        assert_eq!(BoostedTrees::from_json(&json).expect("a written model is read").to_json(), json);
        let _ = trees.predict_all(&table(trees.columns()));
    }
    if let Ok(trees) = RandomisedTrees::from_json(text) {
        let json = trees.to_json();
        assert_eq!(RandomisedTrees::from_json(&json).expect("a written model is read").to_json(), json);
        let _ = trees.predict_all(&table(trees.columns()));
    }
    if let Ok(tree) = RegressionTree::from_json(text) {
        let json = tree.to_json();
        assert_eq!(RegressionTree::from_json(&json).expect("a written model is read").to_json(), json);
        let _ = tree.predict_all(&table(tree.columns()));
    }
    if let Ok(model) = TimingModel::from_json(text) {
        timing(&model);
    }
});

/// Rows of small numbers for any columns.
fn table(columns: &[Column]) -> Table {
    let rows = [0.0, 1.0, -3.5, 1e9].map(|number| vec![number; columns.len()]);
    Table::from_rows(columns.to_vec(), rows)
}

fn timing(model: &TimingModel) {
    let json = model.to_json();
    assert_eq!(TimingModel::from_json(&json).expect("a written model is read").to_json(), json);
    assert_eq!(model.reference().len(), model.parameters().len());
    let _ = model.importance();
    let selector = Selector::new(Wisdom::default()).with_model(model);
    for device in model.devices().iter().map(|device| device.name.as_str()).chain(["another"]).take(3) {
        for number in [0.0, 64.0, -1.0, f64::NAN, 1e300] {
            let input: Vec<(&str, f64)> = model.sizes().iter().map(|(name, _)| (name.as_str(), number)).collect();
            if let Some(choice) = selector.select(model.problem(), device, &input) {
                assert!(!choice.config.is_empty() || model.parameters().is_empty());
            }
        }
    }
}
