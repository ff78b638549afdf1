//! From local minimum to local minimum.

use super::{Descent, DescentStep, Improvement, MAX_KNOWN_STEPS, Scored, Standing, keep_better, resample, standing};
use crate::options::{OptionSpec, Options, StrategyError};
use crate::unseen::Unseen;
use rand::RngExt as _;
use tunesmith_core::{Rng, View};
use tunesmith_space::{ConfigId, Neighbourhood};

/// The option that chooses the neighbours of a configuration.
pub(crate) const NEIGHBOURHOOD: OptionSpec =
    OptionSpec { name: "neighbourhood", default: "hamming", meaning: "hamming or adjacent" };
/// The option that chooses among better neighbours.
pub(crate) const IMPROVEMENT: OptionSpec = OptionSpec {
    name: "improvement",
    default: "first",
    meaning: "first or best: which better neighbour a descent goes to",
};
/// The option that delays the first descent.
pub(crate) const INITIAL: OptionSpec = OptionSpec {
    name: "initial",
    default: "10",
    meaning: "a whole number from 1: evaluations, random ones where nothing was told, before the first descent",
};

/// The way out of a local minimum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kick {
    /// Each parameter of the minimum that the search is at is drawn anew with this probability.
    Resample(f64),
    /// A new random configuration.
    Random,
}

/// The rule that decides between a new local minimum and the one that the search was at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Acceptance {
    /// From the better one.
    Better,
    /// From a worse one as well with probability `exp(-d / T)`, where d is by how much of its score
    /// it is worse.
    Metropolis(f64),
}

/// Descends, kicks, descends again: the loop of iterated local search, of basin hopping, and of
/// hill climbing with restarts.
///
/// It begins with random configurations and descends from the best of what was told. A kick into a
/// failed configuration is one kick lost. When kicks lead to nothing new, the next start is a
/// random new configuration, so the search ends only with the space.
#[derive(Debug)]
pub(crate) struct Hops {
    descent: Descent,
    kick: Kick,
    acceptance: Acceptance,
    /// Evaluations before the first descent, those not asked included.
    initial: usize,
    /// The local minimum that the search is at; before the first, the best configuration told.
    home: Option<Scored>,
    /// The configuration asked from which the next descent begins.
    start: Option<ConfigId>,
    has_begun: bool,
    unseen: Unseen,
}

impl Hops {
    /// Reads the options [`NEIGHBOURHOOD`], [`IMPROVEMENT`] and [`INITIAL`].
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

    /// Returns what to evaluate next; `None` while it waits for what is in flight, and when every
    /// configuration is known.
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
            match standing(view, start) {
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

    /// Decides where the search goes on from after a descent.
    fn settle(&mut self, rng: &mut Rng) {
        let Some((config, score)) = self.descent.at() else { return };
        let accepts = match (self.home, self.acceptance) {
            (None, _) => true,
            (Some((_, home)), Acceptance::Better) => score < home,
            (Some((_, home)), Acceptance::Metropolis(temperature)) => {
                let worse_by = (score - home) / home.abs();
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
