//! The line of a portfolio.

use super::line::{config, config_json, input, input_json};
use super::tree;
use crate::Judgement;
use crate::wisdom::{Axes, Chooser, Config, Coverage, HeldOutRegret, Neighbours, Portfolio, Regret, Rule, in_order};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

#[derive(Serialize, Deserialize)]
pub(super) struct PortfolioLine {
    kernel: String,
    device: String,
    /// All sizes in the order of the problem file. Absent in files of earlier versions, whose order
    /// is that of their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sizes: Vec<String>,
    features: Vec<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    constants: Map<String, Json>,
    /// The ranges of the features. In files of this version those of their product and ratios
    /// follow.
    hull: Vec<(f64, f64)>,
    regret: RegretLine,
    configs: Vec<Map<String, Json>>,
    /// The rule is either a tree or the inputs nearby.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tree: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    near: Option<NearLine>,
    /// Absent in files written before inputs far outside had a choice of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    robust: Option<usize>,
    /// `null` if nobody judged the choices at fresh sizes. Absent in files of earlier versions.
    #[serde(default)]
    judgement: Option<Judgement>,
}

#[derive(Serialize, Deserialize)]
struct NearLine {
    axes: AxesWord,
    reach: f64,
    points: Vec<Vec<f64>>,
    costs: Vec<Vec<f64>>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AxesWord {
    Sizes,
    Product,
}

/// Regrets. Only the mean of those held out is in files of earlier versions.
#[derive(Serialize, Deserialize)]
struct RegretLine {
    inputs: usize,
    portfolio: f64,
    tree: f64,
    worst: f64,
    held_out: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held_out_worst: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held_out_over_default: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held_out_fixed: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held_out_unknown: Option<usize>,
    default: Option<f64>,
}

impl PortfolioLine {
    pub(super) fn new(portfolio: &Portfolio) -> Self {
        let Portfolio { kernel, device, sizes, features, constants, configs, chooser, regret, judgement } = portfolio;
        let (tree, near) = match &chooser.rule {
            Rule::Tree(tree) => (Some(tree::json(tree, features)), None),
            Rule::Near(near) => (None, Some(NearLine::new(near))),
        };
        Self {
            kernel: kernel.clone(),
            device: device.clone(),
            sizes: sizes.clone(),
            features: features.clone(),
            constants: input_json(constants),
            hull: chooser.coverage.numbers().to_vec(),
            regret: RegretLine::new(regret),
            configs: configs.iter().map(config_json).collect(),
            tree,
            near,
            robust: chooser.robust,
            judgement: judgement.clone(),
        }
    }

    pub(super) fn portfolio(self) -> Result<Portfolio, String> {
        let configs: Vec<Config> = self.configs.iter().map(config).collect::<Result<_, _>>()?;
        let (ranges, sizes, members) = (self.hull.len(), self.features.len(), configs.len());
        let coverage = Coverage::from_numbers(self.hull, sizes)
            .ok_or_else(|| format!("`hull` has {ranges} ranges for {sizes} features"))?;
        let rule = match (self.tree, self.near) {
            (Some(json), None) => Rule::Tree(tree::read(&json, &self.features, members)?),
            (None, Some(line)) => Rule::Near(line.neighbours(sizes, members)?),
            _ => return Err("a portfolio has either `tree` or `near`".to_string()),
        };
        if let Some(robust) = self.robust.filter(|robust| *robust >= members) {
            return Err(format!("`robust` is configuration {robust} of {members}"));
        }
        let constants = input(&self.constants)?;
        Ok(Portfolio {
            kernel: self.kernel,
            device: self.device,
            sizes: in_order(&self.sizes, self.features.iter().chain(constants.keys())),
            features: self.features,
            constants,
            configs,
            chooser: Chooser { rule, coverage, robust: self.robust },
            regret: self.regret.regret(),
            judgement: self.judgement,
        })
    }
}

impl NearLine {
    fn new(near: &Neighbours) -> Self {
        let axes = match near.axes() {
            Axes::Sizes => AxesWord::Sizes,
            Axes::Product => AxesWord::Product,
        };
        Self { axes, reach: near.reach(), points: near.points().to_vec(), costs: near.costs().to_vec() }
    }

    fn neighbours(self, sizes: usize, members: usize) -> Result<Neighbours, String> {
        let axes = match self.axes {
            AxesWord::Sizes => Axes::Sizes,
            AxesWord::Product => Axes::Product,
        };
        let width = axes.measures(sizes).count();
        let is_whole = self.points.iter().all(|point| point.len() == width);
        let near = Neighbours::new(axes, self.reach, self.points, self.costs);
        let near = near.filter(|near| is_whole && near.members() == members);
        near.ok_or_else(|| "the points and costs of `near` do not belong together".to_string())
    }
}

impl RegretLine {
    fn new(regret: &Regret) -> Self {
        let held_out = regret.held_out;
        Self {
            inputs: regret.inputs,
            portfolio: regret.portfolio,
            tree: regret.chosen,
            worst: regret.worst,
            held_out: held_out.map(|held_out| held_out.mean),
            held_out_worst: held_out.map(|held_out| held_out.worst),
            held_out_over_default: held_out.and_then(|held_out| held_out.over_default),
            held_out_fixed: held_out.map(|held_out| held_out.fixed),
            held_out_unknown: held_out.map(|held_out| held_out.unknown),
            default: regret.default,
        }
    }

    fn regret(self) -> Regret {
        let held_out = |mean| HeldOutRegret {
            mean,
            worst: self.held_out_worst.unwrap_or(mean),
            over_default: self.held_out_over_default,
            fixed: self.held_out_fixed.unwrap_or(mean),
            unknown: self.held_out_unknown.unwrap_or(0),
        };
        Regret {
            inputs: self.inputs,
            portfolio: self.portfolio,
            chosen: self.tree,
            worst: self.worst,
            held_out: self.held_out.map(held_out),
            default: self.default,
        }
    }
}
