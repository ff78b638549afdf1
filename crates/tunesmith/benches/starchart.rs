//! Starchart's regression trees as the counter paper measured them (Filipovic et al., 2022, section
//! 4.8, Tables 8 and 9). Counts the evaluations for building and validating a tree, and then for
//! tuning in the order of its predictions, also on another device.
//!
//! `cargo bench -p tunesmith --bench starchart -- REPEATS TUNED MODEL` reads two recordings of the
//! same parameters and prints means as a table in Markdown.
//!
//! The protocol: 200 random configurations validate. Other random ones train, 20 at first, until
//! the median relative error on the former is below 15 % or there are 200 of them. Then all
//! configurations are tried in the predicted order until one is within 1.10 of the optimum.
//! Validation and training are drawn separately, so that both count in full, as in the paper.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use std::path::Path;
use tunesmith::core::{Recording, Rng};
use tunesmith::space::{Parameter, Value};
use tunesmith_model::{Column, RegressionTree, Regressor as _, Table, TreeSettings};

/// The paper's numbers: configurations to validate with, to train from at first and at most, and
/// the error wanted.
const VALIDATION: usize = 200;
const TRAINING: [usize; 2] = [20, 200];
const ERROR: f64 = 0.15;
/// Maximum time relative to the optimum that counts as found.
const HIT: f64 = 1.10;

/// The correct configurations of a recording.
struct Measured {
    name: String,
    table: Table,
    times: Vec<f64>,
}

impl Measured {
    fn load(path: &str) -> Self {
        let recording = tunesmith_store::import(Path::new(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        let correct = recording.rows().iter().filter_map(|row| Some((row, row.time_ms()?)));
        let (rows, times): (Vec<Vec<f64>>, Vec<f64>) =
            correct.map(|(row, ms)| (numbers(&recording, &row.values), ms)).unzip();
        let columns = recording.parameters().iter().map(|parameter| Column::ordinal(parameter.name())).collect();
        Self { name: recording.name.clone(), table: Table::from_rows(columns, rows), times }
    }

    /// Draws `count` random configurations, at most all of them in random order.
    fn drawn(&self, count: usize, rng: &mut Rng) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.times.len()).collect();
        all.shuffle(rng);
        all.truncate(count);
        all
    }

    fn times(&self, rows: &[usize]) -> Vec<f64> {
        rows.iter().map(|row| self.times[*row]).collect()
    }

    /// Builds a tree that predicts well. Returns it with the number of evaluations.
    fn build(&self, rng: &mut Rng) -> (RegressionTree, usize) {
        let validation = self.drawn(VALIDATION, rng);
        let (table, expected) = (self.table.select(&validation), self.times(&validation));
        let training = self.drawn(TRAINING[1], rng);
        let mut count = TRAINING[0].min(training.len());
        loop {
            let rows = &training[..count];
            let tree = RegressionTree::fit(&self.table.select(rows), &self.times(rows), &TreeSettings::default());
            let tree = tree.unwrap_or_else(|error| panic!("{error}"));
            let relative =
                tree.predict_all(&table).into_iter().zip(&expected).map(|(found, ms)| (found / ms - 1.0).abs());
            let error = tunesmith::core::statistics::median(&relative.collect::<Vec<_>>()).unwrap_or(0.0);
            if error < ERROR || count == training.len() {
                return (tree, VALIDATION + count);
            }
            count += 1;
        }
    }

    /// Tries configurations in the order of `tree`, equal ones in random order, until one is near
    /// the optimum. Returns the number of evaluations.
    fn tune(&self, tree: &RegressionTree, rng: &mut Rng) -> usize {
        let limit = HIT * self.times.iter().copied().fold(f64::INFINITY, f64::min);
        let predicted = tree.predict_all(&self.table);
        let mut order = self.drawn(self.times.len(), rng);
        order.sort_by(|a, b| predicted[*a].total_cmp(&predicted[*b]));
        1 + order.iter().position(|row| self.times[*row] <= limit).unwrap_or(order.len())
    }
}

/// Returns values as numbers. A value that is not a number is replaced by its place.
fn numbers(recording: &Recording, values: &[Value]) -> Vec<f64> {
    let number = |(parameter, value): (&Parameter, &Value)| {
        let place = || parameter.values().iter().position(|other| other == value).unwrap_or(0) as f64;
        value.as_float().unwrap_or_else(place)
    };
    recording.parameters().iter().zip(values).map(number).collect()
}

fn main() {
    // Cargo adds `--bench` to what the user gives.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [repeats, tuned, model] = arguments.as_slice() else {
        println!("skipped: give the repeats, the recording that is tuned and the one of the model");
        return;
    };
    let repeats: u64 = repeats.parse().expect("a number of repeats");
    let [tuned, model] = [tuned, model].map(|path| Measured::load(path));
    println!("| tuned | tree of | building and validating | tuning |\n|---|---|---|---|");
    for (tuned, model) in [(&tuned, &tuned), (&model, &model), (&tuned, &model)] {
        let search = |seed| {
            let mut rng = Rng::seed_from_u64(seed);
            let (tree, built) = model.build(&mut rng);
            (built, tuned.tune(&tree, &mut rng))
        };
        let (built, tried): (Vec<usize>, Vec<usize>) = (0..repeats).map(search).unzip();
        let mean = |counts: Vec<usize>| counts.iter().sum::<usize>() as f64 / repeats.max(1) as f64;
        println!("| {} | {} | {:.0} | {:.1} |", tuned.name, model.name, mean(built), mean(tried));
    }
}
