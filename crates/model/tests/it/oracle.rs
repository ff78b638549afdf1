//! Compares models with the textbook: the Gaussian process with dense matrices and Gaussian elimination, the rank
//! correlation with counted ranks.

use proptest::prelude::*;
use tunesmith_model::{Candidates, Feature, GaussianProcess, Hyperparameters, JoinedRows, Rows, rank_correlation};

/// Solves `a x = b` by elimination with pivots.
fn eliminate(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for column in 0..n {
        let pivot = (column..n).max_by(|&i, &j| a[i][column].abs().total_cmp(&a[j][column].abs())).unwrap();
        a.swap(column, pivot);
        b.swap(column, pivot);
        let (top, known) = (a[column].clone(), b[column]);
        for row in column + 1..n {
            let factor = a[row][column] / top[column];
            a[row].iter_mut().zip(&top).for_each(|(element, above)| *element -= factor * above);
            b[row] -= factor * known;
        }
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|k| a[row][k] * b[k]).sum();
        b[row] = (b[row] - known) / a[row][row];
    }
    b
}

fn covariance(features: &[Feature], lengths: &[f64], a: &[u16], b: &[u16]) -> f64 {
    (0..features.len())
        .map(|f| {
            let levels = features[f].levels();
            let r = (levels[a[f] as usize] - levels[b[f] as usize]).abs() / lengths[f];
            let root = 5.0_f64.sqrt();
            0.5 + 0.5 * (1.0 + root * r + 5.0 / 3.0 * r * r) * (-root * r).exp()
        })
        .product()
}

struct Dense {
    mean: f64,
    variance: f64,
    predictions: Vec<(f64, f64)>,
}

/// Returns mean, variance and predictions by the literal equations.
fn dense(features: &[Feature], parameters: &Hyperparameters, x: &[Vec<u16>], y: &[f64], at: &[Vec<u16>]) -> Dense {
    let k = |a: &Vec<u16>, b: &Vec<u16>| covariance(features, &parameters.lengths, a, b);
    let n = x.len();
    let noise = |i, j| if i == j { parameters.noise } else { 0.0 };
    let matrix: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| k(&x[i], &x[j]) + noise(i, j)).collect()).collect();
    let inverse_one = eliminate(matrix.clone(), vec![1.0; n]);
    let mean = inverse_one.iter().zip(y).map(|(a, y)| a * y).sum::<f64>() / inverse_one.iter().sum::<f64>();
    let residuals: Vec<f64> = y.iter().map(|y| y - mean).collect();
    let coefficients = eliminate(matrix.clone(), residuals.clone());
    let variance = residuals.iter().zip(&coefficients).map(|(r, c)| r * c).sum::<f64>() / (n.max(2) - 1) as f64;
    let predict = |point: &Vec<u16>| {
        let covariances: Vec<f64> = x.iter().map(|other| k(point, other)).collect();
        let shift: f64 = covariances.iter().zip(&coefficients).map(|(k, c)| k * c).sum();
        let solved = eliminate(matrix.clone(), covariances.clone());
        let known: f64 = covariances.iter().zip(&solved).map(|(k, s)| k * s).sum();
        (mean + shift, (variance * (1.0 - known).max(0.0)).sqrt())
    };
    Dense { mean, variance, predictions: at.iter().map(predict).collect() }
}

fn features() -> Vec<Feature> {
    let grid = |levels: u16| (0..levels).map(|level| f64::from(level) / f64::from(levels - 1)).collect();
    vec![Feature::new(grid(7), 0.8), Feature::new(grid(2), 0.8), Feature::new(grid(13), 1.6)]
}

