//! Compares trees prepared for few rows with the original trees.

use proptest::prelude::*;
use rand::SeedableRng as _;
use tunesmith_model::{BoostedSettings, BoostedTrees, Column, Loss, Regressor as _, Shortlist, Table};

const COLUMNS: usize = 5;

fn columns() -> Vec<Column> {
    let ordinal = ["TILE", "SIZE", "CORES"].map(Column::ordinal);
    ordinal.into_iter().chain(["LAYOUT", "TYPE"].map(|name| Column::categorical(name, ["a", "b", "c"]))).collect()
}

/// Numbers with gaps. Some lie between those of the fit or are not levels.
fn cell() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(f64::NAN), 1 => Just(1.5), 1 => Just(f64::INFINITY), 8 => (-1..6_i32).prop_map(f64::from)]
}

fn rows(count: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<Vec<f64>>> {
    prop::collection::vec(prop::collection::vec(cell(), COLUMNS), count)
}

fn finite(row: &[f64]) -> Vec<f64> {
    row.iter().map(|cell| if cell.is_infinite() { 6.0 } else { *cell }).collect()
}

fn fit(rows: &[Vec<f64>], targets: &[f64], depth: usize, loss: Loss) -> BoostedTrees {
    let table = Table::from_rows(columns(), rows.iter().map(|row| finite(row)));
    let settings = BoostedSettings { rounds: 15, depth, min_leaf: 1, loss, ..BoostedSettings::default() };
    let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    BoostedTrees::fit(&table, &targets[..rows.len()], &settings, &mut rng).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 3 / 4))]

    #[test]
    fn every_row_is_predicted_bit_by_bit_as_the_trees_predict_it(
        known in rows(4..=60),
        targets in prop::collection::vec(-10.0..10.0_f64, 60),
        (depth, is_mean) in (1..8_usize, any::<bool>()),
        listed in rows(0..=32),
        open in prop::sample::subsequence((0..COLUMNS).collect::<Vec<_>>(), 0..=COLUMNS).prop_shuffle(),
        asked in rows(1..=6),
    ) {
        let loss = if is_mean { Loss::Squared } else { Loss::Quantile(0.3) };
        let model = fit(&known, &targets, depth, loss);
        let shortlist = Shortlist::new(&model, &listed, &open).unwrap();
        for values in asked {
            let predicted = shortlist.predict(&values[..open.len()]);
            for (row, found) in listed.iter().zip(predicted) {
                let mut row = row.clone();
                open.iter().zip(&values).for_each(|(column, value)| row[*column] = *value);
                prop_assert_eq!(found.to_bits(), model.predict(&row).to_bits());
            }
        }
    }
}

#[test]
fn what_a_word_has_no_bits_for_is_refused_and_values_left_out_are_missing() {
    let known: Vec<Vec<f64>> = (0..40).map(|at| vec![f64::from(at % 8), f64::from(at / 8), 1.0, 0.0, 1.0]).collect();
    let targets: Vec<f64> = known.iter().map(|row| row[0] * row[1]).collect();
    let model = fit(&known, &targets, 4, Loss::Squared);
    assert!(Shortlist::new(&model, &known[..33], &[1]).is_none());
    let shortlist = Shortlist::new(&model, &known[..32], &[1]).unwrap();
    assert_eq!(shortlist.predict(&[]), shortlist.predict(&[f64::NAN]));
    assert_ne!(shortlist.predict(&[0.0]), shortlist.predict(&[4.0]));
}

/// Returns a model of one tree in which every split leads to a leaf and to the next split.
fn chain(splits: usize) -> BoostedTrees {
    let leaf = r#"{"value":1.0,"rows":1}"#;
    let split = |at: usize| {
        let (yes, no) = (2 * at + 1, 2 * at + 2);
        format!(r#"{{"column":"X","at_most":{at}.0,"yes":{yes},"no":{no},"missing":"no","gain":0.0,"rows":1}}"#)
    };
    let inner = (1..splits).flat_map(|at| [split(at), leaf.to_string()]);
    let nodes: Vec<String> = std::iter::once(split(0)).chain(inner).chain([leaf, leaf].map(str::to_string)).collect();
    let head = r#""format":"tunesmith trees","version":1,"kind":"boosted_trees","columns":[{"name":"X"}],"base":0.0"#;
    BoostedTrees::from_json(&format!("{{{head},\"trees\":[[{}]]}}", nodes.join(","))).unwrap()
}

#[test]
fn trees_deeper_than_any_fit_are_refused_before_they_exhaust_the_stack() {
    assert!(Shortlist::new(&chain(64), &[vec![0.0]], &[]).is_some());
    assert!(Shortlist::new(&chain(100_000), &[vec![0.0]], &[]).is_none());
}
