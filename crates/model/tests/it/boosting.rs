//! Properties of boosted trees beyond a good fit: directions, quantiles, the same digits on any
//! number of threads, and the effects of features.

use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use tunesmith_model::{
    BoostedSettings, BoostedTrees, Column, Direction, FitError, Loss, Regressor, Table, partial_dependence,
    permutation_importance,
};

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn fit(table: &Table, targets: &[f64], settings: &BoostedSettings) -> BoostedTrees {
    BoostedTrees::fit(table, targets, settings, &mut rng(1)).unwrap()
}

fn three_columns() -> Vec<Column> {
    vec![Column::ordinal("X"), Column::categorical("C", ["a", "b", "c"]), Column::ordinal("Y")]
}

/// Rows of a number, a level and a number, with gaps.
fn rows() -> impl Strategy<Value = Vec<[f64; 3]>> {
    let number = || prop_oneof![1 => Just(f64::NAN), 9 => (0..8_i32).prop_map(f64::from)];
    prop::collection::vec((number(), 0..3_i32, number()).prop_map(|(x, c, y)| [x, f64::from(c), y]), 8..80)
}

/// Returns `rows` numbers from 0 to 1 in each of `columns` columns.
fn uniform(rows: usize, columns: usize) -> Table {
    let mut rng = rng(7);
    let names = (0..columns).map(|index| Column::ordinal(format!("F{index}"))).collect();
    Table::from_rows(names, (0..rows).map(|_| (0..columns).map(|_| rng.random()).collect::<Vec<f64>>()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 5))]

    #[test]
    fn predictions_move_with_a_monotone_column_in_its_direction_alone(
        rows in rows(),
        targets in prop::collection::vec(-10.0..10.0_f64, 80),
        (depth, min_leaf, shrinkage) in (1..5_usize, 1..4_usize, 0.0..2.0_f64),
        (first, second) in (any::<bool>(), any::<bool>()),
    ) {
        let table = Table::from_rows(three_columns(), &rows);
        let direction = |rises| if rises { Direction::Rising } else { Direction::Falling };
        let monotone = vec![("X".to_string(), direction(first)), ("Y".to_string(), direction(second))];
        let settings = BoostedSettings {
            rounds: 20, depth, min_leaf, shrinkage, learning_rate: 0.5, monotone, ..BoostedSettings::default()
        };
        let model = fit(&table, &targets[..rows.len()], &settings);
        for row in &rows {
            for (column, rises) in [(0, first), (2, second)] {
                let at = |value: i32| {
                    let mut row = *row;
                    row[column] = f64::from(value);
                    model.predict(&row)
                };
                let curve: Vec<f64> = (-1..9).map(at).collect();
                let is_kept = |pair: &[f64]| if rises { pair[0] <= pair[1] } else { pair[0] >= pair[1] };
                prop_assert!(curve.windows(2).all(is_kept), "{curve:?}");
            }
        }
    }

    #[test]
    fn partial_dependence_is_the_mean_of_what_is_predicted_one_by_one(
        rows in rows(),
        targets in prop::collection::vec(-10.0..10.0_f64, 80),
    ) {
        let table = Table::from_rows(three_columns(), &rows);
        let model = fit(&table, &targets[..rows.len()], &BoostedSettings { min_leaf: 1, ..BoostedSettings::default() });
        for (column, values) in [(0, [0.0, 3.5, f64::NAN]), (1, [0.0, 2.0, 9.0])] {
            let obvious = values.map(|value| {
                let predictions = rows.iter().map(|row| {
                    let mut row = *row;
                    row[column] = value;
                    model.predict(&row)
                });
                predictions.sum::<f64>() / rows.len() as f64
            });
            let found = partial_dependence(&model, &table, column, &values);
            prop_assert!(found.iter().zip(obvious).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?} {obvious:?}");
        }
    }

    #[test]
    fn the_first_trees_are_those_of_a_fit_with_fewer_rounds(
        rows in rows(),
        targets in prop::collection::vec(-10.0..10.0_f64, 80),
        (rounds, subsample) in (1..14_usize, 0.3..1.0_f64),
        loss in prop_oneof![Just(Loss::Squared), Just(Loss::Quantile(0.3))],
    ) {
        let table = Table::from_rows(three_columns(), &rows);
        let settings = |rounds| BoostedSettings { rounds, subsample, loss, min_leaf: 2, ..BoostedSettings::default() };
        let fit = |rounds| fit(&table, &targets[..rows.len()], &settings(rounds));
        prop_assert_eq!(fit(12).first(rounds), fit(rounds.min(12)));
    }

    #[test]
    fn without_splits_a_quantile_is_that_of_the_sorted_targets(
        mut targets in prop::collection::vec(-10.0..10.0_f64, 1..60),
        share in 0.01..0.99_f64,
    ) {
        let table = Table::from_rows(Vec::new(), vec![[0.0; 0]; targets.len()]);
        let settings = BoostedSettings { loss: Loss::Quantile(share), ..BoostedSettings::default() };
        let found = fit(&table, &targets, &settings).predict(&[]);
        targets.sort_by(f64::total_cmp);
        let at_most = |value: f64| targets.iter().filter(|target| **target <= value).count() as f64;
        let smallest = targets.iter().copied().find(|value| at_most(*value) >= share * targets.len() as f64);
        prop_assert!((found - smallest.unwrap()).abs() < 1e-9);
    }
}