fn points(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vec<u16>>> {
    let point = (0..7_u16, 0..2_u16, 0..13_u16).prop_map(|(a, b, c)| vec![a, b, c]);
    prop::collection::vec(point, count)
}

proptest! {
    #[test]
    fn covariances_of_joined_rows_are_those_of_rows(
        x in points(1..300),
        picks in prop::collection::vec(0..300_usize, 0..50),
        lengths in prop::collection::vec(0.05..5.0_f64, 3),
    ) {
        let (features, at) = (features(), x[x.len() - 1].clone());
        let parameters = Hyperparameters { lengths, noise: 0.1, slopes: Vec::new() };
        let process = GaussianProcess::new(&features, parameters, &Rows::new(3));
        let picks: Vec<usize> = picks.into_iter().filter(|&pick| pick < x.len()).collect();
        let all = JoinedRows::from(Rows::from_rows(3, &x));
        let picked: Vec<Vec<u16>> = picks.iter().map(|&pick| x[pick].clone()).collect();
        for (rows, joined) in [(&x, all.clone()), (&picked, all.select(&picks))] {
            let (mut direct, mut found) = (vec![0.0; rows.len()], vec![0.0; rows.len()]);
            process.kernel().covariances(&at, &Rows::from_rows(3, rows), &mut direct);
            process.kernel().joined_covariances(&at, &joined, &mut found);
            let is_near = |(found, direct): (&f64, &f64)| (found - direct).abs() < 1e-12;
            prop_assert!(joined.len() == rows.len() && found.iter().zip(&direct).all(is_near), "{found:?} {direct:?}");
        }
    }

    #[test]
    fn incremental_predictions_are_those_of_dense_algebra(
        x in points(1..20),
        at in points(1..40),
        y in prop::collection::vec(0.0..2.0_f64, 20),
        lengths in prop::collection::vec(0.05..5.0_f64, 3),
        noise in 1e-3..0.5_f64,
        split in 0..20_usize,
    ) {
        let (features, y) = (features(), &y[..x.len()]);
        let parameters = Hyperparameters { lengths, noise, slopes: Vec::new() };
        let expected = dense(&features, &parameters, &x, y, &at);

        let split = split.min(x.len());
        let mut process = GaussianProcess::new(&features, parameters, &Rows::from_rows(3, &x[..split]));
        let mut candidates = Candidates::new(&process, Rows::from_rows(3, &at));
        for point in &x[split..] {
            process.append(point);
            candidates.follow(&process);
        }
        let posterior = process.posterior(y);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-6 * (1.0 + b.abs());
        prop_assert!(near(posterior.mean, expected.mean), "mean {} {}", posterior.mean, expected.mean);
        prop_assert!(near(posterior.variance, expected.variance.max(1e-12)));
        let means = process.means(&posterior, candidates.rows());
        for ((prediction, mean), (m, s)) in candidates.predict(&posterior).iter().zip(means).zip(expected.predictions) {
            prop_assert!(near(prediction.mean, m) && near(mean, m), "{prediction:?} {mean} {m}");
            // A deviation is a root: it has half the digits.
            prop_assert!((prediction.deviation - s).abs() < 1e-4, "{prediction:?} {s}");
        }
    }

    #[test]
    fn points_without_a_target_leave_the_means_and_lower_the_deviations(
        x in points(2..15),
        at in points(1..20),
        y in prop::collection::vec(0.0..2.0_f64, 14),
    ) {
        let features = features();
        let (known, pending) = x.split_at(x.len() - 1);
        let y = &y[..known.len()];
        let mut process = GaussianProcess::new(&features, Hyperparameters::typical(&features), &Rows::from_rows(3, known));
        let mut candidates = Candidates::new(&process, Rows::from_rows(3, &at));
        let before = candidates.predict(&process.posterior(y));
        process.append(&pending[0]);
        candidates.follow(&process);
        for (before, after) in before.iter().zip(candidates.predict(&process.posterior(y))) {
            prop_assert!((before.mean - after.mean).abs() < 1e-9);
            prop_assert!(after.deviation <= before.deviation + 1e-9);
        }
    }

    #[test]
    fn a_fit_is_finite_within_range_and_no_worse_than_its_start(
        x in points(1..25),
        y in prop::collection::vec(prop_oneof![Just(0.5), 0.0..2.0_f64], 25),
    ) {
        let (features, rows, y) = (features(), Rows::from_rows(3, &x), &y[..x.len()]);
        let start = Hyperparameters::typical(&features);
        let fitted = Hyperparameters::fit(&features, &rows, y, &[], start.clone());
        prop_assert!(fitted.lengths.iter().all(|length| (0.03..=20.0).contains(length)));
        prop_assert!((1e-5..=0.5).contains(&fitted.noise));
        let loss = |parameters: &Hyperparameters| dense_loss(&features, parameters, &rows, y);
        prop_assert!(loss(&fitted) <= loss(&start) + 1e-6);
        // Either no step of the last size helps, or the search ran out of rounds and has moved.
        prop_assert!(loss(&fitted).is_finite());
    }
}

#[test]
fn the_slopes_of_trends_are_found_and_fall_where_there_are_none() {
    let features = features();
    let x: Vec<Vec<u16>> = (0..40_u16).map(|i| vec![i * 5 % 7, i % 2, i * 3 % 13]).collect();
    let trends: [Vec<f64>; 2] = [17, 19].map(|step| (0..40).map(|i| f64::from(i * 11 % step) / 8.0).collect());
    let rest = |row: &Vec<u16>| (f64::from(row[0]) / 3.0).sin() / 5.0;
    let rows = Rows::from_rows(3, &x);
    let slopes = |factors: [f64; 2]| {
        let target =
            |(at, row): (usize, &Vec<u16>)| rest(row) + factors[0] * trends[0][at] + factors[1] * trends[1][at];
        let targets: Vec<f64> = x.iter().enumerate().map(target).collect();
        let mut fitted = Hyperparameters::typical(&features);
        for _ in 0..8 {
            fitted = Hyperparameters::fit(&features, &rows, &targets, &trends, fitted);
        }
        fitted.slopes
    };
    for factors in [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, -1.0]] {
        let found = slopes(factors);
        assert!(
            found.iter().zip(factors).all(|(found, factor)| (found - factor).abs() < 0.15),
            "{found:?} {factors:?}"
        );
    }
}

