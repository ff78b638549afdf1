//! A genetic algorithm.

use crate::local::{Scored, cross};
use crate::options::{OptionSpec, Options, StrategyError};
use crate::unseen::Unseen;
use rand::RngExt as _;
use tunesmith_core::{Request, Rng, Searcher, Standing, Told, View};
use tunesmith_space::ConfigId;

/// A steady-state genetic algorithm (Whitley, The GENITOR algorithm and selection pressure, 1989).
/// Two parents are chosen by rank. Their child takes each parameter's value from one of them
/// (Syswerda, Uniform crossover in genetic algorithms, 1989) or, with probability `mutation`, any
/// value. It replaces the worst of the population if it is better.
///
/// - Children are drawn uniformly from the valid configurations of that kind. So no constraint
///   excludes a child, and no child needs repair.
/// - A parent is the best of `tournament` members drawn from the population (Goldberg and Deb, A
///   comparative analysis of selection schemes used in genetic algorithms, 1991).
/// - Children come one at a time, without generations. A good child is a parent at once, and with
///   several requests in flight nothing waits. The population begins with `size` evaluations,
///   including those that this strategy did not ask. Failed configurations never join.
/// - A known child costs nothing and does not join. The next child mutates more, and after 10 known
///   children in a row every parameter mutates. So a uniform population moves on, and the search
///   ends only with the space.
///
/// Only the order of times matters, not their unit. Cost per evaluation: one draw within the
/// space's diagrams.
#[derive(Debug)]
pub struct Genetic {
    size: usize,
    tournament: usize,
    mutation: f64,
    /// The members, from best to worst.
    population: Vec<Scored>,
    unseen: Unseen,
}

/// Maximum number of children drawn before a random configuration is asked. Each costs a draw
/// within the diagrams.
const ATTEMPTS: u32 = 10;

impl Genetic {
    pub(crate) const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec { name: "size", default: "15", meaning: "a whole number from 2: the size of the population" },
        OptionSpec {
            name: "tournament",
            default: "3",
            meaning: "a whole number from 1: the number of candidates from which the best becomes a parent",
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
                if view.standing(child) == Standing::New {
                    return Some(child);
                }
            }
        }
        self.unseen.draw(view, rng)
    }

    /// Returns two different configurations of the population.
    fn parents(&self, rng: &mut Rng) -> [ConfigId; 2] {
        let best_of = |count: usize, rng: &mut Rng| {
            let draws = (0..self.tournament).map(|_| rng.random_range(0..count));
            draws.min().unwrap_or(0)
        };
        let first = best_of(self.population.len(), rng);
        // Draw the second among the others.
        let second = best_of(self.population.len() - 1, rng);
        let second = if second >= first { second + 1 } else { second };
        [self.population[first].0, self.population[second].0]
    }
}

impl Searcher for Genetic {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // Propose one at a time: only earlier requests count as known.
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
