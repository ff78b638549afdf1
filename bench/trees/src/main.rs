//! Boosted trees of several crates side by side, with the same settings on the same rows.

mod peers;

use peers::{Data, LEARNERS};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::Path;
use tunesmith_core::recording::Row;
use tunesmith_core::{Clock, Recording, SystemClock};
use tunesmith_space::{Parameter, Value};

const REPEATS: u32 = 3;

fn main() {
    println!("| data | rows | learner | error | fit s | predict s |\n|---|---|---|---|---|---|");
    for file in std::env::args().skip(1) {
        match tunesmith_store::import(Path::new(&file)) {
            Ok(recording) => {
                let (train, test) = halves(rows_of(&recording), 1);
                table(&recording.name, &train, &test);
            }
            Err(error) => {
                eprintln!("{error}");
                std::process::exit(2);
            }
        }
    }
    // The size of a predictive tuning problem, and so many predictions as an exhaustive search on a model makes.
    table("made up", &made_up(30_000), &made_up(1_000_000));
}

/// One line for each learner, with the root mean square error on rows that it was not fitted to and the least seconds.
fn table(name: &str, train: &Data, test: &Data) {
    let clock = SystemClock::new();
    for (learner, fit) in LEARNERS {
        let (mut fitting, mut predicting, mut error) = (f64::INFINITY, f64::INFINITY, 0.0);
        for _ in 0..REPEATS {
            let began = clock.now();
            let model = fit(train);
            let fitted = clock.now();
            let predictions = model(test);
            fitting = fitting.min((fitted - began).as_secs_f64());
            predicting = predicting.min((clock.now() - fitted).as_secs_f64());
            error = test.error(&predictions);
        }
        println!("| {name} | {} | {learner} | {error:.4} | {fitting:.3} | {predicting:.3} |", train.targets.len());
    }
}

/// The parameters of every correct configuration, as numbers, with the logarithm of its time.
fn rows_of(recording: &Recording) -> Vec<(Vec<f64>, f64)> {
    let numbers = |row: &Row| {
        let cells = recording.parameters().iter().zip(&row.values);
        // A value that is no number counts by its place in the list.
        let number = |(parameter, value): (&Parameter, &Value)| {
            value.as_float().unwrap_or_else(|| parameter.index_of(value).unwrap_or_default() as f64)
        };
        Some((cells.map(number).collect(), row.time_ms()?.ln()))
    };
    recording.rows().iter().filter_map(numbers).collect()
}

fn halves(mut rows: Vec<(Vec<f64>, f64)>, seed: u64) -> (Data, Data) {
    rows.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    let test = rows.split_off(rows.len() / 2);
    (Data::of(rows), Data::of(test))
}

/// Half of 16 features as tuning parameters, with few values; half as sizes of inputs, with many.
fn made_up(rows: usize) -> Data {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(rows as u64);
    let row = |_| {
        let few = |rng: &mut Xoshiro256PlusPlus| f64::from(1_u32 << rng.random_range(0..8));
        let cell = |index| if index % 2 == 0 { few(&mut rng) } else { rng.random() };
        let row: Vec<f64> = (0..16).map(cell).collect();
        let target = (row[0] * row[1] + 0.1).ln() + (row[2] - 16.0).abs() * row[3] / 64.0 + row[5] * row[7];
        (row, target)
    };
    Data::of((0..rows).map(row).collect())
}
