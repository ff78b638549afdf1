//! A portfolio: a few configurations of one kernel for one device, and the rule that chooses among
//! them.

use super::selection::{Data, Fitted};
use super::{Candidate, Chooser, Config, Costs, Input, Measured, Rules, TreeOptions, Tried};
use crate::Judgement;
use std::collections::BTreeSet;

/// A few configurations of a kernel on a device, and the rule that chooses one for an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Portfolio {
    /// The kernel or problem.
    pub kernel: String,
    /// The device's name.
    pub device: String,
    /// All sizes, in the order of the problem file: features and constants.
    pub sizes: Vec<String>,
    /// The sizes that tell inputs apart, in the order of the chooser's sizes.
    pub features: Vec<String>,
    /// The sizes that are the same in all inputs it was made from.
    pub constants: Input,
    /// The configurations.
    pub configs: Vec<Config>,
    /// Chooses a configuration for an input.
    pub chooser: Chooser,
    /// The cost of shipping no more than these configurations.
    pub regret: Regret,
    /// The judgement of its choices at fresh sizes; `None` if nobody measured any. One that is
    /// [not faster](Judgement::is_faster) is that of the choices that the default replaced.
    pub judgement: Option<Judgement>,
}

/// The slowdown relative to the best configuration known for an input, as a share of its time: 0.02
/// is 2 %.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Regret {
    /// Number of inputs that the regret is known for.
    pub inputs: usize,
    /// Mean regret of the best of the portfolio's configurations for each input.
    pub portfolio: f64,
    /// Mean regret of the configuration that is chosen.
    pub chosen: f64,
    /// Largest regret of the configuration that is chosen.
    pub worst: f64,
    /// The same choice made without the input that it is for; `None` if nothing was held out.
    /// Expect this regret for inputs that nobody measured.
    pub held_out: Option<HeldOutRegret>,
    /// Mean regret of the default configuration, over the inputs that it was measured for.
    pub default: Option<f64>,
}

/// The regret of choices for inputs held out: each is chosen for by a rule and among configurations
/// that were found without it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeldOutRegret {
    /// Mean regret.
    pub mean: f64,
    /// Largest regret.
    pub worst: f64,
    /// Largest slowdown relative to the default, as a share of its time; negative if every choice
    /// was faster. `None` if the default was not measured.
    pub over_default: Option<f64>,
    /// Mean regret of the one configuration that is best for the other inputs.
    pub fixed: f64,
    /// Number of choices that were not measured. They count as the slowest configuration known.
    pub unknown: usize,
}

/// Options for making a portfolio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortfolioOptions {
    /// Maximum number of configurations.
    pub most: usize,
    /// Limits on the tree's growth.
    pub tree: TreeOptions,
    /// Number of a configuration that is always included, and that serves inputs far outside.
    pub always: Option<usize>,
    /// The rules to select from.
    pub rules: Rules,
    /// True to leave out the configurations that the rule never chooses: code has no use for them.
    /// A [timing model](crate::timing) has, since it chooses among all.
    pub only_chosen: bool,
}

