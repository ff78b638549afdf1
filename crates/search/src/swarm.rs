//! Particle swarm optimisation.

use crate::nearest::nearest;
use crate::options::{OptionSpec, Options, StrategyError};
use crate::unseen::Unseen;
use rand::RngExt as _;
use tunesmith_core::{Request, Rng, Searcher, Standing, Told, View};
use tunesmith_space::{ConfigId, Space};

/// CLTune's modified accelerated particle swarm (CLTune paper, section III-D, second equation).
/// `size` particles start at random configurations and move repeatedly. In each dimension d
/// independently, the new position of particle i is
///
/// - a random value of the parameter with probability `alpha`,
/// - the value of p_i, the best configuration that the particle has met, with probability `beta`,
/// - the value of g, the best configuration that any particle has met, with probability `gamma`,
/// - its current value otherwise,
///
/// with `alpha + beta + gamma <= 1`. Positions are value indices, so no value is ever a mean of
/// others. The defaults are the paper's (section IV): 0.4, 0 and 0.4, and a swarm of 3, its smaller
/// one.
///
/// Additions to the paper and differences from it:
/// - A new position that a constraint excludes is moved to the nearest valid one
///   ([`Space::nearest_configuration`], with the length of each parameter's list counted as one).
///   The authors' program draws until a position is valid, which may take for ever if there are
///   few.
/// - A known configuration costs nothing: the particle learns the known time and moves on. After 50
///   such steps, it continues from a new random configuration. So the search ends only with the
///   space.
/// - The default and the start configuration count for g, though no particle has met them.
/// - A failed configuration is a position like any other, but never a best one.
/// - With room for more than one request, several particles are in flight. A particle that waits
///   for its time does not move.
///
/// Only the order of times matters, not their unit. Cost per evaluation: at most one pass over the
/// space's diagrams for every step.
#[derive(Debug)]
pub struct Swarm {
    alpha: f64,
    beta: f64,
    gamma: f64,
    particles: Vec<Particle>,
    /// The best configuration that any particle has met, and its score.
    best: Option<(ConfigId, f64)>,
    /// The particle whose turn is next.
    next: usize,
    unseen: Unseen,
}

#[derive(Clone, Debug, Default)]
struct Particle {
    /// The current configuration. `None` until its first evaluation is told.
    position: Option<ConfigId>,
    /// The best configuration that the particle has met, and its score.
    best: Option<(ConfigId, f64)>,
    /// The configuration in flight, which becomes the next position.
    awaited: Option<ConfigId>,
}

/// Maximum number of steps over known configurations before a particle jumps, as in
/// [`Annealing`](crate::Annealing).
const MAX_KNOWN_STEPS: usize = 50;

impl Particle {
    fn meet(&mut self, config: ConfigId, score: Option<f64>) {
        self.position = Some(config);
        keep_better(&mut self.best, config, score);
    }
}

impl Swarm {
    /// Default number of particles. Each has at most one request in flight.
    pub(crate) const SIZE: usize = 3;

    pub(crate) const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "alpha",
            default: "0.4",
            meaning: "a number from 0 to 1: the probability of a random value; alpha + beta + gamma is at most 1",
        },
        OptionSpec {
            name: "beta",
            default: "0",
            meaning: "a number from 0 to 1: the probability of the value of the particle's own best",
        },
        OptionSpec {
            name: "gamma",
            default: "0.4",
            meaning: "a number from 0 to 1: the probability of the value of the swarm's best; alpha + beta + gamma is \
                      at most 1",
        },
        OptionSpec { name: "size", default: "3", meaning: "a whole number from 1 to 10000: the number of particles" },
    ];

    /// Returns a swarm of `size` particles, at least one. The probabilities and their sum must be
    /// from 0 to 1.
    pub fn new(alpha: f64, beta: f64, gamma: f64, size: usize) -> Self {
        let particles = vec![Particle::default(); size.max(1)];
        Self { alpha, beta, gamma, particles, best: None, next: 0, unseen: Unseen::default() }
    }

    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        let probability = |name: &str| options.number(name, |number| (0.0..=1.0).contains(&number));
        let (alpha, beta) = (probability("alpha")?, probability("beta")?);
        let gamma = probability("gamma")?;
        // Decimal fractions that sum to 1 may exceed it by a rounding error.
        if alpha + beta + gamma > 1.0 + 1e-9 {
            return Err(StrategyError::BadValue {
                strategy: "swarm",
                option: "gamma",
                value: gamma.to_string(),
                expected: format!("at most 1 - alpha - beta = {}", (1.0 - alpha - beta).max(0.0)),
            });
        }
        let size = options.number("size", |size| size.fract() == 0.0 && (1.0..=10_000.0).contains(&size))?;
        Ok(Self::new(alpha, beta, gamma, size as usize))
    }

    /// Returns the next new configuration of the particle, or `None` if all are known.
    fn propose(&mut self, view: &View<'_>, index: usize, rng: &mut Rng) -> Option<ConfigId> {
        for _ in 0..MAX_KNOWN_STEPS {
            let Some(position) = self.particles[index].position else { break };
            let config = self.step(view.space(), index, position, rng);
            match view.standing(config) {
                Standing::Told(score) => self.particles[index].meet(config, score),
                Standing::InFlight => {}
                Standing::New => return Some(config),
            }
        }
        self.unseen.draw(view, rng)
    }

    /// Makes one move by the paper's equation and returns the nearest valid configuration.
    fn step(&self, space: &Space, index: usize, position: ConfigId, rng: &mut Rng) -> ConfigId {
        let indices = |config: ConfigId| space.unrank(config).indices().to_vec();
        let current = indices(position);
        // Without a best configuration, a particle keeps its value.
        let own = self.particles[index].best.map_or_else(|| current.clone(), |(config, _)| indices(config));
        let all = self.best.map_or_else(|| current.clone(), |(config, _)| indices(config));
        let moved: Vec<u32> = (0..current.len())
            .map(|d| {
                let chance: f64 = rng.random();
                if chance < self.alpha {
                    rng.random_range(0..space.parameters()[d].values().len() as u32)
                } else if chance < self.alpha + self.beta {
                    own[d]
                } else if chance < self.alpha + self.beta + self.gamma {
                    all[d]
                } else {
                    current[d]
                }
            })
            .collect();
        let point = || moved.iter().map(|&index| f64::from(index)).collect::<Vec<_>>();
        space.rank_indices(&moved).unwrap_or_else(|| nearest(space, &point()).unwrap_or(position))
    }
}