#[test]
fn a_direction_that_holds_costs_nothing_and_one_that_does_not_leaves_a_constant() {
    let table = uniform(600, 2);
    let targets: Vec<f64> = table.column(0).iter().map(|x| x * x).collect();
    let error = |direction| {
        let monotone = vec![("F0".to_string(), direction)];
        let model = fit(&table, &targets, &BoostedSettings { monotone, ..BoostedSettings::default() });
        let squares = model.predict_all(&table).iter().zip(&targets).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        squares / targets.len() as f64
    };
    assert!(error(Direction::Rising) < 1e-3, "{}", error(Direction::Rising));
    // The rest is the variance of the square of a uniform number, 4 / 45.
    assert!((error(Direction::Falling) - 4.0 / 45.0).abs() < 0.02, "{}", error(Direction::Falling));
}

#[test]
fn quantiles_follow_a_spread_that_changes() {
    let table = uniform(4000, 1);
    let mut noise = rng(3);
    // Uniform from 0 to x: the quantile of share q is q x.
    let targets: Vec<f64> = table.column(0).iter().map(|x| x * noise.random::<f64>()).collect();
    for share in [0.1, 0.5, 0.9] {
        let settings = BoostedSettings { loss: Loss::Quantile(share), min_leaf: 100, ..BoostedSettings::default() };
        let model = fit(&table, &targets, &settings);
        for x in [0.3, 0.6, 0.9] {
            assert!((model.predict(&[x]) - share * x).abs() < 0.08, "{share} {x}: {}", model.predict(&[x]));
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_digits() {
    let table = uniform(20_000, 3);
    let targets: Vec<f64> =
        (0..table.len()).map(|row| (table.column(0)[row] * 7.0).sin() + table.column(1)[row]).collect();
    let settings = BoostedSettings { rounds: 5, subsample: 0.9, ..BoostedSettings::default() };
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let model = fit(&table, &targets, &settings);
            (model.to_json(), model.predict_all(&table))
        })
    };
    assert!(on(1) == on(3));
}

#[test]
fn permuting_costs_what_a_column_explains_and_nothing_where_it_is_not_used() {
    let table = uniform(3000, 3);
    let targets: Vec<f64> = (0..table.len()).map(|row| 4.0 * table.column(0)[row] + table.column(1)[row]).collect();
    let narrow = Table::from_rows(
        table.columns().to_vec(),
        (0..table.len()).map(|row| [table.column(0)[row], table.column(1)[row], 1.0]),
    );
    let settings = BoostedSettings { rounds: 200, ..BoostedSettings::default() };
    let model = fit(&narrow, &targets, &settings);
    let importance = permutation_importance(&model, &narrow, &targets, 5, &mut rng(2));
    // A shuffled number is off by twice its variance. The variance of 4 F0 is 16 / 12.
    assert!((importance[0] - 2.0 * 16.0 / 12.0).abs() < 0.15, "{importance:?}");
    assert!((importance[1] - 2.0 / 12.0).abs() < 0.03, "{importance:?}");
    assert_eq!(importance[2], 0.0);
}

#[test]
fn what_cannot_be_monotone_and_what_is_no_quantile_is_refused() {
    let table = Table::from_rows(three_columns(), [[1.0, 0.0, 1.0], [2.0, 1.0, 2.0]]);
    let fit = |settings: BoostedSettings| BoostedTrees::fit(&table, &[1.0, 2.0], &settings, &mut rng(1)).unwrap_err();
    let along = |name: &str| vec![(name.to_string(), Direction::Rising)];
    for name in ["C", "Z"] {
        let error = fit(BoostedSettings { monotone: along(name), ..BoostedSettings::default() });
        assert_eq!(error, FitError::Column { name: name.to_string() });
    }
    let error = fit(BoostedSettings { loss: Loss::Quantile(1.0), ..BoostedSettings::default() });
    assert!(error.to_string().contains("`quantile` cannot be 1"), "{error}");
    let both = BoostedSettings { loss: Loss::Quantile(0.5), monotone: along("X"), ..BoostedSettings::default() };
    assert!(fit(both).to_string().contains("for the squared loss only"));
}