impl Default for PortfolioOptions {
    /// Eight configurations: more are a burden to compile and test.
    fn default() -> Self {
        Self { most: 8, tree: TreeOptions::default(), always: None, rules: Rules::Judged, only_chosen: false }
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
    /// Chooses the configurations and the rule.
    ///
    /// Sizes that are the same in all inputs are not features. See [`judged`](Self::judged) for the
    /// cost.
    ///
    /// # Errors
    /// There is nothing to choose from.
    pub fn new(
        kernel: impl Into<String>,
        device: impl Into<String>,
        measured: &Measured,
        options: PortfolioOptions,
    ) -> Result<Self, PortfolioError> {
        Self::judged(kernel, device, measured, options).map(|(portfolio, _)| portfolio)
    }

    /// Chooses the configurations and the rule, and returns all rules that were tried with their
    /// results on inputs held out.
    ///
    /// Costs as much as [`choose_members`](super::choose_members) and the fit of seven small rules
    /// for each of at most 24 parts of the inputs.
    ///
    /// # Errors
    /// There is nothing to choose from.
    pub fn judged(
        kernel: impl Into<String>,
        device: impl Into<String>,
        measured: &Measured,
        options: PortfolioOptions,
    ) -> Result<(Self, Vec<Tried>), PortfolioError> {
        let (costs, kept) = Costs::new(&measured.times_ms);
        if kept.is_empty() {
            return Err(PortfolioError::NothingCorrect);
        }
        if options.most == 0 {
            return Err(PortfolioError::NoMembers);
        }
        let inputs: Vec<&Input> = kept.iter().map(|input| &measured.inputs[*input]).collect();
        let names = in_order(&measured.sizes, inputs.iter().flat_map(|input| input.keys()));
        let features = features(&inputs, &names);
        let sizes: Vec<Vec<f64>> = inputs.iter().map(|input| row(input, &features)).collect();
        let time = |input: usize, config: usize| measured.times_ms[kept[input]].get(config).copied().flatten();
        let of_default = |default: usize| -> Vec<Option<f64>> {
            (0..kept.len()).map(|input| time(input, default).map(|_| costs.rows()[input][default])).collect()
        };
        let default = measured.default.map(|default| (default, of_default(default)));
        let (fitted, tried) = Data {
            costs: &costs,
            inputs: &sizes,
            default: default.as_ref().map(|(default, costs)| (*default, costs.as_slice())),
            is_known: &|input, config| time(input, config).is_some(),
            most: options.most,
            always: options.always,
            tree: options.tree,
        }
        .select(options.rules);
        let Fitted { members, chooser, candidate } = if options.only_chosen { fitted.only_chosen() } else { fitted };
        let of_default = default.iter().flat_map(|(_, costs)| costs.iter().flatten().map(|cost| cost - 1.0));
        let chosen: Vec<f64> =
            sizes.iter().zip(costs.rows()).map(|(sizes, row)| row[members[chooser.choose(sizes)]] - 1.0).collect();
        let regret = Regret {
            inputs: sizes.len(),
            portfolio: mean(costs.best_of(&members)).unwrap_or(1.0) - 1.0,
            worst: chosen.iter().copied().fold(0.0, f64::max),
            chosen: mean(chosen.into_iter()).unwrap_or(0.0),
            held_out: held_out(&tried, candidate),
            default: mean(of_default),
        };
        let constants = inputs[0].iter().filter(|(name, _)| !features.contains(name));
        let constants = constants.map(|(name, size)| (name.clone(), *size)).collect();
        let configs = members.iter().map(|member| measured.configs[*member].clone()).collect();
        let (kernel, device) = (kernel.into(), device.into());
        let judgement = None;
        Ok((Self { kernel, device, sizes: names, features, constants, configs, chooser, regret, judgement }, tried))
    }

    /// Returns the configuration for `input`.
    pub fn choose(&self, input: &Input) -> &Config {
        &self.configs[self.chooser.choose(&row(input, &self.features))]
    }
}

/// Returns the result of the selected rule on inputs held out.
fn held_out(tried: &[Tried], selected: Candidate) -> Option<HeldOutRegret> {
    let of = |candidate| tried.iter().find(|tried| tried.candidate == candidate);
    let (own, fixed) = (of(selected)?, of(Candidate::Fixed)?);
    let Tried { held_out: mean, worst, over_default, unknown, .. } = *own;
    Some(HeldOutRegret { mean, worst, over_default, fixed: fixed.held_out, unknown })
}

/// Returns each of `names` once: those of `order` in that order, then the others in their own.
pub(crate) fn in_order<'a>(order: &[String], names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut left: BTreeSet<&String> = names.collect();
    let known: Vec<String> = order.iter().filter(|name| left.remove::<String>(name)).cloned().collect();
    known.into_iter().chain(left.into_iter().cloned()).collect()
}

/// Returns those of `names` whose sizes differ among the inputs.
fn features(inputs: &[&Input], names: &[String]) -> Vec<String> {
    let differs = |name: &&String| inputs.iter().any(|input| input.get(*name) != inputs[0].get(*name));
    names.iter().filter(differs).cloned().collect()
}

fn row(input: &Input, features: &[String]) -> Vec<f64> {
    features.iter().map(|name| input.get(name).copied().unwrap_or(f64::NAN)).collect()
}

