//! Compares trees with the obvious ones: these try every threshold and every subset of levels, and
//! compute all sums anew.

use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use tunesmith_model::{
    BoostedSettings, BoostedTrees, Column, Cuts, Kind, ModelError, RandomisedSettings, RandomisedTrees, RegressionTree,
    Regressor, Table, TreeSettings,
};

/// The settings of the obvious tree.
#[derive(Clone, Copy)]
struct Limits {
    depth: usize,
    min_leaf: usize,
    shrinkage: f64,
}

fn explained(targets: &[f64], rows: &[usize], shrinkage: f64) -> f64 {
    let sum: f64 = rows.iter().map(|&row| targets[row]).sum();
    sum * sum / (rows.len() as f64 + shrinkage)
}

/// Returns every partition of `rows` by one column.
fn partitions(table: &Table, rows: &[usize]) -> Vec<[Vec<usize>; 2]> {
    let mut all = Vec::new();
    let mut part = |answer: &dyn Fn(usize) -> bool| {
        let (yes, no) = rows.iter().partition(|&&row| answer(row));
        all.push([yes, no]);
    };
    for (index, column) in table.columns().iter().enumerate() {
        let cells = table.column(index);
        match &column.kind {
            Kind::Ordinal => {
                let present = rows.iter().map(|&row| cells[row]).filter(|value| !value.is_nan());
                for threshold in present {
                    part(&|row| cells[row] <= threshold);
                    part(&|row| cells[row] <= threshold || cells[row].is_nan());
                }
            }
            Kind::Categorical(levels) => {
                // The last bit is for missing values.
                for subset in 0..1_usize << (levels.len() + 1) {
                    let bit = |row: usize| if cells[row].is_nan() { levels.len() } else { cells[row] as usize };
                    part(&|row| subset >> bit(row) & 1 == 1);
                }
            }
        }
    }
    all
}

/// Writes the prediction of every row in `rows` to `out`, by the tree with the best split at each
/// node.
fn obvious(table: &Table, targets: &[f64], rows: &[usize], limits: Limits, out: &mut [f64]) {
    let gain = |[yes, no]: &[Vec<usize>; 2]| {
        let of = |rows: &[usize]| explained(targets, rows, limits.shrinkage);
        of(yes) + of(no) - of(rows)
    };
    let allowed = |sides: &[Vec<usize>; 2]| sides.iter().all(|side| side.len() >= limits.min_leaf.max(1));
    let splits = partitions(table, rows).into_iter().filter(|sides| limits.depth > 0 && allowed(sides));
    let best = splits.map(|sides| (gain(&sides), sides)).max_by(|a, b| a.0.total_cmp(&b.0));
    match best.filter(|(gain, _)| *gain > 1e-12) {
        Some((_, sides)) => {
            let limits = Limits { depth: limits.depth - 1, ..limits };
            sides.iter().for_each(|side| obvious(table, targets, side, limits, out));
        }
        None => {
            let sum: f64 = rows.iter().map(|&row| targets[row]).sum();
            rows.iter().for_each(|&row| out[row] = sum / (rows.len() as f64 + limits.shrinkage));
        }
    }
}

/// Boosts with obvious trees.
fn obviously_boosted(table: &Table, targets: &[f64], limits: Limits, rounds: usize, rate: f64) -> Vec<f64> {
    let rows: Vec<usize> = (0..targets.len()).collect();
    let mut predictions = vec![targets.iter().sum::<f64>() / targets.len() as f64; targets.len()];
    for _ in 0..rounds {
        let left: Vec<f64> = targets.iter().zip(&predictions).map(|(target, known)| target - known).collect();
        let mut step = vec![0.0; targets.len()];
        obvious(table, &left, &rows, limits, &mut step);
        predictions.iter_mut().zip(step).for_each(|(prediction, step)| *prediction += rate * step);
    }
    predictions
}

fn columns() -> Vec<Column> {
    vec![Column::ordinal("X"), Column::ordinal("Y"), Column::categorical("C", ["a", "b", "c"]), Column::ordinal("Z")]
}

fn cell() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(f64::NAN), 6 => (0..6_i32).prop_map(f64::from), 3 => -1.0..1.0_f64]
}

/// Rows with gaps, few and many distinct values and levels.
fn table(rows: std::ops::Range<usize>) -> impl Strategy<Value = Table> {
    let level = prop_oneof![1 => Just(f64::NAN), 5 => (0..3_i32).prop_map(f64::from)];
    let row = (cell(), (0..4_i32).prop_map(f64::from), level, cell()).prop_map(|(x, y, c, z)| [x, y, c, z]);
    prop::collection::vec(row, rows).prop_map(|rows| Table::from_rows(columns(), rows))
}

