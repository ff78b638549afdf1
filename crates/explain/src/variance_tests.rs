use super::*;
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use tunesmith_model::{Column, RandomisedSettings, RandomisedTrees, Regressor as _, Table};

/// A table of numbers: a column has few values, and texts are categories.
#[derive(Clone, Debug)]
struct Example {
    lengths: Vec<usize>,
    texts: Vec<bool>,
    rows: Vec<(Vec<usize>, f64)>,
    weights: Vec<Vec<f64>>,
}

fn example() -> impl Strategy<Value = Example> {
    let columns = prop::collection::vec((1_usize..5, any::<bool>()), 1..5);
    columns.prop_flat_map(|columns| {
        let cells: Vec<_> = columns.iter().map(|(length, _)| 0..*length).collect();
        let weights: Vec<_> = columns.iter().map(|(length, _)| prop::collection::vec(0.1..1.0_f64, *length)).collect();
        let rows = prop::collection::vec((cells, -5.0..5.0_f64), 1..30);
        (rows, weights).prop_map(move |(rows, weights)| Example {
            lengths: columns.iter().map(|(length, _)| *length).collect(),
            texts: columns.iter().map(|(_, text)| *text).collect(),
            rows,
            weights: weights
                .into_iter()
                .map(|cells| cells.iter().map(|w| w / cells.iter().sum::<f64>()).collect())
                .collect(),
        })
    })
}

impl Example {
    fn tree(&self, seed: u64) -> RandomisedTrees {
        let column = |(at, (length, text)): (usize, (&usize, &bool))| match text {
            true => Column::categorical(format!("C{at}"), (0..*length).map(|level| level.to_string())),
            false => Column::ordinal(format!("C{at}")),
        };
        let columns = self.lengths.iter().zip(&self.texts).enumerate().map(column).collect();
        let rows = self.rows.iter().map(|(cells, _)| cells.iter().map(|cell| *cell as f64).collect::<Vec<_>>());
        let targets: Vec<f64> = self.rows.iter().map(|(_, target)| *target).collect();
        let settings = RandomisedSettings { trees: 1, min_split: 2, ..RandomisedSettings::default() };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        RandomisedTrees::fit(&Table::from_rows(columns, rows), &targets, &settings, &mut rng).unwrap()
    }

    /// Returns every combination of cells with its weight.
    fn grid(&self) -> Vec<(Vec<usize>, f64)> {
        let mut grid = vec![(Vec::new(), 1.0)];
        for weights in &self.weights {
            let longer = |(cells, mass): &(Vec<usize>, f64)| {
                let each = weights.iter().enumerate();
                each.map(|(cell, weight)| ([&cells[..], &[cell]].concat(), mass * weight)).collect::<Vec<_>>()
            };
            grid = grid.iter().flat_map(longer).collect();
        }
        grid
    }
}

/// Returns the variance of the mean of `values` over all columns but `kept`, by the definition.
fn variance_of_means(grid: &[(Vec<usize>, f64)], values: &[f64], kept: &[usize]) -> f64 {
    let mut groups: std::collections::BTreeMap<Vec<usize>, (f64, f64)> = std::collections::BTreeMap::new();
    for ((cells, weight), value) in grid.iter().zip(values) {
        let group = groups.entry(kept.iter().map(|column| cells[*column]).collect()).or_default();
        *group = (group.0 + weight, group.1 + weight * value);
    }
    let mean: f64 = groups.values().map(|(_, sum)| sum).sum();
    groups.values().map(|(weight, sum)| weight * (sum / weight - mean).powi(2)).sum()
}

proptest! {
    #[test]
    fn leaves_give_what_the_whole_grid_gives(example in example(), seed: u64) {
        let model = example.tree(seed);
        let grid = example.grid();
        let cells = |cells: &[usize]| cells.iter().map(|cell| *cell as f64).collect::<Vec<_>>();
        let values: Vec<f64> = grid.iter().map(|(at, _)| model.predict(&cells(at))).collect();
        let found = variances(&model.trees()[0], &example.weights);
        let count = example.lengths.len();
        let all: Vec<usize> = (0..count).collect();
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
        prop_assert!(close(found.total, variance_of_means(&grid, &values, &all)));
        let main: Vec<f64> = all.iter().map(|column| variance_of_means(&grid, &values, &[*column])).collect();
        for (column, wanted) in main.iter().enumerate() {
            prop_assert!(close(found.main[column], *wanted), "{column}");
        }
        for (a, b) in pairs(count) {
            let beyond = variance_of_means(&grid, &values, &[a, b]) - main[a] - main[b];
            prop_assert!(close(found.pairs[pair(a, b)], beyond), "{a} {b}");
        }
    }

    #[test]
    fn the_parts_are_not_negative_and_at_most_the_whole(example in example(), seed: u64) {
        let Variances { total, main, pairs } = variances(&example.tree(seed).trees()[0], &example.weights);
        prop_assert!(main.iter().chain(&pairs).all(|part| *part >= 0.0));
        prop_assert!(main.iter().chain(&pairs).sum::<f64>() <= total * (1.0 + 1e-9) + 1e-12);
    }
}

#[test]
fn pairs_are_listed_where_they_are_looked_up() {
    for (at, (a, b)) in pairs(6).enumerate() {
        assert!(a < b && pair(a, b) == at);
    }
}
