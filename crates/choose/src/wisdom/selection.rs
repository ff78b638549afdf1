//! Selects the rule of a portfolio by cross-validation over inputs.

use super::measure::measures;
use super::{Axes, Chooser, Costs, Coverage, DecisionTree, Neighbours, Rule, TreeOptions, choose_members};
use std::fmt;

/// A kind of rule that is tried. The simpler ones come first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Candidate {
    /// The default configuration for all inputs.
    Default,
    /// The configuration that is best on average, for all inputs.
    Fixed,
    /// A tree over the sizes.
    SizesTree,
    /// A tree over the sizes, their product and their ratios.
    ShapesTree,
    /// The measured inputs nearby, with this reach in doublings.
    Near(Axes, f64),
    /// The nearest measured input, where nothing compares the configurations of the inputs.
    Nearest,
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("the default for all inputs"),
            Self::Fixed => f.write_str("one configuration for all inputs"),
            Self::SizesTree => f.write_str("a tree over the sizes"),
            Self::ShapesTree => f.write_str("a tree over the sizes, their product and ratios"),
            Self::Near(Axes::Sizes, reach) => write!(f, "inputs nearby, reach {reach}"),
            Self::Nearest => f.write_str("the configuration of the nearest input"),
            Self::Near(Axes::Product, reach) => write!(f, "inputs of similar product, reach {reach}"),
        }
    }
}

/// All rules that are tried. The reaches are the nearest neighbour for all practical purposes, and
/// a mean over the doublings that separate inputs of a usual training set.
const ALL: [Candidate; 7] = [
    Candidate::Default,
    Candidate::Fixed,
    Candidate::SizesTree,
    Candidate::ShapesTree,
    Candidate::Near(Axes::Product, 0.5),
    Candidate::Near(Axes::Sizes, 2.0),
    Candidate::Near(Axes::Sizes, 0.5),
];

/// The rules among which a portfolio's is selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// All of them; the best in cross-validation.
    #[default]
    Judged,
    /// Those that tell inputs apart, even if one configuration for all inputs does better in
    /// cross-validation.
    Apart,
    /// The tree over the sizes, without cross-validation.
    Tree,
}

/// The result of a rule on inputs held out. Regrets are shares of the time of the best
/// configuration known for an input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// The rule.
    pub candidate: Candidate,
    /// Mean regret.
    pub held_out: f64,
    /// Largest regret.
    pub worst: f64,
    /// Largest slowdown relative to the default, as a share of the default's time; `None` if the
    /// default was not measured. Negative if every choice was faster.
    pub over_default: Option<f64>,
    /// Number of held-out inputs for which the choice was not measured. It counts as the slowest
    /// configuration known there.
    pub unknown: usize,
    score: f64,
}

/// Slowdown relative to the default that a user does not mind, as a share of its time.
const TOLERATED: f64 = 0.1;

/// Weight of a slowdown beyond the tolerated one. A user who ships a choice that is slower than no
/// tuning at all minds that more than a gain that was missed.
const AVERSION: f64 = 3.0;

/// Minimum advantage of a rule over a simpler one, in the mean cost: nobody would notice less.
const GAIN: f64 = 0.005;

/// Maximum number of parts of a cross-validation. With fewer inputs, each is held out alone.
const PARTS: usize = 24;

/// Number of configurations considered for a portfolio: the fastest of each input, and those that
/// are best on average. It bounds the time for whole recorded spaces.
const EACH: usize = 64;

/// The measurements of a portfolio.
pub(super) struct Data<'a> {
    pub(super) costs: &'a Costs,
    /// The sizes of each input.
    pub(super) inputs: &'a [Vec<f64>],
    /// The default configuration with its cost for each input that it was measured for.
    pub(super) default: Option<(usize, &'a [Option<f64>])>,
    /// Returns true if a configuration was measured for an input.
    pub(super) is_known: &'a dyn Fn(usize, usize) -> bool,
    pub(super) most: usize,
    pub(super) always: Option<usize>,
    pub(super) tree: TreeOptions,
}

