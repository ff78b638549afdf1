//! Iterated local search.

use crate::local::{Acceptance, Descent, Hops, Improvement, Kick};
use crate::options::{OptionSpec, Options, StrategyError};
use tunesmith_core::{Request, Rng, Searcher, Told, View};
use tunesmith_space::Neighbourhood;

/// Iterated local search (Lourenço, Martin and Stützle, Iterated local search, in Handbook of Metaheuristics, 2003,
/// figure 2): descend to a local minimum, perturb it, descend again, and go on from the better of the two.
///
/// - It starts from the best of what was told before and of a few random configurations.
/// - A descent goes to the first better neighbour; neighbours differ in one parameter (`neighbourhood=hamming`) or in one
///   step of one parameter (`adjacent`). `improvement=best` looks at all neighbours first.
/// - A perturbation draws each parameter anew with probability `perturbation`, among valid configurations.
/// - When 50 perturbations in a row led over known configurations to known minima, the next descent starts from a new
///   random configuration, so the search ends only with the space.
///
/// Only the order of times matters, not their unit. Cost per evaluation: a hash for each known neighbour passed; a
/// neighbourhood of the space for each move.
#[derive(Debug)]
pub struct IteratedLocalSearch(Hops);

impl IteratedLocalSearch {
    pub(crate) const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "perturbation",
            default: "0.4",
            meaning: "a number above 0 and at most 1: the probability with which a perturbation draws each parameter anew",
        },
        OptionSpec { name: "neighbourhood", default: "hamming", meaning: "hamming or adjacent" },
        OptionSpec {
            name: "improvement",
            default: "first",
            meaning: "first or best: which better neighbour a descent goes to",
        },
        OptionSpec {
            name: "initial",
            default: "10",
            meaning: "a whole number from 1: evaluations, random ones where nothing was told, before the first descent",
        },
    ];

    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        let perturbation = options.number("perturbation", |share| share > 0.0 && share <= 1.0)?;
        let hops = Hops::new(
            descent(options)?,
            Kick::Resample(perturbation),
            Acceptance::Better,
            options.whole("initial", 1)?,
        );
        Ok(Self(hops))
    }
}

/// The descent that the options `neighbourhood` and `improvement` describe.
pub(crate) fn descent(options: &Options<'_>) -> Result<Descent, StrategyError> {
    let neighbourhoods = [Neighbourhood::Hamming, Neighbourhood::Adjacent];
    let neighbourhood = neighbourhoods[options.choice("neighbourhood", &["hamming", "adjacent"])?];
    let improvement = [Improvement::First, Improvement::Best][options.choice("improvement", &["first", "best"])?];
    Ok(Descent::new(neighbourhood, improvement))
}

impl Searcher for IteratedLocalSearch {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // One at a time, since only what was asked before counts as known.
        self.0.propose(view, rng).map(Request::timed).into_iter().collect()
    }

    fn tell(&mut self, _: &View<'_>, told: &Told<'_>) {
        self.0.learn(told.evaluation.request.config, told.score);
    }
}
