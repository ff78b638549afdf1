//! Hill climbing.

use crate::local::{Acceptance, Descent, Hops, Improvement, Kick, MAX_KNOWN_STEPS, Scored, keep_better, resample};
use crate::options::{OptionSpec, Options, StrategyError};
use crate::unseen::Unseen;
use tunesmith_core::{Request, Rng, Searcher, Standing, Told, View};
use tunesmith_space::{ConfigId, Neighbourhood};

/// Stochastic hill climbing (Bergstra, Pinto and Cox, Machine learning for predictive auto-tuning
/// with boosted regression trees, 2012, section 2.4). Each parameter of the best configuration is
/// drawn anew with probability 0.25 and kept otherwise. A better configuration becomes the best.
///
/// - It starts from the best of the evaluations told before (the paper's reference implementation
///   is our default configuration) and of a few random configurations. With `initial=1` it draws a
///   random one only if nothing was told before.
/// - It draws only valid configurations with the kept values, each equally likely.
/// - `improvement=first` and `best` climb over neighbours, which differ in one parameter, to the
///   first better one or to the best of all. If none is better, they restart from a random
///   configuration.
/// - After `patience` evaluations without an improvement, it restarts from a random configuration.
///   With `patience=0` it never restarts, like the paper, whose climbs have 25 to 75 evaluations.
///   Climbing over neighbours ends by itself and needs no patience.
/// - After 50 known draws in a row, the next configuration is a new random one. So the search ends
///   only with the space.
///
/// Only the order of times matters, not their unit. Cost per evaluation: one draw within the
/// space's diagrams.
#[derive(Debug)]
pub struct HillClimbing(Climb);

#[derive(Debug)]
enum Climb {
    Resample(Resample),
    Neighbours(Box<Hops>),
}

#[derive(Debug)]
struct Resample {
    probability: f64,
    patience: u64,
    initial: usize,
    current: Option<Scored>,
    /// The random configuration in flight from which the search restarts.
    start: Option<ConfigId>,
    /// Number of evaluations since the last improvement.
    stale: u64,
    unseen: Unseen,
}

impl HillClimbing {
    pub(crate) const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "resample",
            default: "0.25",
            meaning: "a number above 0 and at most 1: the probability with which each parameter is drawn anew",
        },
        OptionSpec {
            name: "improvement",
            default: "resample",
            meaning: "resample, or a climb over neighbours: first goes to the first better one, best to the best",
        },
        OptionSpec {
            name: "patience",
            default: "30",
            meaning: "a whole number from 0: evaluations without improvement until a new start; with 0 there is none",
        },
        OptionSpec {
            name: "initial",
            default: "10",
            meaning: "a whole number from 1: evaluations before the climb; missing ones are random",
        },
    ];

    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        let probability = options.number("resample", |share| share > 0.0 && share <= 1.0)?;
        let initial = options.whole("initial", 1)?;
        let patience = options.whole("patience", 0)? as u64;
        let climb = |improvement| {
            let descent = Descent::new(Neighbourhood::Hamming, improvement);
            Climb::Neighbours(Box::new(Hops::new(descent, Kick::Random, Acceptance::Better, initial)))
        };
        let unseen = Unseen::default();
        Ok(Self(match options.choice("improvement", &["resample", "first", "best"])? {
            0 => Climb::Resample(Resample {
                probability,
                patience,
                initial,
                current: None,
                start: None,
                stale: 0,
                unseen,
            }),
            1 => climb(Improvement::First),
            _ => climb(Improvement::Best),
        }))
    }
}

impl Resample {
    fn propose(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<ConfigId> {
        if view.known() < self.initial {
            return self.unseen.draw(view, rng);
        }
        if self.start.is_some() {
            return None;
        }
        if self.patience > 0 && self.stale >= self.patience {
            self.start = self.unseen.draw(view, rng);
            return self.start;
        }
        for _ in 0..MAX_KNOWN_STEPS {
            let Some((current, _)) = self.current else { break };
            let config = resample(view.space(), current, self.probability, rng);
            match view.standing(config) {
                Standing::New => return Some(config),
                Standing::Told(Some(score)) => {
                    keep_better(&mut self.current, config, score);
                }
                Standing::Told(None) | Standing::InFlight => {}
            }
        }
        self.unseen.draw(view, rng)
    }

    fn learn(&mut self, config: ConfigId, score: Option<f64>) {
        if self.start == Some(config) {
            self.start = None;
            let Some(score) = score else { return };
            (self.current, self.stale) = (Some((config, score)), 0);
            return;
        }
        let improves = score.is_some_and(|score| keep_better(&mut self.current, config, score));
        self.stale = if improves { 0 } else { self.stale + 1 };
    }
}

impl Searcher for HillClimbing {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // Propose one at a time: only earlier requests count as known.
        let config = match &mut self.0 {
            Climb::Resample(climb) => climb.propose(view, rng),
            Climb::Neighbours(hops) => hops.propose(view, rng),
        };
        config.map(Request::timed).into_iter().collect()
    }

    fn tell(&mut self, _: &View<'_>, told: &Told<'_>) {
        let config = told.evaluation.request.config;
        match &mut self.0 {
            Climb::Resample(climb) => climb.learn(config, told.score),
            Climb::Neighbours(hops) => hops.learn(config, told.score),
        }
    }
}