/// The configurations of a portfolio and its chooser, which names them by their places.
pub(super) struct Fitted {
    pub(super) members: Vec<usize>,
    pub(super) chooser: Chooser,
    pub(super) candidate: Candidate,
}

impl Fitted {
    /// Leaves out the configurations that the chooser never chooses.
    pub(super) fn only_chosen(self) -> Self {
        let chosen = self.chooser.chosen();
        let members = chosen.iter().map(|member| self.members[*member]).collect();
        Self { members, chooser: self.chooser.among(&chosen), candidate: self.candidate }
    }
}

impl Data<'_> {
    /// Returns the portfolio of the selected rule, and the rules that were tried.
    pub(super) fn select(&self, rules: Rules) -> (Fitted, Vec<Tried>) {
        let all: Vec<usize> = (0..self.inputs.len()).collect();
        match self.of_winners(&all).filter(|_| rules != Rules::Tree) {
            Some(fitted) => (fitted, Vec::new()),
            None => self.select_compared(&all, rules),
        }
    }

    /// Returns the portfolio of the selected rule for inputs whose configurations can be compared.
    fn select_compared(&self, all: &[usize], rules: Rules) -> (Fitted, Vec<Tried>) {
        let members = self.members(all);
        let tried = if rules == Rules::Tree { Vec::new() } else { self.judge() };
        let candidate = match rules {
            Rules::Tree => Candidate::SizesTree,
            Rules::Judged => best(&tried).unwrap_or(Candidate::Fixed),
            Rules::Apart => {
                let is_apart = |tried: &&Tried| {
                    let fitted = self.fit(tried.candidate, all, &members);
                    fitted.is_some_and(|fitted| !fitted.chooser.rule.is_one_for_all())
                };
                let least = tried.iter().filter(is_apart).min_by(|a, b| a.held_out.total_cmp(&b.held_out));
                least.map_or(Candidate::SizesTree, |tried| tried.candidate)
            }
        };
        let fitted = self.fit(candidate, all, &members);
        let fitted = fitted.unwrap_or_else(|| self.one_for_all(Candidate::Fixed, all, self.best_on_average(all)));
        (fitted, tried)
    }

    /// Returns true if every input has one configuration alone, or no two inputs share one. Whoever compared the
    /// inputs then would compare what nobody measured.
    fn are_winners_alone(&self, all: &[usize]) -> bool {
        let configs = || 0..self.costs.columns();
        let known = |input: usize| configs().filter(|config| (self.is_known)(input, *config)).count();
        let measured = |config: usize| all.iter().filter(|input| (self.is_known)(**input, config)).count();
        all.iter().all(|input| known(*input) == 1) || configs().all(|config| measured(config) <= 1)
    }

    /// Returns the choice of the nearest measured input for a list of winners. Inputs far outside have the nearest one,
    /// too.
    fn of_winners(&self, all: &[usize]) -> Option<Fitted> {
        if all.len() < 2 || !self.are_winners_alone(all) {
            return None;
        }
        let members = self.members(all);
        if members.len() < 2 {
            return None;
        }
        let costs: Vec<Vec<f64>> = self.costs.part(all, &members).rows().to_vec();
        let near = Neighbours::fit(self.inputs, &costs, Axes::Sizes, Neighbours::NEAREST);
        // Sizes without a logarithm, and very many inputs, are told apart by a tree with a leaf for each.
        let tree = || {
            let options = TreeOptions { depth: all.len(), leaf: 1, gain: 0.0 };
            Rule::Tree(DecisionTree::fit(self.inputs, &costs, options))
        };
        let rule = near.map_or_else(tree, Rule::Near);
        let chooser = Chooser { robust: None, ..self.chooser(all, &members, rule) };
        Some(Fitted { members, chooser, candidate: Candidate::Nearest })
    }

    /// Judges every rule on inputs held out. Each part is left out of the choice of the
    /// configurations as well.
    fn judge(&self) -> Vec<Tried> {
        let count = self.inputs.len();
        if count < 2 {
            return Vec::new();
        }
        let parts = count.min(PARTS);
        let mut choices: Vec<Option<Vec<(usize, usize)>>> = vec![Some(Vec::new()); ALL.len()];
        for part in 0..parts {
            let (out, train): (Vec<usize>, Vec<usize>) = (0..count).partition(|input| input % parts == part);
            let members = self.members(&train);
            for (candidate, choices) in ALL.iter().zip(&mut choices) {
                let Some(fitted) = self.fit(*candidate, &train, &members) else {
                    *choices = None;
                    continue;
                };
                let choose = |input: &usize| (*input, fitted.members[fitted.chooser.choose(&self.inputs[*input])]);
                choices.iter_mut().for_each(|choices| choices.extend(out.iter().map(choose)));
            }
        }
        ALL.into_iter().zip(choices).filter_map(|(candidate, choices)| Some(self.tried(candidate, &choices?))).collect()
    }

    /// Returns the result of a rule that made these choices for inputs held out.
    fn tried(&self, candidate: Candidate, choices: &[(usize, usize)]) -> Tried {
        let cost = |(input, config): &(usize, usize)| self.costs.rows()[*input][*config];
        let over_default = |choice: &(usize, usize)| {
            let (default, costs) = self.default?;
            let is_default = choice.1 == default;
            costs[choice.0].map(|default| if is_default { 0.0 } else { cost(choice) / default - 1.0 })
        };
        let mean = |number: &dyn Fn(&(usize, usize)) -> f64| {
            choices.iter().map(number).sum::<f64>() / choices.len().max(1) as f64
        };
        let held_out = mean(&|choice| cost(choice) - 1.0);
        let annoying = mean(&|choice| (over_default(choice).unwrap_or(0.0) - TOLERATED).max(0.0));
        Tried {
            candidate,
            held_out,
            worst: choices.iter().map(|choice| cost(choice) - 1.0).fold(0.0, f64::max),
            over_default: choices.iter().filter_map(over_default).max_by(f64::total_cmp),
            unknown: choices.iter().filter(|(input, config)| !(self.is_known)(*input, *config)).count(),
            score: held_out + AVERSION * annoying,
        }
    }

    /// Returns the configurations that serve the inputs `rows` best together. The default is one of
    /// them if it is the most robust of all.
    fn members(&self, rows: &[usize]) -> Vec<usize> {
        let columns = self.columns(rows);
        let costs = self.costs.part(rows, &columns);
        let place = |column: usize| columns.iter().position(|own| *own == column);
        let choose = |always: Option<usize>| -> Vec<usize> {
            let members = choose_members(&costs, self.most, always.and_then(place));
            members.into_iter().map(|member| columns[member]).collect()
        };
        let members = choose(self.always);
        let default = self.default.map(|(default, _)| default).filter(|default| !members.contains(default));
        match default {
            Some(default) if self.most > 1 && self.always.is_none() => {
                let is_robust = members.iter().all(|member| self.largest(rows, default) < self.largest(rows, *member));
                if is_robust { choose(Some(default)) } else { members }
            }
            _ => members,
        }
    }

    /// Returns the configurations worth considering for the inputs `rows`, in their order.
    fn columns(&self, rows: &[usize]) -> Vec<usize> {
        let count = self.costs.columns();
        let total = |column: usize| rows.iter().map(|row| self.costs.rows()[*row][column]).sum::<f64>();
        let mut chosen = fastest(&(0..count).map(total).collect::<Vec<_>>());
        rows.iter().for_each(|row| chosen.extend(fastest(&self.costs.rows()[*row])));
        chosen.extend(self.always.into_iter().chain(self.default.map(|(default, _)| default)));
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// Returns the largest cost of a configuration over the inputs `rows`.
    fn largest(&self, rows: &[usize], config: usize) -> f64 {
        rows.iter().map(|row| self.costs.rows()[*row][config]).fold(0.0, f64::max)
    }

    /// Fits a rule to the inputs `rows`. Returns `None` if there is no such rule for them.
    fn fit(&self, candidate: Candidate, rows: &[usize], members: &[usize]) -> Option<Fitted> {
        let inputs: Vec<Vec<f64>> = rows.iter().map(|row| self.inputs[*row].clone()).collect();
        let costs: Vec<Vec<f64>> =
            rows.iter().map(|row| members.iter().map(|member| self.costs.rows()[*row][*member]).collect()).collect();
        let shapes = || -> Vec<Vec<f64>> { inputs.iter().map(|sizes| measures(sizes)).collect() };
        let rule = match candidate {
            Candidate::Default => return Some(self.one_for_all(candidate, rows, self.default?.0)),
            Candidate::Fixed => return Some(self.one_for_all(candidate, rows, self.best_on_average(rows))),
            Candidate::SizesTree => Rule::Tree(DecisionTree::fit(&inputs, &costs, self.tree)),
            Candidate::ShapesTree if inputs.first().is_none_or(|sizes| sizes.len() < 2) => return None,
            Candidate::ShapesTree => Rule::Tree(DecisionTree::fit(&shapes(), &costs, self.tree)),
            Candidate::Nearest => return self.of_winners(rows),
            Candidate::Near(..) if self.inputs.len() > Neighbours::MOST_INPUTS => return None,
            Candidate::Near(axes, reach) => Rule::Near(Neighbours::fit(&inputs, &costs, axes, reach)?),
        };
        let chooser = self.chooser(rows, members, rule);
        (!members.is_empty()).then(|| Fitted { members: members.to_vec(), chooser, candidate })
    }

    /// Returns the choice of one configuration for all inputs, with the default beside it for
    /// inputs far outside if that is more robust.
    fn one_for_all(&self, candidate: Candidate, rows: &[usize], config: usize) -> Fitted {
        let default = self.default.map(|(default, _)| default).filter(|_| self.most > 1);
        let robust = default.filter(|default| self.largest(rows, *default) < self.largest(rows, config));
        let members: Vec<usize> = std::iter::once(config).chain(robust).collect();
        Fitted { chooser: self.chooser(rows, &members, Rule::always(0)), members, candidate }
    }

    fn best_on_average(&self, rows: &[usize]) -> usize {
        let total = |column: usize| rows.iter().map(|row| self.costs.rows()[*row][column]).sum::<f64>();
        (0..self.costs.columns()).min_by(|a, b| total(*a).total_cmp(&total(*b))).unwrap_or(0)
    }

    fn chooser(&self, rows: &[usize], members: &[usize], rule: Rule) -> Chooser {
        let inputs: Vec<Vec<f64>> = rows.iter().map(|row| self.inputs[*row].clone()).collect();
        let always = self.always.and_then(|always| members.iter().position(|member| *member == always));
        let largest = |place: &usize| self.largest(rows, members[*place]);
        let least = (0..members.len()).min_by(|a, b| largest(a).total_cmp(&largest(b)));
        Chooser { rule, coverage: Coverage::of(&inputs), robust: always.or(least) }
    }
}

impl Candidate {
    /// Returns true if the rule chooses one configuration for all inputs.
    pub fn is_one_for_all(self) -> bool {
        matches!(self, Self::Default | Self::Fixed)
    }
}

/// Returns the rule of the best score. A simpler one gives way only to a noticeable gain.
fn best(tried: &[Tried]) -> Option<Candidate> {
    let better = |best: Tried, other: &Tried| if other.score < best.score - GAIN { *other } else { best };
    let first = *tried.first()?;
    Some(tried.iter().fold(first, better).candidate)
}

/// Returns the columns of the least costs, at most [`EACH`].
fn fastest(costs: &[f64]) -> Vec<usize> {
    let mut sorted: Vec<usize> = (0..costs.len()).collect();
    sorted.sort_by(|a, b| costs[*a].total_cmp(&costs[*b]));
    sorted.truncate(EACH);
    sorted
}
