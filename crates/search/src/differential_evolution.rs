//! Differential evolution.

use crate::local::Scored;
use crate::nearest::nearest;
use crate::options::{OptionSpec, Options, StrategyError};
use crate::unseen::Unseen;
use rand::RngExt as _;
use tunesmith_core::{Request, Rng, Searcher, Standing, Told, View};
use tunesmith_space::{ConfigId, Space};

/// Differential evolution (Storn and Price, Differential evolution - a simple and efficient
/// heuristic for global optimization over continuous spaces, 1997). The members of a population
/// take turns. For each member, the weighted difference of two others is added to a third, the base
/// (equation 2). Each coordinate of the sum replaces the member's own with probability `crossover`,
/// at least one of them (equation 4). The result replaces the member if it is not worse.
///
/// - Coordinates are value indices. The result is moved to the nearest valid configuration
///   ([`Space::nearest_configuration`], with the length of each parameter's list counted as one).
/// - `base=best` uses the best member as the base instead of a random one (DE/best/1/bin and
///   DE/rand/1/bin in the paper).
/// - The population begins with `size` evaluations, including those that this strategy did not ask.
///   Failed configurations never join.
/// - A known result is judged at once. After 10 known results in a row, the next configuration is a
///   new random one. It replaces the worst member if it is better. So the search ends only with the
///   space.
///
/// Only the order of times matters, not their unit. Cost per evaluation: one pass over the space's
/// diagrams.
#[derive(Debug)]
pub struct DifferentialEvolution {
    size: usize,
    weight: f64,
    crossover: f64,
    from_best: bool,
    population: Vec<Scored>,
    /// Configurations in flight, each with the member that it may replace.
    awaited: Vec<(ConfigId, usize)>,
    /// The member whose turn is next.
    next: usize,
    unseen: Unseen,
}

/// Minimum size of a population: a member to replace, a base, and two members for the difference.
const FEWEST: usize = 4;

/// Maximum number of known results before a random configuration is asked. Each may cost a pass
/// over the diagrams.
const ATTEMPTS: usize = 10;

impl DifferentialEvolution {
    pub(crate) const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec { name: "size", default: "15", meaning: "a whole number from 4: the size of the population" },
        OptionSpec {
            name: "weight",
            default: "0.8",
            meaning: "a positive number: the weight of a difference, F in the paper",
        },
        OptionSpec {
            name: "crossover",
            default: "0.5",
            meaning: "a number from 0 to 1: the probability with which a coordinate changes, CR in the paper",
        },
        OptionSpec {
            name: "base",
            default: "best",
            meaning: "best or random: the configuration that a difference is added to",
        },
    ];

    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        Ok(Self {
            size: options.whole("size", FEWEST)?,
            weight: options.number("weight", |weight| weight > 0.0)?,
            crossover: options.number("crossover", |share| (0.0..=1.0).contains(&share))?,
            from_best: options.choice("base", &["best", "random"])? == 0,
            population: Vec::new(),
            awaited: Vec::new(),
            next: 0,
            unseen: Unseen::default(),
        })
    }

    fn propose(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<ConfigId> {
        if view.known() < self.size || self.population.len() < FEWEST {
            return self.unseen.draw(view, rng);
        }
        for _ in 0..ATTEMPTS {
            let target = self.next % self.population.len();
            self.next = target + 1;
            let config = self.combine(view.space(), target, rng);
            match view.standing(config) {
                Standing::New => {
                    self.awaited.push((config, target));
                    return Some(config);
                }
                Standing::Told(Some(score)) => self.replace(target, config, score),
                Standing::Told(None) | Standing::InFlight => {}
            }
        }
        self.unseen.draw(view, rng)
    }

    /// Returns the result of the paper's equations 2 and 4 for the member `target`, moved to the
    /// nearest valid configuration.
    fn combine(&self, space: &Space, target: usize, rng: &mut Rng) -> ConfigId {
        let indices = |member: usize| space.unrank(self.population[member].0);
        let others = distinct(self.population.len(), target, rng);
        let base = if self.from_best { self.best() } else { others[2] };
        let [own, base, plus, minus] = [target, base, others[0], others[1]].map(indices);
        let always = rng.random_range(0..own.indices().len());
        let coordinate = |d: usize, rng: &mut Rng| {
            let at = |of: &tunesmith_space::Configuration| f64::from(of.indices()[d]);
            let changes = d == always || rng.random_bool(self.crossover);
            if changes { at(&base) + self.weight * (at(&plus) - at(&minus)) } else { at(&own) }
        };
        let point: Vec<f64> = (0..own.indices().len()).map(|d| coordinate(d, rng)).collect();
        nearest(space, &point).unwrap_or(self.population[target].0)
    }

    fn best(&self) -> usize {
        let members = 0..self.population.len();
        members.min_by(|&a, &b| self.population[a].1.total_cmp(&self.population[b].1)).unwrap_or(0)
    }

    /// Replaces `member` by a configuration that is not worse, unless the population contains it
    /// already.
    fn replace(&mut self, member: usize, config: ConfigId, score: f64) {
        let is_member = self.population.iter().any(|(other, _)| *other == config);
        if !is_member && score <= self.population[member].1 {
            self.population[member] = (config, score);
        }
    }
}

