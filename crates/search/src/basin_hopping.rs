//! Basin hopping.

use crate::local::{Acceptance, Hops, Kick, hops};
use crate::options::{OptionSpec, Options, StrategyError};
use tunesmith_core::{Request, Rng, Searcher, Told, View};

/// Basin hopping (Wales and Doye, Global optimization by basin-hopping, 1997): annealing over local
/// minima at a constant temperature. Each hop perturbs the current minimum and descends from there.
/// A better minimum replaces the old one, a worse one with probability `exp(-d / temperature)`.
/// Kernel Tuner provides it, and section 4.7 of Filipovič, Hozzová, Nezarat, Oľha and Petrovič,
/// Using hardware performance counters to speed up autotuning, 2022, compares against it.
///
/// - d is the relative slowdown of the new minimum. In other programs it is a difference of
///   milliseconds, and the same temperature then accepts everything for one kernel and nothing for
///   another.
/// - A perturbation draws each parameter anew with probability `step`, among valid configurations.
///   Descents and starts are those of [`IteratedLocalSearch`](crate::IteratedLocalSearch), and so
///   is the new start when nothing new is found.
///
/// Cost per evaluation: as for iterated local search.
#[derive(Debug)]
pub struct BasinHopping(Hops);

impl BasinHopping {
    pub(crate) const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "temperature",
            default: "0.05",
            meaning: "a positive number: the relative slowdown at which a minimum is accepted with probability 1/e",
        },
        OptionSpec {
            name: "step",
            default: "0.25",
            meaning: "a number above 0 and at most 1: the probability with which a hop draws each parameter anew",
        },
        hops::NEIGHBOURHOOD,
        hops::IMPROVEMENT,
        hops::INITIAL,
    ];

    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        let temperature = options.number("temperature", |temperature| temperature > 0.0)?;
        let step = options.number("step", |share| share > 0.0 && share <= 1.0)?;
        let acceptance = Acceptance::Metropolis(temperature);
        Ok(Self(Hops::from_options(Kick::Resample(step), acceptance, options)?))
    }
}

impl Searcher for BasinHopping {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // Propose one at a time: only earlier requests count as known.
        self.0.propose(view, rng).map(Request::timed).into_iter().collect()
    }

    fn tell(&mut self, _: &View<'_>, told: &Told<'_>) {
        self.0.learn(told.evaluation.request.config, told.score);
    }
}
