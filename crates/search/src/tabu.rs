//! Tabu search.

use crate::local::{MAX_KNOWN_STEPS, Order, Scored, Standing, keep_better, standing};
use crate::options::{OptionSpec, Options, StrategyError};
use crate::unseen::Unseen;
use std::collections::{HashMap, HashSet};
use tunesmith_core::{Request, Rng, Searcher, Told, View};
use tunesmith_space::{ConfigId, Neighbour, Neighbourhood, Neighbours};

/// Tabu search (Glover, Tabu search - part I, 1989): go to the best of some neighbours even when it
/// is worse, and for a while do not take back what was changed.
///
/// - It starts from the best of what was told before and of a few random configurations. Neighbours
///   differ in one parameter.
/// - Neighbours are looked at in random order. The first that is better than the current
///   configuration is gone to; after `candidates` new ones without such, the best of those looked
///   at.
/// - The value that a parameter had before a move is tabu for that parameter during the next
///   `tenure` moves. A tabu neighbour is gone to only when it is known to be better than the
///   current configuration (the paper's aspiration by improvement).
/// - A configuration that was left once is not gone to again. When no neighbour can be gone to, and
///   after 50 moves among known ones, the search goes on from a new random configuration, so it
///   ends only with the space.
///
/// Only the order of times matters, not their unit. Cost per evaluation: a hash for each known
/// neighbour passed; a neighbourhood of the space for each move.
#[derive(Debug)]
pub struct Tabu {
    tenure: u64,
    candidates: usize,
    initial: usize,
    current: Option<Scored>,
    scan: Option<Scan>,
    /// By parameter and value index: the move until which it is tabu.
    tabu: HashMap<(usize, u32), u64>,
    /// The configurations that the search has visited.
    visited: HashSet<ConfigId>,
    moves: u64,
    /// The random configuration in flight that the search goes on from.
    start: Option<ConfigId>,
    has_begun: bool,
    unseen: Unseen,
}

/// The neighbours of the current configuration, as far as they were looked at.
#[derive(Debug)]
struct Scan {
    neighbours: Neighbours,
    order: Order,
    /// New ones asked.
    asked: usize,
    awaited: Vec<Neighbour>,
    best: Option<(Neighbour, f64)>,
}

/// The outcome of looking at neighbours.
enum Look {
    Ask(ConfigId),
    Wait,
    /// To one to go to.
    Move(Neighbour, f64),
    /// None can be gone to.
    Nothing,
}

impl Tabu {
    pub(crate) const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "tenure",
            default: "8",
            meaning: "a whole number from 0: moves during which a parameter does not take back a value it had",
        },
        OptionSpec {
            name: "candidates",
            default: "20",
            meaning: "a whole number from 1: new neighbours evaluated before the best of them is gone to though it is worse",
        },
        OptionSpec {
            name: "initial",
            default: "10",
            meaning: "a whole number from 1: evaluations, random ones where nothing was told, before the first move",
        },
    ];

    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        Ok(Self {
            tenure: options.whole("tenure", 0)? as u64,
            candidates: options.whole("candidates", 1)?,
            initial: options.whole("initial", 1)?,
            current: None,
            scan: None,
            tabu: HashMap::new(),
            visited: HashSet::new(),
            moves: 0,
            start: None,
            has_begun: false,
            unseen: Unseen::default(),
        })
    }

    fn propose(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<ConfigId> {
        if view.known() < self.initial || self.current.is_none() {
            return self.unseen.draw(view, rng);
        }
        // The best may still be in flight before the first move; later what the search goes on
        // from.
        if self.start.is_some() || !self.has_begun && view.is_waiting() {
            return None;
        }
        self.has_begun = true;
        for _ in 0..MAX_KNOWN_STEPS {
            match self.look(view, rng) {
                Look::Ask(config) => return Some(config),
                Look::Wait => return None,
                Look::Move(neighbour, score) => self.move_to(view, neighbour, score),
                Look::Nothing => break,
            }
        }
        self.start = self.unseen.draw(view, rng);
        self.start
    }

    /// Looks at neighbours of the current configuration, which exists, until one is to be asked or
    /// gone to.
    fn look(&mut self, view: &View<'_>, rng: &mut Rng) -> Look {
        let Some((current, own)) = self.current else { return Look::Nothing };
        self.visited.insert(current);
        let scan = self.scan.get_or_insert_with(|| Scan::new(view, current));
        loop {
            if let Some((neighbour, score)) = scan.best.filter(|(_, score)| *score < own) {
                return Look::Move(neighbour, score);
            }
            let next = if scan.asked < self.candidates { scan.order.next(rng) } else { None };
            let Some(neighbour) = next.and_then(|number| scan.neighbours.get(number)) else { break };
            if self.visited.contains(&neighbour.id) {
                continue;
            }
            let until = self.tabu.get(&(neighbour.parameter, neighbour.value));
            let is_tabu = until.is_some_and(|until| self.moves < *until);
            match standing(view, neighbour.id) {
                Standing::New if is_tabu => {}
                Standing::New => {
                    scan.asked += 1;
                    scan.awaited.push(neighbour);
                    return Look::Ask(neighbour.id);
                }
                Standing::InFlight => scan.awaited.push(neighbour),
                Standing::Told(Some(score)) if score < own || !is_tabu => scan.keep(neighbour, score),
                Standing::Told(_) => {}
            }
        }
        match scan.best {
            _ if !scan.awaited.is_empty() => Look::Wait,
            Some((neighbour, score)) => Look::Move(neighbour, score),
            None => Look::Nothing,
        }
    }

    fn move_to(&mut self, view: &View<'_>, neighbour: Neighbour, score: f64) {
        let Some((current, _)) = self.current.replace((neighbour.id, score)) else { return };
        let old = view.space().unrank(current).indices()[neighbour.parameter];
        self.moves += 1;
        self.tabu.insert((neighbour.parameter, old), self.moves + self.tenure);
        self.scan = None;
    }

    fn learn(&mut self, config: ConfigId, score: Option<f64>) {
        if self.start == Some(config) {
            self.start = None;
            if let Some(score) = score {
                (self.current, self.scan) = (Some((config, score)), None);
            }
        } else if !self.has_begun {
            score.into_iter().for_each(|score| {
                keep_better(&mut self.current, config, score);
            });
        } else if let Some(scan) = &mut self.scan {
            scan.learn(config, score);
        }
    }
}

impl Scan {
    fn new(view: &View<'_>, current: ConfigId) -> Self {
        let neighbours = view.space().neighbours(current, Neighbourhood::Hamming);
        let order = Order::below(neighbours.len());
        Self { neighbours, order, asked: 0, awaited: Vec::new(), best: None }
    }

    fn learn(&mut self, config: ConfigId, score: Option<f64>) {
        let Some(position) = self.awaited.iter().position(|neighbour| neighbour.id == config) else { return };
        let neighbour = self.awaited.swap_remove(position);
        score.into_iter().for_each(|score| self.keep(neighbour, score));
    }

    fn keep(&mut self, neighbour: Neighbour, score: f64) {
        if self.best.is_none_or(|(_, best)| score < best) {
            self.best = Some((neighbour, score));
        }
    }
}

impl Searcher for Tabu {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // One at a time, since only what was asked before counts as known.
        self.propose(view, rng).map(Request::timed).into_iter().collect()
    }

    fn tell(&mut self, _: &View<'_>, told: &Told<'_>) {
        self.learn(told.evaluation.request.config, told.score);
    }
}