/// Draws three different numbers below `count` that are not `target`. `count` is at least 4.
fn distinct(count: usize, target: usize, rng: &mut Rng) -> [usize; 3] {
    let mut taken = [target; 4];
    for at in 1..4 {
        while taken[..at].contains(&taken[at]) {
            taken[at] = rng.random_range(0..count);
        }
    }
    [taken[1], taken[2], taken[3]]
}

impl Searcher for DifferentialEvolution {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // Propose one at a time: only earlier requests count as known.
        self.propose(view, rng).map(Request::timed).into_iter().collect()
    }

    fn tell(&mut self, _: &View<'_>, told: &Told<'_>) {
        let config = told.evaluation.request.config;
        let position = self.awaited.iter().position(|(awaited, _)| *awaited == config);
        let target = position.map(|position| self.awaited.swap_remove(position).1);
        let Some(score) = told.score else { return };
        let worst =
            |population: &[Scored]| (0..population.len()).max_by(|&a, &b| population[a].1.total_cmp(&population[b].1));
        match target.or_else(|| worst(&self.population).filter(|_| self.population.len() >= self.size)) {
            Some(target) => self.replace(target, config, score),
            None if self.population.iter().all(|(member, _)| *member != config) => {
                self.population.push((config, score))
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Knowledge;
    use rand::SeedableRng as _;
    use tunesmith_space::{Parameter, Value};

    fn population(members: &[[u32; 3]]) -> (Space, DifferentialEvolution) {
        let parameter = |d| Parameter::new(format!("P{d}"), (0..10).map(Value::Int)).unwrap();
        let space = (0..3).fold(Space::builder(), |builder, d| builder.parameter(parameter(d))).build().unwrap();
        let (specs, knowledge) = (DifferentialEvolution::OPTIONS, Knowledge::default());
        let options = Options::new("differential_evolution", specs, &[], &knowledge, |_, _| unreachable!()).unwrap();
        let mut evolution = DifferentialEvolution::from_options(&options).unwrap();
        evolution.population = members
            .iter()
            .zip(1..)
            .map(|(indices, score)| (space.rank_indices(indices).unwrap(), f64::from(score)))
            .collect();
        (space, evolution)
    }

    #[test]
    fn a_result_is_the_base_plus_the_weighted_difference_where_coordinates_cross_over() {
        let (space, mut evolution) = population(&[[5, 5, 5], [0, 0, 0], [4, 0, 2], [4, 0, 2]]);
        (evolution.weight, evolution.crossover) = (0.5, 1.0);
        let mut rng = Rng::seed_from_u64(3);
        for _ in 0..50 {
            // For target 1, the others are 0, 2 and 3. Differences are among [5, 5, 5] and [4, 0,
            // 2], or zero.
            let config = space.unrank(evolution.combine(&space, 1, &mut rng));
            let halves = [[5, 5, 5], [5, 7, 6], [4, 2, 3], [5, 8, 7], [6, 8, 7], [5, 3, 4]];
            assert!(halves.contains(&[config.indices()[0], config.indices()[1], config.indices()[2]]), "{config:?}");
        }
        evolution.crossover = 0.0;
        for _ in 0..50 {
            let config = space.unrank(evolution.combine(&space, 1, &mut rng));
            assert_eq!(config.indices().iter().filter(|&&index| index != 0).count(), 1, "{config:?}");
        }
    }

    #[test]
    fn three_others_are_different_and_each_as_often() {
        let mut rng = Rng::seed_from_u64(4);
        let mut counts = [0; 6];
        for _ in 0..5000 {
            let others = distinct(6, 2, &mut rng);
            assert!(others[0] != others[1] && others[0] != others[2] && others[1] != others[2]);
            others.into_iter().for_each(|other| counts[other] += 1);
        }
        assert_eq!(counts[2], 0);
        assert!(counts.iter().filter(|&&count| (2800..3200).contains(&count)).count() == 5, "{counts:?}");
    }
}
