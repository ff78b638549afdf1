//! The common part of the continuous methods: a walk through the unit cube with restarts.

use crate::cube::Cube;
use crate::options::{OptionSpec, Options, StrategyError};
use crate::unseen::Unseen;
use tunesmith_core::{Request, Rng, Searcher, Standing, View};
use tunesmith_space::{ConfigId, Space};

/// A place in the unit cube and its cost, the score of its configuration. The cost of a failure is
/// infinite, so a failure is worse than any success.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Vertex {
    pub(crate) place: Vec<f64>,
    pub(crate) cost: f64,
}

/// A method that minimises a function of real coordinates. It pauses wherever it needs costs.
pub(crate) trait Method: Send {
    /// Starts anew from `start`, which has at least one coordinate. Returns the places whose costs
    /// are needed first.
    fn start(&mut self, start: &[f64]) -> Vec<Vec<f64>>;

    /// Takes the costs of the places wanted last, in their order. Places outside of the cube were
    /// moved into it. Returns the places whose costs are needed next, at least one.
    fn next(&mut self, measured: Vec<Vertex>) -> Vec<Vec<f64>>;
}

/// Runs a [`Method`] over the unit cube of a space (ATF paper, section 5). The cube has one
/// coordinate for each parameter with more than one value. At each node of the space's tree, the
/// coordinate selects one of the values possible there.
///
/// - `blocks=values` gives all values of a node an equal part of the interval, as ATF does.
///   Configurations behind nodes with few others are then met more often. The default,
///   `blocks=configurations`, is ours: a value's part is its share of the node's configurations. So
///   no part of the space is preferred, and a step of a given length passes equally many
///   configurations everywhere.
/// - `blocks=index` has a single coordinate, which numbers the whole space (the one-dimensional
///   space that the ATF paper compares with in its figure 5). Neighbours of a configuration then
///   differ in the parameter that counts fastest.
/// - A place outside of the cube is moved to the nearest place inside. Mirroring it at the wall did
///   worse on the recorded spaces, by 0.01 to 0.03 of the optimum after 25 and 50 evaluations: good
///   values often stand at an end of a list.
/// - Known costs come from the history. After [`PATIENCE`] known costs per vertex in a row, the
///   method counts as collapsed.
/// - It starts at the best of `samples` random configurations, and whenever it has collapsed, at
///   the best of new ones. So the search ends only with the space. Evaluations told before the
///   first start, from the user's start configurations or other strategies, count among the samples
///   of that start.
#[derive(Debug)]
pub(crate) struct DirectSearch<M> {
    method: M,
    samples: usize,
    cube: Cube,
    stage: Stage,
    /// The configurations whose costs the method, or the choice of a start, waits for.
    wanted: Vec<Wanted>,
    /// Number of costs taken from the history since the last new configuration.
    known: usize,
    unseen: Unseen,
}

/// Number of known costs per vertex of a simplex after which a method starts anew. Steps may shrink
/// below a wide block and still enter a narrow one. 2, 4, 8 and 16 did equally well on the recorded
/// spaces.
const PATIENCE: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing was asked yet.
    Fresh,
    /// The number of random configurations still to draw for the next start.
    Sampling(usize),
    Walking,
}

#[derive(Debug)]
struct Wanted {
    config: ConfigId,
    place: Vec<f64>,
    cost: Option<f64>,
}

/// The option of methods that begin with a simplex.
pub(crate) const EDGE: OptionSpec = OptionSpec {
    name: "edge",
    default: "0.5",
    meaning: "a number above 0 and at most 0.5: the edges of the first simplex in the unit cube",
};

/// Returns the value of the option [`EDGE`].
pub(crate) fn edge(options: &Options<'_>) -> Result<f64, StrategyError> {
    options.number(EDGE.name, |number| 0.0 < number && number <= 0.5)
}

/// Returns the option that all methods share.
pub(crate) const fn samples(default: &'static str) -> OptionSpec {
    let meaning =
        "a whole number from 1 to 10000: the number of random configurations, the best of which starts the method";
    OptionSpec { name: "samples", default, meaning }
}

impl<M: Method> DirectSearch<M> {
    /// Returns a search by `method`. The option [`samples`] gives the number of random
    /// configurations for a start.
    pub(crate) fn from_options(method: M, options: &Options<'_>) -> Result<Self, StrategyError> {
        Ok(Self::new(method, Cube::from_options(options)?, options.count("samples", 1, 10_000)?))
    }

    fn new(method: M, cube: Cube, samples: usize) -> Self {
        Self { method, samples, cube, stage: Stage::Fresh, wanted: Vec::new(), known: 0, unseen: Unseen::default() }
    }