/// Returns the documented loss, computed from the public parts.
fn dense_loss(features: &[Feature], parameters: &Hyperparameters, rows: &Rows, y: &[f64]) -> f64 {
    let process = GaussianProcess::new(features, parameters.clone(), rows);
    let log_ratio = |value: f64, median: f64| (value / median).ln();
    let lengths = features.iter().zip(&parameters.lengths);
    let prior: f64 = lengths.map(|(feature, length)| log_ratio(*length, feature.typical_length()).powi(2) / 2.0).sum();
    y.len() as f64 / 2.0 * process.posterior(y).variance.ln()
        + process.factor().log_determinant()
        + prior
        + (log_ratio(parameters.noise, 0.01) / 1.5).powi(2) / 2.0
}

#[test]
fn constant_targets_and_equal_points_give_finite_predictions() {
    let features = features();
    let rows = Rows::from_rows(3, vec![vec![3, 1, 5]; 12]);
    let parameters = Hyperparameters { lengths: vec![20.0; 3], noise: 0.0, slopes: Vec::new() };
    let process = GaussianProcess::new(&features, parameters, &rows);
    let candidates = Candidates::new(&process, Rows::from_rows(3, [[3, 1, 5], [0, 0, 0]]));
    for targets in [vec![0.7; 12], (0..12).map(f64::from).collect()] {
        let fitted = Hyperparameters::fit(&features, &rows, &targets, &[], Hyperparameters::typical(&features));
        assert!(fitted.noise.is_finite());
        for prediction in candidates.predict(&process.posterior(&targets)) {
            assert!(prediction.mean.is_finite() && prediction.deviation.is_finite(), "{prediction:?}");
        }
    }
}

