//! A portfolio: a few configurations of one kernel for one device, and the tree that chooses among
//! them.

use super::{Config, Costs, DecisionTree, Input, TreeOptions, choose_members, outside};

/// A few configurations of a kernel on a device, and the tree that chooses one for an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Portfolio {
    /// The kernel or problem.
    pub kernel: String,
    /// The device's name.
    pub device: String,
    /// The sizes that tell inputs apart, in the order of the tree's features.
    pub features: Vec<String>,
    /// The smallest and the largest value of each feature among the inputs it was made from.
    pub hull: Vec<(f64, f64)>,
    /// The configurations.
    pub configs: Vec<Config>,
    /// The tree that chooses a configuration for an input.
    pub tree: DecisionTree,
    /// The cost of shipping no more than these configurations.
    pub regret: Regret,
}

/// The slowdown relative to the best configuration known for an input, as a share of its time: 0.02
/// is 2 %.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Regret {
    /// Number of inputs that the regret is known for.
    pub inputs: usize,
    /// Mean regret of the best of the portfolio's configurations for each input.
    pub portfolio: f64,
    /// Mean regret of the configuration that the tree chooses.
    pub tree: f64,
    /// Largest regret of the configuration that the tree chooses.
    pub worst: f64,
    /// Mean regret on inputs held out: each is chosen for by a tree that was grown without it.
    /// Expect this regret for inputs that nobody measured.
    pub held_out: f64,
    /// Mean regret of the default configuration, over the inputs that it was measured for.
    pub default: Option<f64>,
}

/// The times that a portfolio is made from, of one kernel on one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The inputs.
    pub inputs: Vec<Input>,
    /// The configurations.
    pub configs: Vec<Config>,
    /// The time in milliseconds of each configuration for each input, with a row for each input;
    /// `None` if it failed or was not measured.
    pub times_ms: Vec<Vec<Option<f64>>>,
    /// Number of the default configuration.
    pub default: Option<usize>,
}

/// Options for making a portfolio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortfolioOptions {
    /// Maximum number of configurations.
    pub most: usize,
    /// Limits on the tree's growth.
    pub tree: TreeOptions,
    /// Number of a configuration that is always included.
    pub always: Option<usize>,
}

impl Default for PortfolioOptions {
    /// Eight configurations: more are a burden to compile and test.
    fn default() -> Self {
        Self { most: 8, tree: TreeOptions::default(), always: None }
    }
}

/// No portfolio can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PortfolioError {
    /// No configuration was correct for any input.
    #[error("no configuration was correct for any input")]
    NothingCorrect,
    /// No configuration was requested.
    #[error("a portfolio has at least one configuration")]
    NoMembers,
}

impl Portfolio {
    /// Chooses the configurations and grows the tree.
    ///
    /// Sizes that are the same in all inputs are not features. Costs as much as [`choose_members`]
    /// plus, for the held-out regret, a tree for each input.
    ///
    /// # Errors
    /// There is nothing to choose from.
    pub fn new(
        kernel: impl Into<String>,
        device: impl Into<String>,
        measured: &Measured,
        options: PortfolioOptions,
    ) -> Result<Self, PortfolioError> {
        let (costs, kept) = Costs::new(&measured.times_ms);
        if kept.is_empty() {
            return Err(PortfolioError::NothingCorrect);
        }
        let members = choose_members(&costs, options.most, options.always);
        if members.is_empty() {
            return Err(PortfolioError::NoMembers);
        }
        let inputs: Vec<&Input> = kept.iter().map(|input| &measured.inputs[*input]).collect();
        let features = features(&inputs);
        let rows: Vec<Vec<f64>> = inputs.iter().map(|input| row(input, &features)).collect();
        let of_members: Vec<Vec<f64>> =
            costs.rows().iter().map(|row| members.iter().map(|member| row[*member]).collect()).collect();
        let tree = DecisionTree::fit(&rows, &of_members, options.tree);
        let default = measured.default.and_then(|default| default_regret(&measured.times_ms, default));
        let portfolio = mean(costs.best_of(&members)) - 1.0;
        let regret = Regret { portfolio, default, ..regret(&rows, &of_members, &tree, options.tree) };
        Ok(Self {
            kernel: kernel.into(),
            device: device.into(),
            hull: (0..features.len()).map(|feature| range(&rows, feature)).collect(),
            features,
            configs: members.iter().map(|member| measured.configs[*member].clone()).collect(),
            tree,
            regret,
        })
    }

    /// Returns the configuration for `input`.
    pub fn choose(&self, input: &Input) -> &Config {
        &self.configs[self.tree.choose(&row(input, &self.features))]
    }

    /// Returns the distance of these features from the measured inputs, in doublings; 0 inside. The
    /// hull is a box: an input lies inside if each of its sizes does, in any combination.
    pub fn outside(&self, features: &[f64]) -> f64 {
        let value = |at| features.get(at).copied().unwrap_or(f64::NAN);
        outside(self.hull.iter().enumerate().map(|(at, range)| (value(at), *range)))
    }
}