/// Returns the mean of `values`, or `None` if there are none.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0usize, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wisdom::{Axes, Coverage, Neighbours, Rule};
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
            sizes: Vec::new(),
        }
    }

    #[test]
    fn a_portfolio_of_two_serves_inputs_of_two_kinds() {
        let options = PortfolioOptions { most: 2, ..PortfolioOptions::default() };
        let portfolio = Portfolio::new("k", "d", &measured(), options).unwrap();
        assert_eq!((portfolio.features, portfolio.constants), (vec!["N".to_string()], [("K".into(), 5.0)].into()));
        assert_eq!(portfolio.configs.len(), 2);
        let chosen = |size: f64| portfolio.chooser.choose(&[size]);
        assert_eq!((chosen(90.0), chosen(92.0)), (0, 1), "the middle of 64 and 128 in doublings");
        let Regret { inputs, portfolio: of_members, chosen, worst, default, .. } = portfolio.regret;
        assert_eq!((inputs, of_members, chosen, worst, default), (8, 0.0, 0.0, 0.0, Some(1.5)));
    }

    #[test]
    fn shipping_one_configuration_has_its_price() {
        let options = PortfolioOptions { most: 1, ..PortfolioOptions::default() };
        let portfolio = Portfolio::new("k", "d", &measured(), options).unwrap();
        assert_eq!((portfolio.regret.chosen, portfolio.regret.worst), (0.5, 1.0));
        assert!(portfolio.chooser.rule.is_one_for_all());
    }

    #[test]
    fn far_outside_the_most_robust_configuration_is_chosen_even_if_it_is_the_default() {
        // Tile 4 is never best, and never more than a tenth slower. Tiles 1 and 2 are, at times.
        let mut measured = measured();
        measured.times_ms.iter_mut().for_each(|times| times[2] = Some(1.1));
        let portfolio = Portfolio::new("k", "d", &measured, PortfolioOptions::default()).unwrap();
        let tile = |size: f64| portfolio.choose(&[("N".to_string(), size)].into())[0].1.clone();
        assert_eq!([8.0, 1024.0, 2048.0].map(tile), [1, 2, 2].map(Value::Int));
        assert_eq!([3.0, 2050.0, f64::NAN].map(tile), [4, 4, 4].map(Value::Int));
    }

    /// Inputs whose best configuration follows no rule: each has one of its own that was not
    /// measured elsewhere. One more is slower by this factor for all of them.
    fn scattered(default: Option<usize>, slower: f64) -> Measured {
        let input = |n: i32| -> Input { [("N".to_string(), 2f64.powi(n)), ("M".to_string(), 3f64.powi(n % 3))].into() };
        let times =
            |own: usize| (0..7).map(|at| if at == own { Some(1.0) } else { (at == 6).then_some(slower) }).collect();
        Measured {
            inputs: (4..10).map(input).collect(),
            configs: (0..7).map(|tile| vec![("TILE".to_string(), Value::Int(tile))]).collect(),
            times_ms: (0..6).map(times).collect(),
            default,
            sizes: Vec::new(),
        }
    }

    #[test]
    fn no_rule_ships_that_does_worse_on_inputs_held_out_than_one_configuration() {
        let options = PortfolioOptions::default();
        for (default, slower) in [(Some(6), 1.05), (None, 1.05), (Some(6), 1.9)] {
            let (portfolio, tried) = Portfolio::judged("k", "d", &scattered(default, slower), options).unwrap();
            assert_eq!(portfolio.configs, [vec![("TILE".to_string(), Value::Int(6))]]);
            let held_out = portfolio.regret.held_out.unwrap();
            assert!((held_out.mean - (slower - 1.0)).abs() < 1e-9 && held_out.unknown == 0, "{held_out:?}");
            assert!(tried.iter().all(|tried| tried.held_out > held_out.mean - 1e-9), "{tried:?}");
        }
        let forced = PortfolioOptions { rules: Rules::Apart, ..options };
        let portfolio = Portfolio::new("k", "d", &scattered(Some(6), 1.9), forced).unwrap();
        assert!(!portfolio.chooser.rule.is_one_for_all());
        let held_out = portfolio.regret.held_out.unwrap();
        assert!(held_out.mean > 0.95 && held_out.unknown > 0, "{held_out:?}");
    }

    #[test]
    fn a_gain_is_not_worth_a_choice_that_is_slower_than_the_default() {
        // Tile 1 gains 5 % for all inputs but the last, which takes it half as long again.
        let measured = |slow: f64| {
            let inputs: Vec<Input> = (4..10).map(|n| [("N".to_string(), 2f64.powi(n))].into()).collect();
            let times = |at: i32| vec![Some(if at == 5 { slow } else { 0.95 }), Some(1.0)];
            let configs = [1, 2].map(|tile| vec![("TILE".to_string(), Value::Int(tile))]).to_vec();
            let times_ms = (0..6).map(times).collect();
            Measured { times_ms, inputs, configs, default: Some(1), ..Measured::default() }
        };
        let one = |slow| Portfolio::new("k", "d", &measured(slow), PortfolioOptions::default()).unwrap();
        let chosen = |slow| one(slow).choose(&[("N".to_string(), 32.0)].into())[0].1.clone();
        assert_eq!((chosen(0.95), chosen(1.5)), (Value::Int(1), Value::Int(2)));
    }

    #[test]
    fn the_volume_decides_where_neither_side_does() {
        // Tile 1 for areas below 2^16, whatever the aspect.
        let sides = (4..13).flat_map(|a| (4..13).map(move |b| (a, b))).filter(|(a, b)| (a * 5 + b * 3) % 4 == 0);
        let inputs: Vec<Input> =
            sides.map(|(a, b)| [("W".to_string(), 2f64.powi(a)), ("H".to_string(), 2f64.powi(b))].into()).collect();
        let is_small = |input: &Input| input["W"] * input["H"] < 65_536.0;
        let times = |input: &Input| if is_small(input) { [1.0, 2.0] } else { [2.0, 1.0] }.map(Some).to_vec();
        let configs = [1, 2].map(|tile| vec![("TILE".to_string(), Value::Int(tile))]).to_vec();
        let times_ms = inputs.iter().map(times).collect();
        let sizes = vec!["W".to_string(), "H".to_string()];
        let measured = Measured { sizes, times_ms, inputs, configs, default: Some(0) };
        let portfolio = Portfolio::new("k", "d", &measured, PortfolioOptions::default()).unwrap();
        let text = portfolio.chooser.rule.describe(&portfolio.features);
        assert!(text.contains("W * H"), "{text}");
        assert_eq!(portfolio.sizes, ["W", "H"], "in the order of the problem");
        let tile = |w: f64, h: f64| portfolio.choose(&[("W".to_string(), w), ("H".to_string(), h)].into())[0].1.clone();
        assert_eq!([tile(4000.0, 18.0), tile(18.0, 1000.0), tile(170.0, 170.0)], [2, 1, 1].map(Value::Int));
    }

    #[test]
    fn configurations_that_are_never_chosen_are_left_out_and_every_choice_stays() {
        // Tile 4 is the best of the largest input alone, which a leaf of two inputs cannot single out.
        let mut measured = measured();
        measured.times_ms[7][2] = Some(0.5);
        let with = |only_chosen| {
            let options = PortfolioOptions { only_chosen, ..PortfolioOptions::default() };
            Portfolio::new("k", "d", &measured, options).unwrap()
        };
        let (all, chosen) = (with(false), with(true));
        assert_eq!((all.configs.len(), chosen.configs.len()), (3, 2), "{all:?}");
        for size in [1.0, 8.0, 64.0, 100.0, 1024.0, 4096.0] {
            let input = [("N".to_string(), size)].into();
            assert_eq!(all.choose(&input), chosen.choose(&input));
        }
        assert!(chosen.regret.portfolio > all.regret.portfolio, "the best of fewer");
        assert_eq!(chosen.regret.worst, all.regret.worst);
    }

    #[test]
    fn of_the_inputs_nearby_only_a_member_that_another_beats_everywhere_is_left_out() {
        let costs = [[1.0, 1.2, 2.0, 1.2], [1.0, 1.2, 0.9, 1.2]].map(|costs| costs.to_vec());
        let near = Neighbours::fit(&[vec![8.0], vec![64.0]], &costs, Axes::Sizes, 0.5).unwrap();
        let coverage = Coverage::of(&[vec![8.0], vec![64.0]]);
        let chooser = Chooser { rule: Rule::Near(near), coverage, robust: Some(3) };
        assert_eq!(chooser.chosen(), [0, 2, 3], "1 is never better than 0, and 3 serves inputs far away");
        let among = chooser.among(&chooser.chosen());
        for size in [1.0, 8.0, 20.0, 40.0, 64.0, 1000.0] {
            assert_eq!(chooser.choose(&[size]), [0, 2, 3][among.choose(&[size])], "{size}");
        }
        let fixed = Chooser { rule: Rule::always(1), coverage: Coverage::default(), robust: Some(0) };
        assert_eq!(fixed.chosen(), [1], "without sizes no input is far");
        assert_eq!(fixed.among(&[1]).choose(&[]), 0);
    }

    /// Returns the portfolio of one configuration for each of these sizes.
    fn winners(of: &[(&[f64], i64)], most: usize) -> Portfolio {
        let mut tiles: Vec<i64> = of.iter().map(|(_, tile)| *tile).collect();
        tiles.sort_unstable();
        tiles.dedup();
        let input = |sizes: &[f64]| ["M", "N"].into_iter().map(str::to_string).zip(sizes.iter().copied()).collect();
        let measured = Measured {
            inputs: of.iter().map(|(sizes, _)| input(sizes)).collect(),
            times_ms: of
                .iter()
                .map(|(_, own)| tiles.iter().map(|tile| (tile == own).then_some(0.5)).collect())
                .collect(),
            configs: tiles.iter().map(|tile| vec![("TILE".to_string(), Value::Int(*tile))]).collect(),
            ..Measured::default()
        };
        Portfolio::new("k", "d", &measured, PortfolioOptions { most, ..PortfolioOptions::default() }).unwrap()
    }

    fn tile(portfolio: &Portfolio, sizes: &[f64]) -> Value {
        let input = ["M", "N"].into_iter().map(str::to_string).zip(sizes.iter().copied()).collect();
        portfolio.choose(&input)[0].1.clone()
    }

    #[test]
    fn of_winners_alone_each_input_has_its_own_and_any_other_that_of_the_nearest() {
        let line: [(&[f64], i64); 4] = [(&[64.0], 32), (&[256.0], 64), (&[1024.0], 128), (&[4096.0], 256)];
        let own = winners(&line, 8);
        assert!(line.iter().all(|(sizes, winner)| tile(&own, sizes) == Value::Int(*winner)));
        let others = [128.0, 500.0, 3000.0, 100_000.0, 2.0].map(|size| tile(&own, &[size]));
        assert_eq!(others, [32, 64, 256, 256, 32].map(Value::Int));
        assert_eq!((own.regret.worst, own.regret.held_out), (0.0, None), "nothing could be held out");
        let plane: [(&[f64], i64); 4] =
            [(&[64.0, 64.0], 1), (&[64.0, 2048.0], 2), (&[2048.0, 64.0], 3), (&[2048.0, 2048.0], 1)];
        let own = winners(&plane, 8);
        assert!(plane.iter().all(|(sizes, winner)| tile(&own, sizes) == Value::Int(*winner)));
        assert_eq!(tile(&own, &[100.0, 1500.0]), Value::Int(2));
        // A size of zero has no logarithm.
        let zero: [(&[f64], i64); 3] = [(&[0.0], 1), (&[8.0], 2), (&[64.0], 3)];
        assert!(zero.iter().all(|(sizes, winner)| tile(&winners(&zero, 8), sizes) == Value::Int(*winner)));
        assert!(winners(&line, 2).regret.worst > 0.0, "two of four");
    }

    #[test]
    fn inputs_that_share_no_configuration_have_their_own_best() {
        let times = [[Some(2.0), Some(1.0), None, None], [None, None, Some(3.0), None], [None, None, None, Some(4.0)]];
        let measured = Measured {
            inputs: [64.0, 512.0, 4096.0].map(|size| [("M".to_string(), size)].into()).to_vec(),
            times_ms: times.map(Vec::from).to_vec(),
            configs: [16, 32, 64, 128].map(|tile| vec![("TILE".to_string(), Value::Int(tile))]).to_vec(),
            ..Measured::default()
        };
        let own = Portfolio::new("k", "d", &measured, PortfolioOptions { most: 8, ..Default::default() }).unwrap();
        let chosen =
            [64.0, 512.0, 4096.0, 100.0, 1e5].map(|size| own.choose(&[("M".to_string(), size)].into())[0].1.clone());
        assert_eq!(chosen, [32, 64, 128, 32, 128].map(Value::Int));
        assert_eq!(own.regret.worst, 0.0);
    }

    #[test]
    fn nothing_to_choose_from_is_an_error() {
        let nothing = Measured { times_ms: vec![vec![None; 3]; 8], ..measured() };
        let of = |measured, most| Portfolio::new("k", "d", measured, PortfolioOptions { most, ..Default::default() });
        assert_eq!(of(&nothing, 2), Err(PortfolioError::NothingCorrect));
        assert_eq!(of(&measured(), 0), Err(PortfolioError::NoMembers));
    }
}
