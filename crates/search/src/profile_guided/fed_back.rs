//! Our counter-guided search: bottlenecks propose configurations, and measured times correct the
//! model.

use super::draw::weighted;
use super::reacting::Reacting;
use crate::GaussianProcess;
use crate::guide::{BELIEF, Guide, readings};
use crate::unseen::Unseen;
use rand::RngExt as _;
use tunesmith_core::{Depth, Evaluation, Request, Rng, Scale, Searcher, Told, View};
use tunesmith_model::bottleneck::{Bottlenecks, Rules, weights};
use tunesmith_space::ConfigId;

/// The probability of drawing a configuration by weight. Nothing else finds configurations that no
/// model foresees.
const CHANCE: f64 = 0.1;
/// Number of evaluations in a row without a new best after which counters have nothing more to
/// tell. It is the number of evaluations that the Gaussian process needs to begin with.
const STALLED: usize = 8;
/// Maximum number of steps from neighbour to neighbour before a configuration is chosen in a space
/// scored in part.
const STEPS: usize = 8;
/// Number of fastest profiled configurations whose neighbours are scored in such a space.
const LEADERS: usize = 5;

/// Alternates between two choices: the configuration that best relieves the bottlenecks of the
/// fastest one, and the configuration with the least predicted time. A tenth is drawn by weight.
/// After [`STALLED`] evaluations without a new best, a Gaussian process, which learns from all
/// evaluations, makes every second choice: near the optimum, times say more than counters.
///
/// A run is profiled if its predicted time may make it the fastest, because only then do its
/// counters matter. No configuration is run a second time for its counters. Nothing is profiled on
/// a device without counters.
///
/// A space too large to score whole is scored in part: a random sample and the neighbours of the
/// fastest profiled configurations. Before it chooses a configuration there, it follows better
/// neighbours. A new fastest configuration brings a new sample.
#[derive(Debug)]
pub(super) struct FedBack {
    guide: Guide,
    rules: Reacting,
    runs: Vec<(ConfigId, f64)>,
    /// By place: true if the configuration is not predicted, in flight, or told.
    closed: Vec<bool>,
    /// The fastest profiled run.
    fastest: Option<Profiled>,
    /// Scores by place, relative to the fastest profiled run. Empty before there is one.
    scores: Vec<f64>,
    /// The last profiled runs that were the fastest.
    leaders: Vec<ConfigId>,
    /// True if there is a new leader, in a space scored in part.
    has_moved: bool,
    /// The costs of work, fitted to all runs so far.
    coefficients: Vec<f64>,
    /// True if a profiled run came back without counters.
    is_blind: bool,
    best: f64,
    /// Number of evaluations since the best was found.
    since: usize,
    by_time: bool,
    by_surrogate: bool,
    surrogate: GaussianProcess,
    unseen: Unseen,
}

/// A profiled run, its bottlenecks and the rules that react to them.
#[derive(Debug)]
struct Profiled {
    config: ConfigId,
    score: f64,
    bottlenecks: Bottlenecks,
    rules: Rules,
}

impl FedBack {
    pub(super) fn new(guide: Guide, rules: Reacting, surrogate: GaussianProcess) -> Self {
        let closed = (0..guide.configs().len()).map(|place| !guide.is_predicted(place)).collect();
        let coefficients = guide.times().fit(&[]);
        Self {
            guide,
            rules,
            runs: Vec::new(),
            closed,
            fastest: None,
            scores: Vec::new(),
            leaders: Vec::new(),
            has_moved: false,
            coefficients,
            is_blind: false,
            best: f64::INFINITY,
            since: 0,
            by_time: false,
            by_surrogate: false,
            surrogate,
            unseen: Unseen::default(),
        }
    }

