//! Summarises an exported portfolio for users, with all doubts about it.

use serde::Serialize;
use tunesmith_choose::Judgement;
use tunesmith_choose::wisdom::{Config, HeldOutRegret, Portfolio, Rule, Tried};

/// A portfolio's size and cost. Regrets are shares of the time of the best configuration known for
/// an input.
#[derive(Clone, Debug, Serialize)]
pub struct ExportedPortfolio {
    /// The kernel.
    pub kernel: String,
    /// The device.
    pub device: String,
    /// Number of inputs that it was made from.
    pub inputs: usize,
    /// Number of configurations known for these inputs.
    pub candidates: usize,
    /// Number of its configurations.
    pub configurations: usize,
    /// The only one of them as `NAME=VALUE,...`; `None` if there are several.
    #[serde(skip)]
    pub only: Option<String>,
    /// The sizes that tell inputs apart.
    pub features: Vec<String>,
    /// The rule that chooses a configuration, in words.
    pub rule: String,
    /// Maximum number of questions of the rule, if it is a tree.
    pub depth: Option<usize>,
    /// The measured inputs: each size, product and ratio with its smallest and largest number.
    pub covers: Vec<(String, (f64, f64))>,
    /// Mean regret with the best of the portfolio for each input.
    pub regret_portfolio: f64,
    /// Mean regret with the rule's choice.
    pub regret_tree: f64,
    /// Largest regret of the rule's choice for any input.
    pub regret_worst: f64,
    /// Mean regret on inputs held out; `None` if there is one input.
    pub regret_held_out: Option<f64>,
    /// Largest regret on inputs held out.
    pub regret_held_out_worst: Option<f64>,
    /// Mean regret of one configuration for all inputs, on inputs held out.
    pub regret_fixed: Option<f64>,
    /// Largest slowdown relative to the default on inputs held out, as a share of its time.
    pub held_out_over_default: Option<f64>,
    /// Mean regret of the default configuration.
    pub regret_default: Option<f64>,
    /// All rules that were tried, with their results on inputs held out.
    pub tried: Vec<TriedRule>,
    /// The judgement of the choices at fresh sizes; `None` if nobody measured any.
    pub judgement: Option<Judgement>,
    /// The results of the guard, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guarded: Option<Guarded>,
}

/// The results of a guard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Guarded {
    /// Number of choices that were significantly faster than the default.
    pub confirmed: usize,
    /// Number of choices that were not, and were replaced by the default.
    pub refused: usize,
}

/// A rule that was tried, with its results on inputs held out.
#[derive(Clone, Debug, Serialize)]
pub struct TriedRule {
    /// The rule, in words.
    pub rule: String,
    /// Mean regret.
    pub held_out: f64,
    /// Largest regret.
    pub worst: f64,
    /// Largest slowdown relative to the default, as a share of its time.
    pub over_default: Option<f64>,
    /// Number of choices that were not measured.
    pub unknown: usize,
}

/// Summarises `portfolio`, which was chosen from this number of configurations.
pub fn summary(portfolio: &Portfolio, candidates: usize, tried: &[Tried]) -> ExportedPortfolio {
    let Portfolio { regret, features, chooser, .. } = portfolio;
    let held_out = regret.held_out;
    ExportedPortfolio {
        kernel: portfolio.kernel.clone(),
        device: portfolio.device.clone(),
        inputs: regret.inputs,
        candidates,
        configurations: portfolio.configs.len(),
        only: match portfolio.configs.as_slice() {
            [config] => Some(text(config)),
            _ => None,
        },
        features: features.clone(),
        rule: chooser.rule.describe(features),
        depth: match &chooser.rule {
            Rule::Tree(tree) => Some(tree.depth()),
            Rule::Near(_) => None,
        },
        covers: chooser.coverage.ranges().map(|(measure, range)| (measure.text(features), range)).collect(),
        regret_portfolio: regret.portfolio,
        regret_tree: regret.chosen,
        regret_worst: regret.worst,
        regret_held_out: held_out.map(|held_out| held_out.mean),
        regret_held_out_worst: held_out.map(|held_out| held_out.worst),
        regret_fixed: held_out.map(|held_out| held_out.fixed),
        held_out_over_default: held_out.and_then(|held_out| held_out.over_default),
        regret_default: regret.default,
        tried: tried.iter().map(TriedRule::new).collect(),
        judgement: portfolio.judgement.clone(),
        guarded: None,
    }
}

fn text(config: &Config) -> String {
    config.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
}

impl TriedRule {
    fn new(tried: &Tried) -> Self {
        let Tried { candidate, held_out, worst, over_default, unknown, .. } = *tried;
        Self { rule: candidate.to_string(), held_out, worst, over_default, unknown }
    }
}

/// Slowdown relative to the default on inputs held out that a user should hear of.
const NOTICEABLE: f64 = 0.1;

/// Returns what a user should know before shipping `portfolio`, or its one configuration for a build if
/// `is_single`.
pub fn doubts(portfolio: &Portfolio, is_single: bool) -> Vec<String> {
    let Portfolio { kernel, device, regret, chooser, .. } = portfolio;
    let mut doubts = Vec::new();
    let mut doubt = |text: String| doubts.push(format!("warning: `{kernel}` on `{device}`: {text}"));
    if regret.inputs == 1 && !is_single {
        doubt(
            "one input was measured, so that the choice for any other is a guess; tune more (`tune --inputs`)".into(),
        );
    }
    if matches!(&chooser.rule, Rule::Near(near) if near.is_nearest()) {
        let own = match regret.worst > 0.0 {
            true => "those among the exported configurations serve their inputs; raise --most to keep all",
            false => "each measured input has its own",
        };
        doubt(format!(
            "nothing compares the configurations of the {} measured inputs, since no two inputs share one, or each \
             has one alone: {own}; any other input has that of the nearest one",
            regret.inputs
        ));
    }
    let Some(HeldOutRegret { mean, over_default, fixed, unknown, .. }) = regret.held_out else { return doubts };
    if mean > fixed {
        let (own, fixed) = (mean * 100.0, fixed * 100.0);
        doubt(format!(
            "on inputs held out, its regret is {own:.1} %, that of one configuration for all inputs {fixed:.1} %: it \
             ships because of --force"
        ));
    }
    if let Some(over) = over_default.filter(|over| *over > NOTICEABLE) {
        let percent = over * 100.0;
        doubt(format!(
            "on an input held out, its choice was {percent:.0} % worse than the default: expect that of some new \
             inputs, or measure more of them"
        ));
    }
    if unknown > 0 && !chooser.rule.is_one_for_all() {
        doubt(format!(
            "{unknown} of {} choices for inputs held out were not measured and count as the worst known there",
            regret.inputs
        ));
    }
    doubts
}
