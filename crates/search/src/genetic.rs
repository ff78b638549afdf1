//! A genetic algorithm.

use crate::local::{Scored, Standing, cross, standing};
use crate::options::{OptionSpec, Options, StrategyError};
use crate::unseen::Unseen;
use rand::RngExt as _;
use tunesmith_core::{Request, Rng, Searcher, Told, View};
use tunesmith_space::ConfigId;

/// A steady-state genetic algorithm (Whitley, The GENITOR algorithm and selection pressure, 1989):
/// two parents are chosen by rank, their child has each parameter's value from one of them
/// (Syswerda, Uniform crossover in genetic algorithms, 1989) or, with probability `mutation`, any
/// value; it takes the place of the worst of the population when it is better.
///
/// - Children are drawn uniformly from the valid configurations of that kind, so that no constraint
///   spoils one and none is repaired.
/// - A parent is the best of `tournament` drawn from the population (Goldberg and Deb, A
///   comparative analysis of selection schemes used in genetic algorithms, 1991).
/// - One child at a time instead of generations: a good child is a parent at once, and with several
///   requests in flight nothing waits. The population begins with `size` evaluations, those not
///   asked included; failed ones never join.
/// - A child that is known costs nothing and joins nothing; the next one mutates more, up to
///   everything after 10 in a row. So a population that has become alike goes on, and the search
///   ends only with the space.
///
/// Only the order of times matters, not their unit. Cost per evaluation: a draw within the space's
/// diagrams.
#[derive(Debug)]
pub struct Genetic {
    size: usize,
    tournament: usize,
    mutation: f64,
    /// From best to worst.
    population: Vec<Scored>,
    unseen: Unseen,
}

/// Children drawn before a random configuration takes their place. They cost a draw within the
/// diagrams each.
const ATTEMPTS: u32 = 10;

impl Genetic {
    pub(crate) const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec { name: "size", default: "15", meaning: "a whole number from 2: the size of the population" },
        OptionSpec {
            name: "tournament",
            default: "3",
            meaning: "a whole number from 1: of how many of the population a parent is the best",
        },
        OptionSpec {
            name: "mutation",
            default: "0.2",
            meaning: "a number from 0 to 1: the probability with which a parameter may have any value",
        },
    ];

    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        Ok(Self {
            size: options.whole("size", 2)?,
            tournament: options.whole("tournament", 1)?,
            mutation: options.number("mutation", |share| (0.0..=1.0).contains(&share))?,
            population: Vec::new(),
            unseen: Unseen::default(),
        })
    }

    fn propose(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<ConfigId> {
        if view.known() >= self.size && self.population.len() >= 2 {
            for attempt in 0..ATTEMPTS {
                let parents = self.parents(rng);
                let mutation = self.mutation + (1.0 - self.mutation) * f64::from(attempt) / f64::from(ATTEMPTS);
                let child = cross(view.space(), parents, mutation, rng);
                if standing(view, child) == Standing::New {
                    return Some(child);
                }
            }
        }
        self.unseen.draw(view, rng)
    }

    /// Draws two different configurations of the population.
    fn parents(&self, rng: &mut Rng) -> [ConfigId; 2] {
        let best_of = |count: usize, rng: &mut Rng| {
            let draws = (0..self.tournament).map(|_| rng.random_range(0..count));
            draws.min().unwrap_or(0)
        };
        let first = best_of(self.population.len(), rng);
        // The second among the others.
        let second = best_of(self.population.len() - 1, rng);
        let second = if second >= first { second + 1 } else { second };
        [self.population[first].0, self.population[second].0]
    }
}

impl Searcher for Genetic {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // One at a time, since only what was asked before counts as known.
        self.propose(view, rng).map(Request::timed).into_iter().collect()
    }

    fn tell(&mut self, _: &View<'_>, told: &Told<'_>) {
        let Some(score) = told.score else { return };
        let config = told.evaluation.request.config;
        if self.population.iter().any(|(member, _)| *member == config) {
            return;
        }
        let place = self.population.partition_point(|(_, other)| *other <= score);
        self.population.insert(place, (config, score));
        self.population.truncate(self.size);
    }
}
