//! Search from local minimum to local minimum.

use super::{Descent, DescentStep, Improvement, MAX_KNOWN_STEPS, Scored, keep_better, resample};
use crate::options::{OptionSpec, Options, StrategyError};
use crate::unseen::Unseen;
use rand::RngExt as _;
use tunesmith_core::{Rng, Standing, View};
use tunesmith_space::{ConfigId, Neighbourhood};

/// The option for the neighbours of a configuration.
pub(crate) const NEIGHBOURHOOD: OptionSpec =
    OptionSpec { name: "neighbourhood", default: "hamming", meaning: "hamming or adjacent" };
/// The option for the choice among better neighbours.
pub(crate) const IMPROVEMENT: OptionSpec = OptionSpec {
    name: "improvement",
    default: "first",
    meaning: "first or best: the better neighbour that a descent goes to",
};
/// The option that delays the first descent.
pub(crate) const INITIAL: OptionSpec = OptionSpec {
    name: "initial",
    default: "10",
    meaning: "a whole number from 1: evaluations before the first descent; missing ones are random",
};

/// The way out of a local minimum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kick {
    /// Draws each parameter of the current minimum anew with this probability.
    Resample(f64),
    /// Starts from a new random configuration.
    Random,
}

/// The rule that decides between a new local minimum and the current one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Acceptance {
    /// Accepts the better one.
    Better,
    /// Accepts a worse one too, with probability `exp(-d / T)`, where d is its relative slowdown.
    Metropolis(f64),
}

/// Descends, kicks and descends again: the loop of iterated local search, of basin hopping, and of
/// hill climbing with restarts.
///
/// It begins with random configurations and descends from the best of the evaluations told. A kick
/// into a failed configuration is lost. If kicks lead to nothing new, the next start is a new
/// random configuration. So the search ends only with the space.
#[derive(Debug)]
pub(crate) struct Hops {
    descent: Descent,
    kick: Kick,
    acceptance: Acceptance,
    /// Number of evaluations before the first descent, including those that this strategy did not
    /// ask.
    initial: usize,
    /// The current local minimum. Before the first one, the best configuration told.
    home: Option<Scored>,
    /// The configuration in flight from which the next descent begins.
    start: Option<ConfigId>,
    has_begun: bool,
    unseen: Unseen,
}

impl Hops {
    /// Returns a search with the options [`NEIGHBOURHOOD`], [`IMPROVEMENT`] and [`INITIAL`].
    pub(crate) fn from_options(
        kick: Kick,
        acceptance: Acceptance,
        options: &Options<'_>,
    ) -> Result<Self, StrategyError> {
        let neighbourhoods = [Neighbourhood::Hamming, Neighbourhood::Adjacent];
        let neighbourhood = neighbourhoods[options.choice("neighbourhood", &["hamming", "adjacent"])?];
        let improvements = [Improvement::First, Improvement::Best];
        let improvement = improvements[options.choice("improvement", &["first", "best"])?];
        let descent = Descent::new(neighbourhood, improvement);
        Ok(Self::new(descent, kick, acceptance, options.whole("initial", 1)?))
    }

    pub(crate) fn new(descent: Descent, kick: Kick, acceptance: Acceptance, initial: usize) -> Self {
        Self {
            descent,
            kick,
            acceptance,
            initial,
            home: None,
            start: None,
            has_begun: false,
            unseen: Unseen::default(),
        }
    }

    /// Returns the next configuration to evaluate. Returns `None` while it waits for configurations
    /// in flight, and if all configurations are known.
    pub(crate) fn propose(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<ConfigId> {
        if view.known() < self.initial || self.home.is_none() {
            return self.unseen.draw(view, rng);
        }
        for _ in 0..MAX_KNOWN_STEPS {
            if self.start.is_some() {
                return None;
            }
            match self.descent.step(view, rng) {
                DescentStep::Ask(config) => return Some(config),
                DescentStep::Wait => return None,
                DescentStep::Bottom => {}
            }
            self.settle(rng);
            let (home, score) = self.home?;
            if !self.has_begun {
                // The best may still be in flight.
                if view.is_waiting() {
                    return None;
                }
                self.has_begun = true;
                self.descent.start_at((home, score));
                continue;
            }
            let Kick::Resample(probability) = self.kick else { break };
            let start = resample(view.space(), home, probability, rng);
            match view.standing(start) {
                Standing::New => return self.ask_start(start),
                Standing::Told(Some(score)) => self.descent.start_at((start, score)),
                Standing::Told(None) | Standing::InFlight => {}
            }
        }
        let start = self.unseen.draw(view, rng)?;
        self.ask_start(start)
    }

    fn ask_start(&mut self, start: ConfigId) -> Option<ConfigId> {
        self.start = Some(start);
        self.start
    }

    /// Accepts or rejects the minimum after a descent.
    fn settle(&mut self, rng: &mut Rng) {
        let Some((config, score)) = self.descent.at() else { return };
        let accepts = match (self.home, self.acceptance) {
            (None, _) => true,
            (Some((_, home)), Acceptance::Better) => score < home,
            (Some((_, home)), Acceptance::Metropolis(temperature)) => {
                // Relative to the other if the home is 0.
                let unit = if home == 0.0 { score.abs() } else { home.abs() };
                let worse_by = (score - home) / unit;
                score < home || rng.random::<f64>() < (-worse_by / temperature).exp()
            }
        };
        if accepts {
            self.home = Some((config, score));
        }
    }

    pub(crate) fn learn(&mut self, config: ConfigId, score: Option<f64>) {
        if self.start == Some(config) {
            self.start = None;
            score.into_iter().for_each(|score| self.descent.start_at((config, score)));
        } else if self.has_begun {
            self.descent.learn(config, score);
        } else if let Some(score) = score {
            keep_better(&mut self.home, config, score);
        }
    }
}
