//! The learners behind one function each.

use forust_ml::objective::ObjectiveType;
use forust_ml::{GradientBooster, Matrix};
use gbdt::config::Config;
use gbdt::decision_tree::{Data as Row, DataVec};
use gbdt::gradient_boost::GBDT;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use tunesmith_model::{BoostedSettings, BoostedTrees, Column, Regressor, Table};

/// Rows of numbers with a target each.
pub struct Data {
    rows: Vec<Vec<f64>>,
    pub targets: Vec<f64>,
}

/// What predicts the targets of rows.
type Model = Box<dyn Fn(&Data) -> Vec<f64>>;

pub const LEARNERS: [(&str, fn(&Data) -> Model); 3] =
    [("tunesmith", ours), ("forust-ml", forust), ("gbdt", gradient_boosting)];

const ROUNDS: usize = 100;
const DEPTH: usize = 4;
const LEAF: usize = 10;
const RATE: f32 = 0.1;

impl Data {
    pub fn of(pairs: Vec<(Vec<f64>, f64)>) -> Self {
        let (rows, targets) = pairs.into_iter().unzip();
        Self { rows, targets }
    }

    /// The root mean square error.
    pub fn error(&self, predictions: &[f64]) -> f64 {
        let squares = predictions.iter().zip(&self.targets).map(|(found, target)| (found - target).powi(2));
        (squares.sum::<f64>() / self.targets.len() as f64).sqrt()
    }

    fn features(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    fn table(&self) -> Table {
        let columns = (0..self.features()).map(|index| Column::ordinal(format!("F{index}"))).collect();
        Table::from_rows(columns, &self.rows)
    }

    /// Column after column.
    fn columns(&self) -> Vec<f64> {
        (0..self.features()).flat_map(|column| self.rows.iter().map(move |row| row[column])).collect()
    }

    fn vectors(&self) -> DataVec {
        let row = |(row, target): (&Vec<f64>, &f64)| {
            let row = row.iter().map(|cell| *cell as f32).collect();
            Row::new_training_data(row, 1.0, *target as f32, None)
        };
        self.rows.iter().zip(&self.targets).map(row).collect()
    }
}

fn ours(data: &Data) -> Model {
    let settings = BoostedSettings {
        rounds: ROUNDS,
        depth: DEPTH,
        min_leaf: LEAF,
        learning_rate: f64::from(RATE),
        ..BoostedSettings::default()
    };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let model = BoostedTrees::fit(&data.table(), &data.targets, &settings, &mut rng).expect("finite targets");
    Box::new(move |data| model.predict_all(&data.table()))
}

fn forust(data: &Data) -> Model {
    let columns = data.columns();
    let matrix = Matrix::new(&columns, data.rows.len(), data.features());
    let mut model = GradientBooster::default()
        .set_objective_type(ObjectiveType::SquaredLoss)
        .set_iterations(ROUNDS)
        .set_max_depth(DEPTH)
        .set_max_leaves(1 << DEPTH)
        .set_min_leaf_weight(LEAF as f32)
        .set_learning_rate(RATE)
        .set_l2(0.0)
        .set_initialize_base_score(true)
        .set_parallel(false);
    model.fit_unweighted(&matrix, &data.targets, None).expect("finite targets");
    Box::new(move |data| {
        let columns = data.columns();
        model.predict(&Matrix::new(&columns, data.rows.len(), data.features()), false)
    })
}

fn gradient_boosting(data: &Data) -> Model {
    let mut config = Config::new();
    config.set_feature_size(data.features());
    config.set_max_depth(DEPTH as u32);
    config.set_min_leaf_size(LEAF);
    config.set_iterations(ROUNDS);
    config.set_shrinkage(RATE);
    config.set_loss("SquaredError");
    config.set_training_optimization_level(2);
    let mut model = GBDT::new(&config);
    model.fit(&mut data.vectors());
    Box::new(move |data| model.predict(&data.vectors()).into_iter().map(f64::from).collect())
}