    /// Returns the next configuration to evaluate. Returns `None` while costs are missing, and if
    /// all configurations are known.
    fn propose(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<ConfigId> {
        if self.stage == Stage::Fresh {
            self.begin(view);
        }
        loop {
            if let Stage::Sampling(more @ 1..) = self.stage {
                if let Some(config) = self.unseen.draw(view, rng) {
                    self.stage = Stage::Sampling(more - 1);
                    self.want(view.space(), config);
                    return Some(config);
                }
                self.stage = Stage::Sampling(0);
            }
            if self.wanted.is_empty() {
                self.stage = Stage::Sampling(self.samples);
                return None;
            }
            if let Some(config) = self.first_unknown(view) {
                self.known = 0;
                return Some(config);
            }
            if self.wanted.iter().any(|wanted| wanted.cost.is_none()) {
                return None;
            }
            self.go_on(view.space());
        }
    }

    /// Prepares the first start from the space and the evaluations told before.
    fn begin(&mut self, view: &View<'_>) {
        self.cube.fit(view.space());
        let best = view.history().best().map(|best| best.evaluation.request.config);
        let missing = self.samples.saturating_sub(view.history().len());
        self.stage = Stage::Sampling(missing.max(usize::from(best.is_none())));
        best.into_iter().for_each(|best| self.want(view.space(), best));
    }

    fn want(&mut self, space: &Space, config: ConfigId) {
        let place = self.cube.place(space, config);
        self.wanted.push(Wanted { config, place, cost: None });
    }

    /// Fills in the known costs. Stops at the first configuration that was not asked yet and
    /// returns it.
    fn first_unknown(&mut self, view: &View<'_>) -> Option<ConfigId> {
        for wanted in self.wanted.iter_mut().filter(|wanted| wanted.cost.is_none()) {
            match view.standing(wanted.config) {
                Standing::Told(score) => wanted.cost = Some(score.unwrap_or(f64::INFINITY)),
                Standing::InFlight => {}
                Standing::New => return Some(wanted.config),
            }
        }
        None
    }

    /// Continues with the method's next places or a new start. All costs must be present.
    fn go_on(&mut self, space: &Space) {
        let vertex = |wanted: Wanted| Vertex { place: wanted.place, cost: wanted.cost.unwrap_or(f64::INFINITY) };
        let measured: Vec<Vertex> = self.wanted.drain(..).map(vertex).collect();
        self.known += measured.len();
        let dimensions = self.cube.dimensions();
        let collapsed = self.known > PATIENCE * (dimensions + 1) || dimensions == 0;
        let places = match self.stage {
            Stage::Walking if collapsed => Vec::new(),
            Stage::Walking => self.method.next(measured),
            // If no parameter has a choice, there is nowhere to go.
            _ if dimensions == 0 => Vec::new(),
            _ => best(&measured).map(|best| self.method.start(&best.place)).unwrap_or_default(),
        };
        if places.is_empty() {
            self.known = 0;
            self.stage = Stage::Sampling(self.samples);
        } else {
            self.stage = Stage::Walking;
            self.wanted = places.into_iter().map(|place| self.locate(space, place)).collect();
        }
    }

    /// Moves `place` into the cube and returns its configuration.
    fn locate(&self, space: &Space, mut place: Vec<f64>) -> Wanted {
        place.iter_mut().for_each(|coordinate| *coordinate = coordinate.clamp(0.0, 1.0));
        Wanted { config: self.cube.config(space, &place), place, cost: None }
    }
}

impl<M: Method> Searcher for DirectSearch<M> {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // Propose one at a time: only earlier requests count as known.
        self.propose(view, rng).map(Request::timed).into_iter().collect()
    }
}

/// Returns the vertex with the least cost, the first of equal ones.
pub(crate) fn best(vertices: &[Vertex]) -> Option<&Vertex> {
    vertices.iter().min_by(|a, b| a.cost.total_cmp(&b.cost))
}

/// Returns `from + factor * (to - from)`: a point on the line through both, and `to` for the factor
/// 1.
pub(crate) fn along(from: &[f64], to: &[f64], factor: f64) -> Vec<f64> {
    from.iter().zip(to).map(|(from, to)| from + factor * (to - from)).collect()
}

/// Returns a right simplex: `start`, and for each coordinate a vertex at the distance `edge` from
/// it, on the side with more room.
pub(crate) fn right_simplex(start: &[f64], edge: f64) -> Vec<Vec<f64>> {
    let moved = (0..start.len()).map(|at| {
        let mut vertex = start.to_vec();
        vertex[at] += if vertex[at] <= 0.5 { edge } else { -edge };
        vertex
    });
    std::iter::once(start.to_vec()).chain(moved).collect()
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Method, Vertex};

    /// Runs `method` from `start` on `function` for `rounds` rounds. Returns the places wanted in
    /// each.
    pub(crate) fn rounds(
        method: &mut impl Method,
        start: &[f64],
        rounds: usize,
        function: impl Fn(&[f64]) -> f64,
    ) -> Vec<Vec<Vec<f64>>> {
        let mut wanted = vec![method.start(start)];
        for _ in 1..rounds {
            let last = wanted.last().cloned().unwrap_or_default();
            let measured = last.into_iter().map(|place| Vertex { cost: function(&place), place });
            wanted.push(method.next(measured.collect()));
        }
        wanted
    }

    /// Returns the least value of `function` at the places of [`rounds`].
    pub(crate) fn least(wanted: &[Vec<Vec<f64>>], function: impl Fn(&[f64]) -> f64) -> f64 {
        wanted.iter().flatten().map(|place| function(place)).fold(f64::INFINITY, f64::min)
    }
}
