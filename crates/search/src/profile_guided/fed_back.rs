//! Our counter-guided search: bottlenecks say where to go, measured times say what to believe.

use super::draw::weighted;
use super::time_model::BELIEF;
use super::{Guide, readings};
use crate::GaussianProcess;
use crate::unseen::Unseen;
use rand::RngExt as _;
use tunesmith_core::{Depth, Evaluation, Request, Rng, Searcher, Told, View};
use tunesmith_model::bottleneck::{Rules, analyse, weights};
use tunesmith_space::ConfigId;

/// How often a configuration is drawn by its weight instead of chosen: what no model foresees is found no other way.
const CHANCE: f64 = 0.1;
/// Evaluations in a row without a new best after which counters are taken to have told what they can: as many as the
/// Gaussian process needs to begin with.
const STALLED: usize = 8;

/// Chooses in turn the configuration that relieves the bottlenecks of the fastest one best, and the one with the least
/// predicted time; a tenth is drawn by weight. Once that brings nothing more, every second choice is that of a Gaussian
/// process, which learnt from all evaluations: near the optimum times say more than counters.
///
/// A run is profiled when it may become the fastest, by its predicted time, as only then its counters decide anything; no
/// configuration is run twice for it, and nothing is profiled on a device that does not count.
#[derive(Debug)]
pub(super) struct FedBack {
    guide: Guide,
    rules: Rules,
    runs: Vec<(usize, f64)>,
    /// By place: not predicted, asked for, or told.
    closed: Vec<bool>,
    /// The scores by the fastest profiled run, with its score.
    scores: Option<(f64, Vec<f64>)>,
    /// Costs of work, by all runs so far.
    coefficients: Vec<f64>,
    /// Whether a profiled run came without counters.
    is_blind: bool,
    best: f64,
    /// Evaluations since the best was found.
    since: usize,
    by_time: bool,
    by_surrogate: bool,
    surrogate: GaussianProcess,
    unseen: Unseen,
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
            scores: None,
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

    /// The next configuration, which is neither told nor in flight.
    fn choose(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<ConfigId> {
        self.by_surrogate = self.since >= STALLED && !self.by_surrogate;
        if self.by_surrogate {
            let asked = self.surrogate.ask(view, 1, rng).first().map(|request| request.config);
            // With several requests in flight it may choose what was asked for here.
            if let Some(config) = asked.filter(|config| self.is_open(*config)) {
                return Some(config);
            }
        }
        while let Some(place) = self.place(rng) {
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

    fn place(&mut self, rng: &mut Rng) -> Option<usize> {
        let scores = self.scores.as_ref().map(|(_, scores)| scores.as_slice());
        if self.runs.is_empty() || rng.random::<f64>() < CHANCE {
            let weights =
                scores.map_or(vec![1.0; self.closed.len()], |scores| weights(scores, self.rules.variant, 1.0));
            let open = weights.iter().zip(&self.closed).map(|(weight, closed)| if *closed { 0.0 } else { *weight });
            return weighted(&open.collect::<Vec<f64>>(), rng);
        }
        let by_score = scores.filter(|_| !self.by_time).and_then(|scores| self.most_relieving(scores));
        self.by_time = !self.by_time;
        by_score.or_else(|| self.guide.times().least(&self.coefficients, &self.closed))
    }

    /// The open place with the best score; `None` where nothing open relieves anything.
    fn most_relieving(&self, scores: &[f64]) -> Option<usize> {
        let open = (0..scores.len()).filter(|place| !self.closed[*place] && scores[*place] > 0.0);
        open.reduce(|best, place| if scores[place] > scores[best] { place } else { best })
    }

    /// Profiled if its counters may decide something.
    fn request(&self, config: ConfigId) -> Request {
        let predicted = |place| self.guide.times().predict(&self.coefficients, place);
        let may_lead = |place| self.scores.is_none() || predicted(place) <= 1.0 + BELIEF;
        let is_profiled = !self.is_blind && self.guide.place(config).is_some_and(may_lead);
        if is_profiled { Request::profiled(config) } else { Request::timed(config) }
    }

    fn learn(&mut self, evaluation: &Evaluation, place: usize, score: f64) {
        if evaluation.request.depth != Depth::Profiled {
            return;
        }
        let Some((family, readings)) = readings(&evaluation.measurement) else {
            self.is_blind = self.scores.is_none();
            return;
        };
        if self.scores.as_ref().is_some_and(|(least, _)| *least <= score) {
            return;
        }
        if let Ok(found) = analyse(&readings, family, self.guide.size(), &self.rules) {
            self.scores = Some((score, self.guide.scores(&found.bottlenecks, place, &self.rules)));
        }
    }
}

impl Searcher for FedBack {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        let Some(config) = self.choose(view, rng) else { return Vec::new() };
        if let Some(place) = self.guide.place(config) {
            self.closed[place] = true;
        }
        vec![self.request(config)]
    }

    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        self.surrogate.tell(view, told);
        let place = self.guide.place(told.evaluation.request.config);
        if let Some(place) = place {
            self.closed[place] = true;
        }
        self.since += 1;
        let Some(score) = told.score else { return };
        if score < self.best {
            (self.best, self.since) = (score, 0);
        }
        let Some(place) = place else { return };
        if score > 0.0 {
            self.runs.push((place, score));
            self.coefficients = self.guide.times().fit(&self.runs);
        }
        self.learn(told.evaluation, place, score);
    }
}
