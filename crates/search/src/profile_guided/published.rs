//! Algorithm 1, as published and as its authors simulate it.

use super::draw::weighted;
use super::reacting::Reacting;
use crate::guide::{Guide, readings};
use crate::unseen::Unseen;
use tunesmith_core::{Depth, Evaluation, Request, Rng, Searcher, Told, View};
use tunesmith_model::bottleneck::{Variant, weights};
use tunesmith_space::ConfigId;

/// Weighted random search (Algorithm 1). It profiles the fastest configuration so far and weights
/// all others by how well they relieve its bottlenecks. Then it draws and times a batch before the
/// next profile.
///
/// In the published form, a configuration is run again to be profiled, and this run counts. The
/// authors' simulation takes counters from recorded data, so the variant `authors` profiles every
/// run and repeats none. If the counters show nothing, uniform draws follow.
#[derive(Debug)]
pub(super) struct Published {
    guide: Guide,
    rules: Reacting,
    /// Number of configurations timed between two profiled ones: `n`.
    batch: usize,
    /// The weights of this round's draws. `None` before the first profile.
    weights: Option<Vec<f64>>,
    left: usize,
    /// The fastest configuration of this round and its score.
    fastest: Option<(ConfigId, f64)>,
    unseen: Unseen,
}

impl Published {
    pub(super) fn new(guide: Guide, rules: Reacting, batch: usize) -> Self {
        Self { guide, rules, batch, weights: None, left: 0, fastest: None, unseen: Unseen::default() }
    }

    /// Weights all configurations by the counters of `evaluation`.
    fn begin_round(&mut self, view: &View<'_>, evaluation: &Evaluation) {
        self.left = self.batch;
        let mut weights = self.weights_by(evaluation);
        let places = 0..weights.len();
        places.filter(|place| !self.guide.is_predicted(*place)).for_each(|place| weights[place] = 0.0);
        // It is much cheaper to look up the evaluations told among the places than the reverse.
        let told = view.history().iter().map(|scored| scored.evaluation.request.config);
        let told = told.chain([evaluation.request.config]).filter_map(|config| self.guide.place(config));
        told.for_each(|place| weights[place] = 0.0);
        self.weights = Some(weights);
    }

    fn weights_by(&self, evaluation: &Evaluation) -> Vec<f64> {
        let weighed = || {
            let place = self.guide.place(evaluation.request.config)?;
            let (bottlenecks, rules) = self.rules.analyse(&readings(&evaluation.measurement)?, self.guide.size())?;
            let scale = if self.rules.variant == Variant::Authors { self.guide.authors_scale() } else { 1.0 };
            let scores = self.guide.scores(&bottlenecks, place, &rules);
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
        // The next request depends on the result of the last run.
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
