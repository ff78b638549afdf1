//! Tabu search.

use crate::local::{MAX_KNOWN_STEPS, Order, Scored, keep_better};
use crate::options::{OptionSpec, Options, StrategyError};
use crate::unseen::Unseen;
use std::collections::{HashMap, HashSet};
use tunesmith_core::{Request, Rng, Searcher, Standing, Told, View};
use tunesmith_space::{ConfigId, Neighbour, Neighbourhood, Neighbours};

/// Tabu search (Glover, Tabu search - part I, 1989). It moves to the best of some neighbours even
/// if that is worse, and for a while does not take back a change.
///
/// - It starts from the best of the evaluations told before and of a few random configurations.
///   Neighbours differ in one parameter.
/// - It examines neighbours in random order and moves to the first that is better than the current
///   configuration. After `candidates` new ones without a better one, it moves to the best of those
///   examined.
/// - The value that a parameter had before a move is tabu for that parameter during the next
///   `tenure` moves. It moves to a tabu neighbour only if that is known to be better than the
///   current configuration (the paper's aspiration by improvement).
/// - It never returns to a configuration that it has left. If no move is possible, and after 50
///   moves among known configurations, it continues from a new random configuration. So the search
///   ends only with the space.
///
/// Only the order of times matters, not their unit. Cost per evaluation: a hash for each known
/// neighbour passed, and a neighbourhood of the space for each move.
#[derive(Debug)]
pub struct Tabu {
    tenure: u64,
    candidates: usize,
    initial: usize,
    current: Option<Scored>,
    scan: Option<Scan>,
    /// The move until which a value is tabu, by parameter and value index.
    tabu: HashMap<(usize, u32), u64>,
    /// The configurations that the search has visited.
    visited: HashSet<ConfigId>,
    moves: u64,
    /// The random configuration in flight from which the search continues.
    start: Option<ConfigId>,
    has_begun: bool,
    unseen: Unseen,
}

/// The scan of the current configuration's neighbours.
#[derive(Debug)]
struct Scan {
    neighbours: Neighbours,
    order: Order,
    /// Number of new neighbours asked.
    asked: usize,
    awaited: Vec<Neighbour>,
    best: Option<(Neighbour, f64)>,
}

/// The outcome of examining neighbours.
enum Look {
    Ask(ConfigId),
    Wait,
    /// A move to this neighbour, with its score.
    Move(Neighbour, f64),
    /// No move is possible.
    Nothing,
}

impl Tabu {
    pub(crate) const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "tenure",
            default: "8",
            meaning: "a whole number from 0: moves during which a parameter may not return to an earlier value",
        },
        OptionSpec {
            name: "candidates",
            default: "20",
            meaning: "a whole number from 1: new neighbours evaluated before a move to the best of them, even if it \
                 is worse",
        },
        OptionSpec {
            name: "initial",
            default: "10",
            meaning: "a whole number from 1: evaluations before the first move; missing ones are random",
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
        // The best may still be in flight before the first move, and later the configuration to
        // continue from.
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

    /// Examines neighbours of the current configuration, which must exist, until one is to be asked
    /// or moved to.
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
            match view.standing(neighbour.id) {
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
        // Propose one at a time: only earlier requests count as known.
        self.propose(view, rng).map(Request::timed).into_iter().collect()
    }

    fn tell(&mut self, _: &View<'_>, told: &Told<'_>) {
        self.learn(told.evaluation.request.config, told.score);
    }
}
