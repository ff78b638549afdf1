//! Local search: descends from a configuration to one without a better neighbour.

use super::{Order, Scored, keep_better};
use tunesmith_core::{Rng, Standing, View};
use tunesmith_space::{ConfigId, Neighbourhood, Neighbours};

/// The better neighbour that a descent moves to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Improvement {
    /// The first found.
    First,
    /// The best of all.
    Best,
}

/// Moves from a configuration to better neighbours until there are none. Examines neighbours in
/// random order and judges known ones at once.
///
/// Cost per evaluation: a hash for each neighbour examined. Cost per move: the space's
/// neighbourhood.
#[derive(Debug)]
pub(crate) struct Descent {
    neighbourhood: Neighbourhood,
    improvement: Improvement,
    at: Option<Scored>,
    scan: Option<(Neighbours, Order)>,
    /// The best neighbour examined, if it is better than the current configuration.
    better: Option<Scored>,
    /// Neighbours in flight.
    awaited: Vec<ConfigId>,
}

/// The next step of a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DescentStep {
    /// Evaluate this configuration.
    Ask(ConfigId),
    /// Wait for the configurations in flight.
    Wait,
    /// No neighbour is better, or the descent has not begun.
    Bottom,
}

impl Descent {
    pub(crate) fn new(neighbourhood: Neighbourhood, improvement: Improvement) -> Self {
        Self { neighbourhood, improvement, at: None, scan: None, better: None, awaited: Vec::new() }
    }

    /// Returns the current configuration of the descent.
    pub(crate) fn at(&self) -> Option<Scored> {
        self.at
    }

    /// Continues from another configuration, better or not.
    pub(crate) fn start_at(&mut self, start: Scored) {
        (self.at, self.scan, self.better) = (Some(start), None, None);
        // Neighbours of the earlier configuration no longer matter.
        self.awaited.clear();
    }

    pub(crate) fn step(&mut self, view: &View<'_>, rng: &mut Rng) -> DescentStep {
        loop {
            let Some((at, _)) = self.at else { return DescentStep::Bottom };
            let neighbourhood = self.neighbourhood;
            let (neighbours, order) = self.scan.get_or_insert_with(|| {
                let neighbours = view.space().neighbours(at, neighbourhood);
                let order = Order::below(neighbours.len());
                (neighbours, order)
            });
            let Some(number) = order.next(rng) else {
                if !self.awaited.is_empty() {
                    return DescentStep::Wait;
                }
                let Some(better) = self.better else { return DescentStep::Bottom };
                self.start_at(better);
                continue;
            };
            let Some(neighbour) = neighbours.get(number) else { continue };
            match view.standing(neighbour.id) {
                Standing::New => {
                    self.awaited.push(neighbour.id);
                    return DescentStep::Ask(neighbour.id);
                }
                // It may be awaited already, as a neighbour of an earlier configuration.
                Standing::InFlight if self.awaited.contains(&neighbour.id) => {}
                Standing::InFlight => self.awaited.push(neighbour.id),
                Standing::Told(score) => self.judge(neighbour.id, score),
            }
        }
    }

    /// Learns the score of `config`, if a step asked or awaited it.
    pub(crate) fn learn(&mut self, config: ConfigId, score: Option<f64>) {
        if let Some(position) = self.awaited.iter().position(|awaited| *awaited == config) {
            self.awaited.swap_remove(position);
            self.judge(config, score);
        }
    }

    fn judge(&mut self, config: ConfigId, score: Option<f64>) {
        let (Some(score), Some((_, own))) = (score, self.at) else { return };
        if score >= own {
            return;
        }
        match self.improvement {
            Improvement::Best => {
                keep_better(&mut self.better, config, score);
            }
            Improvement::First => {
                // Neighbours still in flight are judged against the new configuration: one may be
                // better yet.
                (self.at, self.scan) = (Some((config, score)), None);
            }
        }
    }
}