    /// Returns the next configuration, neither told nor in flight.
    fn choose(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<ConfigId> {
        self.by_surrogate = self.since >= STALLED && !self.by_surrogate;
        if self.by_surrogate {
            let asked = self.surrogate.ask(view, 1, rng).first().map(|request| request.config);
            // With several requests in flight, it may choose a configuration that was asked for
            // here.
            if let Some(config) = asked.filter(|config| self.is_open(*config)) {
                return Some(config);
            }
        }
        if std::mem::take(&mut self.has_moved) {
            self.move_on(view, rng);
        }
        while let Some(place) = self.place(view, rng) {
            self.closed[place] = true;
            let config = self.guide.configs()[place];
            // Others may have measured it.
            if !view.is_measured(config) {
                return Some(config);
            }
        }
        // Configurations that the model does not know come last.
        self.unseen.draw(view, rng)
    }

    fn is_open(&self, config: ConfigId) -> bool {
        self.guide.place(config).is_none_or(|place| !self.closed[place])
    }

    fn place(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<usize> {
        if self.runs.is_empty() || rng.random::<f64>() < CHANCE {
            let is_scored = !self.scores.is_empty();
            let weights =
                if is_scored { weights(&self.scores, self.rules.variant, 1.0) } else { vec![1.0; self.closed.len()] };
            let open = weights.iter().zip(&self.closed).map(|(weight, closed)| if *closed { 0.0 } else { *weight });
            return weighted(&open.collect::<Vec<f64>>(), rng);
        }
        let by_time = self.by_time;
        self.by_time = !by_time;
        for _ in 0..STEPS {
            let place = self.most_promising(by_time)?;
            if !self.guide.expand(view.space(), self.guide.configs()[place], rng) {
                return Some(place);
            }
            self.follow(view);
        }
        self.most_promising(by_time)
    }

    /// Returns the open place with the best score if any relieves a bottleneck. If none does, or if
    /// `by_time` is true, returns the one with the least predicted time.
    fn most_promising(&self, by_time: bool) -> Option<usize> {
        let by_score = if by_time { None } else { self.most_relieving() };
        by_score.or_else(|| self.guide.times().least(&self.coefficients, &self.closed))
    }

    fn most_relieving(&self) -> Option<usize> {
        let scores = &self.scores;
        let open = (0..scores.len()).filter(|place| !self.closed[*place] && scores[*place] > 0.0);
        open.reduce(|best, place| if scores[place] > scores[best] { place } else { best })
    }

    /// Draws a new sample and includes the neighbours of the fastest profiled configurations.
    fn move_on(&mut self, view: &View<'_>, rng: &mut Rng) {
        let kept: Vec<ConfigId> = self.runs.iter().map(|(config, _)| *config).collect();
        self.guide.resample(view.space(), &kept, rng);
        for leader in self.leaders.clone() {
            self.guide.expand(view.space(), leader, rng);
        }
        self.closed.clear();
        self.follow(view);
    }

    /// Extends the state to the new places of the guide.
    fn follow(&mut self, view: &View<'_>) {
        let new = self.closed.len()..self.guide.configs().len();
        let is_closed = |place: usize| !self.guide.is_predicted(place) || view.is_measured(self.guide.configs()[place]);
        self.closed.extend(new.map(is_closed));
        self.weigh_up();
    }

    /// Scores all places relative to the fastest profiled run.
    fn weigh_up(&mut self) {
        let scored = self.fastest.as_ref().and_then(|fastest| {
            Some(self.guide.scores(&fastest.bottlenecks, self.guide.place(fastest.config)?, &fastest.rules))
        });
        self.scores = scored.unwrap_or_default();
    }

    /// Returns the place of `config`, or `None` if the model does not know it. In a space scored in
    /// part, adds the place if necessary.
    fn placed(&mut self, view: &View<'_>, config: ConfigId) -> Option<usize> {
        if self.guide.is_sampled() && self.guide.place(config).is_none() {
            self.guide.include(view.space(), &[config]);
            self.follow(view);
        }
        self.guide.place(config)
    }

    /// Requests a profiled run if its counters may matter.
    fn request(&self, config: ConfigId, place: Option<usize>) -> Request {
        let predicted = |place| self.guide.times().predict(&self.coefficients, place);
        let may_lead = |place| self.fastest.is_none() || predicted(place) <= 1.0 + BELIEF;
        let is_profiled = !self.is_blind && place.is_some_and(may_lead);
        if is_profiled { Request::profiled(config) } else { Request::timed(config) }
    }

    fn learn(&mut self, evaluation: &Evaluation, score: f64) {
        if evaluation.request.depth != Depth::Profiled {
            return;
        }
        let Some(read) = readings(&evaluation.measurement) else {
            self.is_blind = self.fastest.is_none();
            return;
        };
        if self.fastest.as_ref().is_some_and(|fastest| fastest.score <= score) {
            return;
        }
        if let Some((bottlenecks, rules)) = self.rules.analyse(&read, self.guide.size()) {
            let config = evaluation.request.config;
            self.fastest = Some(Profiled { config, score, bottlenecks, rules });
            self.leaders.push(config);
            self.leaders.drain(..self.leaders.len().saturating_sub(LEADERS));
            self.has_moved = self.guide.is_sampled();
            self.weigh_up();
        }
    }
}

impl Searcher for FedBack {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        let Some(config) = self.choose(view, rng) else { return Vec::new() };
        let place = self.placed(view, config);
        if let Some(place) = place {
            self.closed[place] = true;
        }
        vec![self.request(config, place)]
    }

    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        self.surrogate.tell(view, told);
        let config = told.evaluation.request.config;
        let place = self.placed(view, config);
        if let Some(place) = place {
            self.closed[place] = true;
        }
        self.since += 1;
        let Some(score) = told.score else { return };
        if score < self.best {
            (self.best, self.since) = (score, 0);
        }
        if place.is_none() {
            return;
        }
        self.runs.push((config, score));
        let scale = Scale::of(self.runs.iter().map(|(_, score)| *score));
        let runs = self.runs.iter();
        let places = runs.filter_map(|(config, score)| Some((self.guide.place(*config)?, scale.positive(*score))));
        self.coefficients = self.guide.times().fit(&places.collect::<Vec<_>>());
        self.learn(told.evaluation, score);
    }
}
