//! Simulated annealing.
//!
//! # Tried without gain
//!
//! Starting from the default configuration without exploring (`explore=0`): on the C matrix product
//! of `examples/gemm`, one seed of four ended at 6.1 ms after 200 evaluations. With a quarter of
//! the budget spent on random configurations, two seeds ended at 2.2 and 2.3 ms.

use crate::options::{OptionSpec, Options, StrategyError};
use crate::unseen::Unseen;
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use std::collections::VecDeque;
use tunesmith_core::{Request, Rng, Searcher, Standing, Told, View};
use tunesmith_space::{Ball, ConfigId};

/// Simulated annealing as in CLTune (section III-C). It evaluates a random neighbour `s'` of the
/// current configuration `s`. A faster neighbour becomes the current configuration, a slower one
/// with probability `exp(-(t' - t) / T)`.
///
/// Differences from the paper:
/// - Times are divided by the first correct time, so `T` is relative. The paper's `T` of 2, 4 or 6
///   milliseconds means something else for every kernel. A relative `T` has the same meaning for
///   all kernels and does not depend on the unit of the times. `scale=absolute` takes `T` as the
///   paper does, in milliseconds or in the unit of the objective.
/// - The first quarter of the budget is spent on uniform random configurations. The walk starts
///   from the best of them and of the evaluations told before (the default, `--start`). The paper
///   starts from one random configuration, and some runs end in a poor valley; `explore=0` does the
///   same.
/// - `T` falls linearly to 0 over the budget, as in the authors' program. If the budget is not a
///   number of evaluations, it falls over 200.
/// - A neighbour differs in one parameter, as the paper's figures suggest. In the authors' program
///   it differs in up to three; `changes=3` draws it uniformly from all of these. After 50 steps over known configurations only, the walk
///   jumps to a new random configuration. So it leaves exhausted corners, and the search ends only
///   with the space.
/// - With room for more than one request, it asks several neighbours of the current configuration
///   at once and judges them in turn.
///
/// `annealing(temperature=4, scale=absolute, changes=3, explore=0)` is therefore the authors'
/// program at T = 4.
///
/// The defaults did best on the nine recorded spaces among temperatures of 0.2, 0.1 and 0.05 with
/// shares of 0, 0.1 and 0.25. After 100 evaluations they reach 0.936 of the optimum on average and
/// 0.860 in the worst tenth of the runs. Temperature 0.1 without exploring reaches 0.922 and 0.851,
/// random search 0.867 and 0.788.
///
/// Cost per evaluation: one Hamming neighbourhood of the space for every step of the walk. With
/// `changes` above 1, one [`Ball`] of the space for every move.
#[derive(Debug)]
pub struct Annealing {
    temperature: f64,
    explore: f64,
    changes: usize,
    /// The score that differences are divided by: 1 if the temperature is absolute, else the first
    /// correct score.
    unit: Option<f64>,
    /// The neighbours of the configuration that the last step began at, if they differ in more than
    /// one parameter.
    ball: Option<(ConfigId, Ball)>,
    current: Option<(ConfigId, f64)>,
    proposed: VecDeque<Proposal>,
    unseen: Unseen,
}

/// Number of evaluations over which the temperature falls if the stop condition gives no number:
/// the default budget.
const DEFAULT_SCHEDULE: u64 = 200;

/// Maximum number of steps over known configurations before the walk jumps. Enough to cross a known
/// plateau, and it costs well under a millisecond.
const MAX_KNOWN_STEPS: usize = 50;

