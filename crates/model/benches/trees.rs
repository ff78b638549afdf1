//! Fits and predicts with trees at the size of a predictive tuning problem: 30,000 rows of 16
//! features.

use divan::Bencher;
use divan::counter::ItemsCount;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use tunesmith_model::{
    BoostedSettings, BoostedTrees, Column, RandomisedSettings, RandomisedTrees, RegressionTree, Regressor, Table,
    TreeSettings,
};

const FEATURES: usize = 16;

fn main() {
    divan::main();
}

fn rng() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(1)
}

/// Half of the features resemble tuning parameters, with few values. The other half resemble sizes
/// of inputs, with many values.
fn data(rows: usize) -> (Table, Vec<f64>) {
    let mut rng = rng();
    let columns = (0..FEATURES).map(|index| Column::ordinal(format!("F{index}"))).collect();
    let mut table = Table::new(columns);
    let mut targets = Vec::with_capacity(rows);
    for _ in 0..rows {
        let few = |rng: &mut Xoshiro256PlusPlus| f64::from(1_u32 << rng.random_range(0..8));
        let row: Vec<f64> =
            (0..FEATURES).map(|index| if index % 2 == 0 { few(&mut rng) } else { rng.random() }).collect();
        targets.push((row[0] * row[1]).ln() + (row[2] - 16.0).abs() * row[3] / 64.0 + row[5] * row[7]);
        table.push(&row);
    }
    (table, targets)
}

#[divan::bench(args = [1_000, 30_000])]
fn fit_boosted(bencher: Bencher, rows: usize) {
    let (table, targets) = data(rows);
    bencher.bench(|| BoostedTrees::fit(&table, &targets, &BoostedSettings::default(), &mut rng()));
}

#[divan::bench]
fn predict_a_million_boosted(bencher: Bencher) {
    let (table, targets) = data(30_000);
    let model = BoostedTrees::fit(&table, &targets, &BoostedSettings::default(), &mut rng()).expect("a fit");
    let (many, _) = data(1_000_000);
    bencher.counter(ItemsCount::new(many.len())).bench(|| model.predict_all(&many));
}

/// As many predictions as a hill climb on a model makes.
#[divan::bench]
fn predict_75_one_by_one(bencher: Bencher) {
    let (table, targets) = data(30_000);
    let model = BoostedTrees::fit(&table, &targets, &BoostedSettings::default(), &mut rng()).expect("a fit");
    let rows: Vec<Vec<f64>> = (0..75).map(|row| table.row(row)).collect();
    bencher.bench(|| rows.iter().map(|row| model.predict(row)).sum::<f64>());
}

#[divan::bench(args = [400, 5_000])]
fn fit_ten_randomised(bencher: Bencher, rows: usize) {
    let (table, targets) = data(rows);
    let settings = RandomisedSettings { trees: 10, ..RandomisedSettings::default() };
    bencher.bench(|| RandomisedTrees::fit(&table, &targets, &settings, &mut rng()));
}

#[divan::bench(args = [200, 5_000])]
fn fit_a_tree(bencher: Bencher, rows: usize) {
    let (table, targets) = data(rows);
    bencher.bench(|| RegressionTree::fit(&table, &targets, &TreeSettings::default()));
}