/// Rows without missing values.
fn without_gaps(rows: std::ops::Range<usize>) -> impl Strategy<Value = Table> {
    let number = || prop_oneof![(0..6_i32).prop_map(f64::from), -1.0..1.0_f64];
    let row = (number(), (0..4_i32).prop_map(f64::from), (0..3_i32).prop_map(f64::from), number());
    let row = row.prop_map(|(x, y, c, z)| [x, y, c, z]);
    prop::collection::vec(row, rows).prop_map(|rows| Table::from_rows(columns(), rows))
}

fn numbers_alone(rows: std::ops::Range<usize>) -> impl Strategy<Value = Table> {
    let row = (cell(), cell()).prop_map(|(x, y)| [x, y]);
    let columns = || vec![Column::ordinal("X"), Column::ordinal("Y")];
    prop::collection::vec(row, rows).prop_map(move |rows| Table::from_rows(columns(), rows))
}

/// Targets without ties between different splits.
fn targets(rows: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-10.0..10.0_f64, rows)
}

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn near(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + b.abs()))
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// Fits one model of each kind.
fn models(table: &Table, targets: &[f64]) -> (RegressionTree, BoostedTrees, RandomisedTrees) {
    let tree = RegressionTree::fit(table, targets, &TreeSettings { min_leaf: 1, ..TreeSettings::default() });
    let settings = BoostedSettings { rounds: 7, min_leaf: 2, subsample: 0.7, ..BoostedSettings::default() };
    let boosted = BoostedTrees::fit(table, targets, &settings, &mut rng(3));
    let settings = RandomisedSettings { trees: 5, min_split: 2, ..RandomisedSettings::default() };
    let randomised = RandomisedTrees::fit(table, targets, &settings, &mut rng(3));
    (tree.unwrap(), boosted.unwrap(), randomised.unwrap())
}