/// A configuration in flight and the rule that will judge it.
#[derive(Debug)]
struct Proposal {
    config: ConfigId,
    rule: Rule,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    /// The Metropolis rule, with a number drawn uniformly from [0, 1) when the configuration was
    /// proposed.
    Metropolis(f64),
    /// Accepted only if it is better than the current configuration.
    IfBetter,
    /// A new start, accepted whatever its time.
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
            name: "scale",
            default: "relative",
            meaning: "relative or absolute: the temperature is a share of the first correct time, or in milliseconds \
                 (in the unit of the objective)",
        },
        OptionSpec {
            name: "changes",
            default: "1",
            meaning: "a whole number from 1: the most parameters in which a neighbour differs",
        },
        OptionSpec {
            name: "explore",
            default: "0.25",
            meaning: "a number from 0 to 1: the share of the budget for random configurations before the walk",
        },
    ];

    /// Returns annealing with the initial `temperature`, a positive number relative to the first
    /// correct time. `explore`, from 0 to 1, is the share of the budget for random configurations.
    pub fn new(temperature: f64, explore: f64) -> Self {
        Self {
            temperature,
            explore,
            changes: 1,
            unit: None,
            ball: None,
            current: None,
            proposed: VecDeque::new(),
            unseen: Unseen::default(),
        }
    }

    /// Takes the temperature as a difference of scores instead of relative to the first correct
    /// score.
    #[must_use]
    pub fn absolute(self) -> Self {
        Self { unit: Some(1.0), ..self }
    }

    /// Lets neighbours differ in up to `changes` parameters, at least one.
    #[must_use]
    pub fn changes(self, changes: usize) -> Self {
        Self { changes: changes.max(1), ..self }
    }

    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        let temperature = options.number("temperature", |temperature| temperature > 0.0)?;
        let explore = options.number("explore", |share| (0.0..=1.0).contains(&share))?;
        let annealing = Self::new(temperature, explore).changes(options.whole("changes", 1)?);
        let is_absolute = options.choice("scale", &["relative", "absolute"])? == 1;
        Ok(if is_absolute { annealing.absolute() } else { annealing })
    }

    /// Returns the next configuration to evaluate, or `None` if all are known.
    fn propose(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<Proposal> {
        if (view.known() as f64) < self.explore * schedule(view) {
            return self.unseen.draw(view, rng).map(|config| Proposal { config, rule: Rule::IfBetter });
        }
        for _ in 0..MAX_KNOWN_STEPS {
            let Some((current, _)) = self.current else { break };
            let Some(config) = self.neighbour(view, current, rng) else { break };
            let rule = Rule::Metropolis(rng.random());
            match view.standing(config) {
                // A known neighbour costs nothing. Judge it and continue.
                Standing::Told(score) => self.judge(view, config, score, rule),
                Standing::InFlight => {}
                Standing::New => return Some(Proposal { config, rule }),
            }
        }
        self.unseen.draw(view, rng).map(|config| Proposal { config, rule: Rule::Jump })
    }

    /// Draws a neighbour of `current`. Returns `None` if it has none.
    fn neighbour(&mut self, view: &View<'_>, current: ConfigId, rng: &mut Rng) -> Option<ConfigId> {
        if self.changes == 1 {
            return view.space().hamming_neighbours(current).choose(rng).copied();
        }
        let ball = self.ball.take().filter(|(centre, _)| *centre == current);
        let (_, ball) = self.ball.insert(ball.unwrap_or_else(|| (current, view.space().ball(current, self.changes))));
        ball.sample(rng)
    }

    /// Moves to `config` if `rule` accepts it. Never moves to a failed configuration.
    fn judge(&mut self, view: &View<'_>, config: ConfigId, score: Option<f64>, rule: Rule) {
        let Some(score) = score else { return };
        // A first score of 0 is no unit.
        let unit = *self.unit.get_or_insert(if score == 0.0 { 1.0 } else { score.abs() });
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
        // Not 0, because differences are divided by it.
        self.temperature * left.max(1e-6)
    }

    /// Returns the rule for an evaluation told: that of its proposal. A configuration that was not
    /// proposed (the default, a start configuration) must be better.
    fn take_rule(&mut self, config: ConfigId) -> Rule {
        let position = self.proposed.iter().position(|proposal| proposal.config == config);
        let proposal = position.and_then(|position| self.proposed.remove(position));
        proposal.map_or(Rule::IfBetter, |proposal| proposal.rule)
    }
}

/// Returns the number of evaluations for exploring and cooling.
fn schedule(view: &View<'_>) -> f64 {
    view.budget().unwrap_or(DEFAULT_SCHEDULE) as f64
}

impl Searcher for Annealing {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // Propose one at a time: only earlier requests count as known.
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