/// Keeps the better configuration. Of equal scores, the first stays.
fn keep_better(best: &mut Option<(ConfigId, f64)>, config: ConfigId, score: Option<f64>) {
    let Some(score) = score else { return };
    if best.is_none_or(|(_, known)| score < known) {
        *best = Some((config, score));
    }
}

impl Searcher for Swarm {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // Propose one at a time, by turns: only earlier requests count as known.
        let turns = (0..self.particles.len()).map(|turn| (self.next + turn) % self.particles.len());
        let free = turns.into_iter().find(|&index| self.particles[index].awaited.is_none());
        let Some(index) = free else { return Vec::new() };
        let Some(config) = self.propose(view, index, rng) else { return Vec::new() };
        self.particles[index].awaited = Some(config);
        self.next = (index + 1) % self.particles.len();
        vec![Request::timed(config)]
    }

    fn tell(&mut self, _: &View<'_>, told: &Told<'_>) {
        let config = told.evaluation.request.config;
        keep_better(&mut self.best, config, told.score);
        // No particle waits for the default and the start configuration.
        if let Some(particle) = self.particles.iter_mut().find(|particle| particle.awaited == Some(config)) {
            particle.awaited = None;
            particle.meet(config, told.score);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use tunesmith_space::{Constraint, Parameter, Value};

    const DIMENSIONS: usize = 4;

    fn space(constraint: Option<&str>) -> Space {
        let parameter = |d| Parameter::new(format!("P{d}"), (0..10).map(Value::Int)).unwrap();
        let builder = (0..DIMENSIONS).fold(Space::builder(), |builder, d| builder.parameter(parameter(d)));
        let constraints = constraint.into_iter().map(|text| Constraint::parse(text).unwrap());
        constraints.fold(builder, |builder, constraint| builder.constraint(constraint)).build().unwrap()
    }

    fn id(space: &Space, indices: [u32; DIMENSIONS]) -> ConfigId {
        space.rank_indices(&indices).unwrap()
    }

    /// Returns the frequencies with which the new value is the particle's (7), that of its own best
    /// (8), that of the swarm's best (9), or another.
    fn shares(alpha: f64, beta: f64, gamma: f64) -> [f64; 4] {
        let space = space(None);
        let mut swarm = Swarm::new(alpha, beta, gamma, 1);
        swarm.particles[0].best = Some((id(&space, [8; DIMENSIONS]), 2.0));
        swarm.best = Some((id(&space, [9; DIMENSIONS]), 1.0));
        let mut rng = Rng::seed_from_u64(5);
        let steps = 20_000;
        let mut counts = [0.0; 4];
        for _ in 0..steps {
            let config = swarm.step(&space, 0, id(&space, [7; DIMENSIONS]), &mut rng);
            for index in space.unrank(config).indices() {
                counts[(*index as usize).saturating_sub(6).wrapping_sub(1).min(3)] += 1.0;
            }
        }
        counts.map(|count| count / (steps * DIMENSIONS) as f64)
    }

    #[test]
    fn each_dimension_moves_with_the_probabilities_of_the_paper() {
        assert_eq!(shares(0.0, 0.0, 0.0), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(shares(0.0, 1.0, 0.0), [0.0, 1.0, 0.0, 0.0]);
        assert_eq!(shares(0.0, 0.0, 1.0), [0.0, 0.0, 1.0, 0.0]);
        // A random value is each of ten with the same probability.
        let (alpha, beta, gamma) = (0.4, 0.1, 0.3);
        let wanted = [0.2 + 0.04, beta + 0.04, gamma + 0.04, 0.7 * alpha];
        for (found, wanted) in shares(alpha, beta, gamma).into_iter().zip(wanted) {
            assert!((found - wanted).abs() < 0.01, "{found} instead of {wanted}");
        }
    }

    #[test]
    fn a_step_into_what_a_constraint_excludes_ends_at_the_nearest_valid_configuration() {
        let space = space(Some("P0 == P1"));
        let mut swarm = Swarm::new(0.0, 0.0, 0.5, 1);
        swarm.best = Some((id(&space, [4, 4, 9, 9]), 1.0));
        let position = id(&space, [3, 3, 0, 0]);
        let mut rng = Rng::seed_from_u64(1);
        for _ in 0..100 {
            let moved = space.unrank(swarm.step(&space, 0, position, &mut rng));
            let [first, second, rest @ ..] = moved.indices() else { panic!() };
            assert!(first == second && (3..=4).contains(first));
            assert!(rest.iter().all(|index| [0, 9].contains(index)));
        }
    }
}