proptest! {
    // Each case fits several models.
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn a_tree_predicts_as_the_obvious_one(table in table(1..24), y in targets(24), depth in 0..5_usize) {
        let y = &y[..table.len()];
        let settings = TreeSettings { depth, min_leaf: 1, ..TreeSettings::default() };
        let tree = RegressionTree::fit(&table, y, &settings).unwrap();
        let mean = y.iter().sum::<f64>() / y.len() as f64;
        let centred: Vec<f64> = y.iter().map(|y| y - mean).collect();
        let mut expected = vec![0.0; y.len()];
        let rows: Vec<usize> = (0..y.len()).collect();
        obvious(&table, &centred, &rows, Limits { depth, min_leaf: 1, shrinkage: 0.0 }, &mut expected);
        expected.iter_mut().for_each(|value| *value += mean);
        prop_assert!(near(&tree.predict_all(&table), &expected));
    }

    #[test]
    fn boosting_predicts_as_with_obvious_trees(
        table in numbers_alone(2..24),
        y in targets(24),
        (depth, min_leaf, rounds) in (1..4_usize, 1..5_usize, 1..6_usize),
        (rate, shrinkage) in (0.1..1.0_f64, 0.0..3.0_f64),
    ) {
        let y = &y[..table.len()];
        let settings = BoostedSettings {
            rounds, depth, min_leaf, shrinkage, learning_rate: rate, ..BoostedSettings::default()
        };
        let model = BoostedTrees::fit(&table, y, &settings, &mut rng(1)).unwrap();
        let expected = obviously_boosted(&table, y, Limits { depth, min_leaf, shrinkage }, rounds, rate);
        prop_assert!(near(&model.predict_all(&table), &expected));
    }

    #[test]
    fn rows_together_are_predicted_as_one_by_one(table in table(1..80), y in targets(80), other in table(1..80)) {
        let (tree, boosted, randomised) = models(&table, &y[..table.len()]);
        for model in [&tree as &dyn Regressor, &boosted, &randomised] {
            let one_by_one: Vec<f64> = (0..other.len()).map(|row| model.predict(&other.row(row))).collect();
            prop_assert_eq!(bits(&model.predict_all(&other)), bits(&one_by_one));
        }
        let spread = randomised.spread(&other);
        let means: Vec<f64> = spread.iter().map(|prediction| prediction.mean).collect();
        prop_assert_eq!(bits(&randomised.predict_all(&other)), bits(&means));
        prop_assert!(spread.iter().all(|prediction| prediction.deviation >= 0.0));
    }

    #[test]
    fn a_saved_model_is_the_same_bit_for_bit(table in table(1..60), y in targets(60)) {
        let (tree, boosted, randomised) = models(&table, &y[..table.len()]);
        prop_assert_eq!(&RegressionTree::from_json(&tree.to_json()).unwrap(), &tree);
        prop_assert_eq!(&RandomisedTrees::from_json(&randomised.to_json()).unwrap(), &randomised);
        let again = BoostedTrees::from_json(&boosted.to_json()).unwrap();
        prop_assert_eq!(again.to_json(), boosted.to_json());
        prop_assert_eq!(bits(&again.predict_all(&table)), bits(&boosted.predict_all(&table)));
        // Also as a part of another document.
        let inside: BoostedTrees = serde_json::from_str(&serde_json::to_string(&boosted).unwrap()).unwrap();
        prop_assert_eq!(inside, boosted);
    }

    #[test]
    fn no_damage_to_a_file_makes_it_panic(at in 0.0..1.0_f64, byte in 32..127_u8, cut in any::<bool>()) {
        let table = Table::from_rows(columns(), (0..40).map(|i| [i, i % 3, i % 2, i * i].map(f64::from)));
        let y: Vec<f64> = (0..40).map(|i| f64::from(i % 7)).collect();
        let mut text = models(&table, &y).1.to_json().into_bytes();
        let at = (at * (text.len() - 2) as f64) as usize;
        if cut { text.truncate(at) } else { text[at] = byte }
        let model = BoostedTrees::from_json(std::str::from_utf8(&text).unwrap());
        prop_assert!(!cut || model.is_err());
        if let Ok(model) = model {
            model.predict(&[1.0, f64::NAN, 9.0, f64::INFINITY]);
        }
    }

    #[test]
    fn the_unit_of_the_targets_scales_predictions_and_nothing_else(table in table(1..60), y in targets(60)) {
        let y = &y[..table.len()];
        let scaled: Vec<f64> = y.iter().map(|y| y * 1024.0).collect();
        let (model, larger) = (models(&table, y), models(&table, &scaled));
        let pairs: [(&dyn Regressor, &dyn Regressor); 3] =
            [(&model.0, &larger.0), (&model.1, &larger.1), (&model.2, &larger.2)];
        for (model, larger) in pairs {
            let expected: Vec<f64> = model.predict_all(&table).iter().map(|value| value * 1024.0).collect();
            prop_assert_eq!(bits(&larger.predict_all(&table)), bits(&expected));
        }
    }

    #[test]
    fn best_cuts_are_those_of_the_obvious_tree(
        table in without_gaps(1..24),
        y in targets(24),
        depth in 1..5_usize,
    ) {
        let y = &y[..table.len()];
        let settings = RandomisedSettings { trees: 2, min_split: 2, depth, cuts: Cuts::Best, ..Default::default() };
        let model = RandomisedTrees::fit(&table, y, &settings, &mut rng(5)).unwrap();
        let mut expected = vec![0.0; y.len()];
        let rows: Vec<usize> = (0..y.len()).collect();
        obvious(&table, y, &rows, Limits { depth, min_leaf: 1, shrinkage: 0.0 }, &mut expected);
        prop_assert!(near(&model.predict_all(&table), &expected));
    }

    #[test]
    fn a_randomised_tree_parts_rows_until_every_leaf_is_pure(table in numbers_alone(2..60), y in targets(60)) {
        let mut seen = std::collections::HashSet::new();
        let distinct: Vec<usize> = (0..table.len()).filter(|&row| seen.insert(bits(&table.row(row)))).collect();
        let (table, y) = (table.select(&distinct), &y[..distinct.len()]);
        let settings = RandomisedSettings { trees: 3, min_split: 2, ..RandomisedSettings::default() };
        let model = RandomisedTrees::fit(&table, y, &settings, &mut rng(5)).unwrap();
        prop_assert!(near(&model.predict_all(&table), y));
        prop_assert!(model.spread(&table).iter().all(|prediction| prediction.deviation < 1e-6));
    }
}

