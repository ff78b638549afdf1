//! All evaluations of a run, by configuration and depth.

use crate::{Depth, Evaluation, FailureKind, Request};
use hashbrown::HashTable;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use tunesmith_space::ConfigId;

/// The findings of an evaluation besides its score.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aspects {
    /// The score, also of a configuration that breaks a limit: it was correct, so that it has one.
    pub score: Option<f64>,
    /// The excess over every limit: at most 0 if it is kept, above 0 if it is broken. For a condition
    /// such as `a <= b`, it is the logarithm of `a / b`. Empty without limits, and if the configuration
    /// was not correct.
    pub excesses: Vec<f64>,
    /// The score of every objective of a front, also of a configuration that breaks a limit. Empty if
    /// there is only one objective, and if the configuration was not correct.
    pub objectives: Vec<f64>,
}

/// An evaluation with its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// The evaluation.
    pub evaluation: Box<Evaluation>,
    /// Its score: smaller is better. `None` if it failed.
    pub score: Option<f64>,
    /// Its findings besides, if the run has limits or several objectives.
    pub aspects: Option<Box<Aspects>>,
}

/// The evaluations of a run in the order made, each request at most once. A look-up costs one hash.
#[derive(Clone, Debug, Default)]
pub struct History {
    entries: Vec<Scored>,
    /// The positions of the entries, by request. Only positions are kept: a request is larger, and
    /// a run may have a million.
    places: HashTable<u32>,
    hasher: RandomState,
    best: Option<usize>,
}

impl History {
    /// Makes room for `more` evaluations. Growing by steps would look at every evaluation again, all
    /// over the memory.
    pub(crate) fn reserve(&mut self, more: usize) {
        let Self { entries, places, hasher, .. } = self;
        places.reserve(more, |place| hasher.hash_one(entries[*place as usize].evaluation.request));
        entries.reserve_exact(more);
    }

    /// Adds an evaluation and returns true. If the request is already present, changes nothing and
    /// returns false: failures and times are never measured twice. Only a configuration that was
    /// cut or put aside ([`Evaluation::is_unfinished`]) may be measured to its end: the later evaluation replaces that
    /// one.
    pub fn insert(&mut self, evaluation: impl Into<Box<Evaluation>>, score: Option<f64>) -> bool {
        self.insert_with(evaluation, score, None)
    }

    /// Adds an evaluation with its aspects, as [`insert`](Self::insert) does.
    pub fn insert_with(
        &mut self,
        evaluation: impl Into<Box<Evaluation>>,
        score: Option<f64>,
        aspects: Option<Box<Aspects>>,
    ) -> bool {
        let evaluation = evaluation.into();
        let position = self.entries.len();
        let Ok(place) = u32::try_from(position) else { return false };
        let hash = self.hasher.hash_one(evaluation.request);
        if let Some(place) = self.place(hash, evaluation.request) {
            let position = place as usize;
            if !self.entries[position].evaluation.is_unfinished() {
                return false;
            }
            self.improve(score, position);
            self.entries[position] = Scored { evaluation, score, aspects };
            return true;
        }
        let Self { entries, places, hasher, .. } = self;
        places.insert_unique(hash, place, |place| hasher.hash_one(entries[*place as usize].evaluation.request));
        self.improve(score, position);
        self.entries.push(Scored { evaluation, score, aspects });
        true
    }

    /// Returns the evaluation that answered `request`.
    pub fn get(&self, request: Request) -> Option<&Scored> {
        self.find(self.hasher.hash_one(request), request)
    }

    fn find(&self, hash: u64, request: Request) -> Option<&Scored> {
        self.place(hash, request).map(|place| &self.entries[place as usize])
    }

    fn place(&self, hash: u64, request: Request) -> Option<u32> {
        let is_it = |place: &u32| self.entries[*place as usize].evaluation.request == request;
        self.places.find(hash, is_it).copied()
    }

    /// Makes the entry at `position` the best if its score is strictly better: of equal scores, the
    /// first one stays the best.
    fn improve(&mut self, score: Option<f64>, position: usize) {
        if score.is_some_and(|new| self.best_score().is_none_or(|old| new < old)) {
            self.best = Some(position);
        }
    }

    /// Returns the evaluation of `config` at any depth, the timed one first.
    pub fn of(&self, config: ConfigId) -> Option<&Scored> {
        [Depth::Timed, Depth::Profiled].into_iter().find_map(|depth| self.get(Request { config, depth }))
    }

    /// Returns the best correct evaluation. Of equal scores, the first one is the best.
    pub fn best(&self) -> Option<&Scored> {
        self.best.map(|position| &self.entries[position])
    }

    /// Returns the score of [`best`](Self::best).
    pub fn best_score(&self) -> Option<f64> {
        self.best().and_then(|scored| scored.score)
    }

    /// Returns all evaluations in the order made.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Scored> + DoubleEndedIterator {
        self.entries.iter()
    }

    /// Returns the number of evaluations.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if no evaluation was made.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the number of evaluations that failed with `kind`.
    pub fn failed(&self, kind: FailureKind) -> usize {
        self.iter().filter(|scored| scored.evaluation.status() == Some(kind)).count()
    }

    /// Returns the correct evaluations from best to worst. Equal scores keep the order in which
    /// they were found.
    pub fn ranked(&self) -> Vec<&Scored> {
        let mut correct: Vec<&Scored> = self.iter().filter(|scored| scored.score.is_some()).collect();
        correct.sort_by(|a, b| a.score.unwrap_or(f64::NAN).total_cmp(&b.score.unwrap_or(f64::NAN)));
        correct
    }
}