#[test]
fn a_feature_that_says_nothing_gets_the_longest_scale() {
    let grid: Vec<f64> = (0..10).map(|level| f64::from(level) / 9.0).collect();
    let features = vec![Feature::new(grid.clone(), 0.8), Feature::new(grid, 0.8)];
    let rows: Vec<[u16; 2]> = (0..40).map(|i| [i % 10, (i * 7 + i / 10) % 10]).collect();
    let targets: Vec<f64> = rows.iter().map(|row| (f64::from(row[0]) - 4.0).powi(2) / 10.0).collect();
    let start = Hyperparameters::typical(&features);
    let fitted = Hyperparameters::fit(&features, &Rows::from_rows(2, &rows), &targets, &[], start);
    assert!(fitted.lengths[1] > 2.0 * fitted.lengths[0], "{fitted:?}");
}

#[test]
fn what_is_left_out_is_predicted_as_by_a_process_without_it() {
    let (features, parameters) =
        (features(), Hyperparameters { lengths: vec![0.5, 1.0, 0.7], noise: 0.02, slopes: Vec::new() });
    let x: Vec<Vec<u16>> = (0..12_u16).map(|i| vec![i * 5 % 7, i % 2, i * 3 % 13]).collect();
    let y: Vec<f64> = (0..12).map(|i| (f64::from(i) * 1.7).sin()).collect();
    let process = GaussianProcess::new(&features, parameters.clone(), &Rows::from_rows(3, &x));
    let posterior = process.posterior(&y);
    for (i, left_out) in process.left_out(&posterior, &y).iter().enumerate() {
        let others: Vec<usize> = (0..12).filter(|&other| other != i).collect();
        let k = |a: usize, b: usize| covariance(&features, &parameters.lengths, &x[a], &x[b]);
        let noise = |a, b| if a == b { parameters.noise } else { 0.0 };
        let row = |&a: &usize| others.iter().map(|&b| k(a, b) + noise(a, b)).collect();
        let matrix: Vec<Vec<f64>> = others.iter().map(row).collect();
        let covariances: Vec<f64> = others.iter().map(|&other| k(i, other)).collect();
        let solved = eliminate(matrix, covariances.clone());
        let shift: f64 = solved.iter().zip(&others).map(|(s, &other)| s * (y[other] - posterior.mean)).sum();
        let known: f64 = solved.iter().zip(&covariances).map(|(s, k)| s * k).sum();
        assert!((left_out.mean - posterior.mean - shift).abs() < 1e-9, "{i}");
        assert!((left_out.deviation - (posterior.variance * (1.0 - known)).sqrt()).abs() < 1e-9, "{i}");
    }
}

/// Returns Pearson's correlation of ranks that are counted: those below, and half of those that are equal.
fn counted_rank_correlation(pairs: &[(f64, f64)]) -> f64 {
    let rank = |numbers: &[f64], at: f64| -> f64 {
        let count = |is_meant: &dyn Fn(f64) -> bool| numbers.iter().filter(|number| is_meant(**number)).count() as f64;
        count(&|number| number < at) + (count(&|number| number == at) - 1.0) / 2.0
    };
    let column = |of: fn(&(f64, f64)) -> f64| -> Vec<f64> {
        let numbers: Vec<f64> = pairs.iter().map(of).collect();
        let ranks: Vec<f64> = numbers.iter().map(|number| rank(&numbers, *number)).collect();
        let mean = ranks.iter().sum::<f64>() / ranks.len() as f64;
        ranks.iter().map(|rank| rank - mean).collect()
    };
    let (one, other) = (column(|pair| pair.0), column(|pair| pair.1));
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    product(&one, &other) / (product(&one, &one) * product(&other, &other)).sqrt()
}

proptest! {
    #[test]
    fn the_rank_correlation_is_that_of_counted_ranks(pairs in prop::collection::vec((0..6_i32, 0..6_i32), 0..30)) {
        let pairs: Vec<(f64, f64)> = pairs.into_iter().map(|(a, b)| (f64::from(a), f64::from(b))).collect();
        let (found, expected) = (rank_correlation(&pairs), counted_rank_correlation(&pairs));
        // Where all numbers of a list are equal, the textbook divides by zero.
        let expected = if expected.is_nan() { 0.0 } else { expected };
        prop_assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
}
