//! Iterated local search.

use crate::local::{Acceptance, Hops, Kick, hops};
use crate::options::{OptionSpec, Options, StrategyError};
use tunesmith_core::{Request, Rng, Searcher, Told, View};

/// Iterated local search (Lourenço, Martin and Stützle, Iterated local search, in Handbook of
/// Metaheuristics, 2003, figure 2). It descends to a local minimum, perturbs it, descends again,
/// and continues from the better of the two minima.
///
/// - It starts from the best of the evaluations told before and of a few random configurations.
/// - A descent moves to the first better neighbour. Neighbours differ in one parameter
///   (`neighbourhood=hamming`) or in one step of one parameter (`adjacent`). With
///   `improvement=best`, it examines all neighbours first.
/// - A perturbation draws each parameter anew with probability `perturbation`, among valid
///   configurations.
/// - After 50 perturbations in a row over known configurations to known minima, the next descent
///   starts from a new random configuration. So the search ends only with the space.
///
/// Only the order of times matters, not their unit. Cost per evaluation: a hash for each known
/// neighbour passed, and a neighbourhood of the space for each move.
#[derive(Debug)]
pub struct IteratedLocalSearch(Hops);

impl IteratedLocalSearch {
    pub(crate) const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "perturbation",
            default: "0.4",
            meaning: "a number above 0 and at most 1: the probability with which a perturbation draws each parameter anew",
        },
        hops::NEIGHBOURHOOD,
        hops::IMPROVEMENT,
        hops::INITIAL,
    ];

    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        let perturbation = options.number("perturbation", |share| share > 0.0 && share <= 1.0)?;
        Ok(Self(Hops::from_options(Kick::Resample(perturbation), Acceptance::Better, options)?))
    }
}

impl Searcher for IteratedLocalSearch {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // Propose one at a time: only earlier requests count as known.
        self.0.propose(view, rng).map(Request::timed).into_iter().collect()
    }

    fn tell(&mut self, _: &View<'_>, told: &Told<'_>) {
        self.0.learn(told.evaluation.request.config, told.score);
    }
}
