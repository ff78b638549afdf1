//! Our counter-guided search: bottlenecks say where to go, measured times say what to believe.

use super::draw::weighted;
use super::time_model::TimeModel;
use super::{Guide, readings};
use crate::unseen::Unseen;
use rand::RngExt as _;
use std::collections::HashSet;
use tunesmith_core::{Evaluation, Request, Rng, Searcher, Told, View};
use tunesmith_model::bottleneck::{Rules, analyse, weights};
use tunesmith_space::ConfigId;

/// How often a configuration is drawn by its weight instead of chosen: what no model foresees is found no other way.
const CHANCE: f64 = 0.1;

/// Chooses in turn the configuration that relieves the bottlenecks of the fastest one best, and the one with the least
/// predicted time; a tenth is drawn by weight.
///
/// Runs that are chosen are profiled, since they may become the fastest; no configuration is run twice for it.
#[derive(Debug)]
pub(super) struct FedBack {
    guide: Guide,
    rules: Rules,
    times: TimeModel,
    runs: Vec<(usize, f64)>,
    pending: HashSet<ConfigId>,
    /// The scores by the fastest profiled run, with its score.
    scores: Option<(f64, Vec<f64>)>,
    by_time: bool,
    unseen: Unseen,
}

impl FedBack {
    pub(super) fn new(guide: Guide, rules: Rules) -> Self {
        let times = TimeModel::new(&guide);
        Self {
            guide,
            rules,
            times,
            runs: Vec::new(),
            pending: HashSet::new(),
            scores: None,
            by_time: false,
            unseen: Unseen::default(),
        }
    }

    /// The places that are predicted and neither told nor in flight.
    fn open(&self, view: &View<'_>) -> Vec<bool> {
        let configs = self.guide.configs().iter().enumerate();
        let is_open = |(place, config): (usize, &ConfigId)| {
            self.guide.is_predicted(place) && !self.pending.contains(config) && view.score(*config).is_none()
        };
        configs.map(is_open).collect()
    }

    fn choose(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<usize> {
        let open = self.open(view);
        if rng.random::<f64>() < CHANCE || self.runs.is_empty() {
            let scores = self.scores.as_ref().map(|(_, scores)| scores.as_slice());
            let weights = scores.map_or(vec![1.0; open.len()], |scores| weights(scores, self.rules.variant, 1.0));
            let open_weights = weights.iter().zip(&open).map(|(weight, open)| if *open { *weight } else { 0.0 });
            return weighted(&open_weights.collect::<Vec<f64>>(), rng);
        }
        let merits: Vec<f64> = match &self.scores {
            Some((_, scores)) if !self.by_time => scores.clone(),
            _ => self.times.predict(&self.runs).into_iter().map(|time| -time).collect(),
        };
        self.by_time = !self.by_time;
        let places = (0..open.len()).filter(|place| open[*place]);
        places.reduce(|best, place| if merits[place] > merits[best] { place } else { best })
    }

    fn learn(&mut self, evaluation: &Evaluation, place: usize, score: f64) {
        if self.scores.as_ref().is_some_and(|(least, _)| *least <= score) {
            return;
        }
        let Some((family, readings)) = readings(&evaluation.measurement) else { return };
        if let Ok(found) = analyse(&readings, family, self.guide.size(), &self.rules) {
            self.scores = Some((score, self.guide.scores(&found.bottlenecks, place, &self.rules)));
        }
    }
}

impl Searcher for FedBack {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        let chosen = self.choose(view, rng).map(|place| self.guide.configs()[place]);
        // What the model does not know is left for the end.
        let Some(config) = chosen.or_else(|| self.unseen.draw(view, rng)) else { return Vec::new() };
        self.pending.insert(config);
        vec![Request::profiled(config)]
    }

    fn tell(&mut self, _: &View<'_>, told: &Told<'_>) {
        let config = told.evaluation.request.config;
        self.pending.remove(&config);
        let (Some(score), Some(place)) = (told.score, self.guide.place(config)) else { return };
        if score > 0.0 {
            self.runs.push((place, score));
        }
        self.learn(told.evaluation, place, score);
    }
}