/// Returns the names of the sizes that differ among the inputs.
fn features(inputs: &[&Input]) -> Vec<String> {
    let mut names: Vec<&String> = inputs.iter().flat_map(|input| input.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let differs = |name: &&&String| inputs.iter().any(|input| input.get(**name) != inputs[0].get(**name));
    names.iter().filter(differs).map(|name| (*name).clone()).collect()
}

fn row(input: &Input, features: &[String]) -> Vec<f64> {
    features.iter().map(|name| input.get(name).copied().unwrap_or(f64::NAN)).collect()
}

fn range(rows: &[Vec<f64>], feature: usize) -> (f64, f64) {
    let values = rows.iter().map(|row| row[feature]).filter(|value| !value.is_nan());
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0usize, 0.0), |(count, sum), value| (count + 1, sum + value));
    sum / count.max(1) as f64
}

/// Returns the regret of the tree, both for inputs it was grown from and for inputs held out.
fn regret(rows: &[Vec<f64>], costs: &[Vec<f64>], tree: &DecisionTree, options: TreeOptions) -> Regret {
    let chosen: Vec<f64> = rows.iter().zip(costs).map(|(row, costs)| costs[tree.choose(row)] - 1.0).collect();
    let held_out = (0..rows.len()).map(|out| {
        let others = |all: &[Vec<f64>]| -> Vec<Vec<f64>> {
            all.iter().enumerate().filter(|(at, _)| *at != out).map(|(_, row)| row.clone()).collect()
        };
        let tree = DecisionTree::fit(&others(rows), &others(costs), options);
        costs[out][tree.choose(&rows[out])] - 1.0
    });
    Regret {
        inputs: rows.len(),
        tree: mean(chosen.iter().copied()),
        worst: chosen.iter().copied().fold(0.0, f64::max),
        held_out: mean(held_out),
        ..Regret::default()
    }
}

fn default_regret(times_ms: &[Vec<Option<f64>>], default: usize) -> Option<f64> {
    let best = |row: &[Option<f64>]| row.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let of = |row: &Vec<Option<f64>>| Some(row.get(default).copied().flatten()? / best(row) - 1.0);
    let regrets: Vec<f64> = times_ms.iter().filter_map(of).collect();
    (!regrets.is_empty()).then(|| mean(regrets.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_space::Value;

    /// Small inputs want tile 1 and large ones tile 2. Tile 4 is never best. N is 8, 16, ... 1024.
    fn measured() -> Measured {
        let inputs: Vec<Input> =
            (3..11).map(|power| [("N".to_string(), f64::from(1 << power)), ("K".to_string(), 5.0)].into()).collect();
        let times = |input: &Input| {
            let large = input["N"] >= 128.0;
            vec![Some(if large { 3.0 } else { 1.0 }), Some(if large { 1.0 } else { 2.0 }), Some(2.5)]
        };
        Measured {
            times_ms: inputs.iter().map(times).collect(),
            inputs,
            configs: [1, 2, 4].map(|tile| vec![("TILE".to_string(), Value::Int(tile))]).to_vec(),
            default: Some(2),
        }
    }

    #[test]
    fn a_portfolio_of_two_serves_inputs_of_two_kinds() {
        let options = PortfolioOptions { most: 2, ..PortfolioOptions::default() };
        let portfolio = Portfolio::new("k", "d", &measured(), options).unwrap();
        assert_eq!(portfolio.features, ["N"], "K is the same everywhere");
        assert_eq!(portfolio.hull, [(8.0, 1024.0)]);
        assert_eq!(portfolio.configs.len(), 2);
        assert_eq!((portfolio.tree.choose(&[95.0]), portfolio.tree.choose(&[97.0])), (0, 1));
        let Regret { inputs, portfolio: of_members, tree, worst, default, .. } = portfolio.regret;
        assert_eq!((inputs, of_members, tree, worst, default), (8, 0.0, 0.0, 0.0, Some(1.5)));
    }

    #[test]
    fn shipping_one_configuration_has_its_price() {
        let options = PortfolioOptions { most: 1, ..PortfolioOptions::default() };
        let portfolio = Portfolio::new("k", "d", &measured(), options).unwrap();
        assert_eq!((portfolio.regret.tree, portfolio.regret.worst), (0.5, 1.0));
        assert_eq!(portfolio.tree.depth(), 0);
    }

    #[test]
    fn inputs_outside_of_the_hull_are_told_with_their_distance() {
        let portfolio = Portfolio::new("k", "d", &measured(), PortfolioOptions::default()).unwrap();
        assert_eq!(
            (portfolio.outside(&[100.0]), portfolio.outside(&[4096.0]), portfolio.outside(&[4.0])),
            (0.0, 2.0, 1.0)
        );
        assert!(portfolio.outside(&[f64::NAN]) > 60.0 && portfolio.outside(&[]) > 60.0);
    }

    #[test]
    fn nothing_to_choose_from_is_an_error() {
        let nothing = Measured { times_ms: vec![vec![None; 3]; 8], ..measured() };
        let of = |measured, most| Portfolio::new("k", "d", measured, PortfolioOptions { most, ..Default::default() });
        assert_eq!(of(&nothing, 2), Err(PortfolioError::NothingCorrect));
        assert_eq!(of(&measured(), 0), Err(PortfolioError::NoMembers));
    }
}