#[test]
fn many_distinct_values_are_cut_into_bins_that_lose_little() {
    let table = Table::from_rows(vec![Column::ordinal("X")], (0..5000).map(|x| [f64::from(x)]));
    let y: Vec<f64> = (0..5000).map(|x| if x < 1234 { 5.0 } else { 1.0 }).collect();
    let tree = RegressionTree::fit(&table, &y, &TreeSettings::default()).unwrap();
    let wrong = tree.predict_all(&table).iter().zip(&y).filter(|(a, b)| (*a - *b).abs() > 0.5).count();
    assert!(wrong <= 5000 / 255, "{wrong}");
}

#[test]
fn boosting_learns_a_product_that_one_tree_of_its_depth_does_not() {
    let rows: Vec<[f64; 2]> = (0..900).map(|i| [f64::from(i % 30), f64::from(i / 30)]).collect();
    let y: Vec<f64> = rows.iter().map(|[a, b]| a * b).collect();
    let table = Table::from_rows(vec![Column::ordinal("A"), Column::ordinal("B")], rows);
    let error = |model: &dyn Regressor| {
        model.predict_all(&table).iter().zip(&y).map(|(a, b)| (a - b).abs()).sum::<f64>() / y.len() as f64
    };
    let tree = RegressionTree::fit(&table, &y, &TreeSettings { depth: 4, ..TreeSettings::default() }).unwrap();
    let boosted = BoostedTrees::fit(&table, &y, &BoostedSettings::default(), &mut rng(1)).unwrap();
    let half = BoostedSettings { subsample: 0.5, ..BoostedSettings::default() };
    let half = BoostedTrees::fit(&table, &y, &half, &mut rng(1)).unwrap();
    assert!(error(&boosted) < 0.1 * error(&tree), "{} {}", error(&boosted), error(&tree));
    assert!(error(&half) < 0.2 * error(&tree) && half != boosted);
}

