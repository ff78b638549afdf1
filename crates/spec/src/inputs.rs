//! The `[inputs]` of a problem: the sizes that `tune --inputs` tunes it for.

use tunesmith_core::Stop;
use tunesmith_search::StrategySpec;
use tunesmith_space::{Expr, Value};

/// An input: the values of its sizes.
pub type Input = Vec<(String, Value)>;

/// The inputs of a problem, and the runs that tune each.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Sizes with their values. All combinations are inputs.
    pub values: Vec<(String, Vec<Value>)>,
    /// Sizes computed from those before them, unless an input names them.
    pub derived: Vec<(String, Expr)>,
    /// Inputs that are listed one by one.
    pub list: Vec<Input>,
    /// The condition that an input meets.
    pub filter: Option<Expr>,
    /// The number of combinations to draw. Without one, all are inputs.
    pub count: Option<usize>,
    /// The seed of the draw.
    pub seed: u64,
    /// Features of an input besides its sizes, for models: names and expressions over sizes.
    pub features: Vec<(String, Expr)>,
    /// The runs that tune each input, in this order.
    pub runs: Vec<InputRun>,
}

/// One tuning run of every input.
#[derive(Clone, Debug, PartialEq)]
pub struct InputRun {
    /// The strategy.
    pub strategy: StrategySpec,
    /// Its own stop condition, if it has one.
    pub stop: Option<Stop>,
}

/// Maximum number of combinations.
pub const MOST_INPUTS: usize = 1 << 20;

impl Inputs {
    /// Returns the number of combinations, if it is at most [`MOST_INPUTS`].
    pub fn combinations(&self) -> Option<usize> {
        if self.values.is_empty() {
            return Some(0);
        }
        let product = self.values.iter().try_fold(1_usize, |all, (_, values)| all.checked_mul(values.len()));
        product.filter(|all| *all <= MOST_INPUTS)
    }

    /// Returns the combination with this number. The last size counts fastest.
    pub fn combination(&self, mut index: usize) -> Input {
        let mut input: Input = Vec::with_capacity(self.values.len());
        for (name, values) in self.values.iter().rev() {
            input.push((name.clone(), values[index % values.len()].clone()));
            index /= values.len();
        }
        input.reverse();
        input
    }
}
