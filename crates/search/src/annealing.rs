//! Simulated annealing.
//!
//! # Tried without gain
//!
//! Starting from the default configuration without exploring (`explore=0`): on the C matrix product
//! of `examples/gemm`, one seed of four ended at 6.1 ms after 200 evaluations. With a quarter of
//! the budget for random configurations two seeds ended at 2.2 and 2.3 ms.

use crate::options::{OptionSpec, Options, StrategyError};
use crate::unseen::Unseen;
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use std::collections::VecDeque;
use tunesmith_core::{Request, Rng, Searcher, Told, View};
use tunesmith_space::ConfigId;

/// Simulated annealing as in CLTune (section III-C): from the current configuration `s` a random
/// neighbour `s'` is evaluated and becomes the current one with probability 1 when it is faster,
/// else `exp(-(t' - t) / T)`.
///
/// Differences from the paper:
/// - Times are divided by the first correct time, so that `T` is relative: the paper's `T` of 2, 4
///   or 6 milliseconds means something else for every kernel, ours means the same, and the unit of
///   the times does not matter.
/// - The first quarter of the budget goes to uniform random configurations, and the walk starts
///   from the best of them and of what was told before (the default, `--start`). The paper starts
///   from one random configuration, and a run now and then ends in a poor valley; `explore=0` gives
///   that back.
/// - `T` falls linearly to 0 over the budget, as in the authors' program; without a number of
///   evaluations to go by, over 200 evaluations.
/// - A neighbour differs in one parameter. When the walk has met only configurations it knows for
///   50 steps, it goes on from a new random configuration; so it leaves exhausted corners and ends
///   only with the space.
/// - With room for more than one request, several neighbours of the current configuration are asked
///   at once and judged in turn.
///
/// The defaults are those that did best on the nine recorded spaces among temperatures of 0.2, 0.1
/// and 0.05 with shares of 0, 0.1 and 0.25: after 100 evaluations 0.936 of the optimum on average
/// and 0.860 in the worst tenth of the runs (0.922 and 0.851 at temperature 0.1 without exploring;
/// random search 0.867 and 0.788).
///
/// Cost per evaluation: a Hamming neighbourhood of the space for every step of the walk.
#[derive(Debug)]
pub struct Annealing {
    temperature: f64,
    explore: f64,
    unit: Option<f64>,
    current: Option<(ConfigId, f64)>,
    proposed: VecDeque<Proposal>,
    unseen: Unseen,
}

/// Evaluations over which the temperature falls when the stop condition names no number: the
/// default budget.
const DEFAULT_SCHEDULE: u64 = 200;

/// Steps over known configurations after which the walk jumps. Long enough to cross a plateau that
/// was seen, short enough to cost well under a millisecond.
const MAX_KNOWN_STEPS: usize = 50;

/// A configuration asked and not yet told, with the rule by which it will be judged.
#[derive(Debug)]
struct Proposal {
    config: ConfigId,
    rule: Rule,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    /// Metropolis, with a number drawn uniformly from [0, 1) when the configuration was proposed.
    Metropolis(f64),
    /// Taken only when it is better than the current one.
    IfBetter,
    /// A new start: taken whatever its time.
    Jump,
}

impl Annealing {
    pub(crate) const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "temperature",
            default: "0.05",
            meaning: "a positive number: the initial temperature relative to the first correct time",
        },
        OptionSpec {
            name: "explore",
            default: "0.25",
            meaning: "a number from 0 to 1: the share of the budget for random configurations before the walk",
        },
    ];

    /// Creates annealing from `temperature`, relative to the first correct time and positive, after
    /// a share of the budget, `explore` from 0 to 1, for random configurations.
    pub fn new(temperature: f64, explore: f64) -> Self {
        Self { temperature, explore, unit: None, current: None, proposed: VecDeque::new(), unseen: Unseen::default() }
    }

    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        let temperature = options.number("temperature", |temperature| temperature > 0.0)?;
        Ok(Self::new(temperature, options.number("explore", |share| (0.0..=1.0).contains(&share))?))
    }

    /// Returns the next configuration worth evaluating; `None` when every one is known.
    fn propose(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<Proposal> {
        if (view.known() as f64) < self.explore * schedule(view) {
            return self.unseen.draw(view, rng).map(|config| Proposal { config, rule: Rule::IfBetter });
        }
        for _ in 0..MAX_KNOWN_STEPS {
            let Some((current, _)) = self.current else { break };
            let neighbours = view.space().hamming_neighbours(current);
            let Some(&config) = neighbours.choose(rng) else { break };
            let rule = Rule::Metropolis(rng.random());
            match view.score(config) {
                // A known neighbour costs nothing: take the step, or not, and go on.
                Some(score) => self.judge(view, config, score, rule),
                None if view.is_known(Request::timed(config)) => {}
                None => return Some(Proposal { config, rule }),
            }
        }
        self.unseen.draw(view, rng).map(|config| Proposal { config, rule: Rule::Jump })
    }

    /// Moves to `config` if `rule` says so; a failed configuration is never moved to.
    fn judge(&mut self, view: &View<'_>, config: ConfigId, score: Option<f64>, rule: Rule) {
        let Some(score) = score else { return };
        let unit = *self.unit.get_or_insert(score);
        let accepts = match (rule, self.current) {
            (Rule::Jump, _) | (_, None) => true,
            (Rule::IfBetter, Some((_, current))) => score < current,
            (Rule::Metropolis(chance), Some((_, current))) => {
                let worse_by = (score - current) / unit;
                worse_by < 0.0 || chance < (-worse_by / self.temperature_now(view)).exp()
            }
        };
        if accepts {
            self.current = Some((config, score));
        }
    }

    fn temperature_now(&self, view: &View<'_>) -> f64 {
        let left = 1.0 - view.history().len() as f64 / schedule(view);
        // Never 0, by which no difference can be divided.
        self.temperature * left.max(1e-6)
    }

    /// Returns the rule for a configuration told: the proposal's own; one not asked (the default, a
    /// start configuration) must be better.
    fn take_rule(&mut self, config: ConfigId) -> Rule {
        let position = self.proposed.iter().position(|proposal| proposal.config == config);
        let proposal = position.and_then(|position| self.proposed.remove(position));
        proposal.map_or(Rule::IfBetter, |proposal| proposal.rule)
    }
}

/// Returns the number of evaluations that explore and cool.
fn schedule(view: &View<'_>) -> f64 {
    view.budget().unwrap_or(DEFAULT_SCHEDULE) as f64
}

impl Searcher for Annealing {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // One at a time, since only what was asked before counts as known.
        let Some(proposal) = self.propose(view, rng) else { return Vec::new() };
        let request = Request::timed(proposal.config);
        self.proposed.push_back(proposal);
        vec![request]
    }

    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        let config = told.evaluation.request.config;
        let rule = self.take_rule(config);
        self.judge(view, config, told.score, rule);
    }
}