#[test]
fn importance_goes_to_what_the_targets_depend_on() {
    let rows: Vec<[f64; 3]> = (0..512).map(|i| [i % 8, i / 8 % 8, i / 64].map(f64::from)).collect();
    let y: Vec<f64> = rows.iter().map(|row| 10.0 * row[1] + row[2]).collect();
    let names = ["A", "B", "C"].map(Column::ordinal).to_vec();
    let table = Table::from_rows(names, rows);
    let (tree, boosted, randomised) = models(&table, &y);
    for model in [&tree as &dyn Regressor, &boosted, &randomised] {
        let importance = model.importance();
        assert!((importance.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(importance[1] > 0.9 && importance[2] > importance[0], "{importance:?}");
    }
}

#[test]
fn a_seed_gives_the_same_trees_and_more_trees_begin_with_the_fewer() {
    let table = Table::from_rows(vec![Column::ordinal("X")], (0..60).map(|x| [f64::from(x)]));
    let y: Vec<f64> = (0..60).map(|x| f64::from(x % 11)).collect();
    let fit = |trees, seed| {
        let settings = RandomisedSettings { trees, ..RandomisedSettings::default() };
        RandomisedTrees::fit(&table, &y, &settings, &mut rng(seed)).unwrap()
    };
    assert_eq!(fit(10, 1), fit(10, 1));
    assert_ne!(fit(10, 1), fit(10, 2));
    assert_eq!(fit(4, 1).trees(), &fit(10, 1).trees()[..4]);
}

#[test]
fn thresholds_are_drawn_from_the_whole_range_between_the_values() {
    let table = Table::from_rows(vec![Column::ordinal("X")], [[0.0], [10.0]]);
    let settings = RandomisedSettings { trees: 2000, min_split: 2, ..RandomisedSettings::default() };
    let model = RandomisedTrees::fit(&table, &[0.0, 1.0], &settings, &mut rng(1)).unwrap();
    // A threshold below x answers no and so predicts 1: the prediction grows with x like a uniform
    // distribution.
    for x in [1.0, 2.5, 5.0, 9.0] {
        assert!((model.predict(&[x]) - x / 10.0).abs() < 0.03, "{x}: {}", model.predict(&[x]));
    }
}

#[test]
fn a_bootstrapped_tree_sees_some_rows_several_times_and_others_never() {
    let table = Table::from_rows(vec![Column::ordinal("X")], (0..100).map(|x| [f64::from(x)]));
    let targets: Vec<f64> = (0..100).map(f64::from).collect();
    let settings =
        RandomisedSettings { trees: 50, min_split: 2, cuts: Cuts::Best, bootstrap: true, ..Default::default() };
    let model = RandomisedTrees::fit(&table, &targets, &settings, &mut rng(1)).unwrap();
    // A tree has a leaf for each row that it sees: 1 - 1 / e of them.
    let leaves = model.trees().iter().map(|tree| tree.nodes().len().div_ceil(2)).sum::<usize>() as f64 / 50.0;
    assert!((leaves - 63.2).abs() < 3.0, "{leaves}");
    assert!(model.spread(&table).iter().any(|prediction| prediction.deviation > 0.1), "the trees differ");
}

#[test]
fn constant_targets_and_tables_without_columns_give_the_mean() {
    let table = Table::from_rows(vec![Column::ordinal("X")], (0..20).map(|x| [f64::from(x)]));
    let empty = Table::from_rows(Vec::new(), vec![[0.0; 0]; 20]);
    for table in [table, empty] {
        let (tree, boosted, randomised) = models(&table, &[0.1; 20]);
        for model in [&tree as &dyn Regressor, &boosted, &randomised] {
            assert!(near(&model.predict_all(&table), &[0.1; 20]));
        }
        assert_eq!(tree.tree().nodes().len(), 1);
    }
}

#[test]
fn data_and_settings_out_of_range_are_refused_by_name() {
    let table = Table::from_rows(vec![Column::ordinal("X")], (0..3).map(|x| [f64::from(x)]));
    let fit = |targets: &[f64], settings: &BoostedSettings| {
        BoostedTrees::fit(&table, targets, settings, &mut rng(1)).unwrap_err().to_string()
    };
    let standard = BoostedSettings::default();
    assert_eq!(fit(&[1.0], &standard), "there are 1 targets for 3 rows; give one for each");
    assert!(fit(&[1.0, f64::NAN, 2.0], &standard).starts_with("the target of row 1 is NaN"));
    assert!(fit(&[1.0, 1e200, 2.0], &standard).starts_with("the target of row 1 is 1"));
    let rate = BoostedSettings { learning_rate: 0.0, ..standard.clone() };
    assert!(fit(&[1.0; 3], &rate).contains("`learning_rate` cannot be 0: it is a number above 0"));
    assert!(fit(&[1.0; 3], &BoostedSettings { bins: 256, ..standard.clone() }).contains("`bins` cannot be 256"));
    assert!(fit(&[1.0; 3], &BoostedSettings { shrinkage: f64::NAN, ..standard }).contains("`shrinkage`"));
    let none = Table::new(vec![Column::ordinal("X")]);
    let error = RegressionTree::fit(&none, &[], &TreeSettings::default()).unwrap_err();
    assert_eq!(error.to_string(), "there are no rows to fit a model to");
}

#[test]
fn foreign_newer_other_and_damaged_files_are_told_apart() {
    let table = Table::from_rows(columns(), (0..40).map(|i| [i, i % 3, i % 2, i * i].map(f64::from)));
    let y: Vec<f64> = (0..40).map(|i| f64::from(i % 7)).collect();
    let text = models(&table, &y).0.to_json();
    let read = |text: &str| RegressionTree::from_json(text).unwrap_err();
    let edited = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} is not in {text}");
        read(&text.replacen(from, to, 1))
    };
    assert!(matches!(read(""), ModelError::Json(_)));
    assert!(matches!(read("{\"trees\": []}"), ModelError::Foreign { .. }));
    assert!(matches!(read("[1, 2]"), ModelError::Foreign { .. }));
    assert!(matches!(edited("tunesmith trees", "xgboost"), ModelError::Foreign { .. }));
    assert!(matches!(edited("\"version\": 1", "\"version\": 2"), ModelError::Newer { found: 2, known: 1 }));
    assert!(matches!(edited("regression_tree", "boosted_trees"), ModelError::Kind { .. }));
    let damaged = |from: &str, to: &str| match edited(from, to) {
        ModelError::Damaged { what } => what,
        other => panic!("{other}"),
    };
    assert!(damaged("\"yes\":1,", "\"yes\":0,").contains("tree 0, node 0"));
    assert!(damaged("\"yes\":1,\"no\":2", "\"yes\":3,\"no\":4").contains("node 1: 0 nodes lead to it"));
    assert!(damaged("\"no\":2", "\"no\":5").contains("`no` is 5; it follows `yes`"));
    assert!(damaged("\"column\":\"", "\"column\":\"Q").contains("there is no column `Q"));
    assert!(damaged("{\"name\":\"X\"}", "{\"name\":\"Y\"}").contains("have the name `Y`"));
    assert!(damaged("\"version\": 1", "\"version\": \"one\"").contains("`version`"));
}
