//! Our counter-guided search: bottlenecks say where to go, measured times say what to believe.

use super::draw::weighted;
use crate::GaussianProcess;
use crate::guide::{BELIEF, Guide, readings};
use crate::unseen::Unseen;
use rand::RngExt as _;
use tunesmith_core::{Depth, Evaluation, Request, Rng, Searcher, Told, View};
use tunesmith_model::bottleneck::{Bottlenecks, Rules, analyse, weights};
use tunesmith_space::ConfigId;

/// The probability that a configuration is drawn by its weight instead of chosen: what no model
/// foresees is found no other way.
const CHANCE: f64 = 0.1;
/// Evaluations in a row without a new best after which counters are taken to have told what they
/// can: as many as the Gaussian process needs to begin with.
const STALLED: usize = 8;
/// Steps from neighbour to neighbour before a configuration is chosen in a space too large to score
/// whole.
const STEPS: usize = 8;
/// The fastest profiled configurations whose neighbours are scored in such a space.
const LEADERS: usize = 5;

/// Chooses in turn the configuration that relieves the bottlenecks of the fastest one best, and the
/// one with the least predicted time; a tenth is drawn by weight. Once that brings nothing more,
/// every second choice is that of a Gaussian process, which learnt from all evaluations: near the
/// optimum times say more than counters.
///
/// A run is profiled when it may become the fastest, by its predicted time, as only then its
/// counters decide anything; no configuration is run twice for it, and nothing is profiled on a
/// device that does not count.
///
/// Of a space too large to score whole it scores a random sample and the neighbours of the fastest
/// profiled configurations. What it is about to choose it follows to better neighbours first; a new
/// fastest one brings a new sample.
#[derive(Debug)]
pub(super) struct FedBack {
    guide: Guide,
    rules: Rules,
    runs: Vec<(ConfigId, f64)>,
    /// By place: not predicted, asked for, or told.
    closed: Vec<bool>,
    /// The fastest profiled run.
    fastest: Option<Profiled>,
    /// By place, by the fastest profiled run; none before there is one.
    scores: Vec<f64>,
    /// Profiled runs that were the fastest, the last ones.
    leaders: Vec<ConfigId>,
    /// True if there is a new one, in a space too large to score whole.
    has_moved: bool,
    /// Costs of work, by all runs so far.
    coefficients: Vec<f64>,
    /// True if a profiled run came without counters.
    is_blind: bool,
    best: f64,
    /// Evaluations since the best was found.
    since: usize,
    by_time: bool,
    by_surrogate: bool,
    surrogate: GaussianProcess,
    unseen: Unseen,
}

/// A profiled run and what it told.
#[derive(Debug)]
struct Profiled {
    config: ConfigId,
    score: f64,
    bottlenecks: Bottlenecks,
}

impl FedBack {
    pub(super) fn new(guide: Guide, rules: Rules, surrogate: GaussianProcess) -> Self {
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

    /// Returns the next configuration, which is neither told nor in flight.
    fn choose(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<ConfigId> {
        self.by_surrogate = self.since >= STALLED && !self.by_surrogate;
        if self.by_surrogate {
            let asked = self.surrogate.ask(view, 1, rng).first().map(|request| request.config);
            // With several requests in flight it may choose what was asked for here.
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
        // What the model does not know is left for the end.
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

    /// Returns the open place with the least predicted time; if not `by_time` the one with the best
    /// score, if any relieves anything.
    fn most_promising(&self, by_time: bool) -> Option<usize> {
        let by_score = if by_time { None } else { self.most_relieving() };
        by_score.or_else(|| self.guide.times().least(&self.coefficients, &self.closed))
    }

    fn most_relieving(&self) -> Option<usize> {
        let scores = &self.scores;
        let open = (0..scores.len()).filter(|place| !self.closed[*place] && scores[*place] > 0.0);
        open.reduce(|best, place| if scores[place] > scores[best] { place } else { best })
    }

    /// Takes a new sample and the neighbours of the fastest profiled configurations.
    fn move_on(&mut self, view: &View<'_>, rng: &mut Rng) {
        let kept: Vec<ConfigId> = self.runs.iter().map(|(config, _)| *config).collect();
        self.guide.resample(view.space(), &kept, rng);
        for leader in self.leaders.clone() {
            self.guide.expand(view.space(), leader, rng);
        }
        self.closed.clear();
        self.follow(view);
    }

    /// Learns of the places that the guide has more of.
    fn follow(&mut self, view: &View<'_>) {
        let new = self.closed.len()..self.guide.configs().len();
        let is_closed = |place: usize| !self.guide.is_predicted(place) || view.is_measured(self.guide.configs()[place]);
        self.closed.extend(new.map(is_closed));
        self.weigh_up();
    }

    /// Scores all places by the fastest profiled run.
    fn weigh_up(&mut self) {
        let scored = self.fastest.as_ref().and_then(|fastest| {
            Some(self.guide.scores(&fastest.bottlenecks, self.guide.place(fastest.config)?, &self.rules))
        });
        self.scores = scored.unwrap_or_default();
    }

    /// Returns the place of `config`, which it gets in a space scored in part; `None` when the
    /// model does not know it.
    fn placed(&mut self, view: &View<'_>, config: ConfigId) -> Option<usize> {
        if self.guide.is_sampled() && self.guide.place(config).is_none() {
            self.guide.include(view.space(), &[config]);
            self.follow(view);
        }
        self.guide.place(config)
    }

    /// Asks for a profiled run if its counters may decide something.
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
        let Some((family, readings)) = readings(&evaluation.measurement) else {
            self.is_blind = self.fastest.is_none();
            return;
        };
        if self.fastest.as_ref().is_some_and(|fastest| fastest.score <= score) {
            return;
        }
        if let Ok(found) = analyse(&readings, family, self.guide.size(), &self.rules) {
            let config = evaluation.request.config;
            self.fastest = Some(Profiled { config, score, bottlenecks: found.bottlenecks });
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
        if score > 0.0 {
            self.runs.push((config, score));
            let places = self.runs.iter().filter_map(|(config, score)| Some((self.guide.place(*config)?, *score)));
            self.coefficients = self.guide.times().fit(&places.collect::<Vec<_>>());
        }
        self.learn(told.evaluation, score);
    }
}
