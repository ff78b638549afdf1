//! The evaluations of a resumed journal that the searcher has not asked for again.

use crate::{Depth, Evaluation, Request};
use hashbrown::HashTable;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use tunesmith_space::ConfigId;

/// The evaluations by request. A look-up costs one hash. Besides the evaluations, each takes some
/// 20 bytes.
pub(super) struct Pending {
    /// In the order made. `None` once taken.
    evaluations: Vec<Option<Box<Evaluation>>>,
    places: HashTable<u32>,
    hasher: RandomState,
    /// All before this position are taken.
    front: usize,
}

impl Pending {
    /// Keeps `evaluations`. Of several with one request, the first counts.
    pub(super) fn new(evaluations: Vec<Box<Evaluation>>) -> Self {
        let (places, hasher) = (HashTable::with_capacity(evaluations.len()), RandomState::new());
        let mut pending = Self { evaluations: evaluations.into_iter().map(Some).collect(), places, hasher, front: 0 };
        let mut repeated = Vec::new();
        for (place, evaluation) in (0_u32..).zip(&pending.evaluations) {
            let Some(request) = evaluation.as_ref().map(|evaluation| evaluation.request) else { continue };
            let own = pending.hasher.hash_one(request);
            if find(&pending.places, &pending.evaluations, own, request).is_some() {
                repeated.push(place as usize);
                continue;
            }
            let hash = |place: &u32| {
                let request = pending.evaluations[*place as usize].as_ref().map(|evaluation| evaluation.request);
                request.map_or(0, |request| pending.hasher.hash_one(request))
            };
            pending.places.insert_unique(own, place, hash);
        }
        repeated.into_iter().for_each(|place| pending.evaluations[place] = None);
        pending
    }

    /// Returns true if `request` was evaluated and not taken yet.
    pub(super) fn contains(&self, request: Request) -> bool {
        self.place(request).is_some()
    }

    /// Returns true if `config` was evaluated at any depth and not taken yet.
    pub(super) fn contains_config(&self, config: ConfigId) -> bool {
        [Request::timed(config), Request::profiled(config)].into_iter().any(|request| self.contains(request))
    }

    /// Returns the number of configurations among those that are left.
    pub(super) fn configs(&self) -> usize {
        let requests = self.iter().map(|evaluation| evaluation.request);
        let counts =
            |request: &Request| request.depth == Depth::Timed || !self.contains(Request::timed(request.config));
        requests.filter(counts).count()
    }

    /// Returns the first of those that are left.
    pub(super) fn first(&mut self) -> Option<&Evaluation> {
        let taken = self.evaluations.get(self.front..)?.iter().take_while(|evaluation| evaluation.is_none()).count();
        self.front += taken;
        self.evaluations.get(self.front)?.as_deref()
    }

    /// Returns the position of `request` in the journal, if it was evaluated and not taken yet.
    pub(super) fn position(&self, request: Request) -> Option<usize> {
        self.place(request)
    }

    /// Takes out the evaluation that answers `request`.
    pub(super) fn take(&mut self, request: Request) -> Option<Box<Evaluation>> {
        self.place(request).and_then(|place| self.evaluations[place].take())
    }

    /// Takes out all that are left, in the order made.
    pub(super) fn take_rest(&mut self) -> impl Iterator<Item = Box<Evaluation>> + use<> {
        self.places.clear();
        std::mem::take(&mut self.evaluations).into_iter().flatten()
    }

    /// Returns those that are left, in the order made.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Evaluation> {
        self.evaluations.iter().flatten().map(|evaluation| &**evaluation)
    }

    fn place(&self, request: Request) -> Option<usize> {
        find(&self.places, &self.evaluations, self.hasher.hash_one(request), request)
    }
}

fn find(
    places: &HashTable<u32>,
    evaluations: &[Option<Box<Evaluation>>],
    hash: u64,
    request: Request,
) -> Option<usize> {
    let is_it = |place: &u32| evaluations[*place as usize].as_ref().is_some_and(|known| known.request == request);
    places.find(hash, is_it).map(|place| *place as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Measurement;
    use std::time::Duration;
    use tunesmith_space::{Parameter, Space, Values};

    #[test]
    fn each_request_is_answered_once_and_the_rest_comes_in_order() {
        let values = Values::list(0..100_i64);
        let space = Space::builder().parameter(Parameter::new("X", values).unwrap()).build().unwrap();
        let evaluation = |(rank, depth): (u128, Depth)| Evaluation {
            request: Request { config: space.id(rank).unwrap(), depth },
            failure: None,
            measurement: Measurement::default(),
            clock: Duration::from_secs(u64::try_from(rank).unwrap()),
            proposed: None,
        };
        let made = (0..100).flat_map(|rank| [(rank, Depth::Timed), (rank, Depth::Profiled)]);
        let made: Vec<Evaluation> = made.map(evaluation).collect();
        let twice = made.iter().chain(&made[..7]).cloned().map(Box::new).collect();
        let mut pending = Pending::new(twice);
        assert_eq!(pending.configs(), 100);
        for taken in made.iter().step_by(3) {
            assert!(pending.contains(taken.request));
            assert_eq!(pending.take(taken.request).as_deref(), Some(taken));
            assert!(!pending.contains(taken.request) && pending.take(taken.request).is_none());
            assert!(pending.contains_config(taken.request.config), "its other depth is left");
        }
        assert_eq!(pending.first(), made.get(1), "the first one was taken");
        // Of every three configurations, the first lost its timed evaluation, the second its profiled one.
        assert_eq!(pending.configs(), 100);
        let left: Vec<&Evaluation> = made.iter().enumerate().filter(|(at, _)| at % 3 != 0).map(|(_, e)| e).collect();
        assert_eq!(pending.iter().collect::<Vec<_>>(), left);
        assert_eq!(pending.take_rest().map(|e| *e).collect::<Vec<_>>(), left.into_iter().cloned().collect::<Vec<_>>());
        assert!(!pending.contains(made[1].request) && !pending.contains_config(made[1].request.config));
    }
}
