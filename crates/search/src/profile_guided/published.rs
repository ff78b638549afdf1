//! Algorithm 1 as published, and as its authors simulate it.

use super::draw::weighted;
use crate::guide::{Guide, readings};
use crate::unseen::Unseen;
use tunesmith_core::{Depth, Evaluation, Request, Rng, Searcher, Told, View};
use tunesmith_model::bottleneck::{Rules, Variant, analyse, weights};
use tunesmith_space::ConfigId;

/// Weighted random search: the fastest configuration so far is profiled, all others are weighted by
/// how well they relieve its bottlenecks, and so many are drawn and timed before the next is
/// profiled (Algorithm 1).
///
/// As published a configuration is run again to be profiled, which counts. The authors' simulation
/// takes counters from recorded data: here it profiles every run, so that none is repeated. A
/// configuration whose counters say nothing is followed by uniform draws.
#[derive(Debug)]
pub(super) struct Published {
    guide: Guide,
    rules: Rules,
    /// Configurations timed between two that are profiled: `n`.
    batch: usize,
    /// The weights of this round's draws; nothing before the first profile.
    weights: Option<Vec<f64>>,
    left: usize,
    /// The fastest of this round with its score.
    fastest: Option<(ConfigId, f64)>,
    unseen: Unseen,
}

impl Published {
    pub(super) fn new(guide: Guide, rules: Rules, batch: usize) -> Self {
        Self { guide, rules, batch, weights: None, left: 0, fastest: None, unseen: Unseen::default() }
    }

    /// Weighs all configurations by the counters of `evaluation`.
    fn begin_round(&mut self, view: &View<'_>, evaluation: &Evaluation) {
        self.left = self.batch;
        let mut weights = self.weights_by(evaluation);
        let places = 0..weights.len();
        places.filter(|place| !self.guide.is_predicted(*place)).for_each(|place| weights[place] = 0.0);
        // Looking up what was told among the places is much less than the other way round.
        let told = view.history().iter().map(|scored| scored.evaluation.request.config);
        let told = told.chain([evaluation.request.config]).filter_map(|config| self.guide.place(config));
        told.for_each(|place| weights[place] = 0.0);
        self.weights = Some(weights);
    }

    fn weights_by(&self, evaluation: &Evaluation) -> Vec<f64> {
        let weighed = || {
            let place = self.guide.place(evaluation.request.config)?;
            let (family, readings) = readings(&evaluation.measurement)?;
            let found = analyse(&readings, family, self.guide.size(), &self.rules).ok()?;
            let scale = if self.rules.variant == Variant::Authors { self.guide.authors_scale() } else { 1.0 };
            let scores = self.guide.scores(&found.bottlenecks, place, &self.rules);
            Some(weights(&scores, self.rules.variant, scale))
        };
        weighed().unwrap_or_else(|| vec![1.0; self.guide.configs().len()])
    }

    fn draw(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<ConfigId> {
        let drawn = self.weights.as_mut().and_then(|weights| {
            let place = weighted(weights, rng)?;
            weights[place] = 0.0;
            Some(self.guide.configs()[place])
        });
        drawn.or_else(|| self.unseen.draw(view, rng))
    }

    fn request(&self, config: ConfigId) -> Request {
        if self.rules.variant == Variant::Authors { Request::profiled(config) } else { Request::timed(config) }
    }
}

impl Searcher for Published {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // Whether a run beats the last decides what follows.
        if view.is_waiting() {
            return Vec::new();
        }
        let Some((fastest, _)) = self.fastest else {
            return self.unseen.draw(view, rng).map(Request::profiled).into_iter().collect();
        };
        if self.left == 0 {
            let profiled = Request::profiled(fastest);
            match view.history().get(profiled) {
                None => return vec![profiled],
                Some(known) => self.begin_round(view, &known.evaluation),
            }
        }
        self.left -= 1;
        self.draw(view, rng).map(|config| self.request(config)).into_iter().collect()
    }

    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        let Some(score) = told.score else { return };
        let Request { config, depth } = told.evaluation.request;
        if self.fastest.is_none_or(|(_, least)| score <= least) {
            self.fastest = Some((config, score));
        }
        let is_fastest = self.fastest.is_some_and(|(fastest, _)| fastest == config);
        if self.left == 0 && depth == Depth::Profiled && is_fastest {
            self.begin_round(view, told.evaluation);
        }
    }
}
